//===- Link.h - What all jobs of a link share -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_JOB_LINK_H
#define DTLTO_JOB_LINK_H

#include "Job/InputBuffers.h"
#include "Link/Options.h"
#include "Report/Timeline.h"
#include "Support/Messages.h"
#include "dtlto/PluginAPI.h"
#include "LLVM/LLVMCompat.h"
#include <chrono>
#include <string>

namespace dtlto {

/// What the linker's executable knows before LLD runs: made once in a process.
struct Linker {
  Options Opts;
  const dtlto_plugin *Plugin = nullptr; // checked (Plugin.h); null: none asked
  Messages *Msg = nullptr;
  /// LLD's Mach-O port runs: its PreCodeGenPassesHook is known (LTO.cpp there).
  bool IsMachO = false;
  InputBuffers Inputs;
  /// Of the ThinLTO links that have ended, for --time-trace.
  std::vector<Timeline> Timelines;
};

/// What LLVM gives a backend: one ThinLTO link. References are LLVM's and
/// outlive the backend; everything is read-only while jobs run.
struct Link {
  Linker &TheLinker;
  const llvm::lto::Config &Conf;
  const llvm::ModuleSummaryIndex &Index;
  const DefinedSummaries &Defined;
  llvm::AddStreamFn AddStream;
  // May be empty. Mutable, since calling it isn't const in all versions.
  mutable llvm::FileCache Cache;
  bool EmitIndexFiles = false;
  bool EmitImportsFiles = false;
  unsigned Parallelism = 1; // threads that the user allows, --thinlto-jobs
  std::chrono::steady_clock::time_point Started = {}; // the first task came
  std::chrono::steady_clock::time_point SetUp = {};   // LLD began with its LTO
  LibFuncs Unavailable = {};

  Messages &msg() const { return *TheLinker.Msg; }
  const Options &opts() const { return TheLinker.Opts; }
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

  /// The module's name in the linker, for messages.
  llvm::StringRef name() const { return Module.getModuleIdentifier(); }
};

} // namespace dtlto

#endif // DTLTO_JOB_LINK_H
