//===- IndexFolder.h - What --thinlto-index-only left -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_FILES_INDEXFOLDER_H
#define DTLTO_FILES_INDEXFOLDER_H

#include "Files/JobList.h"

namespace dtlto {

/// LLD's --thinlto-prefix-replace=OLD;NEW[;OBJECT]. A module OLD/x has its
/// shard in NEW/x.thinlto.bc and its object in OBJECT/x, or NEW/x.
struct PrefixReplace {
  std::string Old, New, Object;
  bool IsSet = false;
};

/// Reads \p Value. Fails with a reason.
llvm::Expected<PrefixReplace> parsePrefixReplace(llvm::StringRef Value);

/// The backend compiles that a link with --thinlto-index-only and
/// --thinlto-emit-imports-files has left below \p Folder, in the order of their
/// names: each FILE.thinlto.bc with FILE.imports beside it. \p Args are the
/// compiler and the arguments of all. Without \p Prefix, the object of
/// FILE is FILE with .native.o in the place of its extension. Fails, with one
/// line that names the file.
llvm::Expected<JobList> readIndexFolder(llvm::StringRef Folder,
                                        const PrefixReplace &Prefix,
                                        std::vector<std::string> Args);

} // namespace dtlto

#endif // DTLTO_FILES_INDEXFOLDER_H
