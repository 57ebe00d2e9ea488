//===- SessionEvents.h - What the scheduler waits for -----------*- C++ -*-===//
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

/// A dtlto_worker_status that owns its texts. What isn't known is an empty text
/// or UINT32_MAX.
struct WorkerStatus {
  std::string Name, Compiler, Why;
  uint32_t State, Slots, Busy, LoadPermille;
};

/// Something that happened on another thread.
struct Event {
  enum KindTy {
    Prepared,     // by us: the job can be submitted, or Message says why not
    CacheHit,     // by us: LLVM has the object; or Object is in its cache, in
                  // CacheEntry, to be compared
    Opened,       // the session's open() returned Status
    Submitted,    // submit() returned Status
    State,        // job_state(); Status is the state
    Done,         // job_done()
    LoadChanged,  // load_changed()
    Loaded,       // load() returned; Load has what it told
    WorkerTold,   // query() told of a worker; Told has what it said
    StatusTold,   // query() returned Status
    NoStatus,     // the plugin has no query()
    Violation,    // the plugin broke a promise of the ABI; Message says which
    CompilerSaid, // log() of a compiler's words, of a job that isn't known
    GaveUp,       // log() of an error: the plugin can't go on; Message says why
    LocalDone,    // by us: local code generation ended
    Verified,     // by us: no difference, or Message says which
    Delivered,    // by us: the object is with LLVM
    TokenTaken,   // by us: from the jobserver
    StoreWanted,  // by us: a job needs the plugin's store
    Broken        // by us: Message is an error that fails the link
  };
  KindTy Kind;
  uint64_t Job = 0; // 0: none
  int32_t Status = 0;
  Buffer Object = {};
  std::string Message = {};
  std::string CacheEntry = {};          // CacheHit: the file of Object
  std::vector<std::string> Errors = {}; // Done, LocalDone: each of the
                                        // compiler's here; Message has all
  // Done, LocalDone: the compiler's other messages.
  std::vector<CompilerMessage> Messages = {};
  bool IsOfWorker = false; // Done: of dtlto-codegen, by a bundle of ours
  std::string Worker = {};
  bool WantsBatches = false; // Opened
  bool RanHere = false;   // Done: through local code generation. State: on this
                          // machine, or it waits for its turn there
  bool IsOurs = false;    // Done, CacheHit: a linker has made the object, or an
                          // equal one
  bool HasDigest = false; // Done: the worker's digest of the object is right
  bool NoObject = false;  // Done, LocalDone: LLVM made none, and that is right
  bool RoomSince = false; // Submitted: busy, but it has told of room since
  uint64_t Bytes = 0;     // Done: of memory that it took here; 0: not known
  double Seconds = 0;     // that a thread of ours has spent on it
  Clock::time_point Ended = {};            // what took those
  dtlto_load Load = {};                    // Loaded
  std::unique_ptr<WorkerStatus> Told = {}; // WorkerTold
  std::vector<PluginNumber> Numbers = {};  // Done: that the plugin told of it
  std::unique_ptr<BuiltJob> Built = {};    // Prepared
  // Prepared, CacheHit with an object: where it goes; there, if nobody but
  // another machine has made it.
  llvm::AddStreamFn Out = {}, OutElsewhere = {};

  /// Prepared: takes the job for the plugin, which is to avoid the worker
  /// \p Avoid, or the reason why there is none.
  void setBuilt(llvm::Expected<std::unique_ptr<BuiltJob>> Job,
                llvm::StringRef Avoid) {
    if (!Job) {
      Message = toString(Job.takeError());
      return;
    }
    Built = std::move(*Job);
    setAvoid(*Built, Avoid);
  }
  /// Notes that the work which began at \p Begin has ended now.
  void setEnded(Clock::time_point Begin) {
    Ended = Clock::now();
    Seconds = std::chrono::duration<double>(Ended - Begin).count();
  }
};

/// What needs no answer at once. To wake the scheduler for it costs more than
/// to have it lie until something else comes, or the next of its kind.
struct Patience {
  bool WithNews = false; // that jobs go the way that was expected of them
  size_t NumResults = 0; // so many of jobs that ran here
  Clock::duration Limit = std::chrono::milliseconds(5);
};

/// A queue that many threads fill and one empties.
class EventQueue {
public:
  void push(Event E) {
    if (add(std::move(E)))
      wake();
  }
  /// The first half of push(), for one who has a lock. Returns whether the
  /// other has to follow.
  bool add(Event E) {
    std::lock_guard<std::mutex> Lock(Mutex);
    // One says as much as many, and a plugin may call as often as it likes.
    if (E.Kind == Event::LoadChanged && !Events.empty() &&
        Events.back().Kind == Event::LoadChanged)
      return false;
    bool Wakes = !canWait(E);
    IsDue |= Wakes;
    Events.push_back(std::move(E));
    return Wakes;
  }
  void wake() { Ready.notify_one(); }

  /// Takes all events; waits for one until \p Deadline if there is none. What
  /// comes while \p P lasts, and can wait, ends the wait when it is over.
  std::deque<Event> popAll(Clock::time_point Deadline, Patience P = {}) {
    Taker.check();
    std::unique_lock<std::mutex> Lock(Mutex);
    IsDue = !Events.empty();
    Left = P;
    if (P.WithNews || P.NumResults)
      Ready.wait_until(Lock, std::min(Deadline, Clock::now() + P.Limit),
                       [&] { return IsDue; });
    Left = {};
    Ready.wait_until(Lock, Deadline, [&] { return !Events.empty(); });
    return std::exchange(Events, {});
  }

private:
  /// With the lock.
  bool canWait(const Event &E) {
    if (E.Kind == Event::Done && E.Status == DTLTO_OK && E.RanHere)
      return Left.NumResults && Left.NumResults--;
    return Left.WithNews &&
           ((E.Kind == Event::Submitted && E.Status == DTLTO_OK) ||
            (E.Kind == Event::State && E.RanHere));
  }

  ThreadCheck Taker;
  std::mutex Mutex; // guards all below
  std::condition_variable Ready;
  std::deque<Event> Events;
  Patience Left;      // of the wait
  bool IsDue = false; // something came that ends it
};

} // namespace dtlto

#endif // DTLTO_HOST_SESSIONEVENTS_H
