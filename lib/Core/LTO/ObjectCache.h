//===- ObjectCache.h - LLVM's cache, with keys of ours ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An object that was compiled locally, or compared with one that was, has
// LLVM's own key, which links without a plugin use, too. An object that another
// machine made and that was not compared has a key of ours.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_OBJECTCACHE_H
#define DTLTO_LTO_OBJECTCACHE_H

#include "Host/SessionEvents.h"
#include "LTO/JobBuilder.h"
#include "LTO/Linker.h"
#include "LLVM/Cache.h"

namespace dtlto {

/// A key as long as \p Key, which is LLVM's, for what stock links don't know.
std::string otherKey(const llvm::Twine &Why, llvm::StringRef Key);

/// Any thread, but one at a time for a task.
class ObjectCache {
public:
  /// Both outlive this.
  ObjectCache(const Link &TheLink, const JobBuilder &Builder)
      : TheLink(TheLink), Builder(Builder), Cfi(TheLink.Jobs.Index) {}

  bool exists() const { return hasCache(TheLink.Cache); }

  /// The key of the object of \p T; empty: it can't be cached.
  std::string key(const Task &T) const;

  /// Makes \p E a CacheHit if there is an object, and gives that to LLVM; else
  /// \p E learns where the object goes. \p IsSampled: what another machine has
  /// made is to be compared.
  llvm::Error ask(const Task &T, llvm::StringRef Key, bool IsSampled,
                  Event &E) const;

  std::string folder() const {
    return cacheFolder(TheLink.Cache, TheLink.Process.Opts.CacheFolder);
  }
  /// The file of the object with \p Key.
  std::string entry(llvm::StringRef Key) const;

private:
  const Link &TheLink;
  const JobBuilder &Builder;
  const CfiFunctions Cfi;
};

} // namespace dtlto

#endif // DTLTO_LTO_OBJECTCACHE_H
