//===- ReplayPlugin.cpp - Simulates a cluster for a linker ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles nothing: a job takes the time that a cluster of the given size would
// take (Cluster.h), in real time, and then its recorded object comes back.
// Settings.h has the arguments.
//
// One thread sleeps until the next event, processes what is due, and calls the
// host; slots have no threads. After calling the host, it rests for half a
// millisecond, so that many events take few wake-ups: the linker needs the
// cores.
//
//===----------------------------------------------------------------------===//

#include "Recording.h"
#include "Settings.h"
#include "Stats.h"
#include "Text.h"
#include "dtlto/PluginAPI.h"
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>
#include <zstd.h>

using namespace dtlto;
using namespace dtlto::replay;
using Clock = std::chrono::steady_clock;

namespace {
using Digest = std::array<uint8_t, 32>;

struct DigestHash {
  size_t operator()(const Digest &D) const {
    size_t Hash; // any of its bytes serve as a hash
    std::memcpy(&Hash, D.data(), sizeof(Hash));
    return Hash;
  }
};

/// An input that was sent once, or is about to be.
struct Content {
  uint32_t Number;
  uint64_t Bytes; // sent over the network
};
} // namespace

struct dtlto_session {
  dtlto_session(const dtlto_host *Host, Settings S)
      : Host(Host), S(std::move(S)), TheCluster(this->S.Cluster) {}

  const dtlto_host *const Host;
  const Settings S;
  OpenRecording TheRecording;
  std::vector<std::string> MachineNames;

  std::mutex Mutex; // guards the fields below
  std::condition_variable Changed;
  Cluster TheCluster;
  Clock::time_point Epoch; // the first job's submission
  bool HasBegun = false, IsClosing = false;
  bool IsWaiting = false; // the thread waits for an event, and may be woken
  Time WakeAt = Never;    // when it wakes
  std::unordered_map<uint64_t, const RecordedJob *> Jobs;
  std::unordered_map<Digest, Content, DigestHash> Contents;
  Stats Numbers;

  // Used by the thread that calls the plugin.
  std::string Packed; // room for one input
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> Packer = {
      ZSTD_createCCtx(), ZSTD_freeCCtx};

  std::thread Thread;

  Time now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() -
                                                                Epoch)
        .count();
  }
};

static void log(const dtlto_host *Host, uint32_t Level,
                const std::string &Text) {
  Host->log(Host->context, Level, Text.c_str());
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

/// Reports the state of one job to the host.
static void reportState(dtlto_session *S, const Cluster::Report &R,
                        const RecordedJob &Job) {
  const dtlto_host *Host = S->Host;
  const std::string &Machine = S->MachineNames[R.Machine];
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  Result.worker = Machine.c_str();
  switch (R.Kind) {
  case Cluster::Report::Sending:
    return Host->job_state(Host->context, R.Id, DTLTO_STATE_SENDING,
                           Machine.c_str());
  case Cluster::Report::Running:
    return Host->job_state(Host->context, R.Id, DTLTO_STATE_RUNNING,
                           Machine.c_str());
  case Cluster::Report::Receiving:
    return Host->job_state(Host->context, R.Id, DTLTO_STATE_RECEIVING,
                           Machine.c_str());
  case Cluster::Report::Done:
    Result.object.data = S->TheRecording.object(Job);
    Result.object.size = Job.Size;
    break;
  case Cluster::Report::Lost:
    Result.status = DTLTO_ERROR_INFRASTRUCTURE;
    Result.message = "the machine has died";
    break;
  case Cluster::Report::Cancelled:
    Result.status = DTLTO_CANCELLED;
    break;
  }
  Host->job_done(Host->context, R.Id, &Result);
}

static constexpr std::chrono::microseconds Rest(500);

static void clusterThread(dtlto_session *S) {
  ::pthread_setname_np(::pthread_self(), "cluster");
  Clock::time_point RestEnd = {};
  std::unique_lock<std::mutex> Lock(S->Mutex);
  std::vector<std::pair<Cluster::Report, const RecordedJob *>> Updates;
  while (true) {
    while (!S->IsClosing && Clock::now() < RestEnd)
      S->Changed.wait_until(Lock, RestEnd);
    if (S->HasBegun)
      S->TheCluster.advance(S->now());
    if (S->IsClosing)
      for (uint64_t Id : S->TheCluster.jobs())
        S->TheCluster.cancel(S->now(), Id);
    for (const Cluster::Report &R : S->TheCluster.takeReports()) {
      auto It = S->Jobs.find(R.Id);
      Updates.push_back({R, It->second});
      S->Numbers.note(R, *It->second);
      if (R.Kind >= Cluster::Report::Done)
        S->Jobs.erase(It);
    }
    bool LoadChanged = S->TheCluster.takeLoadChanged();
    bool AllDead =
        LoadChanged && S->HasBegun && S->TheCluster.load().Machines == 0;
    if (!Updates.empty() || LoadChanged) {
      // The lock isn't held during calls of the host, which may call back.
      Lock.unlock();
      for (const auto &[R, Job] : Updates)
        reportState(S, R, *Job);
      Updates.clear();
      if (LoadChanged)
        S->Host->load_changed(S->Host->context);
      if (AllDead)
        log(S->Host, DTLTO_LOG_ERROR, "no machine is left");
      RestEnd = Clock::now() + Rest;
      Lock.lock();
      continue;
    }
    if (S->IsClosing)
      return S->Numbers.noteThread();
    S->WakeAt = S->TheCluster.next();
    S->IsWaiting = true;
    if (S->WakeAt == Never)
      S->Changed.wait(Lock);
    else
      S->Changed.wait_until(Lock,
                            S->Epoch + std::chrono::nanoseconds(S->WakeAt));
    S->IsWaiting = false;
  }
}

/// Wakes the thread after a change. To be called with the lock.
static void wakeUp(dtlto_session *S) {
  if (S->IsWaiting &&
      (S->TheCluster.hasUpdates() || S->TheCluster.next() < S->WakeAt))
    S->Changed.notify_one();
}

//===----------------------------------------------------------------------===//
// The plugin's functions
//===----------------------------------------------------------------------===//

static void configure(const dtlto_session_params *Params,
                      dtlto_session_config *Config) {
  Settings ParsedSettings;
  std::string Error;
  parseSettings(Params->args, Params->num_args, ParsedSettings, Error);
  Config->needs = DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS |
                  (ParsedSettings.Config ? DTLTO_JOB_CONFIG : DTLTO_JOB_ARGS);
}

static int32_t openSession(const dtlto_host *Host,
                           const dtlto_session_params *Params,
                           dtlto_session **Session) {
  Settings ParsedSettings;
  std::string Error;
  if (!parseSettings(Params->args, Params->num_args, ParsedSettings, Error)) {
    log(Host, DTLTO_LOG_ERROR, Error);
    return DTLTO_ERROR_CALLER;
  }
  auto S = std::make_unique<dtlto_session>(Host, std::move(ParsedSettings));
  S->Numbers.noteOpen();
  if (!S->TheRecording.open(S->S.Recording, Error)) {
    log(Host, DTLTO_LOG_ERROR, Error);
    return DTLTO_ERROR_CALLER;
  }
  for (uint32_t I = 0; I != S->S.Cluster.Machines; ++I)
    S->MachineNames.push_back("machine" + std::to_string(I));
  *Session = S.release();
  (*Session)->Thread = std::thread(clusterThread, *Session);
  return DTLTO_OK;
}

/// Returns the size at zstd's fastest level: a client that compresses has
/// little time.
static uint64_t packedSize(dtlto_session *S, const dtlto_span &Bytes) {
  S->Packed.resize(ZSTD_compressBound(Bytes.size));
  size_t Size =
      ZSTD_compressCCtx(S->Packer.get(), S->Packed.data(), S->Packed.size(),
                        Bytes.data, Bytes.size, /*compressionLevel=*/1);
  return ZSTD_isError(Size) ? Bytes.size : Size;
}

/// Returns how many bytes of an input are sent over the network.
static uint64_t wireBytes(dtlto_session *S, const dtlto_input &In) {
  if (S->S.Held)
    return sizeof(Digest);
  return S->S.Compress ? packedSize(S, In.bytes) : In.bytes.size;
}

/// Returns an input's content. An input of many jobs is compressed once.
static Content contentOf(dtlto_session *S, const dtlto_input &In) {
  Digest D;
  std::memcpy(D.data(), In.digest, D.size());
  auto It = S->Contents.find(D);
  if (It != S->Contents.end())
    return It->second;
  Content C = {static_cast<uint32_t>(S->Contents.size()), wireBytes(S, In)};
  S->Numbers.BytesDistinct += C.Bytes;
  return S->Contents.emplace(D, C).first->second;
}

static int32_t refuse(dtlto_session *S, const dtlto_job *Job,
                      const char *What) {
  log(S->Host, DTLTO_LOG_ERROR,
      "module " + quote(Job->name) + " " + What + "; record the link again");
  return DTLTO_ERROR_CALLER;
}

static int32_t offer(dtlto_session *S, const dtlto_job *Job) {
  const RecordedJob *Record = S->TheRecording.find(Job->name);
  if (!Record)
    return refuse(S, Job, "is not in the recording");
  Cluster::Job J = {Job->id, {}, 0, Record->Size};
  J.Cpu = static_cast<Time>(double(Record->CpuNs) / S->S.Scale);
  for (uint32_t I = 0; I != Job->num_inputs; ++I) {
    const dtlto_input &In = *Job->inputs[I];
    if (In.role == DTLTO_ROLE_PRIMARY &&
        std::memcmp(In.digest, Record->Digest.data(), sizeof(Digest)) != 0)
      return refuse(S, Job, "is not the recorded one");
    Content C = contentOf(S, In);
    J.Inputs.push_back({C.Number, C.Bytes});
  }
  std::lock_guard<std::mutex> Lock(S->Mutex);
  if (!S->HasBegun) {
    S->HasBegun = true;
    S->Epoch = Clock::now();
  }
  Time Now = S->now();
  if (!S->TheCluster.submit(Now, std::move(J)))
    return DTLTO_BUSY;
  S->Jobs[Job->id] = Record;
  S->Numbers.noteSubmit(*Record);
  wakeUp(S);
  return DTLTO_OK;
}

static int32_t submitJob(dtlto_session *S, const dtlto_job *Job) {
  double Begin = threadCpu();
  int32_t Status = offer(S, Job);
  // All calls are made on one thread.
  S->Numbers.SubmitCpu += threadCpu() - Begin;
  return Status;
}

static void cancelJob(dtlto_session *S, uint64_t Job) {
  std::lock_guard<std::mutex> Lock(S->Mutex);
  if (!S->HasBegun)
    return;
  S->TheCluster.cancel(S->now(), Job);
  wakeUp(S);
}

static int32_t getLoad(dtlto_session *S, dtlto_load *Load) {
  std::lock_guard<std::mutex> Lock(S->Mutex);
  if (S->HasBegun)
    S->TheCluster.advance(S->now());
  Cluster::Load ClusterLoad = S->TheCluster.load();
  Load->slots = ClusterLoad.Slots;
  Load->free = ClusterLoad.Free;
  Load->queued = ClusterLoad.Queued;
  Load->workers = ClusterLoad.Machines;
  Load->expected_wait_ms = ClusterLoad.Free ? 0 : UINT64_MAX;
  return DTLTO_OK;
}

static void closeSession(dtlto_session *S) {
  S->Numbers.noteClose();
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    S->IsClosing = true;
  }
  S->Changed.notify_one();
  S->Thread.join();
  std::string Error;
  if (!S->Numbers.write(S->S, S->TheRecording.get(), S->TheCluster, Error))
    log(S->Host, DTLTO_LOG_ERROR, Error);
  delete S;
}

static const void *getExtension(const char *) { return nullptr; }

const dtlto_plugin dtlto_plugin_entry = {sizeof(dtlto_plugin),
                                         DTLTO_ABI_MAJOR,
                                         DTLTO_ABI_MINOR,
                                         0,
                                         "replay",
                                         DTLTO_VERSION,
                                         configure,
                                         openSession,
                                         submitJob,
                                         cancelJob,
                                         getLoad,
                                         closeSession,
                                         getExtension};
