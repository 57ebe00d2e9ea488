//===- Observer.h - Sees the steps of a link --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_OBSERVER_H
#define DTLTO_REPORT_OBSERVER_H

#include "Host/SessionEvents.h"
#include "Plan/Plan.h"
#include "llvm/ADT/StringRef.h"

namespace dtlto {

/// Facts about a job that are known before the link.
struct JobFacts {
  std::string Name;    // of the module, for messages
  std::string Title;   // for display
  std::string CostKey; // CostHistory.h
  unsigned Number = 0; // in link order
  // Bytes of bitcode: to compile, and only loaded with them.
  uint64_t Size = 0, LoadedSize = 0;
  size_t ImportWork = 0;     // see importWork() in LLVM/Index.h
  double Seconds = 0;        // estimated by LinkRun; good for comparisons
  bool IsWholeModule = true; // no other job compiles the same module
};

/// One step of the plan, with details that the plan doesn't know. Valid during
/// the call.
struct Step {
  plan::Time Now = {};
  const plan::Event *E = nullptr; // null: the first step
  llvm::ArrayRef<plan::Action> Actions;
  plan::JobId Job = 0; // of the event's attempt, if it has one
  /// Text of the compiler, with its newlines, or of the plugin.
  llvm::StringRef Output;
  /// The compiler's errors, as far as they could be separated, and its other
  /// messages.
  llvm::ArrayRef<std::string> Errors;
  llvm::ArrayRef<CompilerMessage> Messages;
  /// The reason of a failure, in one line.
  llvm::StringRef Why;
  const dtlto_load *Load = nullptr;     // LoadReported
  llvm::ArrayRef<PluginNumber> Numbers; // of a result, from the plugin
  int32_t Status = 0;                   // of a result, DTLTO_...
  uint32_t State = 0;                   // StateChanged, DTLTO_STATE_...
  /// When a thread of ours ended its work, and how many seconds the work took.
  Clock::time_point Ended = {};
  double Seconds = 0;
};

/// Facts about a link that observers can query besides its steps.
class LinkFacts {
public:
  virtual ~LinkFacts() = default;
  virtual size_t numJobs() const = 0;
  virtual const JobFacts &facts(plan::JobId J) const = 0;
  /// Empty if unknown.
  virtual llvm::StringRef workerName(plan::WorkerId W) const = 0;
  virtual plan::WorkerId workerOf(plan::AttemptId A) const = 0;
  virtual bool hasFailed() const = 0;
  /// The job while it is being offered to the plugin; otherwise null.
  virtual const BuiltJob *built(plan::AttemptId A) const = 0;
  /// The size in bytes while the object is being delivered; otherwise 0.
  virtual uint64_t objectSize(plan::AttemptId A) const = 0;
  /// Whether errors were shown to the user.
  virtual bool hasErrors() const = 0;
  /// The numbers of the session; complete once it is closed.
  virtual llvm::ArrayRef<PluginNumber> pluginNumbers() const = 0;
};

/// Sees each step of a link before its actions are performed, on the thread of
/// LinkRun::run(). Must not change the link.
class Observer {
public:
  virtual ~Observer() = default;
  virtual void onStep(const Step &S) = 0;
  /// Called last, after all jobs and threads have ended.
  virtual void finish() {}
  /// When tick() should be called.
  virtual Clock::time_point due() const { return Clock::time_point::max(); }
  virtual void tick() {}
};

} // namespace dtlto

#endif // DTLTO_REPORT_OBSERVER_H
