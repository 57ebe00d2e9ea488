//===- AtomicFile.h - Replaces files atomically -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_ATOMICFILE_H
#define DTLTO_SUPPORT_ATOMICFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
}

namespace dtlto {

/// Creates the file \p Name, which must not exist, and opens it as \p FD. A
/// signal that ends the process removes it, from its first moment.
std::error_code createRemovedOnSignal(llvm::StringRef Name, int &FD,
                                      unsigned Mode = 0666);

/// Creates a new file next to \p Path, fills it by \p Write, and renames it to
/// \p Path. Fails, for instance, if the disk is full or \p Path exists and
/// isn't a regular file. The reason doesn't name the file, and \p Path is
/// unchanged then. llvm::writeToOutput() doesn't check for write errors, so its
/// stream ends the process. Any thread.
llvm::Error replaceFile(llvm::StringRef Path,
                        llvm::function_ref<void(llvm::raw_ostream &)> Write);

/// Fails if replaceFile() couldn't create its new file.
llvm::Error checkReplaceable(llvm::StringRef Path);

/// A kind of small text file that several links read and update at once.
///
/// A writer holds a lock on `<file>.lock`, reads the file again, and replaces
/// it. So readers need no lock and see a complete file or none. The lock is
/// flock(), which ends with its process. On file systems without such locks,
/// writers do without: the last of two concurrent writers wins.
struct FileKind {
  llvm::StringLiteral Content; // for messages: "a cost history"
  llvm::StringLiteral Marker;  // begins each such file
  llvm::StringLiteral Other;   // why a file without it is refused
  uint64_t MaxSize;
};

/// Returns the text of the file \p Path; nullopt if there is none. Fails with a
/// reason, for instance if the file has more than \p MaxSize bytes, which is
/// too large for \p Content. Waits for nothing but the disk.
llvm::Expected<std::optional<std::string>>
readTextFile(llvm::StringRef Path, uint64_t MaxSize, llvm::StringRef Content);

/// Replaces the text of the file \p Path by what \p Change makes of it, under
/// its lock. The text is empty if there is no file, or a failed file system has
/// filled it with zeros. Creates missing folders. Fails, and changes nothing,
/// if another process keeps the lock for longer than \p Wait, or if \p Path is
/// a file of another kind, which the user may want to keep.
llvm::Error updateFile(llvm::StringRef Path, const FileKind &Kind,
                       std::chrono::milliseconds Wait,
                       llvm::function_ref<std::string(llvm::StringRef)> Change);

} // namespace dtlto

#endif // DTLTO_SUPPORT_ATOMICFILE_H
