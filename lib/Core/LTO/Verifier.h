//===- Verifier.h - Compares results of the plugin with ours ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For --thinlto-dist-verify. If the results of a job differ, the link fails.
// Both results and the job itself are saved next to the output for analysis.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_VERIFIER_H
#define DTLTO_LTO_VERIFIER_H

#include "LTO/JobBuilder.h"
#include "LTO/Linker.h"
#include "Run/JobResult.h"

namespace dtlto {

/// Fails, with one line, if the object of \p T or its .dwo file differs from
/// the local one. Removes differing entries from the cache. Thread-safe. \p
/// Slim is as for a JobBuilder.
llvm::Error compareResults(const Link &TheLink, const ModuleNames &Names,
                           SlimImports *Slim, const Task &T,
                           const RemoteResult &Remote,
                           llvm::StringRef LocalObject);

} // namespace dtlto

#endif // DTLTO_LTO_VERIFIER_H
