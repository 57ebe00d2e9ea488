//===- NoPolly.cpp - LLVM's passes without Polly --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's static libraries register the extensions that LLVM was built with, but
// Debian's packages don't contain Polly's library. This stub does nothing. The
// worker reports an option of Polly as unknown.
//
//===----------------------------------------------------------------------===//

#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "absent",
          [](llvm::PassBuilder &) {}};
}
