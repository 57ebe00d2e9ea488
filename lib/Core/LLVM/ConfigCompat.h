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

/// Whether -mllvm \p Name is a code generation flag, in versions of LLVM that
/// have it as one: its effect is in lto::Config.
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

/// RISC-V's ABI is taken from the module.
inline constexpr bool TakesRISCVABIFromModule = LLVM_VERSION_MAJOR >= 21;

/// Whether what -mllvm \p Name does reads more of the index than a shard has:
/// before LLVM 21, memprof's cloning finds imported static functions by their
/// original names, which shards don't have.
inline bool readsWholeIndex(llvm::StringRef Name) {
  return LLVM_VERSION_MAJOR < 21 &&
         Name == "enable-memprof-context-disambiguation";
}

} // namespace dtlto

#endif // DTLTO_LLVM_CONFIGCOMPAT_H
