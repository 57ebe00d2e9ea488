//===- Runner.h - Cases in processes of their own ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_RUNNER_H
#define DTLTO_PLUGINCHECK_RUNNER_H

#include "CaseReport.h"
#include <chrono>
#include <string>
#include <vector>

namespace dtlto::check {

struct CaseResult {
  std::vector<Failure> Failures; // none: passed
  std::string Note;              // of a case that passed; mostly empty
  std::string Output;            // what was written to its stderr and stdout
  bool Ended = false;            // came to its end
  double Seconds = 0;
};

/// Runs \p Args, a case of this program that reports to descriptor 3, and all
/// that it starts, for at most \p Limit.
CaseResult runCase(const std::vector<std::string> &Args,
                   std::chrono::milliseconds Limit, const std::string &Folder);

/// Ends the case that runs, if any, with all that it has started. Any thread.
void killCase();

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_RUNNER_H
