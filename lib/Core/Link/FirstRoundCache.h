//===- FirstRoundCache.h - The cache of a first round -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the first of two rounds of code generation makes of a module is kept in
// LLVM's cache, too:
//
// - LLVM's own entries, if the module was compiled here: the object and the
//   optimised module. Links without a plugin have and use the same.
// - What the module told, and no more, under keys of our own: another machine
//   sends nothing else. As with objects, one key is of what was made or
//   compared here, another one of the rest.
//
// Not all of LLD's ports give LLVM the options that its keys are made of. Where
// a key would be that of a link with one round, LLVM's entries aren't used.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LINK_FIRSTROUNDCACHE_H
#define DTLTO_LINK_FIRSTROUNDCACHE_H

#include "Host/SessionEvents.h"
#include "Link/Linker.h"
#include "LLVM/Cache.h"

namespace dtlto {

/// A key as long as \p Key, which is LLVM's, for what stock links don't know.
std::string otherKey(const llvm::Twine &Why, llvm::StringRef Key);

/// Any thread, but one at a time for a task.
class FirstRoundCache {
public:
  /// \p Folder is the cache's.
  FirstRoundCache(const Link &L, std::string Folder)
      : L(L), Folder(std::move(Folder)) {}

  /// Makes \p E a CacheHit if there is what the module of \p T told, and keeps
  /// that for the second round; else \p E learns where it goes. \p Key is the
  /// module's in a link with one round, \p ConfigId what goes into others.
  /// \p IsSampled: what another machine has made is to be compared.
  llvm::Error ask(const Task &T, llvm::StringRef Key, llvm::StringRef ConfigId,
                  bool IsSampled, Event &E);

  /// Stores \p Told, what the module of \p T told: what was made of it here, or
  /// \p Told in \p Out, which ask() gave.
  llvm::Error store(const Task &T, llvm::StringRef Told,
                    const llvm::AddStreamFn &Out);

private:
  struct Streams {
    llvm::AddStreamFn Object, IR; // null: it is there, or not wanted
  };
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
  find(const Task &T, llvm::StringRef Key, llvm::AddStreamFn &Out);
  bool take(const Task &T, llvm::StringRef Told);

  const Link &L;
  const std::string Folder;
  std::mutex Mutex;                    // guards the map
  std::map<unsigned, Streams> Missing; // by task
};

} // namespace dtlto

#endif // DTLTO_LINK_FIRSTROUNDCACHE_H
