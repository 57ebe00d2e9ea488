//===- LinkRun.h - Runs the jobs of a link ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does what the plan (Plan/Plan.h) decides: its actions become work for threads
// and calls into the plugin, and what comes of these, and of objects that are
// checked, becomes its events. Whoever only wants to know what happens is an
// observer of its steps (Observer.h).
//
// All state belongs to the thread that calls run(). Helper threads prepare
// jobs, compare and deliver objects, local threads compile, the session's
// thread calls the plugin; all come back through one queue of events.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_LINKRUN_H
#define DTLTO_RUN_LINKRUN_H

#include "Host/Session.h"
#include "Run/CostHistory.h"
#include "Run/HelperQueue.h"
#include "Run/JobResult.h"
#include "Run/JobSource.h"
#include "Run/Observer.h"
#include "Run/RunContext.h"
#include "Support/WorkerThreads.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace dtlto {

class Notices;

/// An object that the check refused. It may be as odd as its program: then a
/// compile elsewhere makes the same.
struct RefusedObject {
  plan::AttemptId Attempt;
  plan::WorkerId Worker;
  ObjectDigest Digest;
};

class LinkRun : public LinkFacts {
public:
  /// Tests may \p Adjust the plan's thresholds, so as not to wait.
  LinkRun(const RunContext &L, std::shared_ptr<JobSource> Source,
          llvm::function_ref<void(plan::Options &)> Adjust = nullptr);
  ~LinkRun() override;

  /// Runs all jobs. Returns when no thread works for the link any more, and
  /// fails with all errors that should fail the link. Call once.
  llvm::Error run();

  // For observers.
  size_t numJobs() const override { return Jobs.size(); }
  llvm::StringRef moduleName(plan::JobId J) const override {
    return Jobs[J]->Facts.Name;
  }
  llvm::StringRef title(plan::JobId J) const override {
    return Jobs[J]->Facts.Title;
  }
  unsigned number(plan::JobId J) const override {
    return Jobs[J]->Facts.Number;
  }
  uint64_t bitcodeSize(plan::JobId J) const override {
    return Jobs[J]->Facts.Size;
  }
  double estimate(plan::JobId J) const override { return Jobs[J]->Seconds; }
  llvm::StringRef costKey(plan::JobId J) const override {
    return Jobs[J]->Facts.CostKey;
  }
  llvm::StringRef workerName(plan::WorkerId W) const override {
    return WorkerNames[W];
  }
  plan::WorkerId workerOf(plan::AttemptId A) const override {
    return Workers.lookup(A);
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
    double Seconds = 0;  // that it is expected to take; good for comparisons
    uint64_t Memory = 0; // and bytes, if it is compiled here
    // Where the object goes; there, if nobody but another machine has made it.
    // Null: where all go.
    llvm::AddStreamFn Out = {}, OutElsewhere = {};
    plan::AttemptId Winner = 0; // whose object counts; 0: there is none yet
    std::vector<RefusedObject> Refused = {};
  };

  void order();
  plan::Options options() const;
  void startObservers();

  // Steps.
  plan::Time now() const { return Clock::now() - L.Started; }
  void step(const plan::Event &E, Step S = {});
  std::vector<std::string> winners() const;
  void finishStep(Step &S, llvm::ArrayRef<plan::Action> Actions);
  void perform(const plan::Action &A);
  void tick();

  // What is told (LinkEvents.cpp).
  void handle(Event &E);
  void check(Event &Done);
  void endCheck();
  void handleResult(CheckedResult &C);
  void setOut(Event &E);
  void confirm(plan::JobId J, llvm::StringRef Object);
  plan::WorkerId noteWorker(plan::AttemptId A, llvm::StringRef Name);

  // Actions.
  void onHelper(plan::JobId J, std::function<void()> Work);
  void prepare(const plan::Action &A);
  void prepareNow(const plan::Action &A, llvm::StringRef Avoid);
  void offer(const plan::Action &A);
  void cancel(plan::AttemptId A);
  void forget(plan::AttemptId A);
  void compileHere(const plan::Action &A);
  void verify(const plan::Action &A);
  void deliver(const plan::Action &A);
  void deliverDespiteErrors(const plan::Action &A);
  void close();

  /// What the plugin is told; falling with the order.
  static uint64_t cost(const Job &J) {
    return std::max<uint64_t>(1, static_cast<uint64_t>(J.Seconds * 1e6));
  }

  const RunContext &L;
  // What jobs point at is in it: a plugin that is left behind shares it.
  const std::shared_ptr<JobSource> Source;
  std::unique_ptr<CostHistory> Costs;
  std::shared_ptr<LocalRoom> Room;        // the session shares it
  std::vector<std::unique_ptr<Job>> Jobs; // by rank
  bool KeepOrder = false;
  plan::Time CloseTimeout = {};

  std::unique_ptr<plan::Plan> ThePlan;
  std::vector<std::unique_ptr<Observer>> Observers;
  Notices *TheNotices = nullptr; // one of them

  std::shared_ptr<EventQueue> Events = std::make_shared<EventQueue>();
  std::unique_ptr<Session> TheSession;
  std::vector<PluginNumber> Numbers; // that it told
  size_t NumOnThreads = 0; // work given to our threads that hasn't come back
  Clock::time_point NextPoll = {}; // for what runs here by way of the plugin
  llvm::DenseMap<plan::AttemptId, plan::JobId> JobOf;
  llvm::DenseMap<plan::AttemptId, std::unique_ptr<BuiltJob>> Built;
  llvm::DenseMap<plan::AttemptId, JobResult> Results;
  /// Of attempts whose workers make files beside the object: where these go.
  llvm::DenseMap<plan::AttemptId, SideFiles> Sides;
  /// Of attempts that are compiled here: to be set when nobody needs them.
  llvm::DenseMap<plan::AttemptId, std::shared_ptr<std::atomic<bool>>> Stops;
  llvm::DenseMap<plan::AttemptId, plan::WorkerId> Workers;
  llvm::StringMap<plan::WorkerId> WorkerIds;
  std::vector<std::string> WorkerNames; // by id; 0 is empty

  HelperQueue HelperWork;
  /// A result on the check's thread; null: there is none. Until its check has
  /// ended, later events of the session wait.
  std::shared_ptr<CheckedResult> BeingChecked;
  std::deque<Event> Waiting;

  // Threads last, so that they end before what they use.
  std::unique_ptr<WorkerThreads> Helpers;   // prepare, verify, deliver
  std::unique_ptr<WorkerThreads> LocalPool; // compiles
  /// Checks objects. Helpers may be busy with files for a long time.
  std::unique_ptr<WorkerThreads> CheckThread;
};

} // namespace dtlto

#endif // DTLTO_RUN_LINKRUN_H
