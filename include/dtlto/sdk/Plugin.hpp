//===- dtlto/sdk/Plugin.hpp - Plugins in C++ --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every plugin in C++ would write again around PluginAPI.h; C++17, header
// only. The header has the meaning of everything; here is what is done for you:
//
//   - each job has one result: the first that it is given counts, a job that is
//     dropped without one has failed, none is reported from inside of submit();
//   - close() cancels what is left, and returns when all jobs have results and
//     nobody is in a call of the host; later calls do nothing;
//   - no exception leaves the plugin: it becomes a status and a message;
//   - fields that an older host doesn't have are empty.
//
// A plugin derives from ThreadSession and writes run(), which may wait, or from
// Session and writes submit(), which may not; and ends with
//
//   DTLTO_PLUGIN(MySession, "name", "1.0", DTLTO_PART_INPUTS | DTLTO_PART_ARGS)
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_PLUGIN_HPP
#define DTLTO_SDK_PLUGIN_HPP

#include "../PluginAPI.h"
#include "Status.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dtlto::sdk {

/// Thrown by a plugin where it can't go on; `status` is DTLTO_ERROR_..., or
/// DTLTO_CANCELLED. Any other exception is an infrastructure error. What run()
/// throws may name the machine that it happened on, for people.
class Error : public std::runtime_error {
public:
  Error(int32_t Status, const std::string &Message, std::string Worker = {})
      : std::runtime_error(Message), Status(Status), Worker(std::move(Worker)) {
  }
  int32_t status() const { return Status; }
  const std::string &worker() const { return Worker; }

private:
  int32_t Status;
  std::string Worker;
};

/// The object of a job, and what people may want to know.
struct Result {
  std::string Object;
  std::string Message; // the compiler's warnings
  std::string Worker;  // who ran it
};

namespace detail {

/// Calls \p Fn; turns what it throws into a status and a message, and its
/// worker, if there is somebody who asks.
template <typename F>
int32_t guard(std::string &Message, F Fn,
              std::string *Worker = nullptr) noexcept {
  try {
    return Fn();
  } catch (const Error &E) {
    Message = E.what();
    if (Worker)
      *Worker = E.worker();
    return E.status();
  } catch (const std::exception &E) {
    Message = E.what();
  } catch (...) {
    Message = "an unknown exception";
  }
  return DTLTO_ERROR_INFRASTRUCTURE;
}

/// The way to the host, which ends with the session: jobs and threads that are
/// left may still hold it.
class Gate {
public:
  explicit Gate(const dtlto_host &Host) : Host(&Host) {}

  /// Calls \p Fn with the host, or doesn't, after close().
  template <typename F> void call(F Fn) {
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      if (!Host)
        return;
      ++NumCalls;
    }
    Fn(*Host);
    std::lock_guard<std::mutex> Lock(Mutex);
    --NumCalls;
    Changed.notify_all();
  }

  /// Reports a result. Any thread, but in submit().
  void done(uint64_t Id, dtlto_result R) {
    call([&](const dtlto_host &H) { H.job_done(H.context, Id, &R); });
    std::lock_guard<std::mutex> Lock(Mutex);
    --NumJobs;
    Changed.notify_all();
  }

  void addJob() {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++NumJobs;
  }
  /// Takes back addJob() for a job that isn't accepted.
  void removeJob() {
    std::lock_guard<std::mutex> Lock(Mutex);
    --NumJobs;
  }
  void waitForJobs() {
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(Lock, [&] { return NumJobs == 0; });
  }
  /// Returns when no thread is in call(), and none will be.
  void close() {
    std::unique_lock<std::mutex> Lock(Mutex);
    Host = nullptr;
    Changed.wait(Lock, [&] { return NumCalls == 0; });
  }

private:
  std::mutex Mutex; // guards all
  std::condition_variable Changed;
  const dtlto_host *Host;
  unsigned NumCalls = 0;
  size_t NumJobs = 0;
};

/// Whether this thread is in a plugin's submit().
inline thread_local bool InSubmit = false;

template <typename S> struct Entry;

} // namespace detail

/// One job. Any thread; what it points at is there until it has its result.
class Job {
public:
  Job(const dtlto_job &Raw, std::shared_ptr<detail::Gate> Host)
      : Raw(&Raw), Id(Raw.id), Host(std::move(Host)) {}
  Job(const Job &) = delete;
  ~Job() { fail(DTLTO_ERROR_INFRASTRUCTURE, "the plugin lost the job"); }

  uint64_t id() const { return Id; }
  const dtlto_job &raw() const { return *Raw; }
  std::string_view name() const { return Raw->name; }
  std::string_view output() const { return Raw->output; }
  std::vector<std::string> args() const {
    return {Raw->args, Raw->args + Raw->num_args};
  }
  /// Calls \p Fn(path, bytes, const dtlto_input &) for each.
  template <typename F> void forEachInput(F Fn) const {
    for (uint32_t I = 0; I != Raw->num_inputs; ++I) {
      const dtlto_input &In = *Raw->inputs[I];
      auto *Bytes = static_cast<const char *>(In.bytes.data);
      Fn(std::string_view(In.path),
         std::string_view(Bytes, static_cast<size_t>(In.bytes.size)), In);
    }
  }
  /// Null if there is none, or the host is older than it.
  const char *config() const {
    return Raw->size > offsetof(dtlto_job, config) ? Raw->config : nullptr;
  }
  const char *avoid() const {
    return Raw->size > offsetof(dtlto_job, avoid) ? Raw->avoid : nullptr;
  }

  /// Whether the host has no use for it any more. It needs a result all the
  /// same: fail(DTLTO_CANCELLED).
  bool isCancelled() const { return Cancelled; }

  /// Tells where it is; \p State is DTLTO_STATE_...
  void state(uint32_t State, const std::string &Worker = {}) const {
    Host->call([&](const dtlto_host &H) {
      H.job_state(H.context, Id, State,
                  Worker.empty() ? nullptr : Worker.c_str());
    });
  }

  /// Its result. Only the first of all calls of these two counts.
  void finish(Result R) { end(DTLTO_OK, std::move(R)); }
  void fail(int32_t Status, std::string Message = {}, std::string Worker = {}) {
    end(Status, {{}, std::move(Message), std::move(Worker)});
  }

private:
  template <typename S> friend struct detail::Entry;

  void end(int32_t Status, Result R) {
    if (Ended.exchange(true))
      return;
    auto Tell = [Id = Id, Host = Host, Status, R = std::move(R)]() mutable {
      dtlto_result Raw = {};
      Raw.size = sizeof(Raw);
      Raw.status = Status;
      Raw.message = R.Message.empty() ? nullptr : R.Message.c_str();
      Raw.worker = R.Worker.empty() ? nullptr : R.Worker.c_str();
      if (Status == DTLTO_OK) {
        auto *Owner = new std::string(std::move(R.Object));
        Raw.object = {Owner->data(), Owner->size(), Owner,
                      [](void *Owner, const void *, uint64_t) {
                        delete static_cast<std::string *>(Owner);
                      }};
      }
      Host->done(Id, Raw);
    };
    if (detail::InSubmit)
      std::thread(std::move(Tell)).detach(); // close() waits for it
    else
      Tell();
  }

  const dtlto_job *const Raw;
  const uint64_t Id;
  const std::shared_ptr<detail::Gate> Host;
  std::atomic<bool> Cancelled{false};
  std::atomic<bool> Ended{false};
};

/// One link. The constructor is open(): it takes `const dtlto_host &, const
/// dtlto_session_params &`, and throws Error where open() fails. It is
/// destroyed when all jobs have results, and then must not leave threads
/// behind.
class Session {
public:
  explicit Session(const dtlto_host &Host)
      : RawHost(Host), Host(std::make_shared<detail::Gate>(Host)) {}
  Session(const Session &) = delete;
  virtual ~Session() = default;

  /// The session is there: threads may begin.
  virtual void begin() {}
  /// Takes a job; or returns false for BUSY, or throws. Must not wait.
  virtual bool submit(std::shared_ptr<Job> J) = 0;
  /// \p J was cancelled.
  virtual void cancel(Job &) {}
  /// Fills in what is known. All is unknown before.
  virtual void load(dtlto_load &) {}
  /// All jobs were cancelled, and no more will come.
  virtual void stop() {}
  /// All machines of the DBS, for people who ask with --thinlto-dist-status.
  /// May wait for the network, but returns within \p Limit; a machine that
  /// hasn't answered is DTLTO_WORKER_OUT. Throws if the DBS as a whole can't be
  /// asked. A plugin that doesn't write it has no dtlto.status/1.
  virtual std::vector<Worker> status(std::chrono::milliseconds Limit) {
    (void)Limit;
    return {};
  }

  /// [any-thread] \p Level is DTLTO_LOG_...
  void log(uint32_t Level, std::string Line) {
    std::replace(Line.begin(), Line.end(), '\n', ' ');
    Host->call(
        [&](const dtlto_host &H) { H.log(H.context, Level, Line.c_str()); });
  }
  /// [any-thread] There is room again.
  void loadChanged() {
    Host->call([](const dtlto_host &H) { H.load_changed(H.context); });
  }
  /// Returns the host's extension, e.g. of DTLTO_EXT_NEEDS, or null.
  template <typename T> const T *extension(const char *Id) const {
    return static_cast<const T *>(RawHost.extension(RawHost.context, Id));
  }

private:
  template <typename S> friend struct detail::Entry;
  const dtlto_host &RawHost;
  const std::shared_ptr<detail::Gate> Host;
  std::unordered_map<uint64_t, std::weak_ptr<Job>> Jobs; // link thread only
};

/// A session whose jobs each take a thread while they run.
class ThreadSession : public Session {
public:
  ThreadSession(const dtlto_host &Host, unsigned NumThreads)
      : Session(Host), NumThreads(std::max(1u, NumThreads)) {}

  /// Runs one job, and may wait. What it throws is the job's result. To be
  /// left soon if the job is cancelled.
  virtual Result run(const Job &J) = 0;

  void begin() override {
    for (unsigned I = 0; I != NumThreads; ++I)
      Threads.emplace_back([this] { work(); });
  }
  bool submit(std::shared_ptr<Job> J) override {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Queue.size() >= NumThreads) // one more for each keeps them at work
      return false;
    Queue.push_back(std::move(J));
    Changed.notify_one();
    return true;
  }
  void cancel(Job &J) override {
    std::shared_ptr<Job> Dropped; // goes without the lock
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      auto I = std::find_if(Queue.begin(), Queue.end(),
                            [&](auto &Q) { return Q.get() == &J; });
      if (I == Queue.end())
        return;
      Dropped = std::move(*I);
      Queue.erase(I);
    }
    Dropped->fail(DTLTO_CANCELLED);
    loadChanged();
  }
  void load(dtlto_load &L) override {
    std::lock_guard<std::mutex> Lock(Mutex);
    L.slots = NumThreads;
    L.free = NumThreads - NumRunning;
    L.queued = static_cast<uint32_t>(Queue.size());
  }
  void stop() override {
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Stopping = true;
    }
    Changed.notify_all();
    for (std::thread &T : Threads)
      T.join();
    Threads.clear();
  }

private:
  void work() {
    while (true) {
      std::shared_ptr<Job> J;
      {
        std::unique_lock<std::mutex> Lock(Mutex);
        Changed.wait(Lock, [&] { return Stopping || !Queue.empty(); });
        if (Queue.empty())
          return;
        J = std::move(Queue.front());
        Queue.pop_front();
        ++NumRunning;
      }
      loadChanged();
      Result R;
      std::string Why, Where;
      auto Run = [&] {
        if (J->isCancelled())
          return int32_t(DTLTO_CANCELLED);
        R = run(*J);
        return int32_t(DTLTO_OK);
      };
      int32_t Status = detail::guard(Why, Run, &Where);
      {
        std::lock_guard<std::mutex> Lock(Mutex);
        --NumRunning;
      }
      if (Status == DTLTO_OK)
        J->finish(std::move(R));
      else
        J->fail(Status, std::move(Why), std::move(Where));
      loadChanged();
    }
  }

  const unsigned NumThreads;
  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  std::deque<std::shared_ptr<Job>> Queue;
  unsigned NumRunning = 0;
  bool Stopping = false;
  std::vector<std::thread> Threads;
};

namespace detail {

/// The functions of the ABI for a session of type S.
template <typename S> struct Entry {
  static S *from(dtlto_session *Raw) { return reinterpret_cast<S *>(Raw); }

  static int32_t open(const dtlto_host *Host,
                      const dtlto_session_params *Params,
                      dtlto_session **Out) noexcept {
    std::string Why;
    int32_t Status = guard(Why, [&] {
      auto New = std::make_unique<S>(*Host, *Params);
      try {
        New->begin();
      } catch (...) {
        New->stop();
        throw;
      }
      *Out = reinterpret_cast<dtlto_session *>(New.release());
      return int32_t(DTLTO_OK);
    });
    if (Status != DTLTO_OK) {
      std::replace(Why.begin(), Why.end(), '\n', ' ');
      Host->log(Host->context, DTLTO_LOG_ERROR, Why.c_str());
    }
    return Status;
  }

  static int32_t submit(dtlto_session *Raw, const dtlto_job *RawJob) noexcept {
    S *Self = from(Raw);
    std::string Why;
    std::shared_ptr<Job> J;
    InSubmit = true;
    int32_t Status = guard(Why, [&] {
      // Not in one piece: `Jobs` keeps no more than the counters alive.
      J.reset(new Job(*RawJob, Self->Host));
      Self->Host->addJob();
      Self->Jobs[J->id()] = J;
      return int32_t(Self->submit(J) ? DTLTO_OK : DTLTO_BUSY);
    });
    if (Status != DTLTO_OK && J) {
      if (J->Ended.exchange(true))
        Status = DTLTO_OK; // it has its result
      else {
        Self->Host->removeJob();
        Self->Jobs.erase(J->id());
      }
    }
    J.reset();
    InSubmit = false;
    if (!Why.empty())
      Self->log(DTLTO_LOG_WARNING, Why);
    return Status;
  }

  static void cancelOne(S *Self, Job &J) noexcept {
    J.Cancelled = true;
    std::string Why;
    if (guard(Why, [&] { return Self->cancel(J), int32_t(DTLTO_OK); }))
      Self->log(DTLTO_LOG_WARNING, Why);
  }

  static void cancel(dtlto_session *Raw, uint64_t Id) noexcept {
    auto I = from(Raw)->Jobs.find(Id);
    if (I == from(Raw)->Jobs.end())
      return;
    if (std::shared_ptr<Job> J = I->second.lock())
      cancelOne(from(Raw), *J);
  }

  static int32_t load(dtlto_session *Raw, dtlto_load *Out) noexcept {
    dtlto_load L = {sizeof(L), UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                    0,         UINT64_MAX, 0,          0};
    std::string Why;
    int32_t Status =
        guard(Why, [&] { return from(Raw)->load(L), int32_t(DTLTO_OK); });
    L.size = Out->size;
    std::memcpy(Out, &L, std::min<size_t>(Out->size, sizeof(L)));
    return Status;
  }

  static void close(dtlto_session *Raw) noexcept {
    S *Self = from(Raw);
    std::string Why;
    for (auto &Entry : Self->Jobs)
      if (std::shared_ptr<Job> J = Entry.second.lock())
        cancelOne(Self, *J);
    if (guard(Why, [&] { return Self->stop(), int32_t(DTLTO_OK); }))
      Self->log(DTLTO_LOG_WARNING, Why);
    std::shared_ptr<Gate> Host = Self->Host;
    Host->waitForJobs();
    delete Self;
    Host->close();
  }

  static int32_t status(dtlto_session *Raw, uint32_t TimeoutMs,
                        void (*Callback)(void *, const dtlto_worker_status *),
                        void *Context) noexcept {
    std::string Why;
    int32_t Status = guard(Why, [&] {
      // A part of the time is for the way back.
      auto Limit = std::chrono::milliseconds(TimeoutMs - TimeoutMs / 10);
      tell(from(Raw)->status(Limit), Callback, Context);
      return int32_t(DTLTO_OK);
    });
    if (!Why.empty())
      from(Raw)->log(DTLTO_LOG_WARNING, Why);
    return Status;
  }

  static const void *extension(const char *Id) noexcept {
    static const dtlto_status Asked = {sizeof(dtlto_status), 0, status};
    using Inherited =
        std::vector<Worker> (Session::*)(std::chrono::milliseconds);
    if constexpr (!std::is_same_v<decltype(&S::status), Inherited>)
      if (std::strcmp(Id, DTLTO_EXT_STATUS) == 0)
        return &Asked;
    return nullptr;
  }
};

} // namespace detail
} // namespace dtlto::sdk

/// Defines the one symbol that a plugin exports; once, outside of namespaces.
#define DTLTO_PLUGIN(SESSION, NAME, VERSION, NEEDS)                            \
  extern "C" const dtlto_plugin dtlto_plugin_entry = {                         \
      sizeof(dtlto_plugin),                                                    \
      DTLTO_ABI_MAJOR,                                                         \
      DTLTO_ABI_MINOR,                                                         \
      NEEDS,                                                                   \
      NAME,                                                                    \
      VERSION,                                                                 \
      dtlto::sdk::detail::Entry<SESSION>::open,                                \
      dtlto::sdk::detail::Entry<SESSION>::submit,                              \
      dtlto::sdk::detail::Entry<SESSION>::cancel,                              \
      dtlto::sdk::detail::Entry<SESSION>::load,                                \
      dtlto::sdk::detail::Entry<SESSION>::close,                               \
      dtlto::sdk::detail::Entry<SESSION>::extension}

#endif // DTLTO_SDK_PLUGIN_HPP
