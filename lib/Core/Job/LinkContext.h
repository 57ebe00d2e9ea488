//===- LinkContext.h - What all jobs of a link share ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_JOB_LINKCONTEXT_H
#define DTLTO_JOB_LINKCONTEXT_H

#include "Job/InputBuffers.h"
#include "Support/MachineMemory.h"
#include "Support/Messages.h"
#include "Support/PartNumber.h"
#include "dtlto/PluginAPI.h"
#include "LLVM/ThinBackend.h"
#include <algorithm>
#include <string>
#include <vector>

namespace dtlto {

/// The options that jobs and the plugin's session go by.
struct JobOptions {
  std::vector<std::string> LLVMOptions; // -mllvm and the like, a word each
  std::vector<std::string> PluginArgs;
  std::string OutputFile; // for display; may be empty
  std::string Linker;     // its version line; empty: not known
  unsigned TimeoutSeconds = 600;
  // In bytes, that jobs in flight may take in the linker, and again what the
  // plugin is receiving.
  uint64_t Memory =
      std::max<uint64_t>(uint64_t(256) << 20, machineMemory() / 4);
  // And that jobs may take which are compiled on this machine.
  uint64_t MemoryHere = std::min(machineMemory() / 2, availableMemory());
};

/// What the jobs of one link need of it; Link/Linker.h has the rest. References
/// are the linker's and LLVM's, and outlive the link; everything is read-only
/// while jobs run.
struct LinkContext {
  const dtlto_plugin *Plugin; // checked (PluginLoader.h)
  Messages &Msg;
  const JobOptions &JobOpts;
  const InputBuffers &Inputs;
  /// LLD's Mach-O port runs: its PreCodeGenPassesHook is known (LTO.cpp there).
  bool IsMachO;
  const llvm::lto::Config &Conf;
  const llvm::ModuleSummaryIndex &Index;
  const DefinedSummaries &Defined;
  LibFuncs Unavailable = {};
  bool HasPartHook = false; // Conf's PostImportModuleHook is that of parts
  unsigned Parallelism = 1; // threads that the user allows, --thinlto-jobs
};

/// What LLVM gives for one module (lto::ThinBackendProc::start). Pointers are
/// LLVM's and live until the backend's wait() returns.
struct Task {
  unsigned Number;
  llvm::BitcodeModule Module;
  const llvm::FunctionImporter::ImportMapTy *ImportList;
  const llvm::FunctionImporter::ExportSetTy *ExportList;
  const ResolvedODRMap *ResolvedODR;
  const llvm::GVSummaryMapTy *DefinedGlobals;
  ModuleMapTy *ModuleMap;
  /// What an object for Windows calls itself in its debug info: the name of its
  /// file in the cache. Empty: it has none. Set while the job is prepared.
  std::string ObjectName = {};
  PartNumber Part = {};
  /// Bytes of memory that a backend compile is expected to take. Set before
  /// jobs run.
  uint64_t Memory = 0;

  /// The module's name in the linker, for messages.
  llvm::StringRef name() const { return Module.getModuleIdentifier(); }
  /// The same, with the part that is compiled.
  std::string title() const { return partTitle(name().str(), Part); }
};

} // namespace dtlto

#endif // DTLTO_JOB_LINKCONTEXT_H
