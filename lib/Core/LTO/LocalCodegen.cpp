//===- LocalCodegen.cpp - A backend compile in this process ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/LocalCodegen.h"
#include "Compile/BackendCompile.h"
#include "LTO/OptimizedModules.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TimeProfiler.h"

using namespace llvm;
using namespace dtlto;

namespace {

/// One compile on the calling thread.
class LocalCompile : public CompileClient {
public:
  LocalCompile(const LinkContext &Ctx, const Task &LTOTask,
               const std::atomic<bool> *Stop)
      : Ctx(Ctx), LTOTask(LTOTask), Stop(Stop) {}

  CodegenResult run();

private:
  Expected<std::unique_ptr<Module>> read(LLVMContext &Context) override {
    BitcodeModule Module = LTOTask.Module;
    return Module.parseModule(Context);
  }
  void diagnose(const DiagnosticInfo &DI) override;

  bool isStopped() const { return Stop && *Stop; }
  CompiledModule compile(const CompileSpec &Spec, const lto::Config &Conf,
                         StringRef Optimized = "");
  bool generateOptimized();
  void compileSource();

  const LinkContext &Ctx;
  const Task &LTOTask;
  const std::atomic<bool> *Stop; // may be null
  CodegenResult Result;
};

} // namespace

/// Collects the diagnostic with the level of LLD's own handler. The caller
/// knows whether the result is used, and reports it once.
void LocalCompile::diagnose(const DiagnosticInfo &DI) {
  std::string Text;
  raw_string_ostream OS(Text);
  printDiagnostic(DI, OS);
  if (DI.getSeverity() == DS_Error)
    Result.Errors.push_back(OS.str());
  else
    Result.Messages.push_back({DI.getSeverity() == DS_Warning
                                   ? MessageLevel::Diagnostic
                                   : MessageLevel::Remark,
                               OS.str()});
}

CompiledModule LocalCompile::compile(const CompileSpec &Spec,
                                     const lto::Config &Conf,
                                     StringRef Optimized) {
  CompiledModule Compiled;
  Error E = compileModule({Conf, LTOTask.Number, Ctx.Index, *LTOTask.ImportList,
                           *LTOTask.DefinedGlobals, LTOTask.ModuleMap,
                           Ctx.Unavailable, LTOTask.name(), LTOTask.ObjectName,
                           Optimized},
                          Spec, *this, Compiled, Stop);
  handleAllErrors(std::move(E), [&](const ErrorInfoBase &Info) {
    Compiled.HasErrors = true;
    Result.Errors.push_back(Info.message());
  });
  return Compiled;
}

/// Generates code from the optimised module, if there is one. Returns false if
/// there is none, or if it can't be used.
bool LocalCompile::generateOptimized() {
  std::optional<StringRef> IR = Ctx.Optimized->forLocalCompile(LTOTask);
  if (!IR)
    return false;
  CompiledModule Compiled = compile(LTOTask.Spec.afterOptimization(),
                                    Ctx.Optimized->codegenConfig(), *IR);
  if (isStopped() || !Compiled.HasErrors) {
    Result.Object = std::move(Compiled.Object);
    Result.HasObject = Compiled.IsProduced;
    return true;
  }
  // Drop the errors: compiling from source reports them if they persist.
  Ctx.Optimized->dropForLocalCompile(LTOTask, Compiled.IsUnreadable
                                                  ? "it cannot be read"
                                                  : "the compiler failed");
  Result = {};
  return false;
}

void LocalCompile::compileSource() {
  CompileSpec Spec = LTOTask.Spec;
  Spec.ReturnsOptimized =
      Ctx.Optimized && Ctx.Optimized->wants(LTOTask, /*IsLocal=*/true);
  CompiledModule Compiled = compile(Spec, Ctx.Conf);
  Result.Failed = Compiled.HasErrors;
  Result.HasObject = Compiled.IsProduced;
  Result.Object = std::move(Compiled.Object);
  if (Result.Failed || !Result.HasObject || isStopped() || !Compiled.Optimized)
    return;
  Ctx.Optimized->keep(LTOTask, toStringRef(*Compiled.Optimized),
                      /*IsLocal=*/true, std::move(Compiled.FirstObject));
}

CodegenResult LocalCompile::run() {
  if (!isStopped()) {
    // Start a time trace for this thread, as LLVM's backend does, unless it has
    // one.
    const bool StartsTrace =
        Ctx.Conf.TimeTraceEnabled && !timeTraceProfilerEnabled();
    if (StartsTrace)
      timeTraceProfilerInitialize(Ctx.Conf.TimeTraceGranularity,
                                  "thin backend");
    auto EndTrace = onScopeExit([&] {
      if (StartsTrace)
        timeTraceProfilerFinishThread();
    });
    [[maybe_unused]] BackendSpan Span(LTOTask.name());
    if (!Ctx.Optimized || !generateOptimized())
      compileSource();
  }
  Result.Failed |= isStopped();
  return std::move(Result);
}

CodegenResult dtlto::runLocalCodegen(const LinkContext &Ctx,
                                     const Task &LTOTask,
                                     const std::atomic<bool> *Stop) {
  return LocalCompile(Ctx, LTOTask, Stop).run();
}
