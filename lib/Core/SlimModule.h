//===- SlimModule.h - A module with only the bodies that travel -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job reads little of a module that it imports from: LLVM's importer opens
// it lazily, reads all that stands outside of function bodies, and of the
// bodies only those that are imported. The others need not travel.
//
// Such a file is cut from the module's bitstream. Nothing is parsed into IR and
// written anew, since that would put types, constants and metadata into another
// order, on which identical objects may depend. What an importer reads stays as
// it is, record by record and in the same order, so that it builds the same
// module in memory as from the whole file. What it never looks at is left out:
//
//   - the bodies of functions that aren't imported: each becomes a block that
//     is `unreachable`, so that the function stays a definition and the file a
//     module that every tool can read;
//   - the summary (the worker has the shard), but for its version and flags:
//     the block is how LLVM knows a module of ThinLTO;
//   - the module's hash, the symbol table of the file, and other modules in it.
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
