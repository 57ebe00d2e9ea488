//===- Version.h - The supported versions of LLVM ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only the files of this folder and ConfigFields.h depend on LLVM's version. In
// ConfigFields.h, each field has its versions. "=" repeats the entry to its
// left.
//
//                      19          20          21          22    23
//   ThinBackend          a function  a struct    =           =     + names (1)
//   ThinBackendProc      in LTO.cpp  in LTO.h    + setup()   =     =
//   thinBackend()                    + a flag(2) =           =     + names (1)
//   computeLTOCacheKey   2 sets,     2 DenseSets =           =     =
//     and its key        SmallString std::string =           =     =
//   FileCache            a function  a struct    =           =     =
//   CachedFileStream     destructor  =           commit()    =     =
//   ImportMapTy          a map       a list      =           =     =
//   EmitImportsFiles     error_code  Error       =           =     =
//   lists in summaries   std::vector SmallVector =           =     =
//   SummaryList          a field     =           =           read  =
//   GVFlags              7 of them   =           =           =     8 of them
//   getGUID()            by name     =           renamed     =     stored (3)
//   CFI's functions      names       =           by GUID     =     renamed
//   triples              texts       =           Triple      =     =
//   a module's assembly  a text      =           =           =     pieces
//   LLD distributes by   .           .           a backend   =     a class (4)
//   code generation data .           not used    not used    =     =
//
// (1) BitcodeLibFuncs. (2) CodeGenOnly. (3) Also in bitcode, as GUIDLIST.
// (4) lto::DTLTO, with --thinlto-distributor in each of them.
//
// cmake/DtltoLLVM.cmake lists the versions that builds may use.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_VERSION_H
#define DTLTO_LLVM_VERSION_H

#include "Support/Failure.h"
#include "llvm-c/Core.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/VersionTuple.h"
#include <utility>

#if LLVM_VERSION_MAJOR < 19 || LLVM_VERSION_MAJOR > 23
#error "dtlto does not support this version of LLVM"
#endif

namespace dtlto {

/// Like make_scope_exit(), which LLVM 22 deprecates.
template <class Fn> auto onScopeExit(Fn &&Call) {
#if LLVM_VERSION_MAJOR >= 22
  return llvm::scope_exit(std::forward<Fn>(Call));
#else
  return llvm::make_scope_exit(std::forward<Fn>(Call));
#endif
}

/// Returns a reader of \p Bytes, which contain no addresses.
inline llvm::DataExtractor dataExtractor(llvm::StringRef Bytes,
                                         bool IsLittleEndian) {
#if LLVM_VERSION_MAJOR >= 23
  return {Bytes, IsLittleEndian};
#else
  return {Bytes, IsLittleEndian, /*AddressSize=*/0};
#endif
}

/// Fails unless LLVM has the version of the build. A shared library may have
/// been replaced by an ABI-compatible one that makes other objects.
inline llvm::Error checkLLVM() {
  unsigned Major, Minor, Patch;
  LLVMGetVersion(&Major, &Minor, &Patch);
  llvm::VersionTuple Running(Major, Minor, Patch);
  if (Running == llvm::VersionTuple(LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR,
                                    LLVM_VERSION_PATCH))
    return llvm::Error::success();
  return failure("built with LLVM " LLVM_VERSION_STRING
                 ", but the installed libLLVM is " +
                 Running.getAsString() + ": rebuild dtlto");
}

/// Returns the registered option \p Name, or null.
inline llvm::cl::Option *findOption(llvm::StringRef Name) {
  auto &Options = llvm::cl::getRegisteredOptions();
  auto It = Options.find(Name);
  return It == Options.end() ? nullptr : It->second;
}

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

#endif // DTLTO_LLVM_VERSION_H
