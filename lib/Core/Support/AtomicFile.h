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

namespace llvm {
class raw_ostream;
}

namespace dtlto {

/// Creates a new file next to \p Path, fills it by \p Write, and renames it to
/// \p Path. Fails, for instance, if the disk is full or \p Path exists and
/// isn't a regular file. The reason doesn't name the file, and \p Path is
/// unchanged then. llvm::writeToOutput() doesn't check for write errors, so its
/// stream ends the process. Any thread.
llvm::Error replaceFile(llvm::StringRef Path,
                        llvm::function_ref<void(llvm::raw_ostream &)> Write);

/// Fails if replaceFile() couldn't create its new file.
llvm::Error checkReplaceable(llvm::StringRef Path);

} // namespace dtlto

#endif // DTLTO_SUPPORT_ATOMICFILE_H
