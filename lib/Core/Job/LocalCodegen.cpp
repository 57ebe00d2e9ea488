//===- LocalCodegen.cpp - A backend compile in this process ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps are those of InProcessThinBackend in LLVM's LTO.cpp.
//
//===----------------------------------------------------------------------===//

#include "Job/LocalCodegen.h"
#include "Bundle/CodegenData.h"
#include "Job/KeptModules.h"
#include "LLVM/CodegenData.h"
#include "LLVM/Diagnostics.h"
#include "LLVM/Optimized.h"
#include "LLVM/PassGate.h"
#include "LLVM/ThinBackend.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/LTO/LTOBackend.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TimeProfiler.h"

using namespace llvm;
using namespace dtlto;

namespace {

/// Gives the calling thread a time trace of its own, as LLVM's backend does,
/// unless it has one.
class ThreadTimeTrace {
public:
  explicit ThreadTimeTrace(const lto::Config &Conf)
      : Owned(Conf.TimeTraceEnabled && !timeTraceProfilerEnabled()) {
    if (Owned)
      timeTraceProfilerInitialize(Conf.TimeTraceGranularity, "thin backend");
  }
  ~ThreadTimeTrace() {
    if (Owned)
      timeTraceProfilerFinishThread();
  }

private:
  bool Owned;
};

/// Says of each pass that can be left out whether it runs.
class StopGate : public PassGate {
public:
  explicit StopGate(const std::atomic<bool> &Stop) : Stop(Stop) {}

private:
  bool mayRun() const override { return !Stop; }

  const std::atomic<bool> &Stop;
};

/// Leaves nothing to generate, and what others refer to in its place.
void emptyFunctions(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    F.dropAllReferences();
    new UnreachableInst(M.getContext(),
                        BasicBlock::Create(M.getContext(), "", &F));
  }
}

} // namespace

namespace {

/// One compile on the calling thread.
class Compile {
public:
  Compile(const LinkContext &L, const Task &T, const std::atomic<bool> *Stop)
      : L(L), T(T), Stop(Stop), Conf(&L.Conf) {}

  CodegenResult run();

private:
  bool isStopped() const { return Stop && *Stop; }
  void fail(Error E) {
    Result.Failed = true;
    handleAllErrors(std::move(E), [this](const ErrorInfoBase &One) {
      Result.Errors.push_back(One.message());
    });
  }
  void setUp(lto::LTOLLVMContext &Context, bool IsMute);
  bool optimizeAgain(SmallVectorImpl<char> &IR);
  void compile(bool IsMute, const AddStreamFn &SaveIR,
               SmallVectorImpl<char> *Optimized = nullptr);
  bool generate(StringRef IR, bool IsKept);
  void takeSections();
  bool generateKept();
  void compileAndKeep();

  const LinkContext &L;
  const Task &T;
  const std::atomic<bool> *Stop; // may be null
  const lto::Config *Conf;       // of code generation
  std::optional<StopGate> Gate;
  CodegenResult Result;
};

} // namespace

static AddStreamFn streamInto(SmallVectorImpl<char> &Bytes) {
  return [&](unsigned,
             const Twine &) -> Expected<std::unique_ptr<CachedFileStream>> {
    return std::make_unique<CachedFileStream>(
        std::make_unique<raw_svector_ostream>(Bytes));
  };
}

/// \p IsMute: warnings have been told.
void Compile::setUp(lto::LTOLLVMContext &Context, bool IsMute) {
  Context.DiagHandler = [this, IsMute](const DiagnosticInfo &DI) {
    // Reported once, by the caller that knows whether the result is used.
    CompilerMessage M = toMessage(DI);
    if (M.Level == MessageLevel::Error) {
      Result.Failed = true;
      Result.Errors.push_back(std::move(M.Text));
    } else if (!IsMute) {
      Result.Messages.push_back(std::move(M));
    }
  };
  if (Stop && !Context.getOptPassGate().isEnabled()) // -opt-bisect-limit
    Context.setOptPassGate(Gate.emplace(*Stop));
}

/// The whole backend. \p SaveIR: what the module is optimised to goes there,
/// too. \p IsMute: nobody wants more than that. \p Optimized, if it isn't null,
/// gets what saveOptimized() makes of it.
void Compile::compile(bool IsMute, const AddStreamFn &SaveIR,
                      SmallVectorImpl<char> *Optimized) {
  lto::LTOLLVMContext Context(L.Conf);
  setUp(Context, IsMute);
  BitcodeModule Module = T.Module;
  Expected<std::unique_ptr<llvm::Module>> M = Module.parseModule(Context);
  if (!M)
    return fail(M.takeError());
  const std::string Flags = Optimized ? targetMachineFlags(**M) : std::string();
  auto AddStream =
      [&](unsigned,
          const Twine &) -> Expected<std::unique_ptr<CachedFileStream>> {
    Result.Produced = true;
    if (IsMute || isStopped())
      emptyFunctions(**M);
    else if (Optimized)
      *Optimized = saveOptimized(**M, Flags);
    return std::make_unique<CachedFileStream>(
        std::make_unique<raw_svector_ostream>(Result.Object), T.ObjectName);
  };
  if (Error E = runThinBackend(L.Conf, T.Number, AddStream, **M, L.Index,
                               *T.ImportList, *T.DefinedGlobals, T.ModuleMap,
                               L.Unavailable, {SaveIR}))
    fail(std::move(E));
}

/// Generates code of the optimised module \p IR. As in-process, it has been
/// bitcode in between. Returns false if one that was kept, maybe in a cache,
/// can't be read.
bool Compile::generate(StringRef IR, bool IsKept) {
  lto::LTOLLVMContext Context(*Conf);
  setUp(Context, /*IsMute=*/false);
  Expected<std::unique_ptr<Module>> M =
      parseBitcodeFile(MemoryBufferRef(IR, "in-memory IR file"), Context);
  if (!M && IsKept) {
    L.Msg.debug("module '" + T.name() +
                "' is optimised again: " + toString(M.takeError()));
    return false;
  }
  if (!M) {
    fail(M.takeError());
    return true;
  }
  (*M)->setModuleIdentifier(T.name());
  auto AddStream =
      [&](unsigned,
          const Twine &) -> Expected<std::unique_ptr<CachedFileStream>> {
    Result.Produced = true;
    if (isStopped())
      emptyFunctions(**M);
    return std::make_unique<CachedFileStream>(
        std::make_unique<raw_svector_ostream>(Result.Object), T.ObjectName);
  };
  Halves Codegen;
  Codegen.OnlyCodegen = true;
  if (Error E = runThinBackend(*Conf, T.Number, AddStream, **M, L.Index,
                               *T.ImportList, *T.DefinedGlobals, T.ModuleMap,
                               L.Unavailable, Codegen))
    fail(std::move(E));
  return true;
}

/// For a module that another machine optimised in the first round.
bool Compile::optimizeAgain(SmallVectorImpl<char> &IR) {
  compile(/*IsMute=*/true, streamInto(IR));
  Result.Object.clear();
  return !Result.Failed && std::exchange(Result.Produced, false) &&
         !isStopped();
}

/// Leaves what an object of the first round tells in its place.
void Compile::takeSections() {
  SmallVector<char, 0> Object = std::move(Result.Object);
  Expected<SmallVector<char, 0>> Told =
      toldBy(StringRef(Object.data(), Object.size()));
  if (!Told)
    return fail(Told.takeError());
  Result.Object = std::move(*Told);
  L.TwoRounds->keepObject(T.Number, std::move(Object));
}

/// Generates code of what an earlier link optimised the module to. Returns
/// false if there is nothing of the kind, or it is no good.
bool Compile::generateKept() {
  const ModuleFile *Kept = L.Kept->forHere(T);
  if (!Kept)
    return false;
  Conf = &L.Kept->codegenConfig();
  bool IsRead = generate(Kept->Bytes, /*IsKept=*/true);
  Conf = &L.Conf;
  if (isStopped() || (IsRead && !Result.Failed))
    return true;
  // Whatever is wrong, the whole compile says it in its own words.
  L.Kept->dropHere(T, IsRead ? "the compiler failed" : "it can't be read");
  Result = {};
  return false;
}

void Compile::compileAndKeep() {
  if (!L.Kept->wants(T, /*IsHere=*/true))
    return compile(/*IsMute=*/false, /*SaveIR=*/nullptr);
  SmallVector<char, 0> Optimized;
  compile(/*IsMute=*/false, /*SaveIR=*/nullptr, &Optimized);
  if (!Result.Failed && Result.Produced && !isStopped())
    L.Kept->keep(T, StringRef(Optimized.data(), Optimized.size()),
                 /*IsHere=*/true);
}

CodegenResult Compile::run() {
  if (isStopped()) {
    Result.Failed = true;
    return std::move(Result);
  }
  ThreadTimeTrace Trace(L.Conf);
  [[maybe_unused]] BackendSpan Span(T.name());
  switch (L.round()) {
  case 0:
    if (!L.Kept)
      compile(/*IsMute=*/false, /*SaveIR=*/nullptr);
    else if (!generateKept())
      compileAndKeep();
    break;
  case 1: {
    SmallVector<char, 0> IR;
    compile(/*IsMute=*/false, streamInto(IR));
    Result.Failed |= isStopped();
    if (Result.Failed || !Result.Produced)
      break;
    takeSections();
    L.TwoRounds->keepIR(T.Number, std::make_unique<SmallVectorMemoryBuffer>(
                                      std::move(IR),
                                      /*RequiresNullTerminator=*/false));
    break;
  }
  default:
    SmallVector<char, 0> Own;
    std::optional<StringRef> IR = L.TwoRounds->irHere(T.Number);
    if ((!IR || !generate(*IR, /*IsKept=*/true)) && optimizeAgain(Own))
      generate(StringRef(Own.data(), Own.size()), /*IsKept=*/false);
  }
  Result.Failed |= isStopped();
  return std::move(Result);
}

CodegenResult dtlto::runLocalCodegen(const LinkContext &L, const Task &T,
                                     const std::atomic<bool> *Stop) {
  return Compile(L, T, Stop).run();
}
