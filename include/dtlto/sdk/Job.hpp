//===- dtlto/sdk/Job.hpp - One job, in C++ ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job as a session of Plugin.hpp gets it. Each job has one result: the first
// one that is set counts. A job that is destroyed without a result has failed.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_JOB_HPP
#define DTLTO_SDK_JOB_HPP

#include "../ext/bundle.h"
#include "../ext/draft/local-room.h"
#include "../ext/local-codegen.h"
#include "../ext/numbers.h"
#include "Detached.hpp"
#include "Result.hpp"
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>

namespace dtlto::sdk {

/// The bundle of a job (docs/BUNDLE.md), as its parts in order.
class Bundle {
public:
  struct Part {
    std::string_view Bytes;   // never empty
    const dtlto_input *Input; // whose bytes these are; null: the bundle's own
  };

  auto begin() const { return Parts.begin(); }
  auto end() const { return Parts.end(); }
  /// The size of all parts together, in bytes.
  uint64_t size() const {
    uint64_t N = 0;
    for (const Part &P : Parts)
      N += P.Bytes.size();
    return N;
  }
  /// A copy of the whole bundle.
  std::string bytes() const {
    std::string All;
    for (const Part &P : Parts)
      All += P.Bytes;
    return All;
  }

private:
  friend class Job;
  std::vector<Part> Parts;
  std::shared_ptr<void> Owner;
};

class Job;

namespace detail {

/// Calls \p Fn, and returns its status; it may return nothing for DTLTO_OK.
/// Converts an exception to a status, a message and, if \p Worker isn't null,
/// the worker's name.
template <typename F>
int32_t guard(std::string &Message, F Fn,
              std::string *Worker = nullptr) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(Fn())>)
      return Fn(), DTLTO_OK;
    else
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

/// The session's access to the host, which ends with close(). Jobs and threads
/// may outlive that. Any thread; the host is called without the lock.
class Gate {
public:
  explicit Gate(const dtlto_host &Host) : Host(&Host) {}

  /// Calls \p Fn with the host, unless close() was called.
  template <typename F> void call(F Fn) {
    call(Fn, [](const auto &) {});
  }
  void loadChanged() {
    call([](const dtlto_host &H) { H.load_changed(H.context); });
  }

  /// Counts a new job. Returns false for BUSY.
  bool addJob() {
    std::lock_guard<std::mutex> Lock(Mutex);
    ReturnedBusy |= NumJobs >= Capacity;
    if (NumJobs >= Capacity)
      return false;
    ++NumJobs;
    return true;
  }
  /// Uncounts a job that wasn't accepted.
  void removeJob() {
    if (update([&] { --NumJobs; }))
      loadChanged();
  }
  /// Reports a result. Must not be called inside submit(). The host may offer
  /// another job at once, so the job is uncounted before the call.
  void done(uint64_t Id, const dtlto_result &R) {
    bool Notify = false;
    call(
        [&](const dtlto_host &H) {
          H.job_done(H.context, Id, &R);
          if (Notify)
            H.load_changed(H.context);
        },
        [&](const auto &Lock) {
          --NumJobs;
          Notify = hasRoomAgain(Lock);
        });
  }
  /// Returns whether loadChanged() must be called, without locks.
  [[nodiscard]] bool setCapacity(size_t N) {
    return update([&] { Capacity = N; });
  }
  size_t numJobs() {
    std::lock_guard<std::mutex> Lock(Mutex);
    return NumJobs;
  }

  void waitForJobs() {
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(Lock, [&] { return NumJobs == 0 && NumCalls == 0; });
  }
  /// Returns when no thread is in call() any more; later calls do nothing.
  void close() {
    std::unique_lock<std::mutex> Lock(Mutex);
    Host = nullptr;
    Changed.wait(Lock, [&] { return NumCalls == 0; });
  }

private:
  /// Calls \p First with the lock and, unless close() was called, \p Fn with
  /// the host and without the lock.
  template <typename F, typename LockedFn> void call(F Fn, LockedFn First) {
    const dtlto_host *H;
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      First(Lock);
      if (!(H = Host))
        return;
      ++NumCalls;
    }
    struct Leave {
      ~Leave() {
        std::lock_guard<std::mutex> Lock(G.Mutex);
        --G.NumCalls;
        G.Changed.notify_all();
      }
      Gate &G;
    } Leave{*this};
    Fn(*H);
  }

  /// Whether to report that there is room after a BUSY.
  bool hasRoomAgain(const std::unique_lock<std::mutex> &Lock) {
    assert(Lock.owns_lock());
    (void)Lock;
    bool Notify = ReturnedBusy && NumJobs < Capacity;
    ReturnedBusy &= !Notify;
    return Notify;
  }
  /// Calls \p Fn. Returns whether there is room now after a BUSY.
  template <typename F> bool update(F Fn) {
    std::unique_lock<std::mutex> Lock(Mutex);
    Fn();
    Changed.notify_all();
    return hasRoomAgain(Lock);
  }

  std::mutex Mutex; // guards all fields
  std::condition_variable Changed;
  const dtlto_host *Host;
  unsigned NumCalls = 0;
  size_t NumJobs = 0; // without a result
  size_t Capacity = SIZE_MAX;
  bool ReturnedBusy = false;
};

/// The job whose submit() runs on this thread, or null.
inline thread_local const Job *JobInSubmit = nullptr;

template <typename S> struct Entry;

} // namespace detail

/// One job. Any thread. What it points at lives until the job has its result.
class Job {
public:
  Job(const dtlto_job &Raw, std::shared_ptr<detail::Gate> Host)
      : Raw(&Raw), Id(Raw.id), Host(std::move(Host)) {}
  Job(const Job &) = delete;
  ~Job() { lose(); }

  uint64_t id() const { return Id; }
  const dtlto_job &raw() const { return *Raw; }
  std::string_view name() const { return Raw->name; }
  std::string_view output() const { return Raw->output; }
  std::vector<std::string> args() const {
    return {Raw->args, Raw->args + Raw->num_args};
  }
  /// Calls \p Fn(path, bytes, const dtlto_input &) for each input.
  template <typename F> void forEachInput(F Fn) const {
    for (uint32_t I = 0; I != Raw->num_inputs; ++I) {
      const dtlto_input &In = *Raw->inputs[I];
      Fn(std::string_view(In.path), view(In.bytes), In);
    }
  }
  const char *config() const { return Raw->config; } // may be null
  const char *avoid() const { return Raw->avoid; }   // may be null

  /// Whether the host has cancelled the job. It still needs a result:
  /// fail(DTLTO_CANCELLED).
  bool isCancelled() const { return Cancelled; }
  /// Calls \p Fn when the job is cancelled, on the host's thread; at once if it
  /// already is. \p Fn must own what it uses, and must not wait.
  void onCancel(std::function<void()> Fn) const {
    std::lock_guard<std::mutex> Lock(Mutex);
    OnCancel = std::move(Fn);
    if (OnCancel && Cancelled)
      OnCancel();
  }

  /// Reports the job's state; \p State is DTLTO_STATE_...
  void state(uint32_t State, const std::string &Worker = {}) const {
    Host->call([&](const dtlto_host &H) {
      H.job_state(H.context, Id, State,
                  Worker.empty() ? nullptr : Worker.c_str());
    });
  }

  /// Sets a number of the job for the link's report: DTLTO_EXT_NUMBERS. \p Unit
  /// is DTLTO_UNIT_...
  void number(const std::string &Name, uint32_t Unit, uint64_t Value) const {
    Host->call([&](const dtlto_host &H) {
      if (auto *Numbers = extension<dtlto_numbers>(H, DTLTO_EXT_NUMBERS))
        Numbers->job(H.context, Id, Name.c_str(), Unit, Value);
    });
  }

  /// Waits until this machine has room for the job, for a plugin that compiles
  /// locally by itself: DTLTO_EXT_LOCAL_ROOM. Returns false if the job is not
  /// needed any more. A host without that extension always has room.
  bool enterRoom() const {
    bool HasRoom = false;
    Host->call([&](const dtlto_host &H) {
      auto *Room = extension<dtlto_local_room>(H, DTLTO_EXT_LOCAL_ROOM);
      HasRoom = !Room || Room->enter(H.context, Id) == DTLTO_OK;
    });
    return HasRoom;
  }
  /// Ends enterRoom(). The job has taken at most \p Bytes of memory (0: not
  /// known). The job's result ends it, too.
  void leaveRoom(uint64_t Bytes) const {
    Host->call([&](const dtlto_host &H) {
      if (auto *Room = extension<dtlto_local_room>(H, DTLTO_EXT_LOCAL_ROOM))
        Room->leave(H.context, Id, Bytes);
    });
  }

  /// Compiles the job in the linker, on this thread: DTLTO_EXT_LOCAL_CODEGEN,
  /// which also says how many of these may run at a time.
  Result compileLocally() const {
    Result R;
    R.Status = DTLTO_CANCELLED;
    Host->call([&](const dtlto_host &H) {
      dtlto_result Out = {};
      Out.size = sizeof(Out);
      Out.status = DTLTO_ERROR_CALLER;
      if (auto *Codegen =
              extension<dtlto_local_codegen>(H, DTLTO_EXT_LOCAL_CODEGEN))
        Codegen->run(H.context, Id, &Out);
      R = {Buffer(Out.object), Out.message ? Out.message : "",
           Out.worker ? Out.worker : "", Out.status};
    });
    return R;
  }

  /// Makes the job's bundle; the session must need DTLTO_JOB_CONFIG and
  /// _DIGESTS. The inputs in it are the job's own. Throws Error if the host
  /// can't make it.
  Bundle bundle() const {
    Bundle B;
    int32_t Status = DTLTO_ERROR_CALLER;
    Host->call([&](const dtlto_host &H) {
      auto *Maker = extension<dtlto_bundle>(H, DTLTO_EXT_BUNDLE);
      dtlto_bundle_spans Out = {};
      Out.size = sizeof(Out);
      if (!Maker || (Status = Maker->make(H.context, Id, &Out)))
        return;
      if (Out.release)
        B.Owner.reset(Out.owner, Out.release);
      for (uint32_t I = 0; I != Out.num_spans; ++I)
        B.Parts.push_back({view(Out.spans[I].bytes), Out.spans[I].input});
    });
    if (Status != DTLTO_OK)
      throw Error(Status, "the linker cannot create the job's bundle");
    return B;
  }

  /// Why the host would refuse \p Object, which a worker made of the job's
  /// bundle; empty if it would accept it.
  std::string problem(std::string_view Object) const {
    char Why[512] = "";
    Host->call([&](const dtlto_host &H) {
      H.check_result(H.context, Id, {Object.data(), Object.size()}, Why,
                     sizeof(Why));
    });
    return Why;
  }

  /// Sets the job's result. Only the first call of finish() or fail() counts.
  /// Inside the job's own submit(), throws std::system_error if no thread can
  /// be started for it: submit() then fails.
  void finish(Result R) {
    if (HasEnded.exchange(true))
      return;
    auto Notify = [Id = Id, Host = Host,
                   R = std::make_shared<Result>(std::move(R))] {
      dtlto_result Raw = {};
      Raw.size = sizeof(Raw);
      Raw.status = R->Status;
      Raw.message = R->Message.empty() ? nullptr : R->Message.c_str();
      Raw.worker = R->Worker.empty() ? nullptr : R->Worker.c_str();
      Raw.object = R->Object.take();
      Host->done(Id, Raw);
    };
    if (!detail::JobInSubmit)
      return Notify();
    try {
      runDetached(Notify); // close() waits for it
    } catch (const std::system_error &) {
      if (detail::JobInSubmit == this) {
        HasEnded = false;
        throw;
      }
      Notify(); // another job's: the host may be called now
    }
  }
  void fail(int32_t Status, std::string Message = {}, std::string Worker = {}) {
    finish({{}, std::move(Message), std::move(Worker), Status});
  }

private:
  template <typename S> friend struct detail::Entry;
  friend class ThreadSession;

  void lose() { fail(DTLTO_ERROR_INFRASTRUCTURE, "the plugin lost the job"); }

  static std::string_view view(const dtlto_span &S) {
    return {static_cast<const char *>(S.data), static_cast<size_t>(S.size)};
  }
  void cancel() {
    std::lock_guard<std::mutex> Lock(Mutex);
    Cancelled = true;
    if (OnCancel)
      OnCancel();
  }

  const dtlto_job *const Raw;
  const uint64_t Id;
  const std::shared_ptr<detail::Gate> Host;
  std::atomic<bool> Cancelled{false};
  std::atomic<bool> HasBegun{false}; // used by ThreadSession
  std::atomic<bool> HasEnded{false};
  mutable std::mutex Mutex; // guards OnCancel, also while it is called
  mutable std::function<void()> OnCancel;
};

} // namespace dtlto::sdk

/// Defines the one symbol that a plugin exports, of the functions of the struct
/// ENTRY and of CONFIGURE.
#define DTLTO_SDK_PLUGIN(ENTRY, CONFIGURE, NAME, VERSION)                      \
  extern "C" const dtlto_plugin dtlto_plugin_entry = {                         \
      sizeof(dtlto_plugin),                                                    \
      DTLTO_ABI_MAJOR,                                                         \
      DTLTO_ABI_MINOR,                                                         \
      0,                                                                       \
      NAME,                                                                    \
      VERSION,                                                                 \
      dtlto::sdk::detail::ENTRY::CONFIGURE,                                    \
      dtlto::sdk::detail::ENTRY::open,                                         \
      dtlto::sdk::detail::ENTRY::submit,                                       \
      dtlto::sdk::detail::ENTRY::cancel,                                       \
      dtlto::sdk::detail::ENTRY::load,                                         \
      dtlto::sdk::detail::ENTRY::close,                                        \
      dtlto::sdk::detail::ENTRY::extension}

#endif // DTLTO_SDK_JOB_HPP
