//===- IndexShard.h - The summary index of one backend compile --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A backend compile on another machine reads the decisions of the thin link
// from an index shard: the part of the combined index about its module and its
// imports. LLVM writes shards with the linker's names of modules; a worker
// knows the modules by portable names (ModuleNames.h).
//
// The names are in one block of the shard (MODULE_STRTAB; see LLVM's "Bitcode
// File Format" and IndexBitcodeWriter::writeModStrings). Everything else refers
// to modules by number. So ShardNames.h replaces this block and copies the rest
// word by word, which is exact for every kind of summary.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_INDEXSHARD_H
#define DTLTO_BITCODE_INDEXSHARD_H

#include "Bitcode/ShardNames.h"
#include "LLVM/ThinBackend.h"

namespace dtlto {

/// Clears dso_local in all summaries of a symbol unless all of them have it. If
/// dso_local wasn't propagated (as with --lto-O0), LLVM treats a symbol as
/// local to the link only if all of its summaries have the flag, but a shard
/// may lack some of them. Among readers of the whole index, only
/// emitIndexFiles() is affected. Call it before the first shard is written,
/// while no other thread uses the index.
void clearPartialDSOLocal(llvm::ModuleSummaryIndex &Index);

/// Writes the shard of \p ModulePath with the linker's names of modules. It
/// holds what LLD's --thinlto-index-only writes, plus the summaries needed for
/// the bytes of in-process ThinLTO (see DSOLocalStandIns). Call it after
/// clearPartialDSOLocal(), on any thread. If \p Modules is not null, it
/// receives the correct table of modules: LLVM 19's writer sign-extends
/// non-ASCII characters, which damages the rest of its table.
ShardBytes writeShard(const llvm::ModuleSummaryIndex &Index,
                      const DefinedSummaries &Defined,
                      llvm::StringRef ModulePath,
                      const llvm::FunctionImporter::ImportMapTy &ImportList,
                      std::vector<ShardModule> *Modules = nullptr);

/// Writes the files of --thinlto-emit-index-files: `<path>.thinlto.bc` and, if
/// \p ImportsFile, `<path>.imports`. Any thread.
llvm::Error
emitIndexFiles(const llvm::ModuleSummaryIndex &Index,
               const DefinedSummaries &Defined, llvm::StringRef ModulePath,
               const llvm::FunctionImporter::ImportMapTy &ImportList,
               bool ImportsFile);

} // namespace dtlto

#endif // DTLTO_BITCODE_INDEXSHARD_H
