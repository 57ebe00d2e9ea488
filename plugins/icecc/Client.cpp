//===- Client.cpp - Jobs, from the linker to the nodes and back -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include <algorithm>
#include <icecc/comm.h>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

// So often a node is asked for before the linker gets a job back.
static constexpr unsigned MaxTries = 3;
// After a node failed, and longer each time: a scheduler that hasn't noticed
// its death would name that node again.
static constexpr Clock::duration RetryPause = 300ms;
// Of chunks that are kept, in bytes.
static constexpr uint64_t MaxCompressed = uint64_t(256) << 20;
// Requests of a session that doesn't know yet how many slots there are.
static constexpr unsigned FirstRequests = 8;

/// Those that there is an environment for.
static std::vector<std::string> platforms(const Settings &S) {
  std::vector<std::string> Found;
  std::string Here = CompileJob().targetPlatform();
  for (const auto &E : S.Environments)
    Found.push_back(E.Platform.empty() ? Here : E.Platform);
  if (Found.empty())
    Found.push_back(Here);
  return Found;
}

Client::Client(const dtlto_host &TheHost, const dtlto_session_params &Params,
               Settings TheSettings, std::unique_ptr<Log> L,
               const dtlto_bundle &Bundler, const dtlto_local_codegen *Codegen)
    : TheHost(TheHost), Bundler(Bundler), Codegen(Codegen),
      S(std::move(TheSettings)), TheLog(std::move(L)),
      // The linker has the same limit, and cancels.
      ResultLimit(Params.job_timeout_s ? Params.job_timeout_s : 3600),
      LlvmVersion(Params.llvm_version ? Params.llvm_version : ""),
      Compressed(MaxCompressed),
      TheCluster(std::make_shared<Cluster>(S, platforms(S))),
      LastGrant(Clock::now()), Pool(S.MaxJobs) {
  publish();
  Preparer = std::thread([this] { prepare(); });
  TheCluster->start([this] { publish(); });
}

/// Packing a worker takes a part of a second.
void Client::prepare() {
  EnvironmentTable::List Found;
  std::string Error, Here = CompileJob().targetPlatform();
  if (S.Environments.empty())
    Found.push_back(
        Environment::ofWorker(S.Worker, S.CacheFolder, Here, Error));
  for (const auto &E : S.Environments)
    Found.push_back(Environment::ofFile(
        E.File, E.Platform.empty() ? Here : E.Platform, Error));
  if (!Error.empty()) {
    TheLog->error(Error);
    Found.clear();
  }
  for (const auto &E : Found)
    TheLog->debug("environment " + E->name() + " for " + E->platform());
  Environments.set(std::move(Found), Error);
}

//===----------------------------------------------------------------------===//
// What the linker asks for; on its thread
//===----------------------------------------------------------------------===//

int32_t Client::submit(const dtlto_job &J) {
  JobPtr New;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Accepted >= Capacity) {
      SaidBusy = true;
      return DTLTO_BUSY;
    }
    ++Accepted;
    New = std::make_shared<Job>(J);
    Jobs[J.id] = New;
  }
  // There is a thread for each that is accepted.
  Pool.run([this, New] { run(*New); });
  return DTLTO_OK;
}

void Client::cancel(uint64_t Id) {
  JobPtr J;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto It = Jobs.find(Id);
    if (It == Jobs.end())
      return;
    J = It->second;
    J->Stop.raise();
  }
  Changed.notify_all();
  Environments.wake();
}

void Client::load(dtlto_load &Load) {
  Cluster::Numbers N = TheCluster->numbers();
  std::lock_guard<std::mutex> Lock(Mutex);
  Load.slots = Load.free = Load.workers = UINT32_MAX;
  if (N.Known) {
    Load.slots = N.Slots;
    // Jobs that began before we listened aren't in the scheduler's count.
    Load.free = std::min(N.Free, N.Slots - std::min(N.Slots, NumGranted));
    Load.workers = N.Nodes;
  } else if (MostGranted) {
    Load.slots = MostGranted;
    Load.workers = static_cast<uint32_t>(NodesSeen.size());
  }
  Load.queued = Accepted - std::min(Accepted, NumGranted + NumHere);
  Load.expected_wait_ms = N.Known && N.Free > Load.queued ? 0 : UINT64_MAX;
}

std::optional<std::vector<dtlto::sdk::Worker>>
Client::status(std::chrono::milliseconds Limit) {
  std::vector<sdk::Worker> All;
  std::string Error;
  // Environments may hold anything.
  if (TheCluster->report(Limit,
                         S.Environments.empty()
                             ? "dtlto-codegen, LLVM " + LlvmVersion
                             : "$ICECC_VERSION",
                         All, Error))
    return All;
  TheLog->warning(Error);
  return std::nullopt;
}

void Client::close() {
  TheCluster->stop();
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Closing = true;
    for (auto &[Id, J] : Jobs)
      J->Stop.raise();
  }
  Changed.notify_all();
  Environments.wake();
  Pool.stop();
  Preparer.join();
  // What no thread had begun.
  while (!Jobs.empty())
    finish(*Jobs.begin()->second, DTLTO_CANCELLED, "");
  for (const auto &[Node, N] : NumDone)
    TheLog->debug(Node + ": " + std::to_string(N) + " modules");
}

//===----------------------------------------------------------------------===//
// A job; on its thread
//===----------------------------------------------------------------------===//

void Client::run(Job &J) {
  std::string Error;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = TookTooLong.find(J.Name); It != TookTooLong.end())
      Error = It->second;
  }
  if (!Error.empty())
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, Error);
  for (unsigned Try = 1;; ++Try) {
    Retry Next = Retry::AtOnce;
    if (attempt(J, Error, Next))
      return;
    if (J.Stop.raised())
      return finish(J, DTLTO_CANCELLED, "");
    if (Next == Retry::Never || Try == MaxTries)
      break;
    TheLog->debug("module '" + J.Name + "': " + Error + "; asking again");
    TheHost.job_state(TheHost.context, J.Id, DTLTO_STATE_QUEUED, nullptr);
    if (Next == Retry::AtOnce)
      continue;
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait_for(Lock, Try * RetryPause, [&] { return J.Stop.raised(); });
  }
  finish(J, DTLTO_ERROR_INFRASTRUCTURE, Error);
}

void Client::finish(Job &J, int32_t Status, const std::string &Message,
                    const std::string &Worker, dtlto_buffer Object) {
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  Result.status = Status;
  Result.message = Message.empty() ? nullptr : Message.c_str();
  Result.worker = Worker.empty() ? nullptr : Worker.c_str();
  Result.object = Object;
  TheHost.job_done(TheHost.context, J.Id, &Result);
  ended(J);
}

/// The linker has had its job_done().
void Client::ended(Job &J) {
  uint64_t Id = J.Id;
  std::string Why;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Jobs.erase(Id);
    --Accepted;
    // Those that are at nodes come to their end all the same.
    if (!TheEnd.empty() && NumGranted + NumHere == 0 && !GaveUp && !Closing) {
      GaveUp = true;
      Why = TheEnd;
    }
  }
  if (!Why.empty())
    TheLog->error(Why);
  publish();
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

/// Makes room for as many jobs as there are slots, and a few.
void Client::publish() {
  Cluster::Numbers N = TheCluster->numbers();
  bool Tell = false;
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
    Capacity = std::min(Slots + Few, S.MaxJobs);
    if (SaidBusy && Accepted < Capacity && !Closing) {
      SaidBusy = false;
      Tell = true;
    }
    // Not how many are free: that changes with each job of anybody's, and would
    // look like a sign of life of ours.
    if (N.Known && (N.Nodes != ToldNodes || N.Slots != ToldSlots) && !Closing) {
      ToldNodes = N.Nodes;
      ToldSlots = N.Slots;
      Tell = true;
    }
  }
  if (Tell)
    TheHost.load_changed(TheHost.context);
}
