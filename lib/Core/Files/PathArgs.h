//===- PathArgs.h - Files that arguments name -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_FILES_PATHARGS_H
#define DTLTO_FILES_PATHARGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// Where \p Arg, one of a compiler's, names the file \p Path: as all of it,
/// after a `=`, or after `-o`. npos: it doesn't.
size_t findPath(llvm::StringRef Arg, llvm::StringRef Path);

/// \p Args with other names for the files of \p Paths.
std::vector<std::string> renamePaths(llvm::ArrayRef<std::string> Args,
                                     const llvm::StringMap<std::string> &Paths);

/// Fails, with the argument, if one of \p Args may name a file that isn't among
/// \p Paths: the compiler of another machine would look for its own.
llvm::Error checkPortable(llvm::ArrayRef<std::string> Args,
                          const llvm::StringMap<std::string> &Paths);

} // namespace dtlto

#endif // DTLTO_FILES_PATHARGS_H
