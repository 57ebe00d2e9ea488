//===- Timeline.h - The record of a link's jobs -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The record of a link's steps, for reports (Report.h) and time traces
// (TraceEvents.h). TimelineSummary.h computes values from it.
//
// Times are seconds since the link's first task came (RunContext::Started), on
// the steady clock. NoTime means that it hasn't happened, or isn't known.
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

/// Returns why a job is compiled locally, for display. \p What is the reason of
/// the step, \p PluginFailure why the plugin was dropped.
std::string localReason(plan::Cause Why, llvm::StringRef What,
                        llvm::StringRef PluginFailure, unsigned TimeoutSeconds);

/// One attempt at a job.
struct AttemptRecord {
  using Kind = plan::AttemptKind;
  enum class Outcome : uint8_t {
    Open, // the link ended first
    Ok,
    Cancelled,      // not needed any more
    Infrastructure, // or an invalid object
    Compiler,
    Refused, // by the plugin
    Timeout,
    PluginFailed // it gave up, or broke the ABI
  };

  Kind TheKind = Kind::First;
  Outcome TheOutcome = Outcome::Open;
  // By local code generation, even if the plugin asked for it.
  bool RanLocally = false;
  uint64_t Id = 0; // in the session; 0 if the plugin never saw it
  double Offered = NoTime;
  double Accepted = NoTime;
  double Sending = NoTime;
  double Running = NoTime;
  double Receiving = NoTime;
  double Done = NoTime;
  std::string Worker;                // empty if unknown
  std::string Message;               // of a failure
  std::vector<PluginNumber> Numbers; // as reported by the plugin
};

/// The code generation of one module.
struct JobRecord {
  enum class Source : uint8_t {
    None,   // no object
    Worker, // of the plugin
    Local,  // this process
    Cache,  // LLVM's
    RemoteCache
  };

  std::string Name;
  unsigned Number = 0; // LLVM's number of the task
  double Cost = 0;     // estimated seconds, for comparisons only
  uint64_t PrimaryBytes = 0;
  uint64_t ImportBytes = 0;      // as sent
  uint64_t WholeImportBytes = 0; // of the whole modules
  uint64_t ShardBytes = 0;
  uint64_t ObjectBytes = 0;
  Source From = Source::None;
  std::string LocalReason; // why the plugin wasn't asked, or failed
  unsigned NumBusy = 0;    // how often the plugin had no room for it
  double Preparing = NoTime;
  double Prepared = NoTime; // or found in the cache
  double Delivering = NoTime;
  double Ended = NoTime;
  std::vector<AttemptRecord> Attempts; // in the order in which they began
};

/// A load report of the plugin.
struct LoadRecord {
  double Time;
  uint32_t Slots, Free, Queued, Workers; // UINT32_MAX if unknown

  bool hasSameNumbers(const LoadRecord &O) const {
    return Slots == O.Slots && Free == O.Free && Queued == O.Queued &&
           Workers == O.Workers;
  }
};

/// A run of all jobs. A link may have two, one after the other.
struct StageRecord {
  size_t FirstJob; // up to the next stage's first job
  double Begin, End;
};

/// The data of a link for reports. Not thread-safe.
class Timeline {
public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Timeline() = default;
  /// Records the link \p Run from now on. \p Zero is the time of the link's
  /// first task, \p SetUp that of the linker's LTO setup.
  Timeline(const LinkFacts &Run, TimePoint Zero, TimePoint SetUp);
  /// Takes over an existing record, up to \p End.
  Timeline(std::vector<JobRecord> Jobs, std::vector<LoadRecord> Loads,
           double ThinLink, double End, std::vector<PluginNumber> Numbers = {});

  /// Records \p S, a step of \p Run. \p TimeoutSeconds is the user's limit.
  void onStep(const Step &S, const LinkFacts &Run, unsigned TimeoutSeconds);
  /// Ends the record, after all jobs.
  void finish(const LinkFacts &Run);
  /// Prepends \p Earlier, the record of the previous stage. This stage began
  /// \p Offset seconds after that one.
  void addEarlierStage(Timeline Earlier, double Offset);

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
  llvm::StringRef pluginFailure() const { return PluginFailure; }
  /// The date and time when the link began, for display.
  std::chrono::system_clock::time_point date() const { return Date; }
  TimePoint zero() const { return Zero; }

private:
  using Kind = AttemptRecord::Kind;
  using Outcome = AttemptRecord::Outcome;
  static double since(std::chrono::steady_clock::duration D) {
    return std::max(0.0, std::chrono::duration<double>(D).count());
  }
  void handleEvent(const Step &S, llvm::StringRef Worker);
  void handleAction(const Step &S, const plan::Action &A, const LinkFacts &Run,
                    unsigned TimeoutSeconds);
  void recordLoad(const dtlto_load &LoadReport);
  void recordPrepared(const Step &S);
  void recordOffer(plan::JobId J, plan::AttemptId Id, Kind K,
                   const BuiltJob &Built);
  void recordBusy(plan::AttemptId Id);
  void recordState(plan::AttemptId Id, uint32_t State, llvm::StringRef Worker);
  void recordEnd(const Step &S, llvm::StringRef Worker);
  void recordLost(plan::AttemptId Id, Outcome O, llvm::StringRef Why = "");
  void recordLocalCompile(const Step &S);
  AttemptRecord *attempt(plan::AttemptId Id);
  AttemptRecord &addRetry(plan::AttemptId Id);
  void setAccepted(AttemptRecord &A) const;

  bool HasFailed = false;
  TimePoint Zero = {};
  std::chrono::system_clock::time_point Date = {};
  double ThinLink = 0;
  double Opened = NoTime;
  double Now = 0; // time of the last step
  std::string PluginFailure;
  std::vector<JobRecord> Jobs;
  std::vector<LoadRecord> Loads;
  std::vector<PluginNumber> Numbers;
  std::vector<StageRecord> Stages;
  /// The job of each attempt, and the attempt's index there. If several have
  /// the same id, the last one.
  llvm::DenseMap<plan::AttemptId, std::pair<size_t, size_t>> Places;
  llvm::DenseSet<plan::AttemptId> VerifyAttempts; // local attempts
};

} // namespace dtlto

#endif // DTLTO_REPORT_TIMELINE_H
