//===- ModulePart.h - Reduces a module to one part --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_COMPILE_MODULEPART_H
#define DTLTO_COMPILE_MODULEPART_H

#include "Compile/Partition.h"
#include "Config/CompileSpec.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/ModuleSummaryIndex.h"

namespace llvm::lto {
struct Config;
}

namespace dtlto {

/// Reduces \p M to part \p Part of \p P. Definitions of other parts become
/// declarations, or copies for the optimizer. Locals that another part refers
/// to get a hidden symbol: their name followed by \p Suffix, as in ThinLTO.
/// \p Suffix must be unique to this module in the link. If \p MayBePreempted,
/// declarations and copies with default visibility are not dso_local. \p P must
/// not be used afterwards.
void keepPart(llvm::Module &M, const Partition &P, unsigned Part,
              llvm::StringRef Suffix, bool MayBePreempted);

/// Reduces \p M, after ThinLTO's importer has run, to the part \p Number.
/// \p Path is the module's name in \p Index.
void keepPart(llvm::Module &M, PartNumber Number, const llvm::lto::Config &Conf,
              const llvm::ModuleSummaryIndex &Index, llvm::StringRef Path);

} // namespace dtlto

#endif // DTLTO_COMPILE_MODULEPART_H
