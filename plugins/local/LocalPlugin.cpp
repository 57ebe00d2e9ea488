//===- LocalPlugin.cpp - Runs jobs on this machine ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model for authors of plugins: a session of the SDK, with threads instead
// of a build farm. The host's local code generation does the work of a worker.
// run() is where another plugin calls its DBS.
//
//===----------------------------------------------------------------------===//

#include "Description.h"
#include "System.h"
#include "WorkerProcess.h"
#include <cstdlib>
#include <optional>

using namespace dtlto;
using namespace dtlto::sdk;

namespace {

/// What the user asked for.
struct Arguments {
  uint32_t Jobs = 0; // at the same time; 0: as many as the linker allows
  bool Processes = false;
  std::string Worker;
};

ArgumentTable argumentTable(Arguments &A) {
  return {numberArgument("jobs", "N", 1, 4096, A.Jobs,
                         "Jobs at the same time; by default, --thinlto-jobs"),
          choiceArgument<bool>("mode", {{"thread", false}, {"process", true}},
                               A.Processes,
                               "Compile jobs in the linker, or each in its own "
                               "dtlto-codegen"),
          fileArgument("worker", A.Worker,
                       "The dtlto-codegen of mode=process, if it is not "
                       "installed with the plugin")};
}

class LocalSession : public ThreadSession {
public:
  LocalSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : LocalSession(Host, Params, readArguments(Params)) {}

  static void configure(const dtlto_session_params &Params,
                        dtlto_session_config &Config);
  static std::string probe(const dtlto_session_params &Params,
                           std::chrono::milliseconds) {
    readArguments(Params);
    return "it needs no farm";
  }
  static const Description &description() {
    Arguments A;
    static const Description D =
        describePlugin("Runs jobs on this machine", argumentTable(A));
    return D;
  }

  Result run(const Job &J) override {
    return Processes ? Processes->run(J) : J.compileLocally();
  }

  void load(dtlto_load &Load) override {
    ThreadSession::load(Load);
    Load.workers = 1;
    Load.expected_wait_ms = Load.free ? 0 : UINT64_MAX;
    Load.local = Load.slots;
  }

  std::vector<Worker> status(std::chrono::milliseconds) override {
    Worker ThisMachine = {"this machine", DTLTO_WORKER_UP, Compiler};
    ThisMachine.Slots = NumSlots;
    ThisMachine.Busy = numRunning();
    ThisMachine.LoadPermille = loadPermille();
    return {ThisMachine};
  }

private:
  LocalSession(const dtlto_host &Host, const dtlto_session_params &Params,
               Arguments A)
      // More threads than jobs would be useless.
      : ThreadSession(Host, static_cast<unsigned>(std::min<uint64_t>(
                                numSlots(Host, A), Params.num_jobs))),
        NumSlots(numSlots(Host, A)), Compiler("this linker") {
    if (A.Processes) {
      Processes.emplace(Host, A.Worker,
                        std::chrono::seconds(Params.job_timeout_s));
      Compiler = Processes->program();
    }
    Compiler += ", LLVM " + std::string(Params.llvm_version);
  }

  static Arguments readArguments(const dtlto_session_params &Params);
  static uint32_t numSlots(const dtlto_host &Host, const Arguments &A) {
    uint32_t HostSlots =
        require<dtlto_local_codegen>(Host, DTLTO_EXT_LOCAL_CODEGEN).slots;
    return A.Jobs ? A.Jobs : HostSlots;
  }
  static uint32_t loadPermille();

  const uint32_t NumSlots;
  std::string Compiler; // for display
  std::optional<WorkerProcesses> Processes;
};

} // namespace

Arguments LocalSession::readArguments(const dtlto_session_params &Params) {
  Arguments A;
  sdk::readArguments(argumentTable(A), Params.args, Params.num_args);
  return A;
}

void LocalSession::configure(const dtlto_session_params &Params,
                             dtlto_session_config &Config) {
  if (!readArguments(Params).Processes)
    return;
  Config.needs = DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG;
  // A module that crashes a worker process would crash the linker.
  Config.no_fallback = "mode=process is given";
}

/// Returns the load of the last minute in permille of the machine's cores, or
/// UINT32_MAX if it is unknown.
uint32_t LocalSession::loadPermille() {
  double Load;
  unsigned Cores = std::thread::hardware_concurrency();
  if (!os::load(Load) || Cores == 0)
    return UINT32_MAX;
  return static_cast<uint32_t>(Load * 1000 / Cores);
}

// Local code generation needs no fields of a job.
DTLTO_PLUGIN(LocalSession, "local", DTLTO_VERSION, 0);
