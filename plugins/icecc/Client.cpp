//===- Client.cpp - Sends jobs to nodes and returns results ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include "Process.h"
#include "Text.h"
#include <algorithm>
#include <cstdlib>
#include <icecc/comm.h>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

// How often a job asks for a node before the linker gets it back.
static constexpr unsigned MaxTries = 3;
// The pause after a node failed, times the number of tries: a scheduler that
// hasn't noticed its death would name that node again.
static constexpr Clock::duration RetryPause = 300ms;
// How long packing a worker continues after the last job, for the next link.
// Short links would otherwise never finish it.
static constexpr Clock::duration MaxPacking = 2s;
// The most bytes of compressed chunks that are kept.
static constexpr uint64_t MaxChunkCache = uint64_t(256) << 20;
// How long the local iceccd's first answer may take. A status waits for it; a
// link can compile locally meanwhile.
static constexpr Clock::duration DaemonLimit = 15s, StatusDaemonLimit = 2500ms;
// Small jobs that are accepted for each one that may ask for a node.
static constexpr unsigned MaxInLine = 4;
// Requests until the number of slots is known.
static constexpr unsigned FirstRequests = 8;

/// Returns the platforms that have an environment.
static std::vector<std::string> platforms(const Settings &TheSettings,
                                          const std::vector<Worker> &Workers) {
  std::vector<std::string> Entries;
  for (const Worker &W : Workers)
    Entries.push_back(W.Platform);
  for (const auto &E : TheSettings.Environments)
    Entries.push_back(E.Platform);
  return Entries;
}

void Client::configure(const dtlto_session_params &Params,
                       dtlto_session_config &Config) {
  if (readSettings(Params, ::getenv, pluginFolder()).Off)
    Config.needs = 0;
}

std::string Client::probe(const dtlto_session_params &Params,
                          std::chrono::milliseconds Limit) {
  Settings TheSettings = readSettings(Params, ::getenv, pluginFolder());
  if (TheSettings.Off)
    throw sdk::Error(DTLTO_ERROR_CALLER, "$ICECC is set to distribute nothing");
  if (std::string Why = daemonProblem(TheSettings, Limit); !Why.empty())
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, Why);
  return "an iceccd of this machine answers";
}

Client::Setup Client::openSettings(const dtlto_host &Host,
                                   const dtlto_session_params &Params) {
  Setup O{readSettings(Params, ::getenv, pluginFolder()),
          std::make_unique<Log>(Host),
          {}};
  Settings &TheSettings = O.TheSettings;
  Log &SessionLog = *O.TheLog;
  sdk::require<dtlto_bundle>(Host, DTLTO_EXT_BUNDLE);
  SessionLog.open(TheSettings.LogFile, TheSettings.Level);
  if (TheSettings.Off) {
    sdk::require<dtlto_local_codegen>(Host, DTLTO_EXT_LOCAL_CODEGEN);
    SessionLog.debug("$ICECC is set to distribute nothing");
    return O;
  }
  for (const std::string &Note : TheSettings.Notes)
    SessionLog.note(Note);
  try {
    if (TheSettings.Environments.empty())
      O.Workers = findWorkers(TheSettings.Worker);
  } catch (const sdk::Error &E) {
    SessionLog.fail(E.status(), std::string(E.what()) +
                                    "; name dtlto-codegen-static with "
                                    "--thinlto-dist-plugin-arg=worker=PATH or "
                                    "DTLTO_WORKER");
  }
  for (auto &E : TheSettings.Environments)
    if (E.Platform.empty())
      E.Platform = CompileJob().targetPlatform();
  if (std::string Why = daemonProblem(
          TheSettings, Params.num_jobs ? DaemonLimit : StatusDaemonLimit);
      !Why.empty())
    SessionLog.fail(DTLTO_ERROR_INFRASTRUCTURE,
                    Why + "; start one, icecream's service, on this machine");
  return O;
}

Client::Client(const dtlto_host &Host, const dtlto_session_params &Params,
               Setup O)
    // Each accepted job has a thread.
    : ThreadSession(Host, O.TheSettings.Off
                              ? sdk::require<dtlto_local_codegen>(
                                    Host, DTLTO_EXT_LOCAL_CODEGEN)
                                    .slots
                              : MaxInLine * O.TheSettings.MaxJobs),
      Codegen(extension<dtlto_local_codegen>(DTLTO_EXT_LOCAL_CODEGEN)),
      TheSettings(std::move(O.TheSettings)), TheLog(std::move(O.TheLog)),
      Workers(std::move(O.Workers)),
      // The linker has the same limit, and cancels.
      ResultLimit(Params.job_timeout_s ? Params.job_timeout_s : 3600),
      LlvmVersion(Params.llvm_version ? Params.llvm_version : ""),
      Results(Params), ChunkCache(MaxChunkCache),
      TheCluster(std::make_shared<Cluster>(TheSettings,
                                           platforms(TheSettings, Workers))),
      Nodes(*TheLog), ThePace(TheSettings.Batch), LastGrant(Clock::now()) {}

void Client::begin() {
  ThreadSession::begin();
  if (TheSettings.Off)
    return;
  publish();
  Preparer = std::thread([this] { prepare(); });
  TheCluster->start([this] { publish(); });
}

/// Prepares the environments. Packing a worker takes a fraction of a second.
void Client::prepare() {
  EnvironmentTable::List Entries;
  std::string Error;
  try {
    for (const Worker &W : Workers)
      Entries.push_back(Environment::ofWorker(W.File, TheSettings.CacheFolder,
                                              W.Platform, &StopPacking));
    for (const auto &E : TheSettings.Environments)
      Entries.push_back(Environment::ofFile(E.File, E.Platform));
  } catch (const sdk::Error &E) {
    Entries.clear();
    Error = (Workers.empty() ? "$DTLTO_ICECC_VERSION: " : "") +
            std::string(E.what());
  }
  if (!Error.empty())
    TheLog->error(Error);
  for (const auto &E : Entries)
    TheLog->debug("environment " + E->name() + " for " + E->platform());
  Environments.set(std::move(Entries), Error);
}

//===----------------------------------------------------------------------===//
// Requests of the linker, on its thread
//===----------------------------------------------------------------------===//

void Client::load(dtlto_load &Load) {
  if (TheSettings.Off) {
    ThreadSession::load(Load);
    Load.workers = 1;
    Load.local = Load.slots;
    return;
  }
  Cluster::Numbers N = TheCluster->numbers();
  uint32_t Accepted = static_cast<uint32_t>(numJobs());
  std::lock_guard<std::mutex> Lock(Mutex);
  // A slot that takes several jobs at a time counts as several slower slots:
  // jobs of a batch run and end together.
  if (N.IsKnown) {
    Load.slots = N.Slots * JobsPerTrip;
    // The scheduler's count lacks jobs that began before we listened.
    Load.free =
        std::min(N.Free, N.Slots - std::min(N.Slots, NumGranted)) * JobsPerTrip;
    Load.workers = N.Nodes;
  } else if (MaxGranted) {
    Load.slots = MaxGranted * JobsPerTrip;
    Load.workers = static_cast<uint32_t>(Nodes.numUsed());
  }
  Load.queued =
      Accepted - std::min(Accepted, NumGranted + NumShared + NumLocal);
  Load.expected_wait_ms = N.IsKnown && N.Free > Load.queued ? 0 : UINT64_MAX;
}

std::vector<dtlto::sdk::Worker>
Client::status(std::chrono::milliseconds Limit) {
  if (TheSettings.Off) {
    sdk::Worker ThisMachine = {"this machine", DTLTO_WORKER_UP,
                               "this linker, LLVM " + LlvmVersion};
    ThisMachine.Why = "$ICECC is set to distribute nothing";
    ThisMachine.Slots = Codegen->slots;
    return {ThisMachine};
  }
  // The user's environments may have any compiler.
  return TheCluster->report(Limit, TheSettings.Environments.empty()
                                       ? "dtlto-codegen, LLVM " + LlvmVersion
                                       : "$DTLTO_ICECC_VERSION");
}

void Client::stop() {
  TheCluster->stop();
  ThreadSession::stop();
  if (Preparer.joinable()) {
    Environments.waitFor(MaxPacking);
    StopPacking = true;
    Preparer.join();
  }
  Nodes.reportResults();
  // Explain a link that isn't faster because the farm has no node.
  if (!Nodes.hasAnySuccess() && NumCompiledLocally)
    TheLog->note("icecream had all " + std::to_string(NumCompiledLocally) +
                 " requested jobs compiled locally; --thinlto-dist-status "
                 "shows the nodes");
}

//===----------------------------------------------------------------------===//
// A job, on its thread
//===----------------------------------------------------------------------===//

dtlto::sdk::Result Client::run(const sdk::Job &Offer) {
  if (TheSettings.Off)
    return Offer.compileLocally();
  auto SharedJob = std::make_shared<Job>(Offer);
  Job &J = *SharedJob;
  // The callback may still be called when the job has ended.
  Offer.onCancel([this, SharedJob] {
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      SharedJob->Stop.raise();
      if (SharedJob->CurrentTrip && --SharedJob->CurrentTrip->NumNeeded == 0)
        SharedJob->CurrentTrip->Stop.raise();
      SharedJob->Wake.notify_all();
    }
    Changed.notify_all();
    Environments.wake();
  });
  bool IsSmaller;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = TimeoutReasons.find(J.Name); It != TimeoutReasons.end())
      throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, It->second);
    IsSmaller = J.Cost < LastCost;
    LastCost = J.Cost;
  }
  if (IsSmaller)
    publish();
  for (unsigned Try = 1;; ++Try) {
    Failure F;
    try {
      return attemptInTurn(J, Try == 1 && J.MayBatch);
    } catch (const Failure &E) {
      F = E;
    }
    if (J.Stop.isRaised())
      throw sdk::Error(DTLTO_CANCELLED, "");
    if (F.Next == Retry::Never || (Try == MaxTries && F.Next != Retry::Alone))
      throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, F.Why);
    TheLog->debug("module '" + J.Name + "': " + F.Why + "; asking again");
    Offer.state(DTLTO_STATE_QUEUED);
    if (F.Next == Retry::Alone)
      --Try;
    if (F.Next != Retry::Later)
      continue;
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait_for(Lock, Try * RetryPause, [&] { return J.Stop.isRaised(); });
  }
}

void Client::settle(Job &J) {
  std::lock_guard<std::mutex> Lock(Mutex);
  TheLine.settle(J);
}

dtlto::sdk::Result Client::attemptInTurn(Job &J, bool IsFirst) {
  while (true) {
    unsigned Max;
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      TheLine.enter(J, IsFirst);
      J.Wake.wait(Lock, [&] {
        return J.MayTry || J.TripResult ||
               (J.Stop.isRaised() && !J.CurrentTrip);
      });
      if (J.TripResult) {
        Job::Delivery TheDelivery = std::move(*J.TripResult);
        J.TripResult.reset();
        Lock.unlock();
        return convertOutcome(J, std::move(TheDelivery.TheOutcome),
                              TheDelivery.Node);
      }
      if (!J.MayTry) {
        TheLine.leave(J);
        throw Failure(); // cancelled
      }
      Max = TheLine.maxTrying();
    }
    IsFirst = false;
    // Also after an exception.
    std::shared_ptr<void> Leave(nullptr, [&](void *) {
      std::lock_guard<std::mutex> Lock(Mutex);
      TheLine.recordTry(J);
    });
    try {
      return attempt(J);
    } catch (const OutOfDescriptors &E) {
      bool IsFirstTime;
      {
        std::lock_guard<std::mutex> Lock(Mutex);
        if (Max == 1)
          throw;
        IsFirstTime = TheLine.reduce(Max);
      }
      if (IsFirstTime)
        TheLog->warning(std::string(E.what()) + "; fewer jobs run at a time");
    }
  }
}

/// Gives up if the session should end and no job is at a node.
void Client::onEnd(const sdk::Job &Offer) {
  if (TheSettings.Off)
    return ThreadSession::onEnd(Offer);
  std::string Why;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (NumGranted + NumLocal == 0 && !HasGivenUp && !Offer.isCancelled())
      Why = Nodes.allWrongError().empty() ? EndReason : Nodes.allWrongError();
    HasGivenUp |= !Why.empty();
  }
  if (!Why.empty())
    TheLog->error(Why);
  publish();
}

void Client::refuted(uint64_t, const std::string &Worker, int32_t) {
  Nodes.refuted(Worker);
}

/// Remembers the module, which the linker may offer again as another job.
void Client::recordTimeout(const Job &J, const std::string &Why) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!J.Name.empty())
    TimeoutReasons[J.Name] = Why;
}

void Client::setEndReason(const std::string &Why) {
  std::lock_guard<std::mutex> Lock(Mutex);
  EndReason = Why;
}

/// Accepts as many jobs as there are slots, and a few more. Accepts a multiple
/// of that if jobs are small.
void Client::publish() {
  Cluster::Numbers N = TheCluster->numbers();
  bool HasChanged = false;
  unsigned Capacity;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    unsigned Slots = std::max(N.Slots, MaxGranted);
    if (MustCompileLocally && Codegen)
      Slots = std::max(Slots, Codegen->slots);
    unsigned NumSpare =
        N.IsKnown || MaxGranted ? std::max(2u, Slots / 4) : FirstRequests;
    // There may be more slots than were granted.
    if (!N.IsKnown)
      NumSpare = std::max(NumSpare, FirstRequests / 2);
    unsigned Before = JobsPerTrip;
    JobsPerTrip = unsigned(ThePace.jobs(LastCost));
    Capacity = std::min(Slots + NumSpare, TheSettings.MaxJobs);
    TheLine.setLimits(Capacity, Slots);
    if (JobsPerTrip != 1)
      Capacity = std::min(Slots * JobsPerTrip + NumSpare,
                          MaxInLine * TheSettings.MaxJobs);
    // Ignore free slots: every client's jobs change them, which would look like
    // progress of this link.
    if (N.IsKnown && (N.Nodes != LastReport.Nodes ||
                      N.Slots != LastReport.Slots || JobsPerTrip != Before)) {
      LastReport = N;
      HasChanged = true;
    }
  }
  setCapacity(Capacity);
  if (HasChanged)
    loadChanged();
}
