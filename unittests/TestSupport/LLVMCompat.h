//===- LLVMCompat.h - What only tests need of LLVM's versions ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_LLVMCOMPAT_H
#define DTLTO_UNITTESTS_TESTSUPPORT_LLVMCOMPAT_H

#include "LLVM/Module.h"
#include "llvm/IR/ModuleSummaryIndex.h"
#include "llvm/Support/Caching.h"
#include <set>
#include <string>
#if LLVM_VERSION_MAJOR >= 23
#include "llvm/Transforms/Utils/AssignGUID.h"
#endif

namespace dtlto::test {

#if LLVM_VERSION_MAJOR >= 20
inline llvm::FileCache makeCache(llvm::FileCacheFunction Lookup) {
  return {std::move(Lookup), ""};
}
#else
inline llvm::FileCache makeCache(llvm::FileCache Lookup) { return Lookup; }
#endif

/// Adds \p Name to an index's set of functions with control flow integrity.
template <class Functions>
void addCfiFunction(Functions &Symbols, llvm::StringRef Name) {
#if LLVM_VERSION_MAJOR >= 23
  Symbols.addSymbolWithThinLTOGUID(Name, guidOf(Name));
#elif LLVM_VERSION_MAJOR >= 21
  Symbols.emplace(Name);
#else
  Symbols.insert(Name.str());
#endif
}

/// Returns the names in such a set.
template <class Functions>
std::set<std::string> cfiNames(const Functions &Symbols) {
  std::set<std::string> Names;
#if LLVM_VERSION_MAJOR >= 23
  for (const auto &[Name, GUID] : Symbols.getSortedSymbols())
    Names.insert(Name.str());
#elif LLVM_VERSION_MAJOR >= 21
  for (llvm::StringRef Name : Symbols.symbols())
    Names.insert(Name.str());
#else
  Names.insert(Symbols.begin(), Symbols.end());
#endif
  return Names;
}

/// Assigns GUIDs like clang before it makes the summary.
inline void assignGUIDs(llvm::Module &M) {
#if LLVM_VERSION_MAJOR >= 23
  llvm::AssignGUIDPass::runOnModule(M);
#else
  (void)M;
#endif
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_LLVMCOMPAT_H
