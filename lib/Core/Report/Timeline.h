//===- Timeline.h - What became of a link's jobs, and when ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scheduler's record of a link, for reports (Report.h) and time traces
// (TraceEvents.h). The scheduler tells what happens, as it happens; nothing is
// computed here. TimelineSummary.h makes sense of it.
//
// Times are seconds since the link's first task came (Link::Started), on the
// steady clock; NoTime stands for what has not happened, or isn't known.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_TIMELINE_H
#define DTLTO_REPORT_TIMELINE_H

#include "Host/PluginNumbers.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

struct dtlto_load;

namespace dtlto {

struct BuiltJob;

constexpr double NoTime = -1;

/// One start of a job.
struct AttemptRecord {
  enum class Kind : uint8_t {
    First,
    Retry,     // after an earlier attempt has failed
    Duplicate, // beside one that takes long
    Here,      // in the linker's process, not by way of the plugin
    Verify     // likewise, only to compare
  };
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
  bool RanHere = false; // by local code generation, whoever asked for it
  uint64_t Id = 0;      // in the session; 0 if the plugin never saw it
  double Offered = NoTime;
  double Accepted = NoTime;
  double Sending = NoTime;
  double Running = NoTime;
  double Receiving = NoTime;
  double Done = NoTime;
  std::string Worker;                // empty: not known
  std::string Message;               // what went wrong
  std::vector<PluginNumber> Numbers; // that the plugin told of it
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
  unsigned Round = 0;  // of two; 0: there is one
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

/// The plugin's load, as it was told.
struct LoadRecord {
  double Time;
  uint32_t Slots, Free, Queued, Workers; // UINT32_MAX: not known
};

/// Everything about a link that reports need. One thread at a time.
class Timeline {
public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Kind = AttemptRecord::Kind;
  using Outcome = AttemptRecord::Outcome;

  /// Records nothing: all functions below do nothing.
  Timeline() = default;

  /// A record that begins now. \p Zero is the link's first task, and \p SetUp
  /// when the linker set up its LTO.
  void start(TimePoint Zero, TimePoint SetUp);

  /// A record that was made elsewhere, and goes to \p End.
  Timeline(std::vector<JobRecord> Jobs, std::vector<LoadRecord> Loads,
           double ThinLink, double End);

  bool isOn() const { return IsOn; }

  // What the scheduler tells. Jobs go by the order in which they were added,
  // attempts by their id.
  void addJob(llvm::StringRef Name, unsigned Number, double Cost,
              uint64_t Bytes);
  void opened();
  void loaded(const dtlto_load &Load);
  /// The job is ready for the plugin, or was in the cache: a thread was through
  /// with it at \p Ended, and had spent \p Took seconds.
  void prepared(size_t Job, TimePoint Ended, double Took,
                bool IsCached = false);
  void offered(size_t Job, uint64_t Id, const BuiltJob &Built,
               bool IsDuplicate);
  /// What submit() said.
  void accepted(uint64_t Id);
  void busy(uint64_t Id);
  /// The plugin told that the job is in \p State (DTLTO_STATE_...).
  void state(uint64_t Id, uint32_t State, llvm::StringRef Worker);
  /// A result came with \p Status (DTLTO_...).
  void done(uint64_t Id, int32_t Status, llvm::StringRef Worker,
            llvm::StringRef Message, bool RanHere);
  /// What the plugin told of an attempt that ends now.
  void numbers(uint64_t Id, llvm::ArrayRef<PluginNumber> Told);
  /// And of the session.
  void sessionNumbers(llvm::ArrayRef<PluginNumber> Told);
  /// The attempt has failed, even if its result seemed good, or nobody waits
  /// for it any more.
  void lost(uint64_t Id, Outcome O, const llvm::Twine &Why = "");
  /// The plugin won't do the job (any more). The first reason stays.
  void staysHere(size_t Job, const llvm::Twine &Why);
  /// Local code generation ended at \p Ended that took \p Took seconds.
  void ranHere(size_t Job, TimePoint Ended, double Took, bool IsOk,
               llvm::StringRef Message, bool IsVerify);
  /// The job's object, with \p Bytes, is about to be given to LLVM.
  void delivering(size_t Job, uint64_t Bytes);
  void ended(size_t Job);
  void pluginFailed(const llvm::Twine &Why);
  /// The link's last job has ended.
  void finish(bool HasFailed);
  /// Of two rounds, this is the second one, and ended. Adds the first, which
  /// had ended before this began, \p Began seconds after the first did.
  void addFirstRound(Timeline First, double Began);

  // The record.
  llvm::ArrayRef<JobRecord> jobs() const { return Jobs; }
  llvm::ArrayRef<LoadRecord> loads() const { return Loads; }
  llvm::ArrayRef<PluginNumber> sessionNumbers() const { return Numbers; }
  double thinLink() const { return ThinLink; } // seconds from SetUp to Zero
  double openedAt() const { return Opened; }
  double end() const { return End; }
  /// Of two rounds, when the last job of the first had ended, and when the
  /// second had its first; NoTime: there is one.
  double firstRoundEnd() const { return FirstRoundEnd; }
  double secondRoundBegin() const { return SecondRoundBegin; }
  bool hasFailed() const { return HasFailed; }
  llvm::StringRef whyPluginFailed() const { return PluginFailure; }
  /// When it began, for display.
  std::chrono::system_clock::time_point date() const { return Date; }
  TimePoint zero() const { return Zero; }

private:
  double now() const { return since(std::chrono::steady_clock::now() - Zero); }
  static double since(std::chrono::steady_clock::duration D) {
    return std::max(0.0, std::chrono::duration<double>(D).count());
  }
  AttemptRecord *attempt(uint64_t Id);
  AttemptRecord &triedAgain(uint64_t Id);
  void wasAccepted(AttemptRecord &A) const;

  bool IsOn = false;
  bool HasFailed = false;
  TimePoint Zero = {};
  std::chrono::system_clock::time_point Date = {};
  double ThinLink = 0;
  double Opened = NoTime;
  double End = NoTime;
  double FirstRoundEnd = NoTime, SecondRoundBegin = NoTime;
  std::string PluginFailure;
  std::vector<JobRecord> Jobs;
  std::vector<LoadRecord> Loads;
  std::vector<PluginNumber> Numbers;
  /// By id of an attempt: the job, and the attempt's place there; of several
  /// with the same id, the last one's.
  llvm::DenseMap<uint64_t, std::pair<size_t, size_t>> Places;
};

} // namespace dtlto

#endif // DTLTO_REPORT_TIMELINE_H
