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

/// The merged codegen data of all modules.
struct PriorCodegenData {
  llvm::StringRef File; // in LLVM's format; empty if there is none, or not yet
  uint64_t Hash = 0;    // for LLVM's cache keys
};

/// The data of a link that its jobs need; Linker.h has the rest. References are
/// to the linker's and LLVM's objects, which outlive the link. Everything is
/// read-only while jobs run.
struct LinkContext {
  const HostContext &Host;
  const InputBuffers &Inputs;
  /// Whether this is LLD's Mach-O port, whose PreCodeGenPassesHook is known
  /// (see its LTO.cpp).
  bool IsMachO;
  const llvm::lto::Config &Conf;
  const llvm::ModuleSummaryIndex &Index;
  const DefinedSummaries &Defined;
  LibFuncs Unavailable = {};
  bool HasSpecHook = false; // as in ConfigExtras
  /// If null, each job optimises its module.
  OptimizedModules *Optimized = nullptr;
  /// Set if jobs return or use codegen data.
  std::optional<PriorCodegenData> PriorData = {};
};

/// Returns the configuration to change it while no module is compiled. LLVM
/// passes it to backends as const, but it is a member of lto::LTO, which isn't.
inline llvm::lto::Config &mutableConfig(const LinkContext &Ctx) {
  return const_cast<llvm::lto::Config &>(Ctx.Conf);
}

/// One module as LLVM passes it to lto::ThinBackendProc::start(). Pointers are
/// LLVM's and valid until the backend's wait() returns.
struct Task {
  unsigned Number;
  llvm::BitcodeModule Module;
  const llvm::FunctionImporter::ImportMapTy *ImportList;
  const llvm::FunctionImporter::ExportSetTy *ExportList;
  const ResolvedODRMap *ResolvedODR;
  const llvm::GVSummaryMapTy *DefinedGlobals;
  ModuleMapTy *ModuleMap;
  /// The triple in the module's file; empty if none. Lives as long as the
  /// InputBuffers.
  llvm::StringRef Triple = {};
  /// The object's name in its debug info (Windows only): the path of its cache
  /// entry. Empty if it has none. Set while the job is prepared.
  std::string ObjectName = {};
  CompileSpec Spec = {};

  /// The module's name in the linker.
  llvm::StringRef name() const { return Module.getModuleIdentifier(); }
  /// The name of the task for messages.
  std::string title() const { return Spec.title(name().str()); }
};

} // namespace dtlto

#endif // DTLTO_LTO_LINKCONTEXT_H
