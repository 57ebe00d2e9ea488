//===- JobBuilder.cpp - From a task of LLVM to a job of the ABI -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/JobBuilder.h"
#include "Config/CompilerArgs.h"
#include "Support/Failure.h"
#include "LLVM/CodegenData.h"
#include "LLVM/Index.h"

using namespace llvm;
using namespace dtlto;

static constexpr uint32_t WithInputs =
    DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_CONFIG;
static constexpr uint32_t InputDetails =
    DTLTO_JOB_DIGESTS | DTLTO_JOB_WHOLE_IMPORTS;

JobBuilder::JobBuilder(const LinkContext &Ctx, uint32_t RequestedFields,
                       SlimImports *Slim, OptimizedModules *Optimized)
    : Ctx(Ctx),
      // A command line can't ask for an optimised module, nor pass one.
      Optimized(RequestedFields & DTLTO_JOB_CONFIG &&
                        !(RequestedFields & DTLTO_JOB_ARGS)
                    ? Optimized
                    : nullptr),
      Needs(RequestedFields & WithInputs
                ? RequestedFields & (WithInputs | InputDetails)
                : 0),
      Inputs(Ctx, Slim), Config(Ctx) {}

StringRef JobBuilder::triple(const Task &T) const {
  if (!Ctx.Conf.OverrideTriple.empty())
    return Ctx.Conf.OverrideTriple;
  return T.Triple.empty() ? StringRef(Ctx.Conf.DefaultTriple) : T.Triple;
}

bool JobBuilder::mustStayLocal(const Task &T) {
  if (Needs == 0)
    return true;
  if (Needs & DTLTO_JOB_ARGS && !commonArgs(triple(T)).Reason.empty())
    return true;
  return Needs & DTLTO_JOB_CONFIG && !Config.reason().empty();
}

Error JobBuilder::addInputs(BuiltJob &Built, const Task &T, bool WholeImports) {
  if (Error E = Built.Optimized
                    ? Inputs.addOptimized(Built, T, *Built.Optimized)
                    : Inputs.add(Built, T, WholeImports))
    return E;
  Expected<ModuleFile *> Data = Config.codegenData();
  if (!Data)
    return Data.takeError();
  if (*Data)
    Built.Inputs.emplace_back(DTLTO_ROLE_OTHER, **Data);
  setInputs(Built);
  Built.Job.fields |=
      DTLTO_JOB_INPUTS | (WholeImports ? DTLTO_JOB_WHOLE_IMPORTS : 0);
  return Error::success();
}

Expected<std::vector<std::string>>
JobBuilder::makeCommonArgs(StringRef TheTriple) const {
  Expected<ModuleFile *> Data = Config.codegenData();
  if (!Data)
    return Data.takeError();
  Expected<std::vector<std::string>> Args =
      compilerArgs(Ctx.Conf, Triple(TheTriple), Ctx.Host.JobOpts.LLVMOptions,
                   Ctx.HasSpecHook);
  if (!Args)
    return Args;
  if (Ctx.Index.hasParamAccess())
    return failure(Config.reason());
  if (StringRef Option = emittingOption(); !Option.empty())
    return failure("-mllvm -" + Option);
  if (!Ctx.Unavailable.empty())
    return failure("library functions that must not be called, '" +
                   Ctx.Unavailable.front() + "'");
  if (*Data)
    Args->insert(
        Args->end(),
        {"-mllvm", ("-" + CodegenDataOption + "=" + (*Data)->Path).str()});
  return Args;
}

const JobBuilder::CommonArgs &JobBuilder::commonArgs(StringRef TheTriple) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto [It, IsNew] = Commands.try_emplace(TheTriple);
  if (IsNew)
    if (Error E = makeCommonArgs(TheTriple).moveInto(It->second.Args))
      It->second.Reason = toString(std::move(E));
  return It->second;
}

/// Sets the command line for a plain clang of \p Built, a job of \p T that has
/// its inputs.
Error JobBuilder::addCommand(BuiltJob &Built, const Task &T) {
  if (StringRef Option = T.Spec.workerOption(); !Option.empty())
    return failure(Option);
  const CommonArgs &Common = commonArgs(Built.Triple);
  if (!Common.Reason.empty())
    return failure(Common.Reason);

  std::vector<std::string> &Args = Built.Args;
  // Ignore the worker's configuration files, and leave no crash reproducer
  // behind. Diagnostics have no caret lines: clang would look for the program's
  // source in the bitcode file.
  Args = {"clang",
          "--no-default-config",
          "-fno-crash-diagnostics",
          "-Wno-unused-command-line-argument",
          "-fno-color-diagnostics",
          "-fno-caret-diagnostics"};
  Args.insert(Args.end(), Common.Args.begin(), Common.Args.end());
  if (!T.ObjectName.empty())
    Args.insert(Args.end(), {"-Xclang", "-object-file-name=" + T.ObjectName});
  Args.insert(Args.end(),
              {"-c", "-fthinlto-index=" + IndexPath.str(), "-x", "ir",
               Built.Inputs.front().path, "-o", OutputPath.str()});
  setArgs(Built, OutputPath.data());
  return Error::success();
}

/// Returns how the worker compiles \p Built, a job of \p T.
CompileSpec JobBuilder::specOf(const BuiltJob &Built, const Task &T) const {
  CompileSpec Spec = Built.Optimized ? T.Spec.afterOptimization() : T.Spec;
  Spec.ReturnsOptimized = Built.ReturnsOptimized;
  return Spec;
}

Expected<std::unique_ptr<BuiltJob>>
JobBuilder::build(const Task &T, uint64_t Id, uint64_t Cost) {
  auto Built = std::make_unique<BuiltJob>();
  Built->Name = T.title();
  Built->Triple = triple(T).str();
  Built->Job.size = sizeof(dtlto_job);
  Built->Job.id = Id;
  Built->Job.name = Built->Name.c_str();
  Built->Job.triple = Built->Triple.c_str();
  Built->Job.cost = Cost;
  if (Optimized) {
    Built->Optimized = Optimized->forPlugin(T);
    Built->ReturnsOptimized =
        !Built->Optimized && Optimized->wants(T, /*IsLocal=*/false);
  }
  // The command line and the configuration are useless without the inputs.
  if (Needs != 0)
    if (Error E = addInputs(*Built, T, Needs & DTLTO_JOB_WHOLE_IMPORTS))
      return std::move(E);
  if (Needs & DTLTO_JOB_ARGS)
    if (Error E = addCommand(*Built, T))
      return std::move(E);
  if (Needs & DTLTO_JOB_CONFIG)
    if (Error E = Config.addTo(*Built, T, specOf(*Built, T)))
      return std::move(E);
  if (Needs & DTLTO_JOB_DIGESTS)
    addDigests(*Built);
  return Built;
}

Expected<ResultKey> JobBuilder::resultKey(const Task &T) {
  BuiltJob Built;
  Built.Triple = triple(T).str();
  // Whole imports are the same for all links that have these modules, and their
  // digests are computed once.
  if (Error E = addInputs(Built, T, /*WholeImports=*/true))
    return std::move(E);
  if (Error E = Config.addTo(Built, T, T.Spec))
    return std::move(E);
  addDigests(Built);
  return dtlto::resultKey(Built, Ctx.Host.JobOpts.Linker + "\n" +
                                     Ctx.Host.LLVMVersion);
}
