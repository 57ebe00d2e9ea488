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
//   - A variable that isn't imported has a value, but any: to the job it is a
//     declaration. So texts, numbers and aggregates that only such variables
//     have become null, and what is attached to variables that nothing refers
//     to is gone, but for debug info, since reading that has effects.
//   - Metadata is read on demand. Strings that no node in use leads to become
//     empty, and so do nodes that nothing in use leads to, of debug info: an
//     importer never asks for those (MetadataRefs.h).
//   - Lists of attributes, names of LLVM's own kinds of metadata, and operand
//     bundles' tags are there as far as something kept uses them. Types stay,
//     also those that nothing has: IRMover looks at all that the reader made.
//   - Of the summary, version and flags stay: the block is how LLVM knows a
//     module of ThinLTO. The worker has the summaries in the shard.
//   - The list of GUIDs, which modules have since LLVM 23, stays as it is. What
//     is imported is known by GUID, and that of a function that was renamed, as
//     the splitting of modules does, can't be made from its name.
//   - The module's hash, the file's symbol table, and other modules are gone.
//
// What is written anew gets abbreviations made to measure, which a reader
// doesn't see (RecordPacker.h).
//
// Records are those of the writers of LLVM 19 to 23, BitcodeReader.cpp says
// what they mean. What isn't known, of a later LLVM, is refused, so that the
// module travels whole.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_SLIMMODULE_H
#define DTLTO_BITCODE_SLIMMODULE_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/GlobalValue.h"

namespace dtlto {

using GUIDSet = llvm::DenseSet<llvm::GlobalValue::GUID>;

/// A module with only what jobs import.
struct SlimBitcode {
  llvm::SmallVector<char, 0> Bytes; // a bitcode file
  /// False: there is no assembly in it. True: there may be.
  bool MayHaveAssembly = true;
};

/// Returns a bitcode file that is the same as \p Module's for an importer of no
/// more than \p Imported. Fails, with one line that says why, where that is not
/// certain, or if the module is malformed. Any thread.
llvm::Expected<SlimBitcode> slimModule(const llvm::BitcodeModule &Module,
                                       const GUIDSet &Imported);

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMMODULE_H
