//===- TimelineSummary.h - What a link's record means -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where each attempt ran, side by side with which others; what the link waited
// for from its beginning to its end; and how fast it could have been.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_TIMELINESUMMARY_H
#define DTLTO_REPORT_TIMELINESUMMARY_H

#include "Report/Timeline.h"

namespace dtlto {

/// What time is spent on, in the order in which a job goes through it.
enum class Phase : uint8_t {
  ThinLink, // all that the linker does before its first job
  Wait,     // in the linker, for its turn
  Prepare,
  Ready, // in the linker, for room at the plugin's
  Queue, // at the plugin's
  Send,
  Run,
  Receive,
  Deliver,
  Close, // after the last job
  Merge  // between two stages
};
constexpr size_t NumPhases = size_t(Phase::Merge) + 1;

/// The phase's name in reports, lower case.
llvm::StringRef name(Phase P);

/// A part of an attempt's time. \c Begin is before \c End.
struct Span {
  Phase What;
  double Begin, End;
};

/// The phases of \p A that happened, in order and without gaps: queue to
/// receive. Without states, a plugin runs a job from its acceptance on.
llvm::SmallVector<Span, 4> spans(const AttemptRecord &A);

/// How long \p A was run, in seconds.
double runSeconds(const AttemptRecord &A);

/// The attempt that the object of \p J came from; null if there is none.
const AttemptRecord *winner(const JobRecord &J);

/// A thing that needs a lane for some time.
struct LaneItem {
  double Begin, End;
  size_t Index;      // the caller's
  unsigned Lane = 0; // to be found
};

/// Gives each of \p Items a lane, if it can that which became free last: who
/// waited got that one. Sorts them by their begin. Returns how many lanes it
/// takes: the most at the same time. An overlap of \p Slack seconds is none.
unsigned assignLanes(std::vector<LaneItem> &Items, double Slack = 0);

struct HostSummary {
  enum class Kind : uint8_t {
    Worker, // of the plugin
    Here,   // code generation in the linker
    Linker  // the linker's threads that prepare and deliver jobs
  };
  Kind TheKind = Kind::Worker;
  std::string Name;
  unsigned Lanes = 0; // the most that it had at the same time
  unsigned Jobs = 0;  // whose object came from there
  unsigned Attempts = 0;
  unsigned Failed = 0; // attempts
  double Busy = 0;     // seconds, of all lanes
};

/// Where something is in the picture.
struct Place {
  static constexpr unsigned None = ~0u;
  unsigned Host = None;
  unsigned Lane = 0;
};

/// A part of the link's way from beginning to end.
struct WaitSummary {
  Phase What;
  double Begin, End;
  size_t Job;     // ~0: none
  size_t Attempt; // of Job; ~0: none
};

struct Summary {
  std::vector<HostSummary> Hosts; // workers by name, then Here, then Linker
  /// By job: the places of its attempts, of its preparation and delivery. None
  /// for attempts that never had a slot.
  struct JobPlaces {
    llvm::SmallVector<Place, 1> Attempts;
    Place Prepare, Deliver;
  };
  std::vector<JobPlaces> Places;

  // Of all jobs.
  size_t FromWorker = 0, FromHere = 0, FromCache = 0, WithoutObject = 0;
  size_t Retries = 0, Duplicates = 0, DuplicatesWon = 0, FailedAttempts = 0;
  uint64_t BytesOut = 0;  // inputs of all that was accepted, uncompressed
  uint64_t BytesBack = 0; // objects of workers
  uint64_t ImportBytes = 0, WholeImportBytes = 0; // parts of BytesOut
  double Work = 0;  // seconds of the attempts that the objects came from
  double Waste = 0; // seconds of the others

  // No schedule is faster than the thin link, and then, for each stage, its
  // longest job, or all its work on all slots.
  double LongestRun = 0;
  size_t LongestJob = ~size_t(0);
  unsigned Slots = 0; // the most that the plugin reported, and local ones
  double Bound = 0;   // seconds, from SetUp

  /// What the end of the link waited for: without gaps, from the beginning of
  /// the thin link (a negative time) to the end.
  std::vector<WaitSummary> Waits;
};

/// What a lane holds one at a time.
enum class LaneRule {
  Slots, // jobs that are sent or run: as an object comes back, the next may go
  Spans  // anything
};

Summary summarize(const Timeline &T, LaneRule Rule = LaneRule::Slots);

} // namespace dtlto

#endif // DTLTO_REPORT_TIMELINESUMMARY_H
