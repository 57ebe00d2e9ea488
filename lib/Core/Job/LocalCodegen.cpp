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
#include "LLVM/Diagnostics.h"
#include "LLVM/PassGate.h"
#include "LLVM/ThinBackend.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/LTO/LTOBackend.h"
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

void addLine(std::string &Text, const std::string &Line) {
  if (!Text.empty())
    Text += '\n';
  Text += Line;
}

} // namespace

CodegenResult dtlto::runLocalCodegen(const LinkContext &L, const Task &T,
                                     const std::atomic<bool> *Stop) {
  CodegenResult Result;
  if (Stop && *Stop) {
    Result.Failed = true;
    return Result;
  }
  ThreadTimeTrace Trace(L.Conf);
  [[maybe_unused]] BackendSpan Span(T.name());

  lto::LTOLLVMContext Context(L.Conf);
  Context.DiagHandler = [&](const DiagnosticInfo &DI) {
    if (DI.getSeverity() == DS_Error) {
      Result.Failed = true;
      std::string Text;
      raw_string_ostream OS(Text);
      printDiagnostic(DI, OS);
      // Reported once, by the caller that knows the module's name.
      return addLine(Result.Errors, OS.str());
    }
    if (L.Conf.DiagHandler)
      L.Conf.DiagHandler(DI);
  };

  std::optional<StopGate> Gate;
  if (Stop && !Context.getOptPassGate().isEnabled()) // -opt-bisect-limit
    Context.setOptPassGate(Gate.emplace(*Stop));

  auto Fail = [&](Error E) {
    Result.Failed = true;
    addLine(Result.Errors, toString(std::move(E)));
  };

  BitcodeModule Module = T.Module;
  Expected<std::unique_ptr<llvm::Module>> M = Module.parseModule(Context);
  if (!M) {
    Fail(M.takeError());
    return Result;
  }
  auto AddStream =
      [&](unsigned,
          const Twine &) -> Expected<std::unique_ptr<CachedFileStream>> {
    Result.Produced = true;
    if (Stop && *Stop)
      emptyFunctions(**M);
    return std::make_unique<CachedFileStream>(
        std::make_unique<raw_svector_ostream>(Result.Object), T.ObjectName);
  };
  if (Error E = runThinBackend(L.Conf, T.Number, AddStream, **M, L.Index,
                               *T.ImportList, *T.DefinedGlobals, T.ModuleMap,
                               L.Unavailable))
    Fail(std::move(E));
  Result.Failed |= Stop && *Stop;
  return Result;
}
