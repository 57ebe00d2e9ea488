//===- Client.cpp - Jobs, from the linker to the nodes and back -----------===//
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

// So often a node is asked for before the linker gets a job back.
static constexpr unsigned MaxTries = 3;
// After a node failed, and longer each time: a scheduler that hasn't noticed
// its death would name that node again.
static constexpr Clock::duration RetryPause = 300ms;
// After the last job a worker is still packed for so long, for the next link:
// one that is over in no time would begin anew each time.
static constexpr Clock::duration MaxPacking = 2s;
// Of chunks that are kept, in bytes.
static constexpr uint64_t MaxCompressed = uint64_t(256) << 20;
// For the local iceccd's first answer. Whoever asks for the status waits for
// it; links have local cores meanwhile.
static constexpr Clock::duration DaemonLimit = 15s, StatusDaemonLimit = 2500ms;
// Small jobs that are taken, for each that may ask for a node.
static constexpr unsigned MaxInLine = 4;
// Requests of a session that doesn't know yet how many slots there are.
static constexpr unsigned FirstRequests = 8;

/// Those that there is an environment for.
static std::vector<std::string> platforms(const Settings &S,
                                          const std::vector<Worker> &Workers) {
  std::vector<std::string> Found;
  for (const Worker &W : Workers)
    Found.push_back(W.Platform);
  std::string Here = CompileJob().targetPlatform();
  for (const auto &E : S.Environments)
    Found.push_back(E.Platform.empty() ? Here : E.Platform);
  return Found;
}

void Client::configure(const dtlto_session_params &Params,
                       dtlto_session_config &Config) {
  Settings S;
  std::string Error;
  readSettings(Params, ::getenv, pluginFolder(), S, Error, daemonConfigFiles());
  if (S.Off)
    Config.needs = 0;
}

Client::Opened Client::openSettings(const dtlto_host &Host,
                                    const dtlto_session_params &Params) {
  Opened O{{}, std::make_unique<Log>(Host), {}};
  Settings &S = O.S;
  Log &L = *O.TheLog;
  std::string Error;
  if (!readSettings(Params, ::getenv, pluginFolder(), S, Error,
                    daemonConfigFiles()))
    L.fail(DTLTO_ERROR_CALLER, Error);
  sdk::require<dtlto_bundle>(Host, DTLTO_EXT_BUNDLE);
  if (!L.open(S.LogFile, S.Level, Error))
    L.warning(Error);
  Error.clear();
  if (S.Off) {
    sdk::require<dtlto_local_codegen>(Host, DTLTO_EXT_LOCAL_CODEGEN);
    L.debug("$ICECC is set to distribute nothing");
    return O;
  }
  for (const std::string &Note : S.Notes)
    L.note(Note);
  if (S.Environments.empty()) {
    O.Workers = findWorkers(S.Worker, Error);
    if (O.Workers.empty())
      L.fail(DTLTO_ERROR_INFRASTRUCTURE,
             Error + "; name dtlto-codegen-static with "
                     "--thinlto-dist-plugin-arg=worker=PATH or DTLTO_WORKER");
  }
  if (!haveDaemon(S, Params.num_jobs ? DaemonLimit : StatusDaemonLimit, Error))
    L.fail(DTLTO_ERROR_INFRASTRUCTURE,
           "no local iceccd (" + Error +
               "); start one, icecream's service, on this machine");
  return O;
}

Client::Client(const dtlto_host &Host, const dtlto_session_params &Params,
               Opened O)
    // There is a thread for each job that is taken.
    : ThreadSession(Host, O.S.Off ? sdk::require<dtlto_local_codegen>(
                                        Host, DTLTO_EXT_LOCAL_CODEGEN)
                                        .slots
                                  : MaxInLine * O.S.MaxJobs),
      Codegen(extension<dtlto_local_codegen>(DTLTO_EXT_LOCAL_CODEGEN)),
      S(std::move(O.S)), TheLog(std::move(O.TheLog)),
      Workers(std::move(O.Workers)),
      // The linker has the same limit, and cancels.
      ResultLimit(Params.job_timeout_s ? Params.job_timeout_s : 3600),
      LlvmVersion(Params.llvm_version ? Params.llvm_version : ""),
      Results(Params), Compressed(MaxCompressed),
      TheCluster(std::make_shared<Cluster>(S, platforms(S, Workers))),
      Nodes(*TheLog), ThePace(S.Batch), LastGrant(Clock::now()) {}

void Client::begin() {
  ThreadSession::begin();
  if (S.Off)
    return;
  publish();
  Preparer = std::thread([this] { prepare(); });
  TheCluster->start([this] { publish(); });
}

/// Packing a worker takes a part of a second.
void Client::prepare() {
  EnvironmentTable::List Found;
  std::string Error, Here = CompileJob().targetPlatform();
  for (const Worker &W : Workers)
    Found.push_back(Environment::ofWorker(W.File, S.CacheFolder, W.Platform,
                                          &StopPacking, Error));
  for (const auto &E : S.Environments)
    if (Found.push_back(Environment::ofFile(
            E.File, E.Platform.empty() ? Here : E.Platform, Error));
        !Found.back())
      Error = "$DTLTO_ICECC_VERSION: " + Error;
  if (!Error.empty())
    TheLog->error(Error);
  if (!Error.empty() || StopPacking)
    Found.clear();
  for (const auto &E : Found)
    TheLog->debug("environment " + E->name() + " for " + E->platform());
  Environments.set(std::move(Found), Error);
}

//===----------------------------------------------------------------------===//
// What the linker asks for; on its thread
//===----------------------------------------------------------------------===//

void Client::load(dtlto_load &Load) {
  if (S.Off) {
    ThreadSession::load(Load);
    Load.workers = 1;
    Load.local = Load.slots;
    return;
  }
  Cluster::Numbers N = TheCluster->numbers();
  uint32_t Accepted = static_cast<uint32_t>(numJobs());
  std::lock_guard<std::mutex> Lock(Mutex);
  // A slot that takes several jobs at a time is as many slots, and each of them
  // that much slower: so the linker sees it, since jobs of a batch run and end
  // together.
  if (N.Known) {
    Load.slots = N.Slots * PerTrip;
    // Jobs that began before we listened aren't in the scheduler's count.
    Load.free =
        std::min(N.Free, N.Slots - std::min(N.Slots, NumGranted)) * PerTrip;
    Load.workers = N.Nodes;
  } else if (MostGranted) {
    Load.slots = MostGranted * PerTrip;
    Load.workers = static_cast<uint32_t>(Nodes.numSeen());
  }
  Load.queued = Accepted - std::min(Accepted, NumGranted + NumShared + NumHere);
  Load.expected_wait_ms = N.Known && N.Free > Load.queued ? 0 : UINT64_MAX;
}

std::vector<dtlto::sdk::Worker>
Client::status(std::chrono::milliseconds Limit) {
  if (S.Off) {
    sdk::Worker Here = {"this machine", DTLTO_WORKER_UP,
                        "this linker, LLVM " + LlvmVersion};
    Here.Why = "$ICECC is set to distribute nothing";
    Here.Slots = Codegen->slots;
    return {Here};
  }
  std::vector<sdk::Worker> All;
  std::string Error;
  // Environments may hold anything.
  if (!TheCluster->report(Limit,
                          S.Environments.empty()
                              ? "dtlto-codegen, LLVM " + LlvmVersion
                              : "$DTLTO_ICECC_VERSION",
                          All, Error))
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, Error);
  return All;
}

void Client::stop() {
  TheCluster->stop();
  ThreadSession::stop();
  if (Preparer.joinable()) {
    Environments.waitFor(MaxPacking);
    StopPacking = true;
    Preparer.join();
  }
  Nodes.tell();
  // Users of a farm that has no node would wonder why it is no faster.
  if (!Nodes.isAnyDone() && NumBuiltHere)
    TheLog->note("icecream wanted all " + std::to_string(NumBuiltHere) +
                 " jobs that it was asked for to be compiled here; "
                 "--thinlto-dist-status shows the nodes");
}

//===----------------------------------------------------------------------===//
// A job; on its thread
//===----------------------------------------------------------------------===//

dtlto::sdk::Result Client::run(const sdk::Job &Offer) {
  if (S.Off)
    return Offer.compileHere();
  auto Owned = std::make_shared<Job>(Offer);
  Job &J = *Owned;
  // It may still be called when the job has ended.
  Offer.onCancel([this, Owned] {
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Owned->Stop.raise();
      if (Owned->In && --Owned->In->NumNeeded == 0)
        Owned->In->Stop.raise();
      Owned->Wake.notify_all();
    }
    Changed.notify_all();
    Environments.wake();
  });
  std::string Error;
  bool IsSmaller;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = TookTooLong.find(J.Name); It != TookTooLong.end())
      throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, It->second);
    IsSmaller = J.Cost < LastCost;
    LastCost = J.Cost;
  }
  if (IsSmaller)
    publish();
  for (unsigned Try = 1;; ++Try) {
    Retry Next = Retry::AtOnce;
    if (std::optional<sdk::Result> R =
            attemptInTurn(J, Try == 1 && J.MayShare, Error, Next))
      return std::move(*R);
    if (J.Stop.raised())
      throw sdk::Error(DTLTO_CANCELLED, "");
    if (Next == Retry::Never || (Try == MaxTries && Next != Retry::Alone))
      throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, Error);
    TheLog->debug("module '" + J.Name + "': " + Error + "; asking again");
    Offer.state(DTLTO_STATE_QUEUED);
    if (Next == Retry::Alone)
      --Try;
    if (Next != Retry::Later)
      continue;
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait_for(Lock, Try * RetryPause, [&] { return J.Stop.raised(); });
  }
}

void Client::settle(Job &J) {
  std::lock_guard<std::mutex> Lock(Mutex);
  TheLine.settle(J);
}

std::optional<dtlto::sdk::Result>
Client::attemptInTurn(Job &J, bool IsFirst, std::string &Error, Retry &Next) {
  while (true) {
    unsigned Max;
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      TheLine.enter(J, IsFirst);
      J.Wake.wait(Lock, [&] {
        return J.MayTry || J.Came || (J.Stop.raised() && !J.In);
      });
      if (J.Came) {
        Job::Brought Came = std::move(*J.Came);
        J.Came.reset();
        Lock.unlock();
        return use(J, std::move(Came.What), Came.Node, Error, Next);
      }
      if (!J.MayTry) {
        TheLine.leave(J);
        return std::nullopt;
      }
      Max = TheLine.maxTrying();
    }
    IsFirst = false;
    // Leaves, also by an exception.
    std::shared_ptr<void> Leave(nullptr, [&](void *) {
      std::lock_guard<std::mutex> Lock(Mutex);
      TheLine.tried(J);
    });
    try {
      return attempt(J, Error, Next);
    } catch (const NoRoom &E) {
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

/// Where there is no use in going on, those that are at nodes come to their end
/// all the same.
void Client::ended(const sdk::Job &Offer) {
  if (S.Off)
    return ThreadSession::ended(Offer);
  std::string Why;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (NumGranted + NumHere == 0 && !GaveUp && !Offer.isCancelled())
      Why = Nodes.allWrong().empty() ? TheEnd : Nodes.allWrong();
    GaveUp |= !Why.empty();
  }
  if (!Why.empty())
    TheLog->error(Why);
  publish();
}

void Client::refuted(uint64_t, const std::string &Worker, int32_t) {
  Nodes.refuted(Worker);
}

/// The linker may offer it once more, as another job.
void Client::tookTooLong(const Job &J, const std::string &Why) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!J.Name.empty())
    TookTooLong[J.Name] = Why;
}

void Client::cannotGoOn(const std::string &Why) {
  std::lock_guard<std::mutex> Lock(Mutex);
  TheEnd = Why;
}

/// Makes room for as many jobs as there are slots, and a few; more, where they
/// are small.
void Client::publish() {
  Cluster::Numbers N = TheCluster->numbers();
  bool Tell = false;
  unsigned Capacity;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    unsigned Slots = std::max(N.Slots, MostGranted);
    if (MustBuildHere && Codegen)
      Slots = std::max(Slots, Codegen->slots);
    unsigned Few =
        N.Known || MostGranted ? std::max(2u, Slots / 4) : FirstRequests;
    // Slots that weren't known may be more than those that were granted.
    if (!N.Known)
      Few = std::max(Few, FirstRequests / 2);
    unsigned Before = PerTrip;
    PerTrip = unsigned(ThePace.jobs(LastCost));
    Capacity = std::min(Slots + Few, S.MaxJobs);
    TheLine.setLimits(Capacity, Slots);
    if (PerTrip != 1)
      Capacity = std::min(Slots * PerTrip + Few, MaxInLine * S.MaxJobs);
    // Not how many are free: that changes with each job of anybody's, and would
    // look like a sign of life of ours.
    if (N.Known &&
        (N.Nodes != Told.Nodes || N.Slots != Told.Slots || PerTrip != Before)) {
      Told = N;
      Tell = true;
    }
  }
  setCapacity(Capacity);
  if (Tell)
    loadChanged();
}
