//===- LinkRun.h - Runs the jobs of a link ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes the plan's decisions (Plan/Plan.h): the plan's actions become work
// for threads and calls into the plugin, and their results become its events.
// Code that only watches is an observer of the steps (Report/Observer.h).
//
// All state belongs to the thread that calls run(). Helper threads prepare
// jobs, and compare and deliver objects; local threads compile; the session's
// thread calls the plugin. All report through one event queue.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_LINKRUN_H
#define DTLTO_RUN_LINKRUN_H

#include "Host/Session.h"
#include "Report/Observer.h"
#include "Run/CostHistory.h"
#include "Run/HelperQueue.h"
#include "Run/JobResult.h"
#include "Run/JobSource.h"
#include "Run/RunContext.h"
#include "Support/ThreadCheck.h"
#include "Support/WorkerThreads.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/UniqueVector.h"
#include <map>

namespace dtlto {

class Notices;
class RemoteCache;

class LinkRun : public LinkFacts {
public:
  /// Tests may \p Adjust the plan's thresholds to avoid waiting.
  LinkRun(const RunContext &Ctx, std::shared_ptr<JobSource> Source,
          llvm::function_ref<void(plan::Options &)> Adjust = nullptr);
  ~LinkRun() override;

  /// Runs all jobs. Returns when no thread works for the link any more, with
  /// all errors that fail the link. Call once.
  llvm::Error run();

  // For observers.
  size_t numJobs() const override { return Jobs.size(); }
  const JobFacts &facts(plan::JobId J) const override { return Jobs[J].Facts; }
  llvm::StringRef workerName(plan::WorkerId W) const override {
    return W ? llvm::StringRef(Workers[W]) : "";
  }
  plan::WorkerId workerOf(plan::AttemptId A) const override {
    return WorkerOf.lookup(A);
  }
  bool hasFailed() const override { return ThePlan->hasFailed(); }
  const BuiltJob *built(plan::AttemptId A) const override;
  uint64_t objectSize(plan::AttemptId A) const override;
  bool hasErrors() const override;
  llvm::ArrayRef<PluginNumber> pluginNumbers() const override {
    return Numbers;
  }

private:
  struct Job {
    size_t Number; // at the source
    JobFacts Facts;
    uint64_t Memory = 0; // in bytes, for a local compile
    // Where an object goes, and where one goes that only another machine has
    // made. Null: to the usual place.
    llvm::AddStreamFn Out = {}, RemoteOut = {};
    plan::AttemptId Winner = 0; // whose object counts; 0 if none yet
    std::vector<RefusedObject> Refused = {};
  };
  /// The state of an attempt until it ends.
  struct Attempt {
    std::unique_ptr<BuiltJob> Built; // until the plugin takes it
    JobResult Result;
    SideFiles Side; // the paths of the side files from its worker
    /// Set to true when a local compile isn't needed any more. May be null.
    std::shared_ptr<std::atomic<bool>> Stop;
  };

  void orderJobs();
  plan::Options options() const;
  void startObservers();

  // Steps.
  plan::Time now() const { return Clock::now() - Ctx.StartTime; }
  void step(const plan::Event &E, Step S = {});
  void finishStep(Step &S, llvm::ArrayRef<plan::Action> Actions);
  void perform(const plan::Action &A);
  void tick();
  void finish();

  // Events of the session and of our threads (LinkEvents.cpp).
  void handle(Event &E);
  bool handleSessionEvent(Event &E, plan::Event &P, Step &S);
  bool mayUseFound(plan::JobId J);
  void handleLocalEvent(Event &E, plan::Event &P, Step &S);
  void handleDone(Event &Done);
  void confirm(plan::JobId J, llvm::StringRef Object);
  plan::WorkerId recordWorker(plan::AttemptId A, llvm::StringRef Name);

  // Actions.
  void begin(plan::JobId J, bool OnThread, std::function<void()> Work);
  void reportEnd(Event::KindTy Kind, plan::JobId J, llvm::Error Why);
  void prepare(const plan::Action &A);
  void offer(const plan::Action &A);
  void cancel(plan::AttemptId A);
  void compileLocally(const plan::Action &A);
  void verify(const plan::Action &A);
  void deliver(const plan::Action &A);
  void deliverDespiteErrors(const plan::Action &A);
  void close();

  const RunContext &Ctx;
  // Shared with an abandoned plugin, whose jobs point into it.
  const std::shared_ptr<JobSource> Source;
  std::unique_ptr<CostHistory> Costs;
  std::shared_ptr<LocalRoom> Room; // shared with the session
  std::vector<Job> Jobs;           // by rank
  bool KeepOrder = false;
  plan::Time CloseTimeout = {};
  ThreadCheck Owner;

  std::unique_ptr<plan::Plan> ThePlan;
  std::vector<std::unique_ptr<Observer>> Observers;
  Notices *TheNotices = nullptr; // one of Observers

  std::shared_ptr<EventQueue> Events = std::make_shared<EventQueue>();
  std::unique_ptr<Session> TheSession;
  std::vector<PluginNumber> Numbers; // as reported by the plugin
  size_t NumOnThreads = 0; // work given to our threads that hasn't ended
  Clock::time_point NextPoll = {}; // when to poll the plugin's local jobs
  llvm::DenseMap<plan::AttemptId, plan::JobId> JobOf;
  llvm::DenseMap<plan::AttemptId, plan::WorkerId> WorkerOf;
  std::map<plan::AttemptId, Attempt> Attempts;
  llvm::UniqueVector<std::string> Workers; // by the plan's numbers, from 1 on

  HelperQueue HelperWork;
  std::unique_ptr<RemoteCache> Remote; // null if there is none

  // Threads last, so that they end before what they use.
  std::unique_ptr<WorkerThreads> Helpers;   // prepare, verify, deliver
  std::unique_ptr<WorkerThreads> LocalPool; // compiles
};

} // namespace dtlto

#endif // DTLTO_RUN_LINKRUN_H
