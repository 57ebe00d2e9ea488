//===- Linker.h - The linker and one of its links ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_LINKER_H
#define DTLTO_LTO_LINKER_H

#include "Host/RemoteStore.h"
#include "LTO/LinkContext.h"
#include "Run/RunContext.h"
#include "LLVM/ThinBackend.h"
#include "llvm/Config/llvm-config.h"

namespace dtlto {

/// The process's state from before LLD runs: one object for each process.
struct Linker {
  Options Opts;
  const dtlto_plugin *Plugin = nullptr; // checked (PluginLoader.h); may be null
  Messages *Msg = nullptr;
  const dtlto_plugin *StorePlugin = nullptr; // of Opts.RemoteCache, or null
  std::shared_ptr<RemoteStore> Store;        // the remote cache; may be null
  std::shared_ptr<RemoteStore> FarmStore;    // the plugin's; may be null
  /// Whether this is LLD's Mach-O port.
  bool IsMachO = false;
  InputBuffers Inputs;
  /// The number of LLVM's own tasks, and of further tasks that LLD has room
  /// for, with numbers from NumTasks on.
  unsigned NumTasks = 0, NumSpareTasks = 0;
  /// Whether LLD has created a ThinLTO backend, ours or LLVM's.
  bool HasBackend = false;
  /// The timelines of finished ThinLTO links, for --time-trace.
  std::vector<Timeline> Timelines;
};

/// One ThinLTO link: the parameters that LLVM passes to a backend.
struct Link {
  Link(Linker &Process, const llvm::lto::Config &Conf,
       const llvm::ModuleSummaryIndex &Index, const DefinedSummaries &Defined,
       llvm::AddStreamFn AddStream, llvm::FileCache Cache)
      : Process(Process), Host{Process.Plugin, *Process.Msg, Process.Opts,
                               LLVM_VERSION_STRING},
        Jobs{Host, Process.Inputs, Process.IsMachO, Conf, Index, Defined},
        Run{Host, Process.Opts,
            Conf.TimeTraceEnabled ? &Process.Timelines : nullptr,
            Process.Store},
        AddStream(std::move(AddStream)), Cache(std::move(Cache)) {}
  Link(const Link &) = delete; // Jobs and Run refer to Host

  Linker &Process;
  HostContext Host;
  LinkContext Jobs;
  RunContext Run;
  llvm::AddStreamFn AddStream;
  // May be empty. Mutable, because its call operator isn't const in all
  // versions.
  mutable llvm::FileCache Cache;
  bool EmitIndexFiles = false;
  bool EmitImportsFiles = false;
};

} // namespace dtlto

#endif // DTLTO_LTO_LINKER_H
