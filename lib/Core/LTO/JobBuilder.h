//===- JobBuilder.h - From a task of LLVM to a job of the ABI ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_JOBBUILDER_H
#define DTLTO_LTO_JOBBUILDER_H

#include "LTO/JobConfig.h"
#include "LTO/JobInputs.h"
#include "LTO/OptimizedModules.h"

namespace dtlto {

/// Makes jobs, and keeps what the jobs of one link share. Thread-safe.
class JobBuilder {
public:
  /// \p Needs are the fields that each job must have (DTLTO_JOB_...). Unknown
  /// ones, and those that are useless without inputs, are ignored. \p Slim has
  /// the files that jobs import from; without it, they import from whole
  /// modules. \p Optimized has optimised modules; without it, each job
  /// optimises its module.
  JobBuilder(const LinkContext &Ctx, uint32_t Needs,
             SlimImports *Slim = nullptr,
             OptimizedModules *Optimized = nullptr);

  /// Makes job \p Id. Fails, with a reason of one line, if the module can't be
  /// compiled outside the linker.
  llvm::Expected<std::unique_ptr<BuiltJob>> build(const Task &T, uint64_t Id,
                                                  uint64_t Cost);

  /// Returns the key of the result of \p T; see JobSource::resultKey(). Fails
  /// if the module can't be compiled outside the linker.
  llvm::Expected<ResultKey> resultKey(const Task &T);

  /// Whether build() does less work than starting a thread takes.
  bool isTrivial() const { return Needs == 0; }
  /// Whether workers are plain compilers, which get a command line.
  bool areCommands() const { return Needs & DTLTO_JOB_ARGS; }

  /// Whether \p T is compiled in the linker, because the plugin needs no fields
  /// or because the job's configuration can't be expressed.
  bool mustStayLocal(const Task &T);

  /// Identifies all that jobs depend on except the modules and the index.
  const std::string &configId() const { return Config.id(); }

  /// The names that modules have on other machines.
  const ModuleNames &names() const { return Inputs.names(); }

  /// The triple that \p T is compiled for.
  llvm::StringRef triple(const Task &T) const;

private:
  /// The words that all command lines for one triple have.
  struct CommonArgs {
    std::vector<std::string> Args;
    std::string Reason; // why a plain clang can't run the jobs; otherwise empty
  };

  llvm::Error addInputs(BuiltJob &Built, const Task &T, bool WholeImports);
  const CommonArgs &commonArgs(llvm::StringRef Triple);
  llvm::Expected<std::vector<std::string>>
  makeCommonArgs(llvm::StringRef Triple) const;
  llvm::Error addCommand(BuiltJob &Built, const Task &T);
  CompileSpec specOf(const BuiltJob &Built, const Task &T) const;

  const LinkContext &Ctx;
  OptimizedModules *const Optimized; // may be null
  const uint32_t Needs;
  JobInputs Inputs;
  JobConfig Config;
  std::mutex Mutex;                     // guards the map, not its values
  llvm::StringMap<CommonArgs> Commands; // by triple
};

} // namespace dtlto

#endif // DTLTO_LTO_JOBBUILDER_H
