//===- Events.h - What goes into a plan, and what comes out -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_EVENTS_H
#define DTLTO_CORE_PLAN_EVENTS_H

#include "Plan/Options.h"

namespace dtlto::plan {

using JobId = uint32_t;     // rank: 0 is started first
using AttemptId = uint64_t; // unique in a link, from 1 on
using WorkerId = uint32_t;  // the driver interns names; 0: unknown

constexpr Time Never = Time::max();
constexpr uint32_t Unknown = UINT32_MAX; // of a number in Load

inline double seconds(Time T) {
  return std::chrono::duration<double>(T).count();
}

inline Time fromSeconds(double S) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(S));
}

struct JobInfo {
  double Estimate = 0; // seconds, good for comparisons only
  /// Local code generation writes files beside the object, so it must not run
  /// beside another attempt.
  bool HasSideFiles = false;
  /// Of memory, that local code generation is expected to take.
  uint64_t BytesHere = 0;
};

enum class AttemptKind : uint8_t {
  First,
  Retry,     // after an earlier one has failed
  Duplicate, // beside one that takes long
  Here,      // in this process, not by way of the plugin
  Verify     // likewise, only to compare
};

enum class AttemptState : uint8_t {
  Preparing, // a helper thread looks into the cache, or builds the job
  Ready,     // for the plugin
  Offered,   // submit() has been asked for
  Accepted,  // the plugin has it
  Queued,    // for a thread that compiles here
  Compiling  // on such a thread
};
constexpr size_t NumAttemptStates = 6;

/// Where the plugin says that an accepted job is.
enum class PluginState : uint8_t { Queued, Sending, Running, Receiving };

/// Why something came to pass: of events, what went wrong; of actions, what led
/// to the decision.
enum class Cause : uint8_t {
  None,
  // An attempt has failed.
  Compiler,       // the remote compiler said no
  CompilerHere,   // the one in this process did
  Caller,         // the plugin doesn't accept the job
  Refused,        // submit() returned an error
  Cancelled,      // by the plugin, without having been asked to
  Infrastructure, // the plugin or its workers
  BadResult,      // what came back is no object, or one of another kind
  Timeout,        // no sign of life
  // An attempt is not needed any more.
  Overtaken, // by another one
  // A job is compiled here.
  NotExpressible, // on a remote compiler's command line
  PluginFull,     // and it pays
  TakenBack,      // it only waited at the plugin's
  PluginSilent,   // the plugin had begun no job, or its first object was late
  Straggler,      // it takes long at the plugin's
  Overdue,        // so long that it matters no more what is done twice
  PluginGone,     // there is no plugin any more
  // The plugin is dropped.
  OpenFailed,
  PluginFailed, // it broke the ABI, or gave up
  CallHangs,    // it doesn't come back from a call
  AlwaysBusy,
  // A job ends.
  Done,
  Cached,
  PrepareFailed,
  VerifyFailed,
  DeliverFailed,
  LinkFailed // it wasn't begun, or not brought to an end
};

/// The plugin's load, as far as decisions depend on it.
struct Load {
  uint32_t Slots = Unknown, Free = Unknown, Workers = Unknown, Local = 0;
};

/// What the driver saw. Only the fields that are named matter.
struct Event {
  enum Kind : uint8_t {
    Tick,         // CallSince
    OpenWanted,   // a job that is being prepared waits for the plugin
    Opened,       // WantsBatches: it is told when it has all jobs
    OpenFailed,   // IsArgumentWrong: by the user's mistake, so the
                  // link fails
    PluginFailed, // it broke the ABI, or gave up
    RoomChanged,  // it may have room again
    LoadKnown,    // TheLoad
    TokenTaken,   // that TakeToken has asked for
    // Of an attempt.
    Prepared, // Bytes: of memory, while the plugin has it
    CacheHit, // LLVM has the object; or, MustCompare, the driver has: another
              // machine's, that is to be compared
    PrepareFailed,  // in a way that fails the link
    NotExpressible, // the job can't be compiled elsewhere
    Accepted,
    Busy,         // RoomSince: the plugin has told of room since
    StateChanged, // State; Worker, if it is known. RanHere: it runs here, or if
                  // it is queued, it waits for memory or a token
    Alive,        // the plugin compiles it here
    Succeeded,    // with a good object. Worker; Seconds, if RanHere; IsOurs:
                  // this process has made the object. Bytes: of memory that it
                  // took, for observers; 0: not known
    Failed,       // Why; Worker
    CompiledHere, // Seconds
    CompileHereFailed,
    // Of a job.
    Verified,
    VerifyFailed,
    Delivered,
    DeliverFailed,
    Confirmed // Attempt: its object, which was refused, was made again
  };
  Kind What = Tick;
  JobId Job = 0;         // of Verified and what follows
  AttemptId Attempt = 0; // of what stands before, and of Confirmed
  WorkerId Worker = 0;
  PluginState State = PluginState::Queued;
  Cause Why = Cause::None;
  bool IsArgumentWrong = false, MustCompare = false, RoomSince = false,
       IsOurs = false;
  bool RanHere = false; // Succeeded: through local code generation
  bool WantsBatches = false;
  uint64_t Bytes = 0;
  double Seconds = 0;
  Time CallSince = Never; // when the plugin was called that hasn't come back
  Load TheLoad = {};
};
constexpr size_t NumEventKinds = Event::Confirmed + 1;

/// What the driver is to do. Those marked * are decisions that only observers
/// need.
struct Action {
  enum Kind : uint8_t {
    Open,    // the plugin
    Prepare, // the attempt. ForPlugin; IsAgain: the cache was asked before;
             // IsSampled: another machine's object in there is to be compared
    Offer,   // the attempt to the plugin. Insist: though it was busy
    CompleteBatch, // tell the plugin: it has all jobs that there are for it now
    Cancel,    // the attempt, wherever it is; no more events of it matter. Why
    StaysHere, // * the attempt is to be compiled here. Why
    CompileHere, // the attempt
    Won,         // * the attempt has made the job's object
    Refute,      // tell the plugin: its result of the attempt was wrong. Why
    Verify,      // compare the objects of Job's winner and of this attempt
    Deliver,     // the object of the attempt. IsProven: this process has made
                 // it, or an equal one
    QueryLoad,
    TakeToken,   // from the jobserver, as soon as it has one
    ReturnToken, // one of those that were taken
    DropPlugin,  // no more calls but cancel() and close(). Why
    EndJob,      // Why; for the last time that Job is named
    FailLink,    // Why. Attempt, if there is one: whose failure is to blame
    Close        // the plugin: all jobs have ended
  };
  Kind What = Open;
  JobId Job = 0;
  AttemptId Attempt = 0;
  AttemptKind AKind = AttemptKind::First;
  Cause Why = Cause::None;
  WorkerId Avoid = 0; // Prepare, StaysHere: has the job already, and takes
                      // long; or failed to compile it
  bool ForPlugin = false, IsAgain = false, Insist = false;
  bool IsSampled = false, IsProven = false;
};
constexpr size_t NumActionKinds = Action::Close + 1;

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_EVENTS_H
