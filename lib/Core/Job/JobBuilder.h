//===- JobBuilder.h - From a task of LLVM to a job of the ABI ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_JOB_JOBBUILDER_H
#define DTLTO_JOB_JOBBUILDER_H

#include "Config/ConfigJSON.h"
#include "Host/BuiltJob.h"
#include "Host/ModuleNames.h"
#include "Job/KeptModules.h"
#include "Job/LinkContext.h"
#include "Job/Shards.h"
#include "Job/SlimImports.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <mutex>

namespace dtlto {

/// Makes jobs, and keeps what jobs of one link share. Any thread.
class JobBuilder {
public:
  /// \p Needs are the fields that each job must have (DTLTO_JOB_...); unknown
  /// ones, and those that mean nothing without inputs, are ignored. \p Slim has
  /// what jobs import from; without it they import from whole modules. \p Kept
  /// has modules that are optimised; without it, each job does that.
  JobBuilder(const LinkContext &L, uint32_t Needs, SlimImports *Slim = nullptr,
             KeptModules *Kept = nullptr);

  /// Makes the job with number \p Id. Fails, with one line that says why, where
  /// the module can't be compiled outside of the linker.
  llvm::Expected<std::unique_ptr<BuiltJob>> build(const Task &T, uint64_t Id,
                                                  uint64_t Cost);

  /// Whether build() is so little work that a thread of its own would be more.
  bool isTrivial() const { return Needs == 0; }
  /// Whether workers are plain compilers, which get a command line.
  bool areCommands() const { return Needs & DTLTO_JOB_ARGS; }

  /// Whether \p T is compiled in the linker's process, because the plugin needs
  /// no fields or because its configuration can't be expressed.
  bool staysHere(const Task &T);

  /// Of what jobs are compiled by beside the modules and the index: another
  /// configuration, with what is in its files, has another one. LLVM's keys of
  /// the cache leave some of that out.
  const std::string &configId();

  /// The names that modules have on other machines.
  const ModuleNames &names() const { return Names; }

  /// The triple that \p T is compiled for.
  llvm::StringRef triple(const Task &T) const;

private:
  struct TripleArgs {
    std::vector<std::string> Args;
    std::string Reason; // why there are none; empty if there are
  };

  llvm::Expected<ModuleFile *> moduleFile(const llvm::BitcodeModule &Module,
                                          uint32_t Role, bool IsWhole);
  const TripleArgs &argsFor(llvm::StringRef TheTriple);
  const ModuleFile *optimized(const Task &T) const;
  llvm::Error addInputs(BuiltJob &Built, const Task &T);
  llvm::Error addModules(BuiltJob &Built, const Task &T);
  llvm::Error addOptimized(BuiltJob &Built, const Task &T, llvm::StringRef IR);
  llvm::Error addIndex(BuiltJob &Built, const Task &T,
                       const llvm::FunctionImporter::ImportMapTy &Imports,
                       const llvm::StringMap<llvm::StringRef> &Paths);
  llvm::Error addArgs(BuiltJob &Built, const Task &T);
  llvm::Error addConfig(BuiltJob &Built, const Task &T);
  llvm::Expected<const char *> config();
  llvm::Error makeConfig();
  llvm::Expected<std::string> configText(const Task *T,
                                         const BuiltJob *Built) const;
  llvm::Expected<ModuleFile *> codegenData();
  llvm::Error addConfigFile(llvm::StringRef Path, llvm::StringRef Name,
                            std::string &Field);

  const LinkContext &L;
  SlimImports *const Slim; // may be null
  KeptModules *const Kept; // likewise
  const uint32_t Needs;
  ModuleNames Names;
  Shards AllShards;
  std::mutex Mutex; // guards the maps, not their values
  llvm::StringMap<std::unique_ptr<ModuleFile>> Files;
  std::vector<std::unique_ptr<ModuleFile>> SlimFiles;
  /// What jobs import from: one of SlimFiles or, where it goes whole, of Files.
  llvm::StringMap<ModuleFile *> ImportFiles;
  llvm::StringMap<TripleArgs> Triples;
  std::once_flag ConfigOnce;
  std::string Config, WhyNoConfig; // one of them is empty
  ConfigExtras Extras;             // but for what is a job's own
  std::once_flag ConfigIdOnce;
  std::string ConfigId;
  /// Files that the configuration names: profiles. Each job has them all.
  std::vector<std::unique_ptr<ModuleFile>> ConfigFiles;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> ConfigBuffers;
  std::once_flag DataOnce;
  std::unique_ptr<ModuleFile> DataFile; // what code generation learnt, or null
  std::unique_ptr<llvm::MemoryBuffer> DataBuffer;
  std::string WhyNoData; // it can't be read; empty: all is well
};

} // namespace dtlto

#endif // DTLTO_JOB_JOBBUILDER_H
