//===- SlimModule.h - A module with only what jobs import -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job reads little of a module that it imports from: LLVM's importer opens it
// lazily, reads what stands outside of function bodies, and of the bodies only
// those that are imported. The rest need not travel.
//
// Such a file is cut from the module's bitstream. Nothing is parsed into IR and
// written anew, since that would put types, constants and metadata into another
// order, on which objects may depend. What an importer reads stays as it is,
// record by record and in the same order, so that it builds the same module in
// memory as from the whole file, as far as it looks:
//
//   - Bodies of functions that aren't imported become `unreachable`: such a
//     function stays a definition, and the file a module that every tool reads.
//   - A function that nothing kept refers to becomes a declaration without a
//     name: all others keep their numbers. An importer finds functions by name
//     or by reference, so it doesn't see the difference. Variables stay: those
//     that it finds by name in both modules, it moves (IRLinker::run()).
//   - Metadata strings that no node in use leads to become empty. Nodes are
//     read on demand, so an importer never asks for those.
//   - Of the summary, version and flags stay: the block is how LLVM knows a
//     module of ThinLTO. The worker has the summaries in the shard.
//   - The module's hash, the file's symbol table, and other modules are gone.
//
// Records are those of the writers of LLVM 19 to 22, BitcodeReader.cpp says what
// they mean. What isn't known, of a later LLVM, is refused, so that the module
// travels whole.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_SLIMMODULE_H
#define DTLTO_CORE_SLIMMODULE_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/GlobalValue.h"

namespace dtlto {

using GUIDSet = llvm::DenseSet<llvm::GlobalValue::GUID>;

/// Returns a bitcode file that is the same as \p Module's for an importer of no
/// more than \p Imported. Fails, with one line that says why, where that is not
/// certain, or if the module is malformed. Any thread.
llvm::Expected<llvm::SmallVector<char, 0>>
slimModule(const llvm::BitcodeModule &Module, const GUIDSet &Imported);

} // namespace dtlto

#endif // DTLTO_CORE_SLIMMODULE_H
