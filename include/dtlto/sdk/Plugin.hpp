//===- dtlto/sdk/Plugin.hpp - Plugins in C++ --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every plugin in C++ would otherwise write again around PluginAPI.h;
// C++17, header only. PluginAPI.h says what everything means. This header does
// the following:
//
//   - each job has one result (Job.hpp), and none is reported inside submit();
//   - submit() returns BUSY, and the host hears of room later, by the number of
//     jobs that may be taken;
//   - close() cancels the remaining jobs, and returns when all jobs have
//     results and no thread is in a call of the host; later calls do nothing;
//   - no exception leaves the plugin: it becomes a status and a message.
//
// A plugin derives from ThreadSession and writes run(), which may wait, or from
// Session and writes submit(), which may not. It ends with
//
//   DTLTO_PLUGIN(MySession, "name", "1.0", DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS)
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_PLUGIN_HPP
#define DTLTO_SDK_PLUGIN_HPP

#include "../ext/batch.h"
#include "../ext/probe.h"
#include "../ext/refuted.h"
#include "../ext/store.h"
#include "Arguments.hpp"
#include "CompileResult.hpp"
#include "Job.hpp"
#include "Status.hpp"
#include "WorkPool.hpp"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <unordered_map>

namespace dtlto::sdk {

/// One link. If the class has a static function `void configure(const
/// dtlto_session_params &, dtlto_session_config &)`, it changes what the
/// session asks for. Its exceptions are ignored, since open() reads the same
/// arguments. If it has a static function `std::string probe(const
/// dtlto_session_params &, std::chrono::milliseconds Limit)`, the plugin has
/// dtlto.probe/1: the function returns where the farm is named, or throws Error
/// if there is none. If it has a static function `const dtlto_store *store()`
/// (storeExtension() in Store.hpp), the plugin has dtlto.store/1. If it has a
/// static function `const Description &description()` (Arguments.hpp), the
/// plugin has dtlto.describe/1. The constructor is open(): it takes
/// `const dtlto_host &, const dtlto_session_params &`, and throws Error if
/// open() fails. The session is destroyed when all jobs have results, and then
/// must not leave threads running.
class Session {
public:
  explicit Session(const dtlto_host &Host)
      : TheHost(Host), TheGate(std::make_shared<detail::Gate>(Host)) {}
  Session(const Session &) = delete;
  virtual ~Session() = default;

  /// Called once the session is constructed: threads may start. If it throws,
  /// open() fails.
  virtual void begin() {}
  /// Takes a job; or returns false for BUSY, and calls loadChanged() later; or
  /// throws. Must not wait.
  virtual bool submit(std::shared_ptr<Job> J) = 0;
  /// \p J was cancelled.
  virtual void cancel(Job &) {}
  /// Fills in what is known; all fields are set to unknown before.
  virtual void load(dtlto_load &) {}
  /// Called once all jobs are cancelled; no more will come.
  virtual void stop() {}
  /// Returns all machines of the DBS, for --thinlto-dist-status. May wait for
  /// the network, but returns within \p Limit; a machine that hasn't answered
  /// is DTLTO_WORKER_OUT. Throws if the DBS as a whole can't be asked. Without
  /// an override, the plugin has no dtlto.status/1.
  virtual std::vector<Worker> status(std::chrono::milliseconds Limit) {
    (void)Limit;
    return {};
  }

  /// The result of a job was wrong, with this status from this worker, which
  /// may be empty: a compile error of a module that does compile, or a bad
  /// object. Must not wait. Without an override, the plugin has no
  /// dtlto.refuted/1.
  virtual void refuted(uint64_t Job, const std::string &Worker,
                       int32_t Status) {
    (void)Job, (void)Worker, (void)Status;
  }

  /// The session has all jobs that are ready now: except for retries, no other
  /// comes until one of them ends. Must not wait. Without an override, the
  /// plugin has no dtlto.batch/1.
  virtual void batchComplete() {}

  /// [any-thread] Logs a message. \p Level is DTLTO_LOG_...
  void log(uint32_t Level, const std::string &Text) {
    std::string Line = Level == DTLTO_LOG_COMPILER ? Text : oneLine(Text);
    TheGate->call(
        [&](const dtlto_host &H) { H.log(H.context, Level, Line.c_str()); });
  }
  /// [any-thread] Sets a number of the session for the link's report:
  /// DTLTO_EXT_NUMBERS. The last value of a name counts; stop() may set one,
  /// too. \p Unit is DTLTO_UNIT_...
  void number(const std::string &Name, uint32_t Unit, uint64_t Value) {
    TheGate->call([&](const dtlto_host &H) {
      if (auto *Numbers = sdk::extension<dtlto_numbers>(H, DTLTO_EXT_NUMBERS))
        Numbers->session(H.context, Name.c_str(), Unit, Value);
    });
  }
  /// [any-thread] Limits the session to \p N jobs at a time; by default there
  /// is no limit. Further jobs are BUSY, and the host is notified when there is
  /// room.
  void setCapacity(size_t N) {
    if (TheGate->setCapacity(N))
      loadChanged();
  }
  /// [any-thread] The number of accepted jobs without a result.
  size_t numJobs() const { return TheGate->numJobs(); }
  /// [any-thread] Notifies the host that load() or submit() would now answer
  /// differently.
  void loadChanged() { TheGate->loadChanged(); }
  /// Returns the host's extension, e.g. of DTLTO_EXT_NUMBERS, or null.
  template <typename T> const T *extension(const char *Id) const {
    return sdk::extension<T>(TheHost, Id);
  }

private:
  template <typename S> friend struct detail::Entry;
  friend class ThreadSession;
  const dtlto_host &TheHost;
  const std::shared_ptr<detail::Gate> TheGate;
  std::unordered_map<uint64_t, std::weak_ptr<Job>> SubmittedJobs; // link thread
};

/// A session in which each running job takes a thread. It accepts twice as many
/// jobs as threads: one job that waits for each thread keeps all threads busy.
/// If threads are short (WorkPool), it accepts fewer jobs until there are more
/// threads again.
class ThreadSession : public Session {
public:
  /// At least one thread; setThreads() may change the number.
  ThreadSession(const dtlto_host &Host, unsigned NumThreads)
      : Session(Host), NumSlots(std::max(1u, NumThreads)), Pool(NumSlots) {
    setCapacity(size_t(2) * NumSlots);
  }

  /// [any-thread] Sets the number of threads to \p N, or to one if \p N is 0,
  /// once the size of the farm is known or has changed. Notifies the host.
  /// Jobs that run or wait are kept.
  void setThreads(unsigned N) {
    Pool.setMaxThreads(std::max(1u, N));
    fitCapacity(/*NotifiesAlways=*/true);
  }

  /// Runs one job, and may wait. An exception becomes the job's result. Should
  /// return soon after the job is cancelled.
  virtual Result run(const Job &J) = 0;
  /// \p J was run and has its result; what it points at is gone. Called on the
  /// job's thread.
  virtual void onEnd(const Job &J) {
    (void)J;
    // While other jobs wait, no slot is free, and none was before.
    if (NumQueued == 0)
      loadChanged();
  }

  bool submit(std::shared_ptr<Job> J) override {
    ++NumQueued;
    Pool.run([this, J = std::move(J)] { work(*J); });
    fitCapacity();
    return true;
  }
  void cancel(Job &J) override {
    if (takeFromQueue(J))
      J.fail(DTLTO_CANCELLED);
  }
  void load(dtlto_load &Load) override {
    Load.slots = NumSlots;
    Load.free = NumSlots - std::min<uint32_t>(NumSlots, NumRunning);
    Load.queued = NumQueued;
  }
  void begin() override { Pool.start(); }
  void stop() override { Pool.stop(); }

protected:
  uint32_t numRunning() const { return NumRunning; }

private:
  /// Returns whether \p J was still waiting; if so, it now belongs to the
  /// caller.
  bool takeFromQueue(Job &J) {
    bool WasWaiting = !J.HasBegun.exchange(true);
    NumQueued -= WasWaiting;
    return WasWaiting;
  }
  void work(Job &J) {
    if (!takeFromQueue(J))
      return; // cancelled, and has its result
    ++NumRunning;
    Result R;
    R.Status = detail::guard(
        R.Message,
        [&] {
          if (J.isCancelled())
            return int32_t(DTLTO_CANCELLED);
          R = run(J);
          return R.Status;
        },
        &R.Worker);
    --NumRunning;
    // Before the host hears of room for another job.
    fitCapacity();
    J.finish(std::move(R));
    onEnd(J);
  }
  /// Fits slots and capacity to the pool. Notifies the host if there is room
  /// now after a BUSY, or of each change.
  void fitCapacity(bool NotifiesAlways = false) {
    bool Notifies;
    {
      std::lock_guard<std::mutex> Lock(FitMutex);
      uint32_t N = Pool.room();
      if (NumSlots.exchange(N) == N)
        return;
      Notifies = TheGate->setCapacity(size_t(2) * N) || NotifiesAlways;
    }
    if (Notifies)
      loadChanged();
  }

  std::mutex FitMutex; // serializes fitCapacity()
  std::atomic<uint32_t> NumSlots;
  std::atomic<uint32_t> NumRunning{0}, NumQueued{0};
  WorkPool Pool;
};

namespace detail {

template <typename S>
auto configureSession(const dtlto_session_params &P, dtlto_session_config &C,
                      int) -> decltype(S::configure(P, C)) {
  return S::configure(P, C);
}
template <typename S>
void configureSession(const dtlto_session_params &, dtlto_session_config &,
                      ...) {}

template <typename S>
auto probeFarm(const dtlto_session_params &P, std::chrono::milliseconds Limit,
               int) -> decltype(S::probe(P, Limit)) {
  return S::probe(P, Limit);
}
template <typename S>
void probeFarm(const dtlto_session_params &, std::chrono::milliseconds, ...) {}
/// Whether S has a function probe().
template <typename S>
constexpr bool HasProbe = !std::is_void_v<decltype(probeFarm<S>({}, {}, 0))>;

template <typename S> auto getStore(int) -> decltype(S::store()) {
  return S::store();
}
template <typename S> void getStore(...) {}
/// Whether S has a function store().
template <typename S>
constexpr bool HasStore = !std::is_void_v<decltype(getStore<S>(0))>;

/// The functions of the ABI for a session of type S.
template <typename S> struct Entry {
  static S *from(dtlto_session *Raw) { return reinterpret_cast<S *>(Raw); }

  template <uint32_t Needs>
  static void configure(const dtlto_session_params *Params,
                        dtlto_session_config *Config) noexcept {
    Config->needs = Needs;
    std::string Why;
    guard(Why, [&] { configureSession<S>(*Params, *Config, 0); });
  }

  static int32_t open(const dtlto_host *Host,
                      const dtlto_session_params *Params,
                      dtlto_session **Out) noexcept {
    std::string Why;
    int32_t Status = guard(Why, [&] {
      auto New = std::make_unique<S>(*Host, *Params);
      try {
        New->begin();
      } catch (const std::system_error &E) {
        New->stop();
        throw Error(DTLTO_ERROR_INFRASTRUCTURE,
                    std::string("cannot start: ") + E.what());
      } catch (...) {
        New->stop();
        throw;
      }
      *Out = reinterpret_cast<dtlto_session *>(New.release());
    });
    if (Status != DTLTO_OK)
      Host->log(Host->context, DTLTO_LOG_ERROR, oneLine(Why).c_str());
    return Status;
  }

  static int32_t submit(dtlto_session *Raw, const dtlto_job *RawJob) noexcept {
    S *Self = from(Raw);
    if (!Self->TheGate->addJob())
      return DTLTO_BUSY;
    std::string Why;
    std::shared_ptr<Job> J;
    int32_t Status = guard(Why, [&] {
      // Not make_shared(): the weak pointer in `SubmittedJobs` then keeps only
      // the counters alive.
      J.reset(new Job(*RawJob, Self->TheGate));
      Self->SubmittedJobs[J->id()] = J;
      JobInSubmit = J.get();
      return int32_t(Self->submit(J) ? DTLTO_OK : DTLTO_BUSY);
    });
    if (Status == DTLTO_OK && J.use_count() == 1) // the session dropped it
      Status = guard(Why, [&] { J->lose(); });
    if (Status != DTLTO_OK && J && J->HasEnded.exchange(true))
      Status = DTLTO_OK; // it already has its result
    if (Status != DTLTO_OK) {
      Self->TheGate->removeJob();
      Self->SubmittedJobs.erase(RawJob->id);
    }
    J.reset();
    JobInSubmit = nullptr;
    if (!Why.empty())
      Self->log(DTLTO_LOG_WARNING, Why);
    return Status;
  }

  /// Calls \p Fn for \p Self. Logs an exception.
  template <typename F> static int32_t call(S *Self, F Fn) noexcept {
    std::string Why;
    int32_t Status = guard(Why, Fn);
    if (!Why.empty())
      Self->log(DTLTO_LOG_WARNING, Why);
    return Status;
  }

  static void cancelOne(S *Self, Job &J) noexcept {
    call(Self, [&] {
      J.cancel();
      Self->cancel(J);
    });
  }

  static void cancel(dtlto_session *Raw, uint64_t Id) noexcept {
    auto I = from(Raw)->SubmittedJobs.find(Id);
    if (I == from(Raw)->SubmittedJobs.end())
      return;
    if (std::shared_ptr<Job> J = I->second.lock())
      cancelOne(from(Raw), *J);
  }

  static int32_t load(dtlto_session *Raw, dtlto_load *Out) noexcept {
    dtlto_load Load = {sizeof(Load), UINT32_MAX, UINT32_MAX, UINT32_MAX,
                       UINT32_MAX,   0,          UINT64_MAX};
    std::string Why;
    int32_t Status = guard(Why, [&] { from(Raw)->load(Load); });
    Load.size = Out->size;
    std::memcpy(Out, &Load, std::min<size_t>(Out->size, sizeof(Load)));
    return Status;
  }

  static void close(dtlto_session *Raw) noexcept {
    S *Self = from(Raw);
    for (auto &Entry : Self->SubmittedJobs)
      if (std::shared_ptr<Job> J = Entry.second.lock())
        cancelOne(Self, *J);
    call(Self, [&] { Self->stop(); });
    std::shared_ptr<Gate> Host = Self->TheGate;
    Host->waitForJobs();
    delete Self;
    Host->close();
  }

  static int32_t status(dtlto_session *Raw, uint32_t TimeoutMs,
                        void (*Callback)(void *, const dtlto_worker_status *),
                        void *Context) noexcept {
    return call(from(Raw), [&] {
      for (const Worker &W : from(Raw)->status(timeLimit(TimeoutMs))) {
        dtlto_worker_status Status = {};
        Status.size = sizeof(Status);
        Status.state = W.State;
        Status.name = W.Name.c_str();
        Status.compiler = W.Compiler.empty() ? nullptr : W.Compiler.c_str();
        Status.why = W.Why.empty() ? nullptr : W.Why.c_str();
        Status.slots = W.Slots;
        Status.busy = W.Busy;
        Status.load_permille = W.LoadPermille;
        Callback(Context, &Status);
      }
    });
  }

  static void refuted(dtlto_session *Raw, uint64_t Id, const char *Worker,
                      int32_t Status) noexcept {
    call(from(Raw),
         [&] { from(Raw)->refuted(Id, Worker ? Worker : "", Status); });
  }

  static void batchComplete(dtlto_session *Raw) noexcept {
    call(from(Raw), [&] { from(Raw)->batchComplete(); });
  }

  static int32_t probe(const dtlto_session_params *Params, uint32_t TimeoutMs,
                       char *Text, uint64_t TextSize) noexcept {
    std::string Why;
    int32_t Status = guard(Why, [&] {
      if constexpr (HasProbe<S>)
        Why = probeFarm<S>(*Params, timeLimit(TimeoutMs), 0);
    });
    if (Text && TextSize)
      std::snprintf(Text, size_t(TextSize), "%s", oneLine(Why).c_str());
    return Status;
  }

  /// Reserves a tenth of the time for the way back.
  static std::chrono::milliseconds timeLimit(uint32_t TimeoutMs) {
    return std::chrono::milliseconds(TimeoutMs - TimeoutMs / 10);
  }

  static const void *extension(const char *Id) noexcept {
    static const dtlto_probe Probe = {sizeof(dtlto_probe), 0, probe};
    static const dtlto_status Status = {sizeof(dtlto_status), 0, status};
    static const dtlto_refuted Refuted = {sizeof(dtlto_refuted), 0, refuted};
    static const dtlto_batch Batch = {sizeof(dtlto_batch), 0, batchComplete};
    // A function that isn't overridden does nothing: no extension.
    if constexpr (HasProbe<S>)
      if (std::strcmp(Id, DTLTO_EXT_PROBE) == 0)
        return &Probe;
    if constexpr (!std::is_same_v<decltype(&S::status),
                                  decltype(&Session::status)>)
      if (std::strcmp(Id, DTLTO_EXT_STATUS) == 0)
        return &Status;
    if constexpr (!std::is_same_v<decltype(&S::refuted),
                                  decltype(&Session::refuted)>)
      if (std::strcmp(Id, DTLTO_EXT_REFUTED) == 0)
        return &Refuted;
    if constexpr (!std::is_same_v<decltype(&S::batchComplete),
                                  decltype(&Session::batchComplete)>)
      if (std::strcmp(Id, DTLTO_EXT_BATCH) == 0)
        return &Batch;
    if constexpr (HasStore<S>)
      if (std::strcmp(Id, DTLTO_EXT_STORE) == 0)
        return getStore<S>(0);
    if (std::strcmp(Id, DTLTO_EXT_DESCRIBE) == 0)
      return rawDescription<S>(0);
    return nullptr;
  }
};

} // namespace detail
} // namespace dtlto::sdk

/// Defines the one symbol that a plugin exports. Use it once, outside of
/// namespaces. NEEDS are the fields that each job must have, DTLTO_JOB_...,
/// unless the session's configure() changes them.
#define DTLTO_PLUGIN(SESSION, NAME, VERSION, NEEDS)                            \
  DTLTO_SDK_PLUGIN(Entry<SESSION>, configure<(NEEDS)>, NAME, VERSION)

#endif // DTLTO_SDK_PLUGIN_HPP
