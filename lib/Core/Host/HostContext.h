//===- HostContext.h - The context of a plugin's host -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_HOSTCONTEXT_H
#define DTLTO_HOST_HOSTCONTEXT_H

#include "Support/MachineMemory.h"
#include "Support/Messages.h"
#include "dtlto/PluginAPI.h"
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace dtlto {

/// The options of jobs and of the plugin's session.
struct JobOptions {
  std::vector<std::string> LLVMOptions; // -mllvm and the like, one word each
  std::vector<std::string> PluginArgs;
  std::string OutputFile; // for display; may be empty
  std::string Linker;     // its version line; empty if unknown
  unsigned TimeoutSeconds = 600;
  // The memory in bytes of jobs in flight, and again of results that the plugin
  // is receiving.
  uint64_t Memory =
      std::max<uint64_t>(uint64_t(256) << 20, machineMemory() / 4);
  // The memory in bytes of jobs that are compiled on this machine.
  uint64_t LocalMemory = std::min(machineMemory() / 2, availableMemory());
};

/// A dtlto_session_config that owns its text.
struct SessionConfig {
  uint32_t Needs = 0;     // DTLTO_JOB_..., the fields that each job must have
  std::string NoFallback; // the setting that forbids the fallback, or empty
  std::string Problem;    // why configure() failed; then open() is not possible
};

/// What a session with a plugin uses of its host, the linker or the
/// distributor. References outlive the session; everything is read-only while
/// it lives.
struct HostContext {
  const dtlto_plugin *Plugin; // checked (PluginLoader.h)
  Messages &Msg;
  const JobOptions &JobOpts;
  /// Results must be those of this version of LLVM, "19.1.7".
  std::string LLVMVersion;
  unsigned Parallelism = 1;  // threads that the user allows, --thinlto-jobs
  SessionConfig Config = {}; // from configurePlugin(), before any job
};

/// A dtlto_session_params and what it points to.
class SessionParams {
public:
  SessionParams(const HostContext &Ctx, uint64_t NumJobs);
  SessionParams(const SessionParams &) = delete;
  const dtlto_session_params &raw() const { return Raw; }

private:
  const std::vector<std::string> Args;
  const std::string LLVMVersion, Output, Linker;
  std::vector<const char *> ArgPointers;
  dtlto_session_params Raw = {};
};

/// Calls configure() of the plugin, for a link of \p NumJobs jobs. Waits at
/// most 10 s, or the user's time limit for a job if that is shorter. If the
/// call takes longer, leaves the plugin in it and returns a Problem.
SessionConfig configurePlugin(const HostContext &Ctx, uint64_t NumJobs);

} // namespace dtlto

#endif // DTLTO_HOST_HOSTCONTEXT_H
