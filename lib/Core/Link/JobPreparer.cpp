//===- JobPreparer.cpp - What comes before a job's first attempt ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link/JobPreparer.h"
#include "Bitcode/IndexShard.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

JobPreparer::JobPreparer(const Link &L, ArrayRef<Task> Tasks)
    : L(L), Slim(L.opts().SlimFrom
                     ? std::make_unique<SlimImports>(Tasks, *L.opts().SlimFrom)
                     : nullptr),
      Builder(L, L.Config.Needs, slim(), L.Kept),
      Saver(L.opts().SaveJobs.empty()
                ? nullptr
                : std::make_unique<JobSaver>(L, L.opts().SaveJobs, slim())),
      FirstRound(hasCache(L.Cache) && L.round() == 1
                     ? std::make_unique<FirstRoundCache>(
                           L, cacheFolder(L.Cache, L.opts().CacheFolder))
                     : nullptr),
      Cfi(L.Index) {
  if (FirstRound)
    L.TwoRounds->keepObjects();
}

bool JobPreparer::isWork(const plan::Action &A) const {
  return (A.ForPlugin && !Builder.isTrivial()) ||
         (!A.IsAgain && (Saver || L.EmitIndexFiles || hasCache(L.Cache)));
}

Event JobPreparer::prepare(const plan::Action &A, Task &T, uint64_t Cost,
                           StringRef Avoid) {
  Event E{Event::Prepared};
  E.Job = A.Attempt;
  Clock::time_point Begin = Clock::now();
  if (!A.IsAgain)
    if (Error Why = prepareFirst(T, A.IsSampled, E)) {
      E.Kind = Event::Broken;
      E.Message = toString(std::move(Why));
    }
  if (E.Kind == Event::Prepared && A.ForPlugin)
    E.setBuilt(Builder.build(T, A.Attempt, Cost), Avoid);
  E.setEnded(Begin);
  return E;
}

/// What is done once for each job. \p E becomes a CacheHit, or learns where the
/// object goes, if there is a cache.
Error JobPreparer::prepareFirst(Task &T, bool IsSampled, Event &E) {
  // As in-process: a module without a hash can't be cached.
  std::string Key;
  if (hasCache(L.Cache) && L.Index.modulePaths().count(T.name()) &&
      !all_of(L.Index.getModuleHash(T.name()),
              [](uint32_t V) { return V == 0; })) {
    Key = cacheKey(L.Conf, L.Index, T.name(), *T.ImportList, *T.ExportList,
                   *T.ResolvedODR, *T.DefinedGlobals, Cfi);
    // As in-process, too: what was learnt of all modules is in the key.
    if (L.round() == 2)
      Key = cacheKeyWith(Key, std::to_string(L.TwoRounds->hash()));
    if (!T.Part.isWhole())
      Key = otherKey("dtlto: partition " + std::to_string(PartitionVersion) +
                         partSuffix(T.Part) + Builder.configId(),
                     Key);
    // Only CodeView tells of it: other objects shall not depend on where the
    // cache is.
    Triple TheTriple(Builder.triple(T));
    if (!FirstRound &&
        (TheTriple.isOSWindows() || TheTriple.isOSBinFormatCOFF()))
      T.ObjectName = cacheEntry(Key);
  }
  if (Saver)
    if (Error Why = Saver->save(T))
      return createStringError(inconvertibleErrorCode(),
                               "dtlto: " + toString(std::move(Why)));
  if (L.EmitIndexFiles && T.Part.Index == 0)
    if (Error Why = emitIndexFiles(L.Index, L.Defined, T.name(), *T.ImportList,
                                   L.EmitImportsFiles))
      return Why;
  if (Key.empty())
    return Error::success();
  return FirstRound ? FirstRound->ask(T, Key, Builder.configId(), IsSampled, E)
                    : askCache(T, Key, IsSampled, E);
}

Error JobPreparer::askCache(const Task &T, StringRef Key, bool IsSampled,
                            Event &E) {
  // LLVM takes the object if there is one.
  auto Ask = [&](StringRef Key, AddStreamFn &Out) -> Error {
    Expected<AddStreamFn> Stream =
        L.Cache(T.Number, Key, partFile(T.name().str(), T.Part));
    if (!Stream)
      return Stream.takeError();
    Out = std::move(*Stream);
    if (!Out)
      E.Kind = Event::CacheHit;
    return Error::success();
  };
  if (Error Why = Ask(Key, E.Out))
    return Why;
  E.IsOurs = E.Kind == Event::CacheHit;
  if (E.IsOurs)
    return Error::success();
  if (L.opts().Cache == CacheKind::Shared) {
    E.OutElsewhere = E.Out;
    return Error::success();
  }
  // Of an object that another machine has made and nobody has compared.
  std::string Other =
      otherKey("dtlto: made elsewhere" + Builder.configId(), Key);
  if (IsSampled) {
    std::string Path = cacheEntry(Other);
    if (auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false)) {
      E.Kind = Event::CacheHit;
      E.Object = Buffer::own(std::move(*File));
      E.Message = std::move(Path);
      return Error::success();
    }
  }
  return Ask(Other, E.OutElsewhere);
}

/// What localCache() in LLVM's Caching.cpp calls the file of an object.
std::string JobPreparer::cacheEntry(StringRef Key) const {
  SmallString<128> Name(cacheFolder(L.Cache, L.opts().CacheFolder));
  sys::path::append(Name, "llvmcache-" + Key);
  return Name.str().str();
}
