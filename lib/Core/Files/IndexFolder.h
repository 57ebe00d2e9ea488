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

/// Returns the backend compiles of a link that used --thinlto-index-only and
/// --thinlto-emit-imports-files, in the order of their names: each
/// FILE.thinlto.bc below \p Folder, with FILE.imports next to it. \p Args are
/// the compiler and its common arguments. Without \p Prefix, FILE's object has
/// the extension .native.o in place of FILE's. Fails with one line that names
/// the file.
llvm::Expected<JobList> readIndexFolder(llvm::StringRef Folder,
                                        const PrefixReplace &Prefix,
                                        std::vector<std::string> Args);

} // namespace dtlto

#endif // DTLTO_FILES_INDEXFOLDER_H
