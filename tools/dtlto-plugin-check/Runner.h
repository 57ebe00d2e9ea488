//===- Runner.h - Cases and programs in processes of their own --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_RUNNER_H
#define DTLTO_PLUGINCHECK_RUNNER_H

#include "CaseReport.h"
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace dtlto::check {

struct CaseResult {
  std::vector<Failure> Failures; // none: passed
  std::string Note;              // of a case that passed; mostly empty
  std::string Output;            // what was written to stderr
  bool Ended = false;            // came to its end
  double Seconds = 0;
};

/// Makes this process's temporary folder, which is removed when it ends, also
/// by a signal. Returns an empty string if there can be none.
std::string makeOwnFolder();
/// Removes it now; signals do what they did before.
void removeOwnFolder();

/// Runs \p Case, which gets a descriptor for its report, in a process of its
/// own, for at most \p Limit. All that it starts ends with it.
CaseResult runCase(const std::function<void(int ReportFd)> &Case,
                   std::chrono::milliseconds Limit);

/// Runs a program in \p Folder. Returns whether it ended well; \p Output gets
/// what it wrote.
bool runProgram(const std::vector<std::string> &Args, const std::string &Folder,
                std::string &Output);

std::string readFile(const std::string &Path);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_RUNNER_H
