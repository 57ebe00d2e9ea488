//===- ConfigCompat.h - Fields of a configuration ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_CONFIGCOMPAT_H
#define DTLTO_LLVM_CONFIGCOMPAT_H

#include "LLVM/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace dtlto {

/// Whether -mllvm \p Name is a code generation flag of this LLVM version but
/// not of all versions. Its effect is in lto::Config.
inline bool isCodeGenFlagOfThisVersion(llvm::StringRef Name) {
  static constexpr llvm::StringLiteral Flags[] = {
#if LLVM_VERSION_MAJOR >= 21
    "partition-static-data-sections",
    "implicit-mapsyms",
#endif
#if LLVM_VERSION_MAJOR >= 22
    "vector-library",
    "call-graph-section",
    "gsframe",
#endif
#if LLVM_VERSION_MAJOR >= 23
    "reloc-section-sym",
    "large-eh-encoding",
    "W", // no-warn
#endif
    ""
  };
  return !Name.empty() && llvm::is_contained(Flags, Name);
}

/// Whether LLVM takes the RISC-V ABI from the module.
inline constexpr bool TakesRISCVABIFromModule = LLVM_VERSION_MAJOR >= 21;

/// Whether -mllvm \p Name needs more of the index than a shard has. Before LLVM
/// 21, memprof's cloning finds imported static functions by their original
/// names, which shards lack.
inline bool readsWholeIndex(llvm::StringRef Name) {
  return LLVM_VERSION_MAJOR < 21 &&
         Name == "enable-memprof-context-disambiguation";
}

} // namespace dtlto

#endif // DTLTO_LLVM_CONFIGCOMPAT_H
