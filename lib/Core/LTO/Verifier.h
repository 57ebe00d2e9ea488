//===- Verifier.h - What the plugin made, and what we made ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For --thinlto-dist-verify. Where the results of a job differ, the link fails,
// and both stay beside the output with the job itself, so that somebody can
// find out why.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_VERIFIER_H
#define DTLTO_LTO_VERIFIER_H

#include "LTO/JobBuilder.h"
#include "LTO/Linker.h"
#include "Run/JobResult.h"

namespace dtlto {

/// Any thread.
class Verifier {
public:
  Verifier(const Link &TheLink, const ModuleNames &Names, SlimImports *Slim)
      : TheLink(TheLink), Names(Names), Slim(Slim) {}

  /// Fails, with one line, if the object of \p T or its .dwo file differs from
  /// \p Here and what was made here with it. What differs is removed from the
  /// cache.
  llvm::Error compare(const Task &T, const Made &There, llvm::StringRef Here);

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
