//===- CrashReport.h - Reports crashes and limits their time ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's crash handler prints the stack, for which it allocates memory and
// starts programs. If the heap is damaged, it waits forever for malloc()'s
// lock, and so may a plugin's handler of SIGABRT. LLVM's interrupt handler
// removes files and waits forever if a file server doesn't answer. Our handlers
// run first and limit the time of all of them.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_CRASHREPORT_H
#define DTLTO_SUPPORT_CRASHREPORT_H

#include "llvm/ADT/StringRef.h"

namespace dtlto {

/// Returns a line that says where users report a crash: the address with which
/// the build was configured, never LLVM's.
const char *bugReportLine();

/// Makes crash reports begin with bugReportLine() and \p Note, which is empty
/// or consists of whole lines. A crash ends the process within 8 s, whatever
/// LLVM's handlers wait for. Call it after LLVM's handlers are installed.
void installCrashReport(llvm::StringRef Note);

/// Call this after functions of a plugin that may have installed a handler of
/// SIGABRT, as run-time libraries do. That handler gets the same limit of time,
/// and runs after the report's first lines. Handlers of other signals are left
/// alone: run-time libraries handle SIGSEGV without a crash. Returns whether
/// there was such a handler. Thread-safe.
bool limitAbortHandler();

/// Never returns if a crash is being reported on any thread. Call this before
/// steps that would make the process look successful.
void waitIfCrashing();

/// Also ends the process within 2 s of SIGINT, SIGTERM, SIGHUP and the like.
/// For programs whose handlers of these signals only clean up.
void limitInterrupts();

/// Ends the process by SIGALRM after \p Seconds, unless it ends earlier. A
/// later call doesn't postpone the end. Async-signal-safe.
void endWithin(unsigned Seconds);

} // namespace dtlto

#endif // DTLTO_SUPPORT_CRASHREPORT_H
