//===- IndexShard.h - The summary index of one backend compile --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backend compile on another machine reads what the thin link decided from an
// index shard: the part of the combined index that is about its module and
// about what is imported into it. LLVM writes shards with the modules' names in
// the linker; a worker has the modules under names that travel (ModuleNames.h).
//
// The names stand in one block of the shard (MODULE_STRTAB, see LLVM's "Bitcode
// File Format" and IndexBitcodeWriter::writeModStrings), and everything else
// refers to modules by number. So they are replaced in the bitstream: the rest
// is copied word by word, which is exact for every kind of summary.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_INDEXSHARD_H
#define DTLTO_BITCODE_INDEXSHARD_H

#include "Bitcode/ShardNames.h"
#include "LLVM/ThinBackend.h"

namespace dtlto {

/// Settles what shards can't tell. Where dso_local wasn't propagated (as with
/// --lto-O0), LLVM takes a symbol as local to the link only if all of its
/// summaries say so; a shard may have a part of them. Clearing the flag in all
/// where one hasn't got it says the same there, and changes nothing for who has
/// the whole index, but for what emitIndexFiles() writes. Before the first
/// shard, and while nobody reads the index.
void settleDSOLocal(llvm::ModuleSummaryIndex &Index);

/// Writes the shard of \p ModulePath with the linker's names: what LLD's
/// --thinlto-index-only writes, and what it lacks for the bytes of in-process
/// ThinLTO (see DSOLocalStandIns). \p Index must be settled. Any thread. If not
/// null, \p Modules receives what the table of modules is meant to hold: LLVM
/// 19's writer sign-extends characters outside of ASCII, which damages the rest
/// of that table.
ShardBytes writeShard(const llvm::ModuleSummaryIndex &Index,
                      const DefinedSummaries &Defined,
                      llvm::StringRef ModulePath,
                      const llvm::FunctionImporter::ImportMapTy &ImportList,
                      std::vector<ShardModule> *Modules = nullptr);

/// Writes the files that --thinlto-emit-index-files asks for:
/// `<path>.thinlto.bc` and, if \p ImportsFile, `<path>.imports`. Any thread.
llvm::Error
emitIndexFiles(const llvm::ModuleSummaryIndex &Index,
               const DefinedSummaries &Defined, llvm::StringRef ModulePath,
               const llvm::FunctionImporter::ImportMapTy &ImportList,
               bool ImportsFile);

} // namespace dtlto

#endif // DTLTO_BITCODE_INDEXSHARD_H
