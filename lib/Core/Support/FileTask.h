//===- FileTask.h - Access to files that may not answer ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linker has files of its own: the cost history, optimised modules that it
// keeps, reports, logs, saved jobs. If they are on a file server that doesn't
// answer, open() and its kin never return. So all access to them is a task on a
// thread that can be abandoned, and no link waits longer for them than the
// limits below. The process can still end, by itself or by a signal.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_FILETASK_H
#define DTLTO_SUPPORT_FILETASK_H

#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <functional>

namespace dtlto {

enum class FileAccess {
  Done,     // the task has returned
  TimedOut, // it hasn't, and its thread is abandoned
  Skipped   // it wasn't started: an earlier task for the same path timed out
};

/// Calls \p Task on a thread of its own and waits for it. Where the system has
/// no thread to spare, calls it on this one.
///
/// \p Path is the file or folder that \p Task uses. \p Bytes is how much it
/// reads or writes, if that is a lot: the limit grows with it.
///
/// An abandoned task may go on at any later time. So it has to own or share all
/// that it uses, and nothing else may use what it changes unless the result is
/// Done. Any thread.
FileAccess runFileTask(llvm::StringRef Path, std::function<void()> Task,
                       uint64_t Bytes = 0);

/// Why a file couldn't be used, after TimedOut or Skipped.
inline constexpr char NoAnswer[] =
    "its folder does not answer (is a file server down?)";

/// How long the first task may take, and, once one has timed out, all others: a
/// link should lose about a second in all. Tests change it.
struct FileTaskLimits {
  std::chrono::milliseconds First{1000}, Next{250};
};
extern FileTaskLimits FileLimits;

/// Forgets which paths didn't answer. For tests.
void forgetFileTasks();

} // namespace dtlto

#endif // DTLTO_SUPPORT_FILETASK_H
