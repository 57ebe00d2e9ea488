//===- Line.h - Jobs that wait for their turn -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each job that asks for a node has a connection to the local iceccd, which all
// links share. The first nodes may also lack the environment, which all of them
// receive over this machine's network. So only a few jobs ask at first, and one
// more after each success.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_LINE_H
#define DTLTO_ICECC_LINE_H

#include "RemoteJob.h"
#include <algorithm>
#include <climits>
#include <condition_variable>
#include <deque>
#include <optional>

namespace dtlto::icecc {

struct Trip;

/// A job of the linker, until it has its result.
struct Job {
  explicit Job(const sdk::Job &Offer)
      : Offer(Offer), Name(Offer.name()),
        Cost(std::max<uint64_t>(1, Offer.raw().cost)) {}
  const sdk::Job &Offer;
  const std::string Name; // for display
  const uint64_t Cost;
  Interrupt Stop; // raised: cancelled
  // Guarded by the client's lock.
  std::condition_variable Wake;
  bool MayBatch = true;        // it may be in a batch
  bool MayTry = false;         // it is no longer in line
  bool IsSettled = false;      // at a node, or in the linker
  Trip *CurrentTrip = nullptr; // its batch
  /// A result that another job's trip has brought.
  struct Delivery {
    Outcome TheOutcome;
    std::string Node;
  };
  std::optional<Delivery> TripResult;
};

/// The state of a batch.
struct Trip {
  size_t NumNeeded = 0; // jobs that were not cancelled
  Interrupt Stop;       // raised when all were
};

/// Lets jobs try, in order, as many at a time as there is room for. All
/// functions need the client's lock.
class Line {
public:
  /// Sets Job::MayTry when it is the job's turn. If not \p IsNew, the job goes
  /// before the others.
  void enter(Job &J, bool IsNew);
  /// Removes a job that will not try.
  void leave(Job &J);
  /// Records that the job has its place; others may ask for theirs.
  void settle(Job &J);
  /// Records that the job has tried.
  void recordTry(Job &J);

  /// Sets how many jobs may ask the cluster, and how many slots it has.
  void setLimits(unsigned Requests, unsigned Slots);
  /// Records that this machine had no descriptor for another connection when \p
  /// Max were allowed. Returns whether this is the first time.
  bool reduce(unsigned Max);
  /// How many connections this machine has room for.
  unsigned maxTrying() const { return MaxTrying; }

  /// Returns the next job, or null.
  Job *next() const { return Waiting.empty() ? nullptr : Waiting.front(); }
  /// Returns how many of the waiting jobs one slot should take.
  size_t share() const;

private:
  void admit();
  unsigned maxConcurrent() const { return std::min(MaxTrying, MaxRequests); }

  /// How many jobs that aren't settled may try.
  static constexpr unsigned FirstWindow = 2, MaxWindow = 32;

  std::deque<Job *> Waiting;
  unsigned NumTrying = 0;
  unsigned NumSettled = 0; // of these
  unsigned Window = FirstWindow;
  unsigned MaxTrying = UINT_MAX; // this machine's limit
  Clock::time_point LastLimitChange;
  unsigned MaxRequests = 0; // the cluster's limit
  unsigned NumSlots = 0;    // at nodes, as far as known
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_LINE_H
