//===- Program.h - A program that runs jobs ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_PROGRAM_H
#define DTLTO_PLUGINS_PROGRAM_H

#include "JobFolder.h"
#include <functional>

namespace dtlto {

/// The absolute path of \p Name, a path or a name that is looked for in PATH;
/// empty if there is no such program.
std::string findProgram(const std::string &Name);

/// A process with a group of its own, in the folder of its jobs, without input.
/// One thread.
class Program {
public:
  /// Starts \p Args[0], a path. \p Env: "NAME=value" that it is to have, or
  /// "NAME" that it is not to have. Throws sdk::Error.
  Program(JobFolder &Folder, const std::vector<std::string> &Args,
          const std::vector<std::string> &Env);
  /// Kills what is left of it.
  ~Program();
  Program(const Program &) = delete;

  /// What it writes to, for poll(): standard output and error; -1 at their end.
  int out() const { return Fds[0]; }
  int err() const { return Fds[1]; }
  /// Reads what is there. Calls \p Line(line, whether of standard error).
  void listen(const std::function<void(std::string, bool)> &Line);

  /// Whether it has ended. Then how() says it: "ended with 1", or is empty if
  /// that was right.
  bool hasEnded();
  const std::string &how() const { return How; }

  /// SIGTERM, or the second time SIGKILL, for all of its group.
  void end();

private:
  JobFolder &Folder;
  pid_t Pid = -1;
  int Fds[2] = {-1, -1};
  std::string Rest[2]; // lines that have no end yet
  std::string How;
  bool Ended = false, Asked = false;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_PROGRAM_H
