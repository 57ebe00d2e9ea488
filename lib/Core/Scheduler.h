//===- Scheduler.h - Which job runs where, and when -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Brings every job of a link to its end. A job goes through these stages:
//
//   Waiting -> Preparing -> Ready -> Offered -> Accepted -> Delivering -> Ended
//                 |           |________|  BUSY      |            ^
//                 |                                 | (failed)   |
//                 +--> LocalQueue --> LocalRunning -+------------+
//
// Jobs are taken in falling order of cost. Preparing looks into LLVM's cache
// and builds what the plugin needs; only a few jobs are prepared ahead of the
// plugin, so that memory follows what the plugin has room for. A job that the
// plugin can't do is tried once more if the infrastructure was to blame, then
// compiled here, or fails the link, as the user chose.
//
// All state belongs to the thread that calls run(). Work happens on others,
// which come back as events (Events.h).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_SCHEDULER_H
#define DTLTO_CORE_SCHEDULER_H

#include "Events.h"
#include "JobSaver.h"
#include "Session.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/ThreadPool.h"
#include <set>

namespace dtlto {

class Scheduler {
public:
  Scheduler(const Link &L, std::vector<Task> Tasks);
  ~Scheduler();

  /// Runs all jobs. Returns when no thread works for the link any more, and
  /// fails with all errors that should fail the link. Call once.
  llvm::Error run();

private:
  enum class Stage {
    Waiting,
    Preparing,
    Ready,
    Offered,
    Accepted,
    LocalQueue,
    LocalRunning,
    Delivering,
    Ended
  };
  struct Job {
    explicit Job(Task T) : T(std::move(T)) {}
    Task T;
    uint64_t Cost = 0;
    uint64_t Id = 0; // of the last offer to the plugin
    Stage At = Stage::Waiting;
    unsigned Attempts = 0;
    uint32_t State = DTLTO_STATE_QUEUED;
    Clock::time_point LastSign; // the last that was heard of it
    llvm::AddStreamFn Out;
    std::unique_ptr<BuiltJob> Built;
    std::string RemoteErrors; // what a remote compiler said before we tried
    Buffer ToVerify;          // the plugin's object, while ours is made
  };

  // Stages.
  void prepareMore();
  void prepare(Job &J, bool ForPlugin);
  void complete(Job &J);
  void keep(Job &J, const std::string &Why);
  void offerMore();
  void runLocallyMore();
  void startLocal(Job &J);
  void deliver(Job &J, Buffer Object, bool MayBeEmpty);
  void endJob(Job &J);

  // Events.
  void handle(Event &E);
  void onPrepared(Job &J, Event &E);
  void onOpened(Event &E);
  void onLoad(const dtlto_load &Load);
  void onSubmitted(Job &J, Event &E);
  void onDone(Job &J, Event &E);
  void onLocalDone(Job &J, Event &E);

  // Trouble (SchedulerTrouble.cpp).
  void retryOrFallBack(Job &J, const llvm::Twine &Why);
  void fallBack(Job &J, const llvm::Twine &Why, bool Warn = true);
  void giveUpPlugin(const llvm::Twine &Why);
  void addError(const llvm::Twine &Text); // as LLVM's own, without a prefix
  void fail(const llvm::Twine &Why);
  void failWithoutFallback(const llvm::Twine &Why);
  void checkDeadlines();
  Clock::duration deadlineStep() const;
  Clock::time_point nextDeadline() const;
  void warnLimited(const llvm::Twine &Text);

  void closeSession();
  void showProgress(const Job &J);
  void summarize();

  Job &job(size_t Index) { return *Jobs[Index]; }
  size_t newId(Job &J, size_t Index);
  llvm::StringRef pluginName() const { return L.TheLinker.Plugin->name; }
  bool mayFallBack() const {
    return L.opts().Fallback == FallbackKind::Local && WhyNoFallback.empty();
  }
  std::chrono::seconds timeout() const {
    return std::chrono::seconds(L.opts().TimeoutSeconds);
  }

  const Link &L;
  std::unique_ptr<SlimImports> Slim; // null: modules are imported from whole
  JobBuilder Builder;
  std::unique_ptr<JobSaver> Saver; // null: jobs aren't kept
  CfiFunctions Cfi;
  std::shared_ptr<EventQueue> Events = std::make_shared<EventQueue>();
  std::unique_ptr<Session> TheSession;
  llvm::Error Err = llvm::Error::success();

  std::vector<std::unique_ptr<Job>> Jobs; // in the order of submission
  llvm::DenseMap<uint64_t, size_t> JobOfId;
  size_t NextWaiting = 0;
  std::set<size_t> Ready;
  std::deque<size_t> LocalQueue;
  size_t NumPreparing = 0, NumOffered = 0, NumAccepted = 0;
  size_t NumLocalRunning = 0, NumEnded = 0;
  uint64_t LastId = 0;

  size_t MaxPrepared; // jobs prepared ahead of the plugin
  dtlto_load LastLoad = {};
  bool KeepOrder = false; // jobs run in LLVM's order
  bool PluginOpen = false;
  bool PluginBusy = false;
  bool PluginGone = false;    // no use any more
  bool Aborting = false;      // the link has failed: start nothing more
  Clock::time_point LastSign; // of life, of the plugin
  Clock::time_point LastOffer;
  Clock::time_point LastLoadQuery;
  Clock::time_point NextCheck; // of deadlines

  size_t NumFallback = 0, NumKept = 0, NumWarnings = 0, NumVerified = 0;
  std::set<std::string> KeptReasons;
  std::string WhyNoFallback; // beside the user's option; empty: nothing
  bool ProgressOn = false, ProgressShown = false;

  // Threads last, so that they end before what they use.
  std::unique_ptr<llvm::DefaultThreadPool> Helpers; // prepare and deliver
  std::unique_ptr<llvm::DefaultThreadPool> LocalPool;
};

} // namespace dtlto

#endif // DTLTO_CORE_SCHEDULER_H
