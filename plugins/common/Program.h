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

  /// What it writes to, for poll(): standard output and error; -1 at their end.
  int out() const { return Out.fd(); }
  int err() const { return Err.fd(); }
  /// Reads what is there. Calls \p Line(line, whether of standard error).
  void listen(const std::function<void(std::string, bool)> &Line);

  /// Whether it has ended. Then how() says it: "ended with 1", or is empty if
  /// that was right.
  bool hasEnded();
  std::string how() const;

  /// SIGTERM, or the second time SIGKILL, for all of its group.
  void end();

private:
  Process P;
  Output Out, Err;
  std::string Rest[2]; // lines that have no end yet
  bool Ended = false, Asked = false;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_PROGRAM_H
