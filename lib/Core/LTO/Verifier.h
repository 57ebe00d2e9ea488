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

/// Compares the results of jobs. Thread-safe.
class Verifier {
public:
  Verifier(const Link &TheLink, const ModuleNames &Names, SlimImports *Slim)
      : TheLink(TheLink), Names(Names), Slim(Slim) {}

  /// Fails, with one line, if the object of \p T or its .dwo file differs from
  /// the local one (\p LocalObject is the local object). Removes differing
  /// entries from the cache.
  llvm::Error compare(const Task &T, const RemoteResult &Remote,
                      llvm::StringRef LocalObject);

private:
  std::string folder() const;
  std::string stem(const Task &T) const;
  std::string saveJob(const Task &T, const std::string &Stem);

  const Link &TheLink;
  const ModuleNames &Names;
  SlimImports *Slim; // may be null
};

} // namespace dtlto

#endif // DTLTO_LTO_VERIFIER_H
