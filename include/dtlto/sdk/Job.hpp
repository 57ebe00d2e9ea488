//===- dtlto/sdk/Job.hpp - One job, in C++ ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a session of Plugin.hpp is given. Each job has one result: the first
// that it is given counts, and a job that is dropped without one has failed.
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

namespace dtlto::sdk {

/// The bundle of a job (docs/BUNDLE.md) as the parts that it is made of, in
/// order.
class Bundle {
public:
  struct Part {
    std::string_view Bytes;   // never empty
    const dtlto_input *Input; // whose bytes they are; null: the bundle's own
  };

  auto begin() const { return Parts.begin(); }
  auto end() const { return Parts.end(); }
  /// Of all parts together, in bytes.
  uint64_t size() const {
    uint64_t N = 0;
    for (const Part &P : Parts)
      N += P.Bytes.size();
    return N;
  }
  /// All of it, copied.
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
/// left may still hold it. Any thread; the host is called without the lock.
class Gate {
public:
  explicit Gate(const dtlto_host &Host) : Host(&Host) {}

  /// Calls \p Fn with the host, or doesn't, after close().
  template <typename F> void call(F Fn) {
    call(Fn, [](const auto &) {});
  }
  void loadChanged() {
    call([](const dtlto_host &H) { H.load_changed(H.context); });
  }

  /// A job comes. Returns false for BUSY.
  bool addJob() {
    std::lock_guard<std::mutex> Lock(Mutex);
    SaidBusy |= NumJobs >= Capacity;
    if (NumJobs >= Capacity)
      return false;
    ++NumJobs;
    return true;
  }
  /// A job wasn't accepted.
  void removeJob() {
    update([&] { --NumJobs; });
  }
  /// Reports a result. Not in submit(). The host offers another job at once, so
  /// there is room for it before it is told.
  void done(uint64_t Id, const dtlto_result &R) {
    bool Tell = false;
    call(
        [&](const dtlto_host &H) {
          H.job_done(H.context, Id, &R);
          if (Tell)
            H.load_changed(H.context);
        },
        [&](const auto &Lock) {
          --NumJobs;
          Tell = hasRoomAgain(Lock);
        });
  }
  void setCapacity(size_t N) {
    update([&] { Capacity = N; });
  }
  size_t numJobs() {
    std::lock_guard<std::mutex> Lock(Mutex);
    return NumJobs;
  }

  void waitForJobs() {
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(Lock, [&] { return NumJobs == 0 && NumCalls == 0; });
  }
  /// Returns when no thread is in call(), and none will be.
  void close() {
    std::unique_lock<std::mutex> Lock(Mutex);
    Host = nullptr;
    Changed.wait(Lock, [&] { return NumCalls == 0; });
  }

private:
  /// Calls \p First with the lock and, unless close() was called, \p Fn with
  /// the host and without the lock.
  template <typename F, typename L> void call(F Fn, L First) {
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

  /// Whether to tell that there is room after a BUSY.
  bool hasRoomAgain(const std::unique_lock<std::mutex> &Lock) {
    assert(Lock.owns_lock());
    (void)Lock;
    bool Tell = SaidBusy && NumJobs < Capacity;
    SaidBusy &= !Tell;
    return Tell;
  }
  /// Does \p Fn, and tells if there is room now after a BUSY.
  template <typename F> void update(F Fn) {
    bool Tell;
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      Fn();
      Tell = hasRoomAgain(Lock);
      Changed.notify_all();
    }
    if (Tell)
      loadChanged();
  }

  std::mutex Mutex; // guards all
  std::condition_variable Changed;
  const dtlto_host *Host;
  unsigned NumCalls = 0;
  size_t NumJobs = 0; // that have no result
  size_t Capacity = SIZE_MAX;
  bool SaidBusy = false;
};

/// The job in whose submit() this thread is; null: in none.
inline thread_local const Job *Submitted = nullptr;

template <typename S> struct Entry;

} // namespace detail

/// One job. Any thread; what it points at is there until it has its result.
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
  /// Calls \p Fn(path, bytes, const dtlto_input &) for each.
  template <typename F> void forEachInput(F Fn) const {
    for (uint32_t I = 0; I != Raw->num_inputs; ++I) {
      const dtlto_input &In = *Raw->inputs[I];
      Fn(std::string_view(In.path), view(In.bytes), In);
    }
  }
  const char *config() const { return Raw->config; } // may be null
  const char *avoid() const { return Raw->avoid; }   // may be null

  /// Whether the host has no use for it any more. It needs a result all the
  /// same: fail(DTLTO_CANCELLED).
  bool isCancelled() const { return Cancelled; }
  /// \p Fn is called when it is cancelled, on the host's thread, or now if it
  /// was before. It owns what it uses, and doesn't wait.
  void onCancel(std::function<void()> Fn) const {
    std::lock_guard<std::mutex> Lock(Mutex);
    OnCancel = std::move(Fn);
    if (OnCancel && Cancelled)
      OnCancel();
  }

  /// Tells where it is; \p State is DTLTO_STATE_...
  void state(uint32_t State, const std::string &Worker = {}) const {
    Host->call([&](const dtlto_host &H) {
      H.job_state(H.context, Id, State,
                  Worker.empty() ? nullptr : Worker.c_str());
    });
  }

  /// A number of it that the link's report shows: DTLTO_EXT_NUMBERS. \p Unit is
  /// DTLTO_UNIT_...
  void number(const std::string &Name, uint32_t Unit, uint64_t Value) const {
    Host->call([&](const dtlto_host &H) {
      if (auto *Numbers = extension<dtlto_numbers>(H, DTLTO_EXT_NUMBERS))
        Numbers->job(H.context, Id, Name.c_str(), Unit, Value);
    });
  }

  /// Waits until this machine has room for it, for a plugin that compiles here
  /// by itself: DTLTO_EXT_LOCAL_ROOM. Returns false if the job is not needed
  /// any more. A host without that extension always has room.
  bool enterRoom() const {
    bool Entered = false;
    Host->call([&](const dtlto_host &H) {
      auto *Room = extension<dtlto_local_room>(H, DTLTO_EXT_LOCAL_ROOM);
      Entered = !Room || Room->enter(H.context, Id) == DTLTO_OK;
    });
    return Entered;
  }
  /// It has taken \p Bytes of memory at most (0: not known), and takes nothing
  /// any more. Its result says so, too.
  void leaveRoom(uint64_t Bytes) const {
    Host->call([&](const dtlto_host &H) {
      if (auto *Room = extension<dtlto_local_room>(H, DTLTO_EXT_LOCAL_ROOM))
        Room->leave(H.context, Id, Bytes);
    });
  }

  /// Compiles it in the linker, on this thread: DTLTO_EXT_LOCAL_CODEGEN, of
  /// which the host says how many of these it wants at a time.
  Result compileHere() const {
    Result R;
    R.Status = DTLTO_CANCELLED;
    Host->call([&](const dtlto_host &H) {
      dtlto_result Made = {};
      Made.size = sizeof(Made);
      Made.status = DTLTO_ERROR_CALLER;
      if (auto *Codegen =
              extension<dtlto_local_codegen>(H, DTLTO_EXT_LOCAL_CODEGEN))
        Codegen->run(H.context, Id, &Made);
      R = {Buffer(Made.object), Made.message ? Made.message : "",
           Made.worker ? Made.worker : "", Made.status};
    });
    return R;
  }

  /// Its bundle, if the session needs DTLTO_JOB_CONFIG and _DIGESTS. The inputs
  /// in it are the job's own. Throws Error if the host can't make it.
  Bundle bundle() const {
    Bundle B;
    int32_t Status = DTLTO_ERROR_CALLER;
    Host->call([&](const dtlto_host &H) {
      auto *Maker = extension<dtlto_bundle>(H, DTLTO_EXT_BUNDLE);
      dtlto_bundle_spans Made = {};
      Made.size = sizeof(Made);
      if (!Maker || (Status = Maker->make(H.context, Id, &Made)))
        return;
      if (Made.release)
        B.Owner.reset(Made.owner, Made.release);
      for (uint32_t I = 0; I != Made.num_spans; ++I)
        B.Parts.push_back({view(Made.spans[I].bytes), Made.spans[I].input});
    });
    if (Status != DTLTO_OK)
      throw Error(Status, "the linker can't make the job's bundle");
    return B;
  }

  /// Why the host would refuse \p Object, which a worker has made of the job's
  /// bundle; empty if it wouldn't.
  std::string problem(std::string_view Object) const {
    char Why[512] = "";
    Host->call([&](const dtlto_host &H) {
      H.check_result(H.context, Id, {Object.data(), Object.size()}, Why,
                     sizeof(Why));
    });
    return Why;
  }

  /// Its result. Only the first of all calls of these two counts. In the job's
  /// own submit(), throws std::system_error if there is no thread to be had for
  /// it: then submit() has failed.
  void finish(Result R) {
    if (Ended.exchange(true))
      return;
    auto Tell = [Id = Id, Host = Host,
                 R = std::make_shared<Result>(std::move(R))] {
      dtlto_result Raw = {};
      Raw.size = sizeof(Raw);
      Raw.status = R->Status;
      Raw.message = R->Message.empty() ? nullptr : R->Message.c_str();
      Raw.worker = R->Worker.empty() ? nullptr : R->Worker.c_str();
      Raw.object = R->Object.take();
      Host->done(Id, Raw);
    };
    if (!detail::Submitted)
      return Tell();
    try {
      runDetached(Tell); // close() waits for it
    } catch (const std::system_error &) {
      if (detail::Submitted == this) {
        Ended = false;
        throw;
      }
      Tell(); // of another one, the host may hear it now
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
  std::atomic<bool> Begun{false}; // ThreadSession's
  std::atomic<bool> Ended{false};
  mutable std::mutex Mutex; // guards OnCancel, and is held while it is called
  mutable std::function<void()> OnCancel;
};

} // namespace dtlto::sdk

#endif // DTLTO_SDK_JOB_HPP
