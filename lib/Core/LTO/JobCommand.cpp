//===- JobCommand.cpp - Jobs as commands of clang -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/JobCommand.h"
#include "Config/CompilerArgs.h"
#include "Support/Failure.h"
#include "LLVM/CodegenData.h"
#include "LLVM/Index.h"

using namespace llvm;
using namespace dtlto;

Expected<std::vector<std::string>> JobCommand::make(StringRef TheTriple) const {
  Expected<ModuleFile *> Data = Config.codegenData();
  if (!Data)
    return Data.takeError();
  Expected<std::vector<std::string>> Args =
      compilerArgs(Ctx.Conf, Triple(TheTriple), Ctx.Host.JobOpts.LLVMOptions,
                   Ctx.HasPartHook);
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

const JobCommand::CommonArgs &JobCommand::common(StringRef TheTriple) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto [It, IsNew] = Triples.try_emplace(TheTriple);
  if (IsNew)
    if (Error E = make(TheTriple).moveInto(It->second.Args))
      It->second.Reason = toString(std::move(E));
  return It->second;
}

Error JobCommand::addTo(BuiltJob &Built, const Task &T) {
  if (!T.Spec.Part.isWhole())
    return failure("--thinlto-dist-split");
  const CommonArgs &Common = common(Built.Triple);
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
  if (!T.ObjectName.empty()) {
    Args.push_back("-Xclang");
    Args.push_back("-object-file-name=" + T.ObjectName);
  }
  for (const std::string &Arg :
       {std::string("-c"), "-fthinlto-index=" + IndexPath.str(),
        std::string("-x"), std::string("ir"),
        std::string(Built.Inputs.front().path), std::string("-o"),
        OutputPath.str()})
    Args.push_back(Arg);

  setArgs(Built, OutputPath.data());
  return Error::success();
}
