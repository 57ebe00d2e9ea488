//===- HostContext.cpp - The context of a plugin's host -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/HostContext.h"
#include "Host/PluginCheck.h"
#include "Support/System.h"
#include "Support/Text.h"
#include <future>

using namespace dtlto;

SessionParams::SessionParams(const HostContext &Ctx, uint64_t NumJobs)
    : Args(Ctx.JobOpts.PluginArgs), LLVMVersion(Ctx.LLVMVersion),
      Output(Ctx.JobOpts.OutputFile), Linker(Ctx.JobOpts.Linker) {
  for (const std::string &Arg : Args)
    ArgPointers.push_back(Arg.c_str());
  Raw.size = sizeof(Raw);
  Raw.num_args = static_cast<uint32_t>(ArgPointers.size());
  Raw.args = ArgPointers.data();
  Raw.llvm_version = LLVMVersion.c_str();
  Raw.linker = Linker.empty() ? nullptr : Linker.c_str();
  Raw.output = Output.c_str();
  Raw.num_jobs = NumJobs;
  Raw.job_timeout_s = Ctx.JobOpts.TimeoutSeconds;
  Raw.verbose = Ctx.Msg.verbose();
  Raw.result_bytes = Ctx.JobOpts.Memory;
}

SessionConfig dtlto::configurePlugin(const HostContext &Ctx, uint64_t NumJobs) {
  struct Call {
    Call(const HostContext &Ctx, uint64_t NumJobs)
        : Plugin(*Ctx.Plugin), Params(Ctx, NumJobs) {}

    void run() {
      dtlto_session_config Raw = {};
      Raw.size = sizeof(Raw);
      Plugin.configure(&Params.raw(), &Raw);
      SessionConfig Config;
      Config.Needs = Raw.needs;
      if (Raw.no_fallback) {
        Config.NoFallback = sanitizedLine(Raw.no_fallback);
        if (Config.NoFallback.empty())
          Config.NoFallback = "the plugin forbids it";
      }
      Answer.set_value(std::move(Config));
    }

    const dtlto_plugin &Plugin;
    const SessionParams Params;
    std::promise<SessionConfig> Answer;
  };
  showFindings(Ctx.Msg);
  // Shared, since the thread may outlive the wait.
  auto C = std::make_shared<Call>(Ctx, NumJobs);
  std::future<SessionConfig> Answer = C->Answer.get_future();
  if (!startThread([C] { C->run(); }))
    C->run();
  const std::chrono::seconds Limit(std::min(10u, Ctx.JobOpts.TimeoutSeconds));
  if (Answer.wait_for(Limit) == std::future_status::timeout) {
    SessionConfig Failure;
    Failure.Problem = "configure() has not returned within " +
                      std::to_string(Limit.count()) + " s";
    return Failure;
  }
  return Answer.get();
}
