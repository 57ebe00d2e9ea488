//===- ModulePart.h - A module becomes one of its parts ---------*- C++ -*-===//
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

/// Reduces \p M to part \p Part of \p P. Other parts' definitions become
/// declarations, or copies that the optimizer may look at. Locals that another
/// part refers to get a hidden symbol: their name with \p Suffix at its end, as
/// ThinLTO's own have it. In the whole link, it has to be this module's. If
/// \p MayBePreempted, declarations and copies with default visibility are not
/// dso_local. \p P must not be used afterwards.
void keepPart(llvm::Module &M, const Partition &P, unsigned Part,
              llvm::StringRef Suffix, bool MayBePreempted);

/// The same for the part \p Number of \p M as ThinLTO's importer leaves it. \p
/// Path is what \p Index calls the module.
void keepPart(llvm::Module &M, PartNumber Number, const llvm::lto::Config &Conf,
              const llvm::ModuleSummaryIndex &Index, llvm::StringRef Path);

} // namespace dtlto

#endif // DTLTO_COMPILE_MODULEPART_H
