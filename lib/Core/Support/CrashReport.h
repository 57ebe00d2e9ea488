//===- CrashReport.h - What a crash says, and how it ends -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's handler of a crash prints the stack, for which it allocates memory and
// starts programs. With a damaged heap it waits forever for malloc()'s lock.
// Its handler of an interrupt removes files, and waits forever for a file
// server that doesn't answer. The handlers here run first, and bound both.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_CRASHREPORT_H
#define DTLTO_SUPPORT_CRASHREPORT_H

#include "llvm/ADT/StringRef.h"

namespace dtlto {

/// Where users report a crash, as one line: the address that the build was
/// configured with, never LLVM's.
const char *bugReportLine();

/// From now on, a crash begins its report with bugReportLine() and \p Note,
/// which is empty or lines with their ends. The process ends within 8 s,
/// whatever LLVM's handlers wait for. After LLVM's handlers are installed.
void installCrashReport(llvm::StringRef Note);

/// From now on, the process also ends within 2 s of SIGINT, SIGTERM, SIGHUP and
/// the like. For programs whose handlers of these only clean up.
void limitInterrupts();

/// Ends the process by SIGALRM after \p Seconds, unless it has ended by then.
/// Signal handlers may call it.
void endWithin(unsigned Seconds);

} // namespace dtlto

#endif // DTLTO_SUPPORT_CRASHREPORT_H
