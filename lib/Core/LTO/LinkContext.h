//===- LinkContext.h - What all jobs of a link share ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_LINKCONTEXT_H
#define DTLTO_LTO_LINKCONTEXT_H

#include "Config/CompileSpec.h"
#include "Host/HostContext.h"
#include "LTO/InputBuffers.h"
#include "LLVM/ThinBackend.h"
#include <optional>
#include <string>

namespace dtlto {

class OptimizedModules;

/// What the first of two rounds of code generation has learnt of all modules.
struct LearntData {
  llvm::StringRef File; // LLVM's; empty: nothing, or it isn't known yet
  uint64_t Hash = 0;    // for LLVM's keys
};

/// What the jobs of one link need of it; Linker.h has the rest. References
/// are the linker's and LLVM's, and outlive the link; everything is read-only
/// while jobs run.
struct LinkContext {
  const HostContext &Host;
  const InputBuffers &Inputs;
  /// LLD's Mach-O port runs: its PreCodeGenPassesHook is known (LTO.cpp there).
  bool IsMachO;
  const llvm::lto::Config &Conf;
  const llvm::ModuleSummaryIndex &Index;
  const DefinedSummaries &Defined;
  LibFuncs Unavailable = {};
  bool HasPartHook = false; // Conf's PostImportModuleHook is that of parts
  /// Null: each job optimises its module.
  OptimizedModules *Optimized = nullptr;
  /// Of two rounds of code generation; nothing: there is one.
  std::optional<LearntData> Learnt = {};
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
  /// That its file names; empty: none. Lives as long as the InputBuffers.
  llvm::StringRef Triple = {};
  /// What an object for Windows calls itself in its debug info: the name of its
  /// file in the cache. Empty: it has none. Set while the job is prepared.
  std::string ObjectName = {};
  CompileSpec Spec = {};

  /// The module's name in the linker, for messages.
  llvm::StringRef name() const { return Module.getModuleIdentifier(); }
  /// The same, with the part that is compiled.
  std::string title() const { return Spec.title(name().str()); }
};

} // namespace dtlto

#endif // DTLTO_LTO_LINKCONTEXT_H
