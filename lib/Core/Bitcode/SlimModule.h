//===- SlimModule.h - A module with only what jobs import -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job reads little of a module that it imports from. LLVM's importer opens
// the module lazily: it reads everything outside of function bodies, and of the
// bodies only those that are imported. The rest need not travel.
//
// A slim file is cut from the module's bitstream. Parsing the module into IR
// and writing it again would put types, constants and metadata into another
// order, on which objects may depend. What an importer reads stays as it is,
// record by record and in the same order, so that the importer builds the same
// module in memory as from the whole file:
//
//   - Bodies of functions that aren't imported become `unreachable`. Such a
//     function stays a definition, and every tool can read the file.
//   - A function to which nothing kept refers becomes a declaration without a
//     name: all others keep their numbers. An importer finds functions by name
//     or by reference, so it doesn't see the difference. Variables stay, since
//     it moves those that it finds by name in both modules (IRLinker::run()).
//   - For the job, a variable that isn't imported is a declaration, whatever
//   its
//     value. So texts, numbers and aggregates that only such variables use
//     become null. Unreferenced variables lose their attachments, except for
//     debug info, since reading that has effects.
//   - Metadata is read on demand. Strings to which no used node leads become
//     empty, and so do unused nodes of debug info (MetadataRefs.h).
//   - Lists of attributes, names of LLVM's own kinds of metadata, and operand
//     bundles' tags stay if something kept uses them. All types stay: IRMover
//     looks at all that the reader made.
//   - Of the summary, version and flags stay, by which LLVM detects a module of
//     ThinLTO. The worker has the summaries in the shard.
//   - The list of GUIDs, since LLVM 23, stays as it is. Imports are identified
//   by
//     GUID. If a function was renamed, for instance by splitting a module, its
//     GUID doesn't follow from its name.
//   - The module's hash, the file's symbol table, and other modules are
//   dropped.
//
// New records get abbreviations that fit them (RecordPacker.h).
//
// The code knows the records that the writers of LLVM 19 to 23 write;
// BitcodeReader.cpp defines them. It refuses a module with any other record,
// and the module travels whole.
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
  /// False if the module certainly has no assembly.
  bool MayHaveAssembly = true;
};

/// Returns a bitcode file that is the same as \p Module's for an importer of no
/// more than \p Imported. Fails with one line if that is uncertain, or if the
/// module is malformed. Any thread.
llvm::Expected<SlimBitcode> slimModule(const llvm::BitcodeModule &Module,
                                       const GUIDSet &Imported);

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMMODULE_H
