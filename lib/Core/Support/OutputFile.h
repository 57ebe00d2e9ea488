//===- OutputFile.h - Files that are whole or not there ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_OUTPUTFILE_H
#define DTLTO_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// Writes \p Bytes to a new file beside \p Path that then takes its place.
/// Fails with a FileError, also where the disk is full, and then leaves no file
/// that is cut off; llvm::writeToOutput() doesn't look whether writing worked,
/// and its stream then ends the process. Any thread.
llvm::Error writeWholeFile(llvm::StringRef Path, llvm::StringRef Bytes);

} // namespace dtlto

#endif // DTLTO_SUPPORT_OUTPUTFILE_H
