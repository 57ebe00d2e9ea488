//===- SessionConfig.h - A plugin's needs before open() ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_SESSIONCONFIG_H
#define DTLTO_HOST_SESSIONCONFIG_H

#include "dtlto/PluginAPI.h"
#include <string>
#include <vector>

namespace dtlto {

struct HostContext;

/// A dtlto_session_config that owns its text.
struct SessionConfig {
  uint32_t Needs = 0;     // DTLTO_JOB_..., the fields that each job must have
  std::string NoFallback; // the setting that forbids the fallback, or empty
  std::string Problem;    // why configure() failed; then open() is not possible
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

#endif // DTLTO_HOST_SESSIONCONFIG_H
