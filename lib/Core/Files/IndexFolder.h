//===- IndexFolder.h - Jobs from --thinlto-index-only -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_FILES_INDEXFOLDER_H
#define DTLTO_FILES_INDEXFOLDER_H

#include "Files/JobList.h"

namespace dtlto {

/// LLD's --thinlto-prefix-replace=OLD;NEW[;OBJECT]. For a module OLD/x, the
/// shard is NEW/x.thinlto.bc, and the object is OBJECT/x or NEW/x.
struct PrefixReplace {
  std::string Old, New, Object;
  bool IsSet = false;
};

/// Parses \p Value. Fails with a reason.
llvm::Expected<PrefixReplace> parsePrefixReplace(llvm::StringRef Value);

/// Returns the backend compiles of a link that used --thinlto-index-only and
/// --thinlto-emit-imports-files, sorted by name. There is one for each
/// FILE.thinlto.bc below \p Folder, with FILE.imports next to it. \p Args are
/// the compiler and its common arguments. Without \p Prefix, the object is FILE
/// with its extension replaced by .native.o. Fails with a one-line reason that
/// names the file.
llvm::Expected<JobList> readIndexFolder(llvm::StringRef Folder,
                                        const PrefixReplace &Prefix,
                                        std::vector<std::string> Args);

} // namespace dtlto

#endif // DTLTO_FILES_INDEXFOLDER_H
