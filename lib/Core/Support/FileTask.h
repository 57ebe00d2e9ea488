//===- FileTask.h - Access to files that may not answer ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linker uses files of its own: the cost history, optimized modules,
// reports, logs, saved jobs. If these are on a file server that doesn't answer,
// open() and similar calls never return. So each access is a task on a thread
// that can be abandoned, and a link waits for it no longer than the limits
// below. The process can still end, by itself or by a signal.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_FILETASK_H
#define DTLTO_SUPPORT_FILETASK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <functional>

namespace dtlto {

enum class FileAccess {
  Done,     // the task has returned
  TimedOut, // it has not; its thread is abandoned
  Skipped   // not started: an earlier task for the same path timed out
};

/// Calls \p Task on a new thread and waits for it. If no thread can be started,
/// calls \p Task on this one.
///
/// \p Path is the file or folder that \p Task uses. \p Bytes is how much it
/// reads or writes, if that is a lot; it extends the time limit.
///
/// An abandoned task may continue at any later time. So \p Task must own or
/// share everything that it uses, and callers may use what it changes only if
/// the result is Done. Any thread.
FileAccess runFileTask(llvm::StringRef Path, std::function<void()> Task,
                       uint64_t Bytes = 0);

/// The reason to show after TimedOut or Skipped.
inline constexpr char NoAnswer[] =
    "its folder does not answer (is a file server down?)";

/// Like runFileTask(), whose result it stores in \p Access unless that is null.
/// Returns the error of \p Task, or NoAnswer.
llvm::Error tryFileTask(llvm::StringRef Path, std::function<llvm::Error()> Task,
                        uint64_t Bytes = 0, FileAccess *Access = nullptr);

/// The time limit for the first task, and for all others once a task has timed
/// out. A link should lose about a second in total. Tests change these.
struct FileTaskLimits {
  std::chrono::milliseconds First{1000}, Next{250};
};
extern FileTaskLimits FileLimits;

/// Forgets which paths timed out. For tests.
void forgetFileTasks();

} // namespace dtlto

#endif // DTLTO_SUPPORT_FILETASK_H
