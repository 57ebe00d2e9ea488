//===- Crash.h - The report of a crash --------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_CRASH_H
#define DTLTO_PLUGINCHECK_CRASH_H

#include <atomic>

namespace dtlto::check {

/// From now on, a crash of this process reports to \p Fd (CaseReport.h) which
/// loan (Rules/Loan.h) was touched, or else the signal.
void catchCrashes(int Fd);

/// The likely reason for a crash at a null pointer, which ends the sentence
/// "the plugin crashed with signal 11 at a null pointer; WHY"; or empty.
extern std::atomic<const char *> NullReason;

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_CRASH_H
