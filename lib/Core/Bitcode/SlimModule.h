//===- SlimModule.h - A module with only what jobs import -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job reads little of a module that it imports from. LLVM's importer opens
// the module lazily: it reads everything outside of function bodies, but only
// those bodies that are imported. The rest need not be sent.
//
// A slim file is cut from the module's bitstream. Parsing the module into IR
// and writing it again would reorder types, constants and metadata, and objects
// may depend on that order. What an importer reads stays the same, record by
// record and in the same order. So the importer builds the same module in
// memory as from the whole file:
//
//   - Bodies of functions that aren't imported become `unreachable`. Such a
//     function stays a definition, so every tool can read the file.
//   - A function without references from anything kept becomes a declaration
//     without a name, so that all others keep their numbers. Importers find
//     functions by name or by reference, so they see no difference. Variables
//     stay, since IRLinker::run() moves those whose name is in both modules.
//   - For the job, a variable that isn't imported is a declaration, whatever
//     its value. So strings, numbers and aggregates that only such variables
//     use become null. Unreferenced variables lose their attachments, except
//     for debug info, since reading debug info has effects.
//   - Metadata is read on demand. Strings that no used node refers to become
//     empty, and so do unused nodes of debug info (MetadataRefs.h).
//   - Attribute lists, the names of LLVM's own metadata kinds, and operand
//     bundle tags stay if something kept uses them. All types stay: IRMover
//     looks at all types that the reader created.
//   - Of the summary, the version and the flags stay, by which LLVM detects a
//     ThinLTO module. The worker reads the summaries from the shard.
//   - The list of GUIDs, since LLVM 23, stays unchanged. Imports are identified
//     by GUID. If a function was renamed, for instance by splitting a module,
//     its GUID doesn't follow from its name.
//   - The module's hash, the file's symbol table, and other modules are
//     dropped.
//
// New records get abbreviations that fit them (RecordPacker.h).
//
// The code knows the records that LLVM 19 to 23 write; BitcodeReader.cpp
// defines them. It refuses a module with any other record, and the module is
// sent whole.
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

/// A module reduced to what jobs import.
struct SlimBitcode {
  llvm::SmallVector<char, 0> Bytes; // a bitcode file
  /// False if the module certainly has no assembly.
  bool MayHaveAssembly = true;
};

/// Returns a bitcode file that equals \p Module for an importer of a subset of
/// \p Imported. Fails with a one-line reason if that is uncertain or the module
/// is malformed. Any thread.
llvm::Expected<SlimBitcode> slimModule(const llvm::BitcodeModule &Module,
                                       const GUIDSet &Imported);

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMMODULE_H
