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
#include "Stats.h"
#include "Text.h"
#include "dtlto/sdk/Plugin.hpp"
#include <array>
#include <cerrno>
#include <pthread.h>
#include <zstd.h>

using namespace dtlto;
using namespace dtlto::replay;

namespace {
using Clock = std::chrono::steady_clock;
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

class ReplaySession : public sdk::Session {
public:
  ReplaySession(const dtlto_host &Host, const dtlto_session_params &Params)
      : Session(Host), S(readSettings(Params.args, Params.num_args)),
        TheCluster(S.Cluster) {
    Numbers.noteOpen();
    std::string Error;
    if (!TheRecording.open(S.Recording, Error))
      throw sdk::Error(DTLTO_ERROR_CALLER, Error);
  }

  static void configure(const dtlto_session_params &Params,
                        dtlto_session_config &Config) {
    if (readSettings(Params.args, Params.num_args).Config)
      Config.needs = DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG;
  }
  void begin() override {
    Thread = std::thread([this] { runCluster(); });
  }
  bool submit(std::shared_ptr<sdk::Job> J) override;
  void cancel(sdk::Job &J) override;
  void load(dtlto_load &Load) override;
  void stop() override;

private:
  struct Job {
    std::shared_ptr<sdk::Job> LinkerJob;
    const RecordedJob *Record;
  };

  void runCluster();
  void report(const Cluster::Report &R, const Job &J);
  /// Wakes the thread after a change. Must be called with the lock.
  void wakeUp() {
    if (IsWaiting && (TheCluster.hasUpdates() || TheCluster.next() < WakeAt))
      Changed.notify_one();
  }
  bool offer(std::shared_ptr<sdk::Job> J);
  uint64_t wireBytes(const dtlto_input &In);
  Content contentOf(const dtlto_input &In);
  Time now() const {
    return std::chrono::nanoseconds(Clock::now() - Epoch).count();
  }

  const Settings S;
  OpenRecording TheRecording;

  std::mutex Mutex; // guards the fields below
  std::condition_variable Changed;
  Cluster TheCluster;
  Clock::time_point Epoch; // the first job's submission
  bool HasBegun = false, IsClosing = false;
  bool IsWaiting = false; // the thread waits for an event, and may be woken
  Time WakeAt = Never;    // when it wakes
  std::unordered_map<uint64_t, Job> Jobs;
  std::unordered_map<Digest, Content, DigestHash> Contents;
  Stats Numbers;

  // Used by the thread that calls the plugin.
  std::string Packed; // room for one input
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> Packer = {
      ZSTD_createCCtx(), ZSTD_freeCCtx};

  std::thread Thread;
};
} // namespace

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void ReplaySession::report(const Cluster::Report &R, const Job &J) {
  std::string Machine = "machine" + std::to_string(R.Machine);
  switch (R.Kind) {
  case Cluster::Report::Sending:
    return J.LinkerJob->state(DTLTO_STATE_SENDING, Machine);
  case Cluster::Report::Running:
    return J.LinkerJob->state(DTLTO_STATE_RUNNING, Machine);
  case Cluster::Report::Receiving:
    return J.LinkerJob->state(DTLTO_STATE_RECEIVING, Machine);
  case Cluster::Report::Done: {
    dtlto_buffer Object = {TheRecording.object(*J.Record), J.Record->Size,
                           nullptr, nullptr};
    return J.LinkerJob->finish({sdk::Buffer(Object), "", Machine});
  }
  case Cluster::Report::Lost:
    return J.LinkerJob->fail(DTLTO_ERROR_INFRASTRUCTURE, "the machine has died",
                             Machine);
  case Cluster::Report::Cancelled:
    return J.LinkerJob->fail(DTLTO_CANCELLED, "", Machine);
  }
}

void ReplaySession::runCluster() {
  constexpr std::chrono::microseconds Rest(500);
  ::pthread_setname_np(::pthread_self(), "cluster");
  Clock::time_point RestEnd = {};
  std::unique_lock<std::mutex> Lock(Mutex);
  std::vector<std::pair<Cluster::Report, Job>> Updates;
  while (true) {
    while (!IsClosing && Clock::now() < RestEnd)
      Changed.wait_until(Lock, RestEnd);
    if (HasBegun)
      TheCluster.advance(now());
    for (const Cluster::Report &R : TheCluster.takeReports()) {
      auto It = Jobs.find(R.Id);
      Updates.push_back({R, It->second});
      Numbers.note(R, *It->second.Record);
      if (R.Kind >= Cluster::Report::Done)
        Jobs.erase(It);
    }
    bool LoadChanged = TheCluster.takeLoadChanged();
    bool AllDead = LoadChanged && HasBegun && TheCluster.load().Machines == 0;
    if (!Updates.empty() || LoadChanged) {
      // The lock isn't held during calls of the host, which may call back.
      Lock.unlock();
      for (const auto &[R, J] : Updates)
        report(R, J);
      Updates.clear();
      if (LoadChanged)
        loadChanged();
      if (AllDead)
        log(DTLTO_LOG_ERROR, "no machine is left");
      RestEnd = Clock::now() + Rest;
      Lock.lock();
      continue;
    }
    if (IsClosing)
      return Numbers.noteThread();
    WakeAt = TheCluster.next();
    IsWaiting = true;
    if (WakeAt == Never)
      Changed.wait(Lock);
    else
      Changed.wait_until(Lock, Epoch + std::chrono::nanoseconds(WakeAt));
    IsWaiting = false;
  }
}

//===----------------------------------------------------------------------===//
// Requests of the linker
//===----------------------------------------------------------------------===//

/// Returns how many bytes of an input are sent over the network. At zstd's
/// fastest level: a client that compresses has little time.
uint64_t ReplaySession::wireBytes(const dtlto_input &In) {
  if (S.Held)
    return sizeof(Digest);
  if (!S.Compress)
    return In.bytes.size;
  Packed.resize(ZSTD_compressBound(In.bytes.size));
  size_t Size =
      ZSTD_compressCCtx(Packer.get(), Packed.data(), Packed.size(),
                        In.bytes.data, In.bytes.size, /*compressionLevel=*/1);
  return ZSTD_isError(Size) ? In.bytes.size : Size;
}

/// Returns an input's content. An input of many jobs is compressed once.
Content ReplaySession::contentOf(const dtlto_input &In) {
  Digest D;
  std::memcpy(D.data(), In.digest, D.size());
  auto It = Contents.find(D);
  if (It != Contents.end())
    return It->second;
  Content C = {static_cast<uint32_t>(Contents.size()), wireBytes(In)};
  Numbers.BytesDistinct += C.Bytes;
  return Contents.emplace(D, C).first->second;
}

bool ReplaySession::offer(std::shared_ptr<sdk::Job> J) {
  auto Refuse = [&](const char *What) {
    log(DTLTO_LOG_ERROR,
        "module " + quote(J->name()) + " " + What + "; record the link again");
    throw sdk::Error(DTLTO_ERROR_CALLER, "");
  };
  const RecordedJob *Record = TheRecording.find(J->name());
  if (!Record)
    Refuse("is not in the recording");
  Cluster::Job New = {J->id(), {}, 0, Record->Size};
  New.Cpu = static_cast<Time>(double(Record->CpuNs) / S.Scale);
  J->forEachInput(
      [&](std::string_view, std::string_view, const dtlto_input &In) {
        if (In.role == DTLTO_ROLE_PRIMARY &&
            std::memcmp(In.digest, Record->Digest.data(), sizeof(Digest)) != 0)
          Refuse("is not the recorded one");
        Content C = contentOf(In);
        New.Inputs.push_back({C.Number, C.Bytes});
      });
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!std::exchange(HasBegun, true))
    Epoch = Clock::now();
  if (!TheCluster.submit(now(), std::move(New)))
    return false;
  uint64_t Id = J->id();
  Jobs[Id] = {std::move(J), Record};
  Numbers.noteSubmit(*Record);
  wakeUp();
  return true;
}

bool ReplaySession::submit(std::shared_ptr<sdk::Job> J) {
  double Begin = threadCpu();
  bool IsAccepted = offer(std::move(J));
  // All calls are made on one thread.
  Numbers.SubmitCpu += threadCpu() - Begin;
  return IsAccepted;
}

void ReplaySession::cancel(sdk::Job &J) {
  std::lock_guard<std::mutex> Lock(Mutex);
  TheCluster.cancel(now(), J.id());
  wakeUp();
}

void ReplaySession::load(dtlto_load &Load) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (HasBegun)
    TheCluster.advance(now());
  Cluster::Load ClusterLoad = TheCluster.load();
  Load.slots = ClusterLoad.Slots;
  Load.free = ClusterLoad.Free;
  Load.queued = ClusterLoad.Queued;
  Load.workers = ClusterLoad.Machines;
  Load.expected_wait_ms = ClusterLoad.Free ? 0 : UINT64_MAX;
}

/// Called when all jobs are cancelled.
void ReplaySession::stop() {
  Numbers.noteClose();
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsClosing = true;
  }
  Changed.notify_one();
  if (Thread.joinable())
    Thread.join();
  std::string Error;
  if (!Numbers.write(S, TheRecording.get(), TheCluster, Error))
    log(DTLTO_LOG_ERROR, Error);
}

DTLTO_PLUGIN(ReplaySession, "replay", DTLTO_VERSION,
             DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_ARGS);
