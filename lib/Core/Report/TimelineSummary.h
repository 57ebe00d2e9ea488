//===- TimelineSummary.h - An analysis of a link's record -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes where each attempt ran and next to which others, the critical path
// of the link, and a lower bound for its time.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_TIMELINESUMMARY_H
#define DTLTO_REPORT_TIMELINESUMMARY_H

#include "Report/Timeline.h"

namespace dtlto {

/// The phases of a job, in order.
enum class Phase : uint8_t {
  ThinLink, // everything before the first job
  Wait,     // in the linker, for its turn
  Prepare,
  Ready, // in the linker, for room at the plugin
  Queue, // at the plugin
  Send,
  Run,
  Receive,
  Deliver,
  Close, // after the last job
  Merge  // between two stages
};
constexpr size_t NumPhases = size_t(Phase::Merge) + 1;

/// Returns the phase's name in reports, lower case.
llvm::StringRef name(Phase P);

/// A part of an attempt's time. \c Begin is before \c End.
struct Span {
  Phase What;
  double Begin, End;
};

/// Returns the phases of \p A that happened, in order and without gaps: queue
/// to receive. If a plugin reports no states, a job counts as running once
/// accepted.
llvm::SmallVector<Span, 4> spans(const AttemptRecord &A);

/// Returns how long \p A ran, in seconds.
double runSeconds(const AttemptRecord &A);

/// Whether \p A ended in an error.
bool hasFailed(const AttemptRecord &A);

/// Returns the attempt that made the object of \p J; null if none.
const AttemptRecord *winner(const JobRecord &J);

/// An item that needs a lane for some time.
struct LaneItem {
  double Begin, End;
  size_t Index;      // for the caller
  unsigned Lane = 0; // set by assignLanes()
};

/// Gives each of \p Items a lane, preferably the one that became free last,
/// since a waiting job gets that. Sorts the items by their beginning. Returns
/// the number of lanes: the most items at a time. Ignores overlaps of up to
/// \p Slack seconds.
unsigned assignLanes(std::vector<LaneItem> &Items, double Slack = 0);

struct HostSummary {
  enum class Kind : uint8_t {
    Worker, // of the plugin
    Local,  // code generation in the linker
    Linker  // the linker's threads that prepare and deliver jobs
  };
  Kind TheKind = Kind::Worker;
  std::string Name;
  unsigned Lanes = 0; // the most in use at a time
  unsigned Jobs = 0;  // jobs with an object from this host
  unsigned Attempts = 0;
  unsigned Failed = 0; // attempts
  double Busy = 0;     // seconds, of all lanes
};

/// A place in the picture.
struct Place {
  static constexpr unsigned None = ~0u;
  unsigned Host = None;
  unsigned Lane = 0;
};

/// A part of the link's critical path.
struct WaitSummary {
  Phase What;
  double Begin, End;
  size_t Job;     // ~0: none
  size_t Attempt; // of Job; ~0: none
};

struct Summary {
  std::vector<HostSummary> Hosts; // workers by name, then Here, then Linker
  /// The places of a job's attempts, preparation and delivery. None for
  /// attempts that never had a slot.
  struct JobPlaces {
    llvm::SmallVector<Place, 1> Attempts;
    Place Prepare, Deliver;
  };
  std::vector<JobPlaces> Places;

  // Of all jobs.
  std::array<size_t, 5> From = {}; // by JobRecord::Source
  size_t from(JobRecord::Source S) const { return From[size_t(S)]; }
  size_t Retries = 0, Duplicates = 0, DuplicatesWon = 0, FailedAttempts = 0;
  uint64_t BytesOut = 0;  // inputs of all accepted attempts, uncompressed
  uint64_t BytesBack = 0; // objects of workers
  uint64_t ImportBytes = 0, WholeImportBytes = 0; // parts of BytesOut
  double Work = 0;  // seconds of the attempts that made the objects
  double Waste = 0; // seconds of the others

  // The fastest possible schedule: the thin link and then, for each stage, its
  // longest job or all its work on all slots, whichever is longer.
  double LongestRun = 0;
  size_t LongestJob = ~size_t(0);
  unsigned Slots = 0; // the most that the plugin reported, plus local ones
  double Bound = 0;   // seconds, from SetUp

  /// The critical path, without gaps, from the beginning of the thin link (a
  /// negative time) to the end.
  std::vector<WaitSummary> Waits;
};

/// What a lane holds, one at a time.
enum class LaneRule {
  Slots, // jobs being sent or run: the next may start while an object is
         // received
  Spans  // anything
};

Summary summarize(const Timeline &T, LaneRule Rule = LaneRule::Slots);

} // namespace dtlto

#endif // DTLTO_REPORT_TIMELINESUMMARY_H
