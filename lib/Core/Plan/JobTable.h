//===- JobTable.h - Jobs, their attempts, and sums over them ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All jobs of a link with their attempts. Callers get const references: only
// functions of the table change what a sum depends on, and update the sums.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_JOBTABLE_H
#define DTLTO_CORE_PLAN_JOBTABLE_H

#include "Plan/Events.h"
#include <array>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dtlto::plan {

/// Fields that no sum depends on.
struct AttemptNotes {
  WorkerId Worker = 0; // that runs it; 0 if unknown
  Time Since = {};     // when it was offered, then accepted
  Time LastSign = {};  // last sign of life
  std::optional<Time> Running, Receiving;
};

struct Attempt : AttemptNotes {
  AttemptId Id = 0;
  JobId Job = 0;
  AttemptKind Kind = AttemptKind::First;
  AttemptState State = AttemptState::Preparing;
  Cause Why = Cause::None; // why it runs locally
  /// The driver's thread can't be stopped; its result is ignored.
  bool IsOrphan = false;
  bool IsRedundant = false; // began next to another attempt, which still exists
  uint64_t Bytes = 0;       // of memory, once prepared
  PluginState Reported = PluginState::Queued;
  bool RunsLocally = false; // at the plugin, but on this machine

  bool isAtPlugin() const {
    return Kind == AttemptKind::First || Kind == AttemptKind::Retry ||
           Kind == AttemptKind::Duplicate;
  }
  bool isOnThread() const {
    return State == AttemptState::Preparing || State == AttemptState::Compiling;
  }
  bool isInFlight() const {
    return State == AttemptState::Offered || State == AttemptState::Accepted;
  }
  bool isRunningLocally() const {
    return State == AttemptState::Compiling ||
           (State == AttemptState::Accepted && RunsLocally &&
            Reported != PluginState::Queued);
  }
};

enum class Stage : uint8_t {
  Waiting,    // for its turn
  UnderWay,   // has attempts
  Verifying,  // the objects are being compared
  Held,       // until all comparisons are done
  Delivering, // the object goes to LLVM
  Ended
};

/// Fields that no sum depends on.
struct JobNotes {
  AttemptId Decisive = 0;  // the attempt whose end decides the job's
  unsigned Duplicates = 0; // begun at the plugin
  bool IsCached = false;   // a cache had the object
  bool IsFound = false;    // in the remote cache; the job isn't prepared yet
  bool IsSampled = false;  // is compared, wherever it was compiled
  bool IsProven = false;   // this process made the object, or an equal one
  /// Attempts with a compile error that other compilers may not report
  /// (Compiler), or whose object was refused and may be valid (BadResult).
  std::vector<std::pair<AttemptId, Cause>> Doubted;
};

struct Job : JobNotes {
  JobInfo Info;
  Stage At = Stage::Waiting;
  std::vector<const Attempt *> Attempts; // in the order in which they began
  unsigned Tries = 0;                    // begun at the plugin
  bool IsRemaining = true;               // counts in RemainingSeconds

  unsigned numLive() const;     // attempts that may still make the object
  bool hasLocalAttempt() const; // is compiled locally, or will be
};

struct JobSums {
  // Of jobs.
  size_t NumEnded = 0, NumHeld = 0;
  size_t NumBusyThreads = 0;   // that verify or deliver
  double TotalSeconds = 0;     // estimated
  double RemainingSeconds = 0; // of jobs neither done nor running locally
  // Of attempts.
  size_t NumUnoffered = 0;          // before Accepted, except duplicates
  size_t NumPreparingLocal = 0;     // to be compiled locally
  uint64_t PreparingLocalBytes = 0; // of memory that these will use
  size_t NumPluginLocal = 0;        // at the plugin, but on this machine
  uint64_t LocalBytes = 0;          // of memory, of all local compiles
  uint64_t BytesInFlight = 0;
  size_t NumRedundant = 0; // with IsRedundant
  double RedundantSeconds = 0;
  double WastedSeconds = 0; // of finished duplicates that were not faster
};

class JobTable {
public:
  struct ByRank {
    bool operator()(const Attempt *A, const Attempt *B) const {
      return std::pair(A->Job, A->Id) < std::pair(B->Job, B->Id);
    }
  };
  using AttemptSet = std::set<const Attempt *, ByRank>;

  explicit JobTable(const std::vector<JobInfo> &Infos);

  size_t size() const { return Jobs.size(); }
  const Job &operator[](JobId J) const { return Jobs[J]; }
  const Job &operator[](const Attempt &A) const { return Jobs[A.Job]; }
  auto begin() const { return Jobs.begin(); }
  auto end() const { return Jobs.end(); }
  /// Returns null if there is no such attempt, or not any more.
  const Attempt *find(AttemptId Id) const;
  const AttemptSet &in(AttemptState S) const { return InState[size_t(S)]; }
  const JobSums &sums() const { return Sums; }

  size_t numAtPlugin() const {
    return in(AttemptState::Offered).size() + in(AttemptState::Accepted).size();
  }
  /// The number of jobs that are compiled locally, or will be without another
  /// decision.
  size_t numToCompile() const {
    return in(AttemptState::Compiling).size() +
           in(AttemptState::Queued).size() + Sums.NumPreparingLocal;
  }
  // The waiting jobs are those from First to Last - 1.
  bool hasWaiting() const { return FirstWaiting != EndWaiting; }
  JobId firstWaiting() const { return FirstWaiting; }
  JobId lastWaiting() const { return EndWaiting - 1; }
  /// Whether no job is left to give out, except duplicates.
  bool allJobsOffered() const {
    return !hasWaiting() && Sums.NumUnoffered == 0;
  }
  bool hasEnded() const { return Sums.NumEnded == Jobs.size(); }

  // Changes. References to attempts stay valid until remove().
  const Attempt &add(JobId J, AttemptKind K, AttemptState S, Cause Why);
  void move(const Attempt &A, AttemptState To);
  void setPrepared(const Attempt &A, uint64_t Bytes);
  void setKind(const Attempt &A, AttemptKind K, bool IsRedundant);
  void report(const Attempt &A, PluginState State, bool RunsLocally);
  /// Marks \p A, which is on a thread, as not needed any more.
  void orphan(const Attempt &A);
  /// Counts the work of \p A as done in vain, if it was done twice.
  void countWasted(const Attempt &A);
  void remove(const Attempt &A);
  /// Moves \p J to another stage. If it waits, it must be the first or last
  /// one.
  void enter(JobId J, Stage To);
  /// Subtracts \p J from RemainingSeconds: it is done or runs locally.
  void markNotRemaining(JobId J);

  AttemptNotes &notes(const Attempt &A) { return entry(A); }
  JobNotes &notes(JobId J) { return Jobs[J]; }

private:
  Attempt &entry(const Attempt &A);
  template <typename FnT> void change(const Attempt &A, FnT Fn);
  void count(const Attempt &A, bool IsIn);
  void count(Stage S, bool IsIn);

  std::vector<Job> Jobs;
  std::unordered_map<AttemptId, Attempt> Attempts;
  std::array<AttemptSet, NumAttemptStates> InState;
  AttemptId LastId = 0;
  JobId FirstWaiting = 0, EndWaiting;
  JobSums Sums;
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_JOBTABLE_H
