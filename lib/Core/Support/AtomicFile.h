//===- AtomicFile.h - Files that are whole or not there ---------*- C++ -*-===//
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

/// Makes a new file beside \p Path, which \p Write fills and which then takes
/// the place of \p Path. Fails, with a reason that doesn't name the file, also
/// where the disk is full or where something is that is no regular file, and
/// then leaves \p Path as it was. llvm::writeToOutput() doesn't look whether
/// writing worked, and its stream then ends the process. Any thread.
llvm::Error replaceFile(llvm::StringRef Path,
                        llvm::function_ref<void(llvm::raw_ostream &)> Write);

/// Fails if replaceFile() can't make its new file.
llvm::Error checkReplaceable(llvm::StringRef Path);

} // namespace dtlto

#endif // DTLTO_SUPPORT_ATOMICFILE_H
