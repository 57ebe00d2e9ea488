//===- System.h - What differs between systems ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What LLVM's Support library doesn't have, or has in another way than is
// wanted here: SystemPosix.cpp and SystemWindows.cpp. Any thread.
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
#include <optional>
#include <string>

namespace dtlto {

/// What nobody on another machine can know.
uint64_t randomSeed();

/// Allows for more open files. A connection for each job of a large farm is
/// more than what shells allow for the sake of programs that use select().
void raiseDescriptorLimit();

/// The columns of the terminal that is standard error; 0: not known.
unsigned terminalWidth();

/// Whether another process that has called this is alive and has the same
/// terminal as its standard error. False where the system has no such locks.
bool terminalIsShared();

/// The memory of the machine, and what a process may have of it, in bytes.
uint64_t physicalMemory();

/// Takes the pages in \p Ranges, which are sorted by address, out of this
/// process's memory, where they are a file's that is mapped to be read only:
/// who reads them gets them from the file again. A hint, for Linux.
void dropFilePages(llvm::ArrayRef<llvm::StringRef> Ranges);

/// Gives the system what malloc() keeps of memory that was freed, of all
/// threads. Takes some 30 ms for each 100 MB. Does nothing where the C
/// library isn't glibc.
void returnFreeMemory();

/// The bytes of the file at \p Path, or nothing if there is none. Fails if it
/// isn't a file, and waits for nobody. Of one that has more than \p MaxSize
/// bytes, \p MaxSize and one are read.
llvm::Expected<std::optional<std::string>>
readSmallFile(const std::string &Path, uint64_t MaxSize);

/// Removes the folder \p Path with all that is in it, as far as that can be.
void removeFolder(const std::string &Path);

/// Returns what \p Write writes to a file that is nobody else's, and is gone
/// then.
llvm::Expected<std::string>
writtenToFile(llvm::function_ref<llvm::Error(llvm::raw_fd_ostream &)> Write);

/// Opens the file \p Path to be written from its beginning, and returns its
/// descriptor. Fails if it is a pipe that nobody reads.
int openForLog(const std::string &Path, std::error_code &Why);

/// Calls \p Write, for which a pipe that nobody reads any more is an error
/// (EPIPE), and no signal.
void withoutPipeSignal(llvm::function_ref<void()> Write);

/// Holds a lock until it is destroyed.
class LockedFile {
public:
  explicit LockedFile(int FD) : FD(FD) {}
  ~LockedFile();
  LockedFile(const LockedFile &) = delete;

private:
  int FD;
};

/// Locks the file at \p Path, which is made if it isn't there; waits for others
/// up to \p Limit. A file system without locks has no others.
llvm::Expected<std::unique_ptr<LockedFile>>
lockFile(const std::string &Path, std::chrono::milliseconds Limit);

/// Loads the shared library \p Path for the rest of the process. Null if it
/// can't be, and \p Why, if the system says so.
void *openLibrary(const std::string &Path, std::string &Why);
/// What \p Library, of openLibrary(), exports as \p Name; or null.
void *findSymbol(void *Library, const char *Name);

/// Calls \p Work on a detached thread of its own. False: the system has no
/// thread to spare, and \p Work isn't called. std::thread would end a process
/// that is built without exceptions.
bool startThread(std::function<void()> Work);
/// What users can do about that.
inline constexpr char NoThread[] =
    "no thread can be started; raise the limit of processes (ulimit -u, or the "
    "container's)";

/// Whether standard output or error is a pipe that nobody reads.
bool isOutputBroken();

} // namespace dtlto

#endif // DTLTO_SUPPORT_SYSTEM_H
