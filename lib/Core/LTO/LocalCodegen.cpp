//===- LocalCodegen.cpp - A backend compile in this process ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/LocalCodegen.h"
#include "Compile/BackendCompile.h"
#include "LTO/OptimizedModules.h"
#include "LLVM/Diagnostics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TimeProfiler.h"

using namespace llvm;
using namespace dtlto;

namespace {

/// Starts a time trace for the calling thread, as LLVM's backend does, unless
/// it has one.
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

/// One compile on the calling thread.
class LocalCompile : public CompileClient {
public:
  LocalCompile(const LinkContext &Ctx, const Task &T,
               const std::atomic<bool> *Stop)
      : Ctx(Ctx), T(T), Stop(Stop) {}

  CodegenResult run();

private:
  Expected<std::unique_ptr<Module>> read(LLVMContext &Context) override {
    BitcodeModule Module = T.Module;
    return Module.parseModule(Context);
  }
  void diagnose(const DiagnosticInfo &DI) override;

  bool isStopped() const { return Stop && *Stop; }
  CompiledModule compile(const CompileSpec &Spec, const lto::Config &Conf,
                         StringRef Optimized = "");
  bool generateOptimized();
  void compileSource();

  const LinkContext &Ctx;
  const Task &T;
  const std::atomic<bool> *Stop; // may be null
  CodegenResult Result;
};

} // namespace

/// Collects the diagnostic. The caller knows whether the result is used, and
/// reports it once.
void LocalCompile::diagnose(const DiagnosticInfo &DI) {
  CompilerMessage M = toMessage(DI);
  if (M.Level == MessageLevel::Error)
    Result.Errors.push_back(std::move(M.Text));
  else
    Result.Messages.push_back(std::move(M));
}

CompiledModule LocalCompile::compile(const CompileSpec &Spec,
                                     const lto::Config &Conf,
                                     StringRef Optimized) {
  CompiledModule Compiled;
  Error E = compileModule({Conf, T.Number, Ctx.Index, *T.ImportList,
                           *T.DefinedGlobals, T.ModuleMap, Ctx.Unavailable,
                           T.name(), T.ObjectName, Optimized},
                          Spec, *this, Compiled, Stop);
  handleAllErrors(std::move(E), [&](const ErrorInfoBase &One) {
    Compiled.HasErrors = true;
    Result.Errors.push_back(One.message());
  });
  return Compiled;
}

/// Generates code from the optimised module, if there is one. Returns false if
/// there is none, or if it can't be used.
bool LocalCompile::generateOptimized() {
  std::optional<StringRef> IR = Ctx.Optimized->forHere(T);
  if (!IR)
    return false;
  CompileSpec Spec;
  Spec.IsOptimized = true;
  CompiledModule Compiled = compile(Spec, Ctx.Optimized->codegenConfig(), *IR);
  if (isStopped() || !Compiled.HasErrors) {
    Result.Object = std::move(Compiled.Object);
    Result.Produced = Compiled.IsProduced;
    return true;
  }
  // Drop the errors: compiling from source reports them if they persist.
  Ctx.Optimized->dropHere(T, Compiled.IsUnreadable ? "it cannot be read"
                                                   : "the compiler failed");
  Result = {};
  return false;
}

void LocalCompile::compileSource() {
  CompileSpec Spec = T.Spec;
  Spec.ReturnsOptimized =
      Ctx.Optimized && Ctx.Optimized->wants(T, /*IsHere=*/true);
  CompiledModule Compiled = compile(Spec, Ctx.Conf);
  Result.Failed = Compiled.HasErrors;
  Result.Produced = Compiled.IsProduced;
  Result.Object = std::move(Compiled.Object);
  if (Result.Failed || !Result.Produced || isStopped() || !Compiled.Optimized)
    return;
  StringRef IR(Compiled.Optimized->data(), Compiled.Optimized->size());
  Ctx.Optimized->keep(T, IR, /*IsHere=*/true, std::move(Compiled.FirstObject));
}

CodegenResult LocalCompile::run() {
  if (!isStopped()) {
    ThreadTimeTrace Trace(Ctx.Conf);
    [[maybe_unused]] BackendSpan Span(T.name());
    if (!Ctx.Optimized || !generateOptimized())
      compileSource();
  }
  Result.Failed |= isStopped();
  return std::move(Result);
}

CodegenResult dtlto::runLocalCodegen(const LinkContext &Ctx, const Task &T,
                                     const std::atomic<bool> *Stop) {
  return LocalCompile(Ctx, T, Stop).run();
}
