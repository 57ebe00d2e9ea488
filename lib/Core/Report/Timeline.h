//===- Timeline.h - What became of a link's jobs, and when ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The record of a link's steps, for reports (Report.h) and time traces
// (TraceEvents.h). Nothing is computed here: TimelineSummary.h does.
//
// Times are seconds since the link's first task came (RunContext::Started), on
// the steady clock; NoTime stands for what hasn't happened, or isn't known.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_TIMELINE_H
#define DTLTO_REPORT_TIMELINE_H

#include "Report/Observer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <chrono>
#include <string>
#include <vector>

namespace dtlto {

constexpr double NoTime = -1;

/// Why a job is compiled locally, for display. \p What is the reason that the
/// step gives, \p PluginFailure why the plugin was dropped.
std::string whyHere(plan::Cause Why, llvm::StringRef What,
                    llvm::StringRef PluginFailure, unsigned TimeoutSeconds);

/// One start of a job.
struct AttemptRecord {
  using Kind = plan::AttemptKind;
  enum class Outcome : uint8_t {
    Open, // the link ended before
    Ok,
    Cancelled,      // not needed any more
    Infrastructure, // also: an object that is no good
    Compiler,
    Refused, // by the plugin
    Timeout,
    PluginFailed // it gave up, or broke the ABI
  };

  Kind TheKind = Kind::First;
  Outcome TheOutcome = Outcome::Open;
  bool RanHere =
      false;       // by local code generation, also if the plugin asked for it
  uint64_t Id = 0; // in the session; 0 if the plugin never saw it
  double Offered = NoTime;
  double Accepted = NoTime;
  double Sending = NoTime;
  double Running = NoTime;
  double Receiving = NoTime;
  double Done = NoTime;
  std::string Worker;                // empty: not known
  std::string Message;               // what went wrong
  std::vector<PluginNumber> Numbers; // that the plugin reported of it
};

/// One module's code generation.
struct JobRecord {
  enum class Source : uint8_t {
    None,   // there is no object
    Worker, // of the plugin
    Here,   // this process
    Cache   // LLVM's
  };

  std::string Name;
  unsigned Number = 0; // LLVM's number of the task
  double Cost = 0;     // estimated, in seconds; good for comparisons only
  uint64_t PrimaryBytes = 0;
  uint64_t ImportBytes = 0;      // as they travel
  uint64_t WholeImportBytes = 0; // of the modules that they are taken from
  uint64_t ShardBytes = 0;
  uint64_t ObjectBytes = 0;
  Source From = Source::None;
  std::string WhyHere;  // why the plugin wasn't asked, or not in the end
  unsigned NumBusy = 0; // how often the plugin had no room for it
  double Preparing = NoTime;
  double Prepared = NoTime; // or found in the cache
  double Delivering = NoTime;
  double Ended = NoTime;
  std::vector<AttemptRecord> Attempts; // in the order of their starts
};

/// The plugin's load, as it was reported.
struct LoadRecord {
  double Time;
  uint32_t Slots, Free, Queued, Workers; // UINT32_MAX: not known

  bool hasSameNumbers(const LoadRecord &O) const {
    return Slots == O.Slots && Free == O.Free && Queued == O.Queued &&
           Workers == O.Workers;
  }
};

/// A run of all jobs, of which a link may have two, one after the other.
struct StageRecord {
  size_t FirstJob; // its jobs follow
  double Begin, End;
};

/// Everything about a link that reports need. One thread at a time.
class Timeline {
public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Timeline() = default;
  /// Records the link \p Run from now on. \p Zero is the link's first task, and
  /// \p SetUp when the linker set up its LTO.
  Timeline(const LinkFacts &Run, TimePoint Zero, TimePoint SetUp);
  /// A record that was made elsewhere, and goes to \p End.
  Timeline(std::vector<JobRecord> Jobs, std::vector<LoadRecord> Loads,
           double ThinLink, double End, std::vector<PluginNumber> Numbers = {});

  /// Records \p S, a step of \p Run. \p TimeoutSeconds is the user's limit.
  void saw(const Step &S, const LinkFacts &Run, unsigned TimeoutSeconds);
  /// Every job has ended.
  void finish(const LinkFacts &Run);
  /// Adds \p Earlier, the record of the stage that had ended before this one
  /// began, \p Began seconds after the earlier did.
  void addEarlierStage(Timeline Earlier, double Began);

  // The record.
  llvm::ArrayRef<JobRecord> jobs() const { return Jobs; }
  llvm::ArrayRef<LoadRecord> loads() const { return Loads; }
  llvm::ArrayRef<PluginNumber> sessionNumbers() const { return Numbers; }
  llvm::ArrayRef<StageRecord> stages() const { return Stages; }
  /// The jobs of stage \p I.
  llvm::ArrayRef<JobRecord> jobsOf(size_t I) const;
  double thinLink() const { return ThinLink; } // seconds from SetUp to Zero
  double openedAt() const { return Opened; }
  double end() const { return Stages.empty() ? NoTime : Stages.back().End; }
  bool hasFailed() const { return HasFailed; }
  llvm::StringRef whyPluginFailed() const { return PluginFailure; }
  /// When it began, for display.
  std::chrono::system_clock::time_point date() const { return Date; }
  TimePoint zero() const { return Zero; }

private:
  using Kind = AttemptRecord::Kind;
  using Outcome = AttemptRecord::Outcome;
  static double since(std::chrono::steady_clock::duration D) {
    return std::max(0.0, std::chrono::duration<double>(D).count());
  }
  void sawEvent(const Step &S, llvm::StringRef Worker);
  void sawAction(const Step &S, const plan::Action &A, const LinkFacts &Run,
                 unsigned TimeoutSeconds);
  void sawLoad(const dtlto_load &L);
  void prepared(const Step &S);
  void offered(plan::JobId J, plan::AttemptId Id, Kind K,
               const BuiltJob &Built);
  void busy(plan::AttemptId Id);
  void stateChanged(plan::AttemptId Id, uint32_t State, llvm::StringRef Worker);
  void ended(const Step &S, llvm::StringRef Worker);
  void lost(plan::AttemptId Id, Outcome O, llvm::StringRef Why = "");
  void compiledLocally(const Step &S);
  AttemptRecord *attempt(plan::AttemptId Id);
  AttemptRecord &triedAgain(plan::AttemptId Id);
  void wasAccepted(AttemptRecord &A) const;

  bool HasFailed = false;
  TimePoint Zero = {};
  std::chrono::system_clock::time_point Date = {};
  double ThinLink = 0;
  double Opened = NoTime;
  double Now = 0; // of the last step
  std::string PluginFailure;
  std::vector<JobRecord> Jobs;
  std::vector<LoadRecord> Loads;
  std::vector<PluginNumber> Numbers;
  std::vector<StageRecord> Stages;
  /// By id of an attempt: the job, and the attempt's place there; of several
  /// with the same id, the last one's.
  llvm::DenseMap<plan::AttemptId, std::pair<size_t, size_t>> Places;
  llvm::DenseSet<plan::AttemptId> IsVerify; // local attempts
};

} // namespace dtlto

#endif // DTLTO_REPORT_TIMELINE_H
