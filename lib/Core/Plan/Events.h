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

using JobId = uint32_t;     // rank: 0 starts first
using AttemptId = uint64_t; // unique in a link, from 1 on
using WorkerId = uint32_t;  // the driver interns names; 0: unknown

constexpr Time Never = Time::max();
constexpr uint32_t Unknown = UINT32_MAX; // for numbers in Load

inline double seconds(Time T) {
  return std::chrono::duration<double>(T).count();
}

inline Time fromSeconds(double S) {
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(S));
}

struct JobInfo {
  double Estimate = 0; // in seconds, good for comparisons only
  /// Local code generation writes files next to the object, so it must not run
  /// at the same time as another attempt.
  bool HasSideFiles = false;
  /// The memory that local code generation is expected to use, in bytes.
  uint64_t LocalBytes = 0;
};

enum class AttemptKind : uint8_t {
  First,
  Retry,     // after a failed attempt
  Duplicate, // next to a slow attempt
  Local,     // in this process, without the plugin
  Verify,    // in this process, to compare with the plugin's object
  Found      // an object from the remote cache; ends in the step that begins it
};

enum class AttemptState : uint8_t {
  Preparing, // a helper thread asks the cache, or builds the job
  Ready,     // for the plugin
  Offered,   // submit() was requested
  Accepted,  // the plugin has it
  Queued,    // for a thread that compiles locally
  Compiling  // on such a thread
};
constexpr size_t NumAttemptStates = 6;

/// The state of an accepted job, as the plugin reports it.
enum class PluginState : uint8_t { Queued, Sending, Running, Receiving };

/// The reason of an event (what went wrong) or of an action (what led to the
/// decision).
enum class Cause : uint8_t {
  None,
  // An attempt has failed.
  Compiler,       // the remote compiler reported an error
  LocalCompiler,  // the compiler in this process did
  Caller,         // the plugin doesn't accept the job
  Refused,        // submit() returned an error
  Cancelled,      // by the plugin, without a request
  Infrastructure, // the plugin or its workers
  BadResult,      // the result is no object, or not of the expected kind
  Timeout,        // no sign of life
  // An attempt is not needed any more.
  Overtaken, // by another one
  // A job is compiled locally.
  NotExpressible, // on a remote compiler's command line
  PluginFull,     // and compiling locally saves time
  TakenBack,      // it only waited at the plugin
  PluginSilent,   // the plugin had begun no job, or its first object was late
  Straggler,      // it takes long at the plugin
  Overdue,        // so late that duplicate work doesn't matter any more
  PluginDropped,  // the plugin was dropped
  // The plugin is dropped.
  OpenFailed,
  PluginFailed, // it broke the ABI, or gave up
  CallHangs,    // a call does not return
  AlwaysBusy,
  // A job ends.
  Done,
  Cached,
  PrepareFailed,
  VerifyFailed,
  DeliverFailed,
  LinkFailed // it wasn't started or finished
};

/// The part of the plugin's load that decisions depend on.
struct Load {
  uint32_t Slots = Unknown, Free = Unknown, Workers = Unknown, Local = 0;
};

/// What the driver saw. Only the fields that a kind names are valid.
struct Event {
  enum Kind : uint8_t {
    Tick,         // CallSince
    Opened,       // WantsBatches: the plugin is told when it has all jobs
    OpenFailed,   // IsArgumentWrong: by the user's mistake, so the link fails
    PluginFailed, // it broke the ABI, or gave up
    RoomChanged,  // the plugin may have room again
    LoadReported, // ReportedLoad
    TokenTaken,   // as TakeToken requested
    // Events of an attempt.
    Prepared,       // Bytes: memory that the job uses until its result
    CacheHit,       // LLVM has the object. MustCompare: the driver has it, from
                    // another machine, for comparison
    PrepareFailed,  // the link fails
    NotExpressible, // the job can't be compiled remotely
    Accepted,
    Busy,         // HasRoomSince: the plugin has reported room since
    StateChanged, // State; Worker, if known. RanLocally: it runs locally or, if
                  // it is queued, waits for memory or a token
    Alive,        // the plugin compiles it locally
    Succeeded,    // with a good object. Worker; Seconds, if RanLocally;
                  // IsFromLinker: this process made the object. Bytes: memory
                  // used, for observers; 0: unknown
    Failed,       // Why; Worker
    CompiledLocally, // Seconds
    LocalCompileFailed,
    // Events of a job.
    Verified,
    VerifyFailed,
    Delivered,
    DeliverFailed,
    Confirmed, // Attempt: compiling again gave the refused object
    Found      // the driver has a good object from the remote cache; unless the
               // plugin compiles the job in this process, with its side files
  };
  Kind What = Tick;
  JobId Job = 0;         // of Verified and later kinds
  AttemptId Attempt = 0; // of earlier kinds, and of Confirmed
  WorkerId Worker = 0;
  PluginState State = PluginState::Queued;
  Cause Why = Cause::None;
  bool IsArgumentWrong = false, MustCompare = false, HasRoomSince = false,
       IsFromLinker = false;
  bool RanLocally = false; // Succeeded: by local code generation
  bool WantsBatches = false;
  uint64_t Bytes = 0;
  double Seconds = 0;
  Time CallSince = Never; // when the call that hasn't returned began
  Load ReportedLoad = {};
};
constexpr size_t NumEventKinds = Event::Found + 1;

/// What the driver must do. Kinds marked * are decisions, for observers only.
struct Action {
  enum Kind : uint8_t {
    Open,    // the plugin
    Prepare, // the attempt. ForPlugin; IsAgain: the cache was asked before;
             // IsSampled: a cached object from another machine is to be
             // compared
    Offer,   // the attempt to the plugin. Insist: although it was busy
    CompleteBatch, // tell the plugin that it has all jobs for now
    Cancel,    // the attempt, wherever it is; ignore its further events. Why
    StayLocal, // * the attempt is to be compiled locally. Why
    CompileLocally, // the attempt
    Won,            // * the attempt made the job's object. AKind Found: the
                    // attempt begins with the object that was found
    Refute,         // tell the plugin that its result of the attempt was wrong.
                    // Why
    Verify,         // compare the objects of Job's winner and of this attempt
    Deliver, // the object of the attempt. IsProven: this process made it,
             // or an equal one
    QueryLoad,
    TakeToken,   // from the jobserver, as soon as it has one
    ReturnToken, // one of those that were taken
    DropPlugin,  // no more calls except cancel() and close(). Why
    EndJob,      // Why; the last action for Job
    FailLink,    // Why. Attempt, if any: the one whose failure is to blame
    Close        // the plugin: all jobs have ended
  };
  Kind What = Open;
  JobId Job = 0;
  AttemptId Attempt = 0;
  AttemptKind AKind = AttemptKind::First;
  Cause Why = Cause::None;
  WorkerId Avoid = 0; // Prepare, StayLocal: the worker that has the job and is
                      // slow, or failed to compile it
  bool ForPlugin = false, IsAgain = false, Insist = false;
  bool IsSampled = false, IsProven = false;
};
constexpr size_t NumActionKinds = Action::Close + 1;

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_EVENTS_H
