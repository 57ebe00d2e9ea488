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
#include "LTO/ConfigChange.h"
#include "Run/LinkRun.h"
#include "Support/Failure.h"
#include "LLVM/CodegenData.h"

using namespace llvm;
using namespace dtlto;

//===----------------------------------------------------------------------===//
// TwoRounds
//===----------------------------------------------------------------------===//

TwoRounds::TwoRounds(const Link &TheLink)
    : TheLink(TheLink), KeepsObjects(hasCache(TheLink.Cache)),
      UsesSentHere(
          TheLink.Process.Opts.VerifyPercent == 0 &&
          (!KeepsObjects || TheLink.Process.Opts.Cache == CacheKind::Shared)),
      RoomForIR(TheLink.Process.Opts.Memory) {}

TwoRounds::IR::IR(std::unique_ptr<MemoryBuffer> TheBytes)
    : Bytes(std::move(TheBytes)) {
  File.Bytes = Bytes->getBuffer();
  File.MayReadFiles = assemblyMayReadFiles(File.Bytes);
}

void TwoRounds::tell(const Task &T, StringRef Sections) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Told[T.Number] = {T.name().str(), Sections.str()};
}

void TwoRounds::keepCached(const Task &T, std::unique_ptr<MemoryBuffer> IR) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Own.try_emplace(T.Number, std::move(IR)).first->second.IsCached = true;
}

bool TwoRounds::wants(const Task &T, bool IsHere) {
  std::lock_guard<std::mutex> Lock(Mutex);
  return T.Spec.Round == 1 && (IsHere || WantsIR);
}

void TwoRounds::keep(const Task &T, StringRef Optimized, bool IsHere,
                     SmallVector<char, 0> FirstObject) {
  if (Optimized.empty())
    return;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!IsHere && Optimized.size() > RoomForIR) {
    WantsIR = false; // from further jobs
    return;
  }
  // Keep the first: of two attempts, both results are equal.
  bool IsNew =
      (IsHere ? Own : Sent)
          .try_emplace(T.Number, MemoryBuffer::getMemBufferCopy(Optimized))
          .second;
  if (!IsHere && IsNew)
    RoomForIR -= Optimized.size();
  if (IsHere && KeepsObjects)
    Objects.try_emplace(T.Number, std::move(FirstObject));
}

std::optional<TwoRounds::OwnResult> TwoRounds::takeOwn(const Task &T) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto Object = Objects.find(T.Number);
  auto IR = Own.find(T.Number);
  if (Object == Objects.end() || IR == Own.end())
    return std::nullopt;
  OwnResult R{std::move(Object->second), IR->second.File.Bytes};
  Objects.erase(Object);
  return R;
}

Expected<LearntData> TwoRounds::merge() {
  MergedCodegenData All;
  for (const auto &Entry : Told) {
    const auto &[Name, Bytes] = Entry.second;
    Expected<CodegenSections> Sections = unpackSections(Bytes, Name);
    if (!Sections)
      return Sections.takeError();
    for (const CodegenSection &S : *Sections)
      All.add(S.Kind == CodegenSection::FunctionMap, S.Bytes);
  }
  Told.clear();
  Objects.clear();
  LearntData Learnt{{}, All.hash()};
  if (Error E = All.write().moveInto(Data))
    return std::move(E);
  Learnt.File = Data;
  if (!Data.empty())
    if (Error E = publishCodegenData(Data, /*Finalize=*/true))
      return std::move(E);
  return Learnt;
}

ModuleFile *TwoRounds::forPlugin(const Task &T) {
  if (T.Spec.Round != 2)
    return nullptr;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (auto It = Sent.find(T.Number); It != Sent.end())
    return &It->second.File;
  auto It = Own.find(T.Number);
  return It == Own.end() || It->second.IsCached ? nullptr : &It->second.File;
}

std::optional<StringRef> TwoRounds::forHere(const Task &T) {
  if (T.Spec.Round != 2)
    return std::nullopt;
  std::lock_guard<std::mutex> Lock(Mutex);
  if (auto It = Own.find(T.Number); It != Own.end())
    return It->second.File.Bytes;
  auto It = Sent.find(T.Number);
  if (It == Sent.end() || !UsesSentHere)
    return std::nullopt;
  return It->second.File.Bytes;
}

void TwoRounds::dropHere(const Task &T, StringRef Why) {
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
  Both.tell(T, R.Object.bytes());
  if (R.Outputs.Optimized)
    Both.keep(T, *R.Outputs.Optimized, /*IsHere=*/false);
  return Out ? store(T, R.Object.bytes(), Out) : Error::success();
}

/// Returns the cache entry \p Key. If there is none, returns null and sets
/// \p Out to a stream that creates it.
Expected<std::unique_ptr<MemoryBuffer>>
FirstRoundJobs::find(const Task &T, StringRef Key, AddStreamFn &Out) {
  // The cache calls this at once if it has the entry. It also does so after an
  // entry was created; the result isn't read then.
  auto Found = std::make_shared<std::unique_ptr<MemoryBuffer>>();
  Expected<FileCache> Cache = localCache(
      "ThinLTO", "Thin", this->Cache.folder(),
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

/// Returns whether \p Told, from the cache, is valid codegen data of \p T's
/// module; if so, keeps it.
bool FirstRoundJobs::take(const Task &T, StringRef Told) {
  if (Error E = unpackSections(Told, T.name()).takeError()) {
    TheLink.Host.Msg.debug("module '" + T.name() +
                           "': the entry in the cache is " +
                           toString(std::move(E)));
    return false;
  }
  Both.tell(T, Told);
  return true;
}

/// Returns whether LLVM's own entries have the codegen data of \p T's module.
/// Otherwise, store() may create them. Keeps the optimised module if the cache
/// has it.
Expected<bool> FirstRoundJobs::askLLVM(const Task &T, StringRef Key) {
  Streams S;
  auto Object = find(T, Key, S.Object);
  if (!Object)
    return Object.takeError();
  auto IR = find(T, cacheKeyWith(Key.str(), "IR"), S.IR);
  if (!IR)
    return IR.takeError();
  if (*IR)
    Both.keepCached(T, std::move(*IR));
  if (*Object) {
    Expected<SmallVector<char, 0>> Told =
        codegenSectionsOf((*Object)->getBuffer());
    if (!Told)
      consumeError(Told.takeError());
    else if (take(T, StringRef(Told->data(), Told->size())))
      return true;
  }
  std::lock_guard<std::mutex> Lock(Mutex);
  Missing[T.Number] = std::move(S);
  return false;
}

/// Like objects, the codegen data of a module has two keys. A hit is kept for
/// the second round.
Error FirstRoundJobs::askCache(const Task &T, StringRef Key, bool IsSampled,
                               Event &E) {
  auto Hit = [&](bool IsOurs) {
    E.IsOurs = IsOurs;
    E.Kind = Event::CacheHit;
    return Error::success();
  };
  if (keyTellsRounds(TheLink.Jobs.Conf)) {
    Expected<bool> IsThere = askLLVM(T, Key);
    if (!IsThere)
      return IsThere.takeError();
    if (*IsThere)
      return Hit(/*IsOurs=*/true);
  }

  std::string Ours = otherKey("dtlto: first round" + Builder.configId(), Key);
  auto Told = find(T, Ours, E.Out);
  if (!Told)
    return Told.takeError();
  if (*Told && take(T, (*Told)->getBuffer()))
    return Hit(/*IsOurs=*/true);
  if (TheLink.Process.Opts.Cache == CacheKind::Shared) {
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
    return take(T, (*Told)->getBuffer()) ? Hit(/*IsOurs=*/false)
                                         : Error::success();
  E.Object = Buffer::own(std::move(*Told));
  E.CacheEntry = Cache.entry(Other);
  return Hit(/*IsOurs=*/false);
}

static Error write(const AddStreamFn &To, const Task &T, StringRef Bytes) {
  Expected<std::unique_ptr<CachedFileStream>> Stream = To(T.Number, T.name());
  if (!Stream)
    return Stream.takeError();
  *(*Stream)->OS << Bytes;
  return commitStream(**Stream);
}

/// Stores the first round's result of \p T. If LLVM's own entries are missing
/// and the module was compiled locally, creates these; otherwise stores \p Told
/// in \p Out, which askCache() returned.
Error FirstRoundJobs::store(const Task &T, StringRef Told,
                            const AddStreamFn &Out) {
  Streams S;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = Missing.find(T.Number); It != Missing.end())
      S = std::move(It->second);
  }
  std::optional<TwoRounds::OwnResult> Own = Both.takeOwn(T);
  if (!S.Object || !Own)
    return write(Out, T, Told);
  if (S.IR)
    if (Error E = write(S.IR, T, Own->IR))
      return E;
  return write(S.Object, T, StringRef(Own->Object.data(), Own->Object.size()));
}

//===----------------------------------------------------------------------===//
// The link
//===----------------------------------------------------------------------===//

static std::vector<Task> tasksOf(unsigned Round, std::vector<Task> Tasks) {
  for (Task &T : Tasks)
    T.Spec.Round = Round;
  return Tasks;
}

static Error runFirst(Link &TheLink, const std::vector<Task> &Tasks,
                      const std::shared_ptr<TwoRounds> &Both) {
  // Suppresses .dwo and remark files in the first round; otherwise LLVM would
  // write them twice.
  ConfigChange SideFilesOff(TheLink.Jobs.Conf);
  SideFilesOff.set(&lto::Config::DwoDir, std::string());
  SideFilesOff.set(&lto::Config::RemarksFilename, std::string());
  TheLink.Run.Round = 1;
  TheLink.Run.BothStarted = TheLink.Run.Started;
  return LinkRun(TheLink.Run, std::make_shared<FirstRoundJobs>(
                                  TheLink, tasksOf(1, Tasks), Both))
      .run();
}

/// Waits until all threads of the first round have ended before it starts the
/// second, since codegen data is global to the process.
static Error runTwice(Link &TheLink, std::vector<Task> Tasks) {
  Messages &Msg = TheLink.Host.Msg;
  if (!TheLink.Process.Opts.KeepIR.empty())
    Msg.debug("no optimised module is kept or used: two rounds of code "
              "generation");
  RunContext::RoundNotes First;
  TheLink.Run.First = &First;
  auto Both = std::make_shared<TwoRounds>(TheLink);
  TheLink.Jobs.Optimized = Both.get();
  TheLink.Jobs.Learnt.emplace();
  if (Error E = runFirst(TheLink, Tasks, Both))
    return E;
  auto Begin = std::chrono::steady_clock::now();
  if (Error E = Both->merge().moveInto(*TheLink.Jobs.Learnt))
    return E;
  TheLink.Run.Round = 2;
  TheLink.Run.Started = std::chrono::steady_clock::now();
  Msg.debug("the first round of code generation has ended; codegen data: " +
            Twine(TheLink.Jobs.Learnt->File.size()) + " bytes, merged in " +
            Twine(std::chrono::duration_cast<std::chrono::milliseconds>(
                      TheLink.Run.Started - Begin)
                      .count()) +
            " ms");
  return LinkRun(TheLink.Run, std::make_shared<LTOJobs>(
                                  TheLink, tasksOf(2, std::move(Tasks)), Both))
      .run();
}

bool dtlto::canDistributeTwoRounds(const Linker &TheLinker) {
  return HasCodegenData && TheLinker.Opts.Split == 0;
}

lto::ThinBackend dtlto::createTwoRoundsBackend(Linker &TheLinker,
                                               ThreadPoolStrategy Parallelism) {
  // Regular LTO modules also emit codegen data, and LLVM compiles them first.
  emitCodegenData();
  setCompilesTwice(false);
  BackendFunction Make =
      pluginBackend(TheLinker, Parallelism, /*OnWrite=*/nullptr,
                    /*ShouldEmitIndexFiles=*/false,
                    /*ShouldEmitImportsFiles=*/false, runTwice);
  return makeThinBackend(
      [Make = std::move(Make)](
          const lto::Config &Conf, ModuleSummaryIndex &CombinedIndex,
          const DefinedSummaries &Defined, AddStreamFn AddStream,
          FileCache Cache, LibFuncs Unavailable) {
        auto Backend = Make(Conf, CombinedIndex, Defined, std::move(AddStream),
                            std::move(Cache), std::move(Unavailable));
        setCompilesTwice(true); // restores the user's setting
        return Backend;
      },
      Parallelism);
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
