//===- ObjectCache.cpp - LLVM's cache, with keys of ours ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/ObjectCache.h"
#include "LLVM/Index.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA1.h"

using namespace llvm;
using namespace dtlto;

std::string dtlto::deriveKey(const Twine &Why, StringRef Key) {
  SHA1 Hash;
  Hash.update(Why.str());
  Hash.update(Key);
  return toHex(Hash.result());
}

std::string ObjectCache::key(const Task &T) const {
  // As in-process: a module without a hash can't be cached.
  if (!hasHash(TheLink.Jobs.Index, T.name()))
    return {};
  std::string Key =
      cacheKey(TheLink.Jobs.Conf, TheLink.Jobs.Index, T.name(), *T.ImportList,
               *T.ExportList, *T.ResolvedODR, *T.DefinedGlobals, Cfi);
  // As in-process: the key includes the codegen data of all modules.
  if (T.Spec.usesMergedData())
    Key = cacheKeyWith(Key, std::to_string(TheLink.Jobs.PriorData->Hash));
  if (std::string OfJob = T.Spec.objectKey(); !OfJob.empty())
    Key = deriveKey(OfJob + Builder.configId(), Key);
  return Key;
}

Error ObjectCache::lookUp(const Task &T, StringRef Key, bool IsSampled,
                          Event &E) const {
  // LLVM adds the object to the link if it has one.
  auto LookUp = [&](StringRef Key, AddStreamFn &Out) -> Error {
    Expected<AddStreamFn> Stream =
        TheLink.Cache(T.Number, Key, T.Spec.fileName(T.name().str()));
    if (!Stream)
      return Stream.takeError();
    Out = std::move(*Stream);
    if (!Out)
      E.Kind = Event::CacheHit;
    return Error::success();
  };
  if (Error Why = LookUp(Key, E.Out))
    return Why;
  E.IsFromLinker = E.Kind == Event::CacheHit;
  if (E.IsFromLinker)
    return Error::success();
  if (TheLink.Process.Opts.Cache == CacheKind::Shared) {
    E.RemoteOut = E.Out;
    return Error::success();
  }
  std::string RemoteKey = remoteKey(Key);
  if (IsSampled) {
    std::string Path = entryPath(RemoteKey);
    if (auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false)) {
      E.Kind = Event::CacheHit;
      E.Object = Buffer::own(std::move(*File));
      E.CacheEntry = std::move(Path);
      return Error::success();
    }
  }
  return LookUp(RemoteKey, E.RemoteOut);
}

/// Returns the key for unverified objects from other machines.
std::string ObjectCache::remoteKey(StringRef Key) const {
  return deriveKey("dtlto: made elsewhere" + Builder.configId(), Key);
}

bool ObjectCache::has(const Task &T) const {
  std::string Key = exists() ? key(T) : "";
  return !Key.empty() && (sys::fs::exists(entryPath(Key)) ||
                          sys::fs::exists(entryPath(remoteKey(Key))));
}

/// As localCache() in LLVM's Caching.cpp names the file of an object.
std::string ObjectCache::entryPath(StringRef Key) const {
  SmallString<128> Name(folder());
  sys::path::append(Name, "llvmcache-" + Key);
  return Name.str().str();
}
