//===- System.h - What differs between systems ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that LLVM's Support library lacks, or has in an unsuitable form.
// SystemPosix.cpp and SystemWindows.cpp implement them. Any thread.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_SYSTEM_H
#define DTLTO_SUPPORT_SYSTEM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace dtlto {

/// Returns a random number that other machines can't predict.
uint64_t randomSeed();

/// Raises the limit of open files. Shells set a low one for programs that use
/// select(); a large farm needs a connection for each job.
void raiseDescriptorLimit();

/// Returns the width of the terminal at standard error in columns; 0: unknown.
unsigned terminalWidth();

/// Whether another live process that has called this has the same terminal at
/// standard error. False on systems without such locks.
bool isTerminalShared();

/// Returns the memory of the machine in bytes, or the limit of `ulimit -v` if
/// that is less. 1 GiB if unknown.
uint64_t physicalMemory();

/// Removes the pages in \p Ranges from this process's memory if they are of
/// files mapped read-only; the next access reads them from the file again.
/// \p Ranges must be sorted by address. Only a hint; Linux only.
void dropFilePages(llvm::ArrayRef<llvm::StringRef> Ranges);

/// Returns memory that malloc() keeps after it was freed to the system, for all
/// threads. Takes about 30 ms per 100 MB. Does nothing without glibc.
void returnFreeMemory();

/// Removes the folder \p Path and its contents as far as possible.
void removeFolder(const std::string &Path);

/// Returns what \p Write writes to a private temporary file.
llvm::Expected<std::string> captureFileOutput(
    llvm::function_ref<llvm::Error(llvm::raw_fd_ostream &)> Write);

/// Opens the file \p Path for writing from its beginning; returns its
/// descriptor. Fails if it is a pipe without a reader.
int openForLog(const std::string &Path, std::error_code &Why);

/// Calls \p Write with SIGPIPE suppressed: writing to a pipe without a reader
/// fails with EPIPE.
void withoutPipeSignal(llvm::function_ref<void()> Write);

/// Holds a lock until its destruction.
class LockedFile {
public:
  explicit LockedFile(int FD) : FD(FD) {}
  ~LockedFile();
  LockedFile(const LockedFile &) = delete;

private:
  int FD;
};

/// Locks the file \p Path, which is created if needed. Waits up to \p Limit for
/// other processes. On a file system without locks, succeeds without locking.
llvm::Expected<std::unique_ptr<LockedFile>>
lockFile(const std::string &Path, std::chrono::milliseconds Limit);

/// Loads the shared library \p Path for the rest of the process. Returns null
/// on failure, with the system's reason, if any, in \p Why.
void *openLibrary(const std::string &Path, std::string &Why);
/// Returns the symbol \p Name of \p Library, from openLibrary(), or null.
void *findSymbol(void *Library, const char *Name);

/// Calls \p Work on a new detached thread. Returns false, without calling
/// \p Work, if no thread can be started. std::thread would end a process that
/// is built without exceptions.
bool startThread(std::function<void()> Work);
/// The reason and advice to show if startThread() fails.
inline constexpr char NoThread[] =
    "no thread can be started; raise the limit of processes (ulimit -u, or the "
    "container's)";

/// Whether standard output or error is a pipe without a reader.
bool isOutputBroken();

} // namespace dtlto

#endif // DTLTO_SUPPORT_SYSTEM_H
