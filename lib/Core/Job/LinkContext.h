//===- LinkContext.h - What all jobs of a link share ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_JOB_LINKCONTEXT_H
#define DTLTO_JOB_LINKCONTEXT_H

#include "Host/HostContext.h"
#include "Job/InputBuffers.h"
#include "Job/Rounds.h"
#include "Support/PartNumber.h"
#include "LLVM/ThinBackend.h"
#include <string>

namespace dtlto {

class KeptModules;

/// What the jobs of one link need of it; Link/Linker.h has the rest. References
/// are the linker's and LLVM's, and outlive the link; everything is read-only
/// while jobs run.
struct LinkContext : HostContext {
  const InputBuffers &Inputs;
  /// LLD's Mach-O port runs: its PreCodeGenPassesHook is known (LTO.cpp there).
  bool IsMachO;
  const llvm::lto::Config &Conf;
  const llvm::ModuleSummaryIndex &Index;
  const DefinedSummaries &Defined;
  LibFuncs Unavailable = {};
  bool HasPartHook = false;    // Conf's PostImportModuleHook is that of parts
  Rounds *TwoRounds = nullptr; // null: code is generated once
  KeptModules *Kept = nullptr; // null: none are to be kept

  /// What names of a round's files end with; empty: there is one round.
  std::string roundSuffix() const {
    return round() == 0 ? "" : ".round" + std::to_string(round());
  }
  /// Of two; 0: there is one.
  unsigned round() const { return TwoRounds ? TwoRounds->current() : 0; }
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
  PartNumber Part = {};

  /// The module's name in the linker, for messages.
  llvm::StringRef name() const { return Module.getModuleIdentifier(); }
  /// The same, with the part that is compiled.
  std::string title() const { return partTitle(name().str(), Part); }
};

} // namespace dtlto

#endif // DTLTO_JOB_LINKCONTEXT_H
