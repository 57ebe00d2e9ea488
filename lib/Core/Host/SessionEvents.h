//===- SessionEvents.h - The events of a run --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_SESSIONEVENTS_H
#define DTLTO_HOST_SESSIONEVENTS_H

#include "Host/BuiltJob.h"
#include "Host/PluginNumbers.h"
#include "Support/Buffer.h"
#include "Support/Messages.h"
#include "Support/ThreadCheck.h"
#include "llvm/Support/Caching.h"
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace dtlto {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point Begin) {
  return std::chrono::duration<double>(Clock::now() - Begin).count();
}

/// A dtlto_worker_status that owns its texts. Unknown values are an empty text
/// or UINT32_MAX.
struct WorkerStatus {
  std::string Name, Compiler, Why;
  uint32_t State, Slots, Busy, LoadPermille;
};

/// A report from another thread.
struct Event {
  enum KindTy {
    Prepared,       // ours: the job can be submitted, or Message says why not
    CacheHit,       // ours: LLVM has the object; or Object is from the cache,
                    // entry CacheEntry, for comparison
    Opened,         // the session's open() returned Status
    Submitted,      // submit() returned Status
    State,          // job_state(); Status is the state
    Done,           // job_done()
    LoadChanged,    // load_changed()
    Loaded,         // load() returned; Load has its answer
    WorkerReported, // query() reported a worker; StatusReport has it
    StatusReported, // query() returned Status
    NoStatus,       // the plugin has no query()
    Violation,      // the plugin broke a rule of the ABI; Message says which
    CompilerOutput, // log() of a compiler's output, of an unknown job
    GaveUp,         // log() of an error: the plugin gave up; Message says why
    LocalDone,      // ours: local code generation ended
    Verified,       // ours: no difference, or Message says which
    Delivered,      // ours: LLVM has the object
    TokenTaken,     // ours: from the jobserver
    Found,          // ours: the remote cache has the object of job Job
    Broken          // ours: Message is an error that fails the link
  };
  KindTy Kind;
  uint64_t Job = 0; // 0: none
  int32_t Status = 0;
  Buffer Object = {};
  std::string Message = {};
  std::string CacheEntry = {};          // CacheHit: the file of Object
  std::vector<std::string> Errors = {}; // Done, LocalDone: the local compiler's
                                        // errors; Message has all
  // Done, LocalDone: the compiler's other messages.
  std::vector<CompilerMessage> Messages = {};
  bool IsBundleResult = false; // Done: of dtlto-codegen, from a bundle of ours
  std::string Worker = {};
  bool WantsBatches = false; // Opened
  bool RanLocally = false;   // Done: by local code generation. State: on this
                             // machine, or waiting for its turn there
  bool IsFromLinker = false; // Done, CacheHit: a linker made it or its equal
  bool HasDigest = false; // Done: the worker's digest of the object is correct
  bool NoObject = false;  // Done, LocalDone: LLVM correctly made none
  bool HasRoomSince = false;    // Submitted: busy, but has reported room since
  uint64_t Bytes = 0;           // Done: memory used locally; 0: unknown
  double Seconds = 0;           // of work on a thread of ours
  Clock::time_point Ended = {}; // when that work ended
  dtlto_load Load = {};         // Loaded
  std::unique_ptr<WorkerStatus> StatusReport = {}; // WorkerReported
  std::vector<PluginNumber> Numbers = {}; // Done: as reported by the plugin
  std::unique_ptr<BuiltJob> Built = {};   // Prepared
  // Prepared, CacheHit with an object: where the object goes, and where one
  // goes that only another machine has made.
  llvm::AddStreamFn Out = {}, RemoteOut = {};

  /// Prepared: takes the plugin's job, which should avoid the worker \p Avoid,
  /// or the reason why there is none.
  void setBuilt(llvm::Expected<std::unique_ptr<BuiltJob>> Job,
                llvm::StringRef Avoid) {
    if (!Job) {
      Message = toString(Job.takeError());
      return;
    }
    Built = std::move(*Job);
    setAvoid(*Built, Avoid);
  }
  /// Records that work which began at \p Begin has ended now.
  void setEnded(Clock::time_point Begin) {
    Ended = Clock::now();
    Seconds = std::chrono::duration<double>(Ended - Begin).count();
  }
};

/// Events that needn't wake the scheduler. A wake-up costs more than leaving
/// them until another event, or the next of their kind, comes.
struct WakeUpPolicy {
  bool DefersUpdates = false; // of jobs that proceed as expected
  size_t NumResults = 0;      // the number of results of local jobs
  Clock::duration Limit = std::chrono::milliseconds(5);
};

/// A queue with many producers and one consumer.
class EventQueue {
public:
  void push(Event E) {
    if (add(std::move(E)))
      wake();
  }
  /// The first half of push(), for callers that hold a lock. Returns whether
  /// wake() must follow.
  bool add(Event E) {
    std::lock_guard<std::mutex> Lock(Mutex);
    // One report is as good as many, and a plugin may call as often as it
    // likes.
    if (E.Kind == Event::LoadChanged && !Events.empty() &&
        Events.back().Kind == Event::LoadChanged)
      return false;
    bool Wakes = !canDefer(E);
    IsDue |= Wakes;
    Events.push_back(std::move(E));
    return Wakes;
  }
  void wake() { Ready.notify_one(); }

  /// Takes all events; waits for one until \p Deadline if there is none. Events
  /// that can wait according to \p P end the wait only after P.Limit.
  std::deque<Event> popAll(Clock::time_point Deadline, WakeUpPolicy P = {}) {
    Consumer.check();
    std::unique_lock<std::mutex> Lock(Mutex);
    IsDue = !Events.empty();
    Deferrable = P;
    if (P.DefersUpdates || P.NumResults)
      Ready.wait_until(Lock, std::min(Deadline, Clock::now() + P.Limit),
                       [&] { return IsDue; });
    Deferrable = {};
    Ready.wait_until(Lock, Deadline, [&] { return !Events.empty(); });
    return std::exchange(Events, {});
  }

private:
  /// Call this with the lock held.
  bool canDefer(const Event &E) {
    if (E.Kind == Event::Done && E.Status == DTLTO_OK && E.RanLocally)
      return Deferrable.NumResults && Deferrable.NumResults--;
    return Deferrable.DefersUpdates &&
           ((E.Kind == Event::Submitted && E.Status == DTLTO_OK) ||
            (E.Kind == Event::State && E.RanLocally));
  }

  ThreadCheck Consumer;
  std::mutex Mutex; // guards all members below
  std::condition_variable Ready;
  std::deque<Event> Events;
  WakeUpPolicy Deferrable; // of the current wait
  bool IsDue = false;      // an event came that ends it
};

} // namespace dtlto

#endif // DTLTO_HOST_SESSIONEVENTS_H
