//===- FirstRoundCache.cpp - The cache of a first round -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link/FirstRoundCache.h"
#include "Bundle/CodegenData.h"
#include "Job/Rounds.h"
#include "LLVM/CodegenData.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA1.h"

using namespace llvm;
using namespace dtlto;

std::string dtlto::otherKey(const Twine &Why, StringRef Key) {
  SHA1 Hash;
  Hash.update(Why.str());
  Hash.update(Key);
  return toHex(Hash.result());
}

/// The entry \p Key; null if there is none, and then \p Out makes one.
Expected<std::unique_ptr<MemoryBuffer>>
FirstRoundCache::find(const Task &T, StringRef Key, AddStreamFn &Out) {
  // It is called at once, or when an entry has been made, which nobody reads.
  auto Found = std::make_shared<std::unique_ptr<MemoryBuffer>>();
  Expected<FileCache> Cache = localCache(
      "ThinLTO", "Thin", Folder,
      [Found](unsigned, const Twine &, std::unique_ptr<MemoryBuffer> Entry) {
        *Found = std::move(Entry);
      });
  if (!Cache)
    return Cache.takeError();
  Expected<AddStreamFn> Stream = (*Cache)(T.Number, Key, T.name());
  if (!Stream)
    return Stream.takeError();
  Out = std::move(*Stream);
  return std::move(*Found);
}

/// Whether \p Told is what the module of \p T could have told; then it is kept.
bool FirstRoundCache::take(const Task &T, StringRef Told) {
  if (Error E = unpackSections(Told, T.name()).takeError()) {
    L.msg().debug("module '" + T.name() + "': an entry of the cache is " +
                  toString(std::move(E)));
    return false;
  }
  L.TwoRounds->keep(T.Number, T.name(), Told);
  return true;
}

Error FirstRoundCache::ask(const Task &T, StringRef Key, StringRef ConfigId,
                           bool IsSampled, Event &E) {
  auto Hit = [&] {
    E.Kind = Event::CacheHit;
    return Error::success();
  };
  AddStreamFn Out;
  if (keyTellsRounds(L.Conf)) {
    auto Object = find(T, Key, Out);
    if (!Object)
      return Object.takeError();
    Streams S{std::move(Out), {}};
    auto IR = find(T, cacheKeyWith(Key.str(), "IR"), S.IR);
    if (!IR)
      return IR.takeError();
    if (*IR)
      L.TwoRounds->keepIR(T.Number, std::move(*IR), /*IsCached=*/true);
    if (*Object) {
      Expected<SmallVector<char, 0>> Told = toldBy((*Object)->getBuffer());
      if (!Told)
        consumeError(Told.takeError());
      else if (take(T, StringRef(Told->data(), Told->size()))) {
        E.IsOurs = true;
        return Hit();
      }
    }
    std::lock_guard<std::mutex> Lock(Mutex);
    Missing[T.Number] = std::move(S);
  }

  std::string Ours = otherKey("dtlto: first round" + ConfigId, Key);
  auto Told = find(T, Ours, E.Out);
  if (!Told)
    return Told.takeError();
  if (*Told && take(T, (*Told)->getBuffer())) {
    E.IsOurs = true;
    return Hit();
  }
  if (L.opts().Cache == CacheKind::Shared) {
    E.OutElsewhere = E.Out;
    return Error::success();
  }
  std::string Other = otherKey("dtlto: made elsewhere", Ours);
  Told = find(T, Other, E.OutElsewhere);
  if (!Told)
    return Told.takeError();
  if (!*Told)
    return Error::success();
  if (!IsSampled)
    return take(T, (*Told)->getBuffer()) ? Hit() : Error::success();
  SmallString<128> Path(Folder);
  sys::path::append(Path, "llvmcache-" + Other);
  E.Object = Buffer::own(std::move(*Told));
  E.Message = Path.str().str();
  return Hit();
}

static Error write(const AddStreamFn &To, const Task &T, StringRef Bytes) {
  Expected<std::unique_ptr<CachedFileStream>> Stream = To(T.Number, T.name());
  if (!Stream)
    return Stream.takeError();
  *(*Stream)->OS << Bytes;
  return commitStream(**Stream);
}

Error FirstRoundCache::store(const Task &T, StringRef Told,
                             const AddStreamFn &Out) {
  Streams S;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = Missing.find(T.Number); It != Missing.end())
      S = std::move(It->second);
  }
  std::optional<SmallVector<char, 0>> Object =
      L.TwoRounds->takeObject(T.Number);
  std::optional<StringRef> IR = L.TwoRounds->ownIR(T.Number);
  if (!S.Object || !Object || !IR)
    return write(Out, T, Told);
  if (S.IR)
    if (Error E = write(S.IR, T, *IR))
      return E;
  return write(S.Object, T, StringRef(Object->data(), Object->size()));
}
