//===- ObjectCache.h - LLVM's cache, with keys of ours ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An object that was compiled locally, or compared with a local one, has LLVM's
// own key, which links without a plugin use as well. An unverified object from
// another machine has a key of ours.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_OBJECTCACHE_H
#define DTLTO_LTO_OBJECTCACHE_H

#include "Host/SessionEvents.h"
#include "LTO/JobBuilder.h"
#include "LTO/Linker.h"
#include "LLVM/Cache.h"

namespace dtlto {

/// Derives a key from \p Key, LLVM's own, for entries that stock links must not
/// find. It has the same length.
std::string deriveKey(const llvm::Twine &Why, llvm::StringRef Key);

/// Thread-safe, except that calls for one task must not overlap.
class ObjectCache {
public:
  /// Both parameters outlive this object.
  ObjectCache(const Link &TheLink, const JobBuilder &Builder)
      : TheLink(TheLink), Builder(Builder), Cfi(TheLink.Jobs.Index) {}

  bool exists() const { return hasCache(TheLink.Cache); }

  /// The key of the object of \p T; empty if it can't be cached.
  std::string key(const Task &T) const;

  /// If the cache has the object, adds it to the link and makes \p E a
  /// CacheHit. Otherwise, sets in \p E where the object goes. \p IsSampled:
  /// objects of other machines are to be compared.
  llvm::Error lookUp(const Task &T, llvm::StringRef Key, bool IsSampled,
                     Event &E) const;

  /// Whether the folder has the object of \p T, under either key.
  bool has(const Task &T) const;

  std::string folder() const {
    return cacheFolder(TheLink.Cache, TheLink.Process.Opts.CacheFolder);
  }
  /// The path of the object with \p Key.
  std::string entryPath(llvm::StringRef Key) const;

private:
  std::string remoteKey(llvm::StringRef Key) const;

  const Link &TheLink;
  const JobBuilder &Builder;
  const CfiFunctions Cfi;
};

} // namespace dtlto

#endif // DTLTO_LTO_OBJECTCACHE_H
