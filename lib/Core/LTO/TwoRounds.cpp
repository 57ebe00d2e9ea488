//===- TwoRounds.cpp - Links that generate code twice ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/TwoRounds.h"
#include "Bitcode/Assembly.h"
#include "Bundle/CodegenData.h"
#include "Compile/BackendCompile.h"
#include "LTO/Backend.h"
#include "Run/LinkRun.h"
#include "Support/Failure.h"
#include "LLVM/CodegenData.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace llvm;
using namespace dtlto;

//===----------------------------------------------------------------------===//
// TwoRounds
//===----------------------------------------------------------------------===//

TwoRounds::TwoRounds(const Link &TheLink)
    : TheLink(TheLink), KeepsObjects(hasCache(TheLink.Cache)),
      UsesRemoteLocally(
          TheLink.Process.Opts.VerifyPercent == 0 &&
          (!KeepsObjects || TheLink.Process.Opts.Cache == CacheKind::Shared)),
      MemoryForIR(TheLink.Process.Opts.Memory) {}

TwoRounds::IR::IR(std::unique_ptr<MemoryBuffer> TheBytes)
    : Bytes(std::move(TheBytes)) {
  File.Bytes = Bytes->getBuffer();
  File.MayReadFiles = assemblyMayReadFiles(File.Bytes);
}

void TwoRounds::addSections(const Task &T, StringRef Sections) {
  std::lock_guard<std::mutex> Lock(Mutex);
  CodegenData[T.Number] = {T.name().str(), Sections.str()};
}

void TwoRounds::keepCached(const Task &T, std::unique_ptr<MemoryBuffer> IR) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Local.try_emplace(T.Number, std::move(IR)).first->second.IsCached = true;
}

bool TwoRounds::wants(const Task &T, bool IsLocal) {
  std::lock_guard<std::mutex> Lock(Mutex);
  return T.Spec.Round == 1 && (IsLocal || WantsIR);
}

void TwoRounds::keep(const Task &T, StringRef Optimized, bool IsLocal,
                     SmallVector<char, 0> FirstObject) {
  if (Optimized.empty())
    return;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!IsLocal && Optimized.size() > MemoryForIR) {
    WantsIR = false; // from further jobs
    return;
  }
  // Keep the first: of two attempts, both results are equal.
  bool IsNew =
      (IsLocal ? Local : Remote)
          .try_emplace(T.Number, MemoryBuffer::getMemBufferCopy(Optimized))
          .second;
  if (!IsLocal && IsNew)
    MemoryForIR -= Optimized.size();
  if (IsLocal && KeepsObjects)
    Objects.try_emplace(T.Number, std::move(FirstObject));
}

std::optional<TwoRounds::LocalResult>
TwoRounds::takeLocalResult(const Task &T) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto Object = Objects.find(T.Number);
  auto IR = Local.find(T.Number);
  if (Object == Objects.end() || IR == Local.end())
    return std::nullopt;
  LocalResult R{std::move(Object->second), IR->second.File.Bytes};
  Objects.erase(Object);
  return R;
}

Expected<PriorCodegenData> TwoRounds::merge() {
  MergedCodegenData All;
  for (const auto &Entry : CodegenData) {
    const auto &[Name, Bytes] = Entry.second;
    Expected<CodegenSections> Sections = unpackSections(Bytes, Name);
    if (!Sections)
      return Sections.takeError();
    for (const CodegenSection &S : *Sections)
      All.add(S.Kind == CodegenSection::FunctionMap, S.Bytes);
  }
  CodegenData.clear();
  Objects.clear();
  PriorCodegenData PriorData{{}, All.hash()};
  if (Error E = All.write().moveInto(Data))
    return std::move(E);
  PriorData.File = Data;
  if (!Data.empty())
    if (Error E = publishCodegenData(Data, /*Finalize=*/true))
      return std::move(E);
  return PriorData;
}

ModuleFile *TwoRounds::forPlugin(const Task &T) {
  if (T.Spec.Round != 2)
    return nullptr;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (auto It = Remote.find(T.Number); It != Remote.end())
    return &It->second.File;
  auto It = Local.find(T.Number);
  return It == Local.end() || It->second.IsCached ? nullptr : &It->second.File;
}

std::optional<StringRef> TwoRounds::forLocalCompile(const Task &T) {
  if (T.Spec.Round != 2)
    return std::nullopt;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (auto It = Local.find(T.Number); It != Local.end())
    return It->second.File.Bytes;
  auto It = Remote.find(T.Number);
  if (It == Remote.end() || !UsesRemoteLocally)
    return std::nullopt;
  return It->second.File.Bytes;
}

void TwoRounds::dropForLocalCompile(const Task &T, StringRef Why) {
  TheLink.Host.Msg.debug("module '" + T.name() +
                         "' is optimised again: " + Why);
}

//===----------------------------------------------------------------------===//
// FirstRoundJobs
//===----------------------------------------------------------------------===//

Error FirstRoundJobs::check(size_t J, StringRef Object, bool) const {
  return unpackSections(Object, Tasks[J].name()).takeError();
}

Error FirstRoundJobs::deliver(size_t J, const JobResult &R, const SideFiles &,
                              const AddStreamFn &Out) {
  const Task &T = Tasks[J];
  Rounds.addSections(T, R.Object.bytes());
  if (R.Outputs.Optimized)
    Rounds.keep(T, *R.Outputs.Optimized, /*IsLocal=*/false);
  return Out ? store(T, R.Object.bytes(), Out) : Error::success();
}

/// Returns the cache entry \p Key. If there is none, returns null and sets
/// \p Out to a stream that creates it.
Expected<std::unique_ptr<MemoryBuffer>>
FirstRoundJobs::find(const Task &T, StringRef Key, AddStreamFn &Out) {
  // The cache calls this at once if it has the entry. It also does so after an
  // entry was created; the result isn't read then.
  auto Contents = std::make_shared<std::unique_ptr<MemoryBuffer>>();
  Expected<FileCache> Cache = localCache(
      "ThinLTO", "Thin", this->Cache.folder(),
      [Contents](unsigned, const Twine &, std::unique_ptr<MemoryBuffer> Entry) {
        *Contents = std::move(Entry);
      });
  if (!Cache)
    return Cache.takeError();
  Expected<AddStreamFn> Stream = (*Cache)(T.Number, Key, T.name());
  if (!Stream)
    return Stream.takeError();
  Out = std::move(*Stream);
  return std::move(*Contents);
}

/// Returns whether \p CodegenData, from the cache, is valid codegen data of \p
/// T's module; if so, keeps it.
bool FirstRoundJobs::addCachedSections(const Task &T, StringRef CodegenData) {
  if (Error E = unpackSections(CodegenData, T.name()).takeError()) {
    TheLink.Host.Msg.debug("module '" + T.name() +
                           "': the entry in the cache is " +
                           toString(std::move(E)));
    return false;
  }
  Rounds.addSections(T, CodegenData);
  return true;
}

/// Returns whether LLVM's own entries have the codegen data of \p T's module.
/// Otherwise, store() may create them. Keeps the optimised module if the cache
/// has it.
Expected<bool> FirstRoundJobs::lookUpLLVMEntries(const Task &T, StringRef Key) {
  Streams S;
  auto Object = find(T, Key, S.Object);
  if (!Object)
    return Object.takeError();
  auto IR = find(T, cacheKeyWith(Key.str(), "IR"), S.IR);
  if (!IR)
    return IR.takeError();
  if (*IR)
    Rounds.keepCached(T, std::move(*IR));
  if (*Object) {
    Expected<SmallVector<char, 0>> CodegenData =
        codegenSectionsOf((*Object)->getBuffer());
    if (!CodegenData)
      consumeError(CodegenData.takeError());
    else if (addCachedSections(T, toStringRef(*CodegenData)))
      return true;
  }
  std::lock_guard<std::mutex> Lock(Mutex);
  Missing[T.Number] = std::move(S);
  return false;
}

/// Like objects, the codegen data of a module has two keys. A hit is kept for
/// the second round.
Error FirstRoundJobs::lookUpInCache(const Task &T, StringRef Key,
                                    bool IsSampled, Event &E) {
  auto Hit = [&](bool IsFromLinker) {
    E.IsFromLinker = IsFromLinker;
    E.Kind = Event::CacheHit;
    return Error::success();
  };
  if (keyDistinguishesRounds(TheLink.Jobs.Conf)) {
    Expected<bool> HasEntry = lookUpLLVMEntries(T, Key);
    if (!HasEntry)
      return HasEntry.takeError();
    if (*HasEntry)
      return Hit(/*IsFromLinker=*/true);
  }

  std::string LocalKey =
      deriveKey("dtlto: first round" + Builder.configId(), Key);
  auto CodegenData = find(T, LocalKey, E.Out);
  if (!CodegenData)
    return CodegenData.takeError();
  if (*CodegenData && addCachedSections(T, (*CodegenData)->getBuffer()))
    return Hit(/*IsFromLinker=*/true);
  if (TheLink.Process.Opts.Cache == CacheKind::Shared) {
    E.RemoteOut = E.Out;
    return Error::success();
  }
  std::string RemoteKey = deriveKey("dtlto: made elsewhere", LocalKey);
  CodegenData = find(T, RemoteKey, E.RemoteOut);
  if (!CodegenData)
    return CodegenData.takeError();
  if (!*CodegenData)
    return Error::success();
  if (!IsSampled)
    return addCachedSections(T, (*CodegenData)->getBuffer())
               ? Hit(/*IsFromLinker=*/false)
               : Error::success();
  E.Object = Buffer::own(std::move(*CodegenData));
  E.CacheEntry = Cache.entryPath(RemoteKey);
  return Hit(/*IsFromLinker=*/false);
}

/// Stores the first round's result of \p T. If LLVM's own entries are missing
/// and the module was compiled locally, creates these; otherwise stores \p
/// CodegenData in \p Out, which lookUpInCache() returned.
Error FirstRoundJobs::store(const Task &T, StringRef CodegenData,
                            const AddStreamFn &Out) {
  Streams S;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = Missing.find(T.Number); It != Missing.end())
      S = std::move(It->second);
  }
  std::optional<TwoRounds::LocalResult> Local = Rounds.takeLocalResult(T);
  if (!S.Object || !Local)
    return writeStream(Out, T.Number, T.name(), CodegenData);
  if (S.IR)
    if (Error E = writeStream(S.IR, T.Number, T.name(), Local->IR))
      return E;
  return writeStream(S.Object, T.Number, T.name(), toStringRef(Local->Object));
}

//===----------------------------------------------------------------------===//
// The link
//===----------------------------------------------------------------------===//

static std::vector<Task> tasksOfRound(unsigned Round, std::vector<Task> Tasks) {
  for (Task &T : Tasks)
    T.Spec.Round = Round;
  return Tasks;
}

static Error runFirstRound(Link &TheLink, const std::vector<Task> &Tasks,
                           const std::shared_ptr<TwoRounds> &Rounds) {
  // Suppresses .dwo and remark files in the first round; otherwise LLVM would
  // write them twice.
  lto::Config &Conf = mutableConfig(TheLink.Jobs);
  SaveAndRestore NoDwoFiles(Conf.DwoDir, std::string());
  SaveAndRestore NoRemarks(Conf.RemarksFilename, std::string());
  TheLink.Run.Round = 1;
  TheLink.Run.FirstRoundStart = TheLink.Run.StartTime;
  return LinkRun(TheLink.Run, std::make_shared<FirstRoundJobs>(
                                  TheLink, tasksOfRound(1, Tasks), Rounds))
      .run();
}

/// Waits until all threads of the first round have ended before it starts the
/// second, since codegen data is global to the process.
static Error runTwoRounds(Link &TheLink, std::vector<Task> Tasks) {
  TheLink.Host.Config = configurePlugin(TheLink.Host, Tasks.size());
  setCompilesTwice(true); // restores the user's setting
  Messages &Msg = TheLink.Host.Msg;
  if (!TheLink.Process.Opts.KeepIR.empty())
    Msg.debug("no optimised module is kept or used: two rounds of code "
              "generation");
  RunContext::RoundNotes First;
  TheLink.Run.First = &First;
  auto Rounds = std::make_shared<TwoRounds>(TheLink);
  TheLink.Jobs.Optimized = Rounds.get();
  TheLink.Jobs.PriorData.emplace();
  if (Error E = runFirstRound(TheLink, Tasks, Rounds))
    return E;
  auto Begin = std::chrono::steady_clock::now();
  if (Error E = Rounds->merge().moveInto(*TheLink.Jobs.PriorData))
    return E;
  TheLink.Run.Round = 2;
  TheLink.Run.StartTime = std::chrono::steady_clock::now();
  Msg.debug("the first round of code generation has ended; codegen data: " +
            Twine(TheLink.Jobs.PriorData->File.size()) + " bytes, merged in " +
            Twine(std::chrono::duration_cast<std::chrono::milliseconds>(
                      TheLink.Run.StartTime - Begin)
                      .count()) +
            " ms");
  return LinkRun(TheLink.Run,
                 std::make_shared<LTOJobs>(
                     TheLink, tasksOfRound(2, std::move(Tasks)), Rounds))
      .run();
}

lto::ThinBackend dtlto::createTwoRoundsBackend(Linker &TheLinker,
                                               ThreadPoolStrategy Parallelism) {
  // Regular LTO modules also emit codegen data, and LLVM compiles them first.
  emitCodegenData();
  setCompilesTwice(false);
  return createPluginThinBackend(TheLinker, Parallelism, /*OnWrite=*/nullptr,
                                 /*ShouldEmitIndexFiles=*/false,
                                 /*ShouldEmitImportsFiles=*/false,
                                 runTwoRounds);
}

Error dtlto::checkCodegenDataToUse() {
  std::string Path = codegenDataPath();
  if (Path.empty() || Path == "-") // LLVM reads "-" as standard input
    return Error::success();
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  // LLVM ignores a file that can't be opened.
  if (File)
    if (Error E = checkCodegenDataFile((*File)->getBuffer()))
      return failure("-mllvm -codegen-data-use-path=" + Path + ": " +
                     toString(std::move(E)));
  return Error::success();
}
