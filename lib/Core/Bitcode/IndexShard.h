//===- IndexShard.h - The summary index of one backend compile --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backend compile on another machine reads the decisions of the thin link
// from an index shard: the part of the combined index about its module and its
// imports. LLVM writes shards with the modules' names in the linker; a worker
// has the modules under portable names (ModuleNames.h).
//
// The names are in one block of the shard (MODULE_STRTAB, see LLVM's "Bitcode
// File Format" and IndexBitcodeWriter::writeModStrings), and everything else
// refers to modules by number. So ShardNames.h replaces this block, and copies
// the rest word by word, which is exact for every kind of summary.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_INDEXSHARD_H
#define DTLTO_BITCODE_INDEXSHARD_H

#include "Bitcode/ShardNames.h"
#include "LLVM/ThinBackend.h"

namespace dtlto {

/// Clears dso_local in all summaries of a symbol unless all have it. If
/// dso_local wasn't propagated (as with --lto-O0), LLVM takes a symbol as local
/// to the link only if all of its summaries have the flag, but a shard may lack
/// some of them. For readers of the whole index, only emitIndexFiles()' results
/// change. Call it before the first shard, and while no other thread uses the
/// index.
void settleDSOLocal(llvm::ModuleSummaryIndex &Index);

/// Writes the shard of \p ModulePath with the linker's names: what LLD's
/// --thinlto-index-only writes, and the summaries that it lacks for the bytes
/// of in-process ThinLTO (see DSOLocalStandIns). After settleDSOLocal(). Any
/// thread. If not null, \p Modules receives the right table of modules: LLVM
/// 19's writer sign-extends characters outside of ASCII, which damages the rest
/// of the table that it writes.
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
