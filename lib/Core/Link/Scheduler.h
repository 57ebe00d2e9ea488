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
// This machine takes jobs as well, from the cheap end of the order, while the
// plugin is full; and at the end, when nothing is left to give out, a job that
// takes too long is started a second time (SchedulerSharing.cpp). So up to
// three attempts of a job may run: the first and a twin at the plugin's, and
// one here. The first good result counts, and the others are called off.
//
// All state belongs to the thread that calls run(). Work happens on others,
// which come back as events (Events.h).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LINK_SCHEDULER_H
#define DTLTO_LINK_SCHEDULER_H

#include "Bundle/JobOutputs.h"
#include "Host/Session.h"
#include "Host/SessionEvents.h"
#include "Job/CostHistory.h"
#include "Job/CostMatch.h"
#include "Job/JobSaver.h"
#include "Link/Linker.h"
#include "Plan/Rate.h"
#include "Report/Progress.h"
#include "Report/Timeline.h"
#include "LLVM/Cache.h"
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
  /// A job that the plugin has, or is just being offered.
  struct Attempt {
    uint64_t Id = 0; // 0: none
    uint32_t State = DTLTO_STATE_QUEUED;
    bool IsAccepted = false;          // of a twin; see Job::At
    Clock::time_point Accepted = {};  // when; before that, when it was offered
    Clock::time_point Running = {};   // when it was reported; the epoch: never
    Clock::time_point Receiving = {}; // likewise
    Clock::time_point LastSign = {};  // the last that was heard of it
  };
  struct Job {
    explicit Job(Task T) : T(std::move(T)) {}
    Task T;
    double Seconds = 0; // that it is expected to take, before any Rate
    std::string CostKey;
    size_t Index = 0; // in Jobs
    Stage At = Stage::Waiting;
    Attempt First;
    Attempt Twin;
    bool RunsHere = false;  // a local thread has it
    bool ForHere = false;   // is prepared to be compiled here
    bool FellBack = false;  // is compiled here, since the plugin failed
    bool IsKept = false;    // likewise, since another machine can't be told
    bool IsLeft = true;     // counts in SecondsLeft
    bool IsSlow = false;    // counts in NumSlowOn
    bool IsUnheard = false; // was begun here as the plugin had begun none
    bool IsShown = false;   // as started, on the progress line
    std::string WhyAgain;   // it was given to the plugin a second time
    unsigned Attempts = 0;
    uint64_t Bytes = 0; // of memory, while the plugin has it
    std::string Worker; // that the first attempt runs on, if it is known
    llvm::AddStreamFn Out;
    std::unique_ptr<BuiltJob> Built;
    // Of a remote compiler that said no, before we try; empty: none did.
    std::string RemoteFailure;
    std::string RemoteErrors; // its own words
    Buffer ToVerify;          // the plugin's object, while ours is made
    // Of a job that makes files beside its object, and comes back packed.
    SideFiles Side;     // where they go; empty: there are none
    Buffer Packed;      // the worker's, until they are written
    JobOutputs Outputs; // in Packed
  };

  // Stages.
  void order();
  void prepareMore();
  void startPreparing(Job &J, bool ForHere);
  void prepare(Job &J, bool ForPlugin);
  std::string objectName(const Task &T, llvm::StringRef Key) const;
  void complete(Job &J);
  void keep(Job &J, const std::string &Why);
  void offerMore();
  void runLocallyMore();
  void startLocal(Job &J, bool AsTwin = false);
  llvm::Error unpack(Job &J, Buffer &Object);
  void deliver(Job &J, Buffer Object, bool MayBeEmpty);
  void endJob(Job &J);

  // Events (SchedulerEvents.cpp).
  void handle(Event &E);
  void onPrepared(Job &J, Event &E);
  void onOpened(Event &E);
  void onLoad(const dtlto_load &Load);
  void onSubmitted(Job &J, Event &E);
  void onTwinSubmitted(Job &J, Event &E);
  void onState(Job &J, Attempt &A, Event &E);
  void onDone(Job &J, Event &E);
  void onLocalDone(Job &J, Event &E);

  // Sharing (SchedulerSharing.cpp).
  void shareMore();
  bool steal(bool Asked);
  bool startUnheard();
  double secondsSilent() const;
  void lookAgain(const Job &J);
  void doubleStragglers();
  unsigned localShare() const;
  bool paysHere(const Job &J) const;
  double expected(const Job &J) const;
  double remoteRate() const;
  double localRate() const;
  void callOff(Attempt &A, bool IsAccepted);
  bool startTwin(Job &J);
  void withdraw(Job &J);
  bool loseAttempt(Job &J, bool OfTwin);
  void notLeft(Job &J);
  void learn(Job &J, const Attempt &A, const Event &E);
  void learnHere(Job &J, double Seconds);
  bool isGivenOut() const {
    return NextWaiting == EndWaiting && Ready.empty() && NumPreparing == 0 &&
           NumOffered == 0;
  }

  // Verification (SchedulerVerify.cpp).
  llvm::Error verify(const Job &J, llvm::StringRef Here);
  std::string verifyFolder() const;
  std::string verifyStem(const Job &J) const;
  std::string keepJob(const Job &J, const std::string &Stem);

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
  void warnLimited(const llvm::Twine &Text, llvm::StringRef Why);

  void closeSession();
  void checkThreads();
  void finishRecord();
  void showStart(Job &J, llvm::StringRef Worker);
  void showEnd(const Job &J);
  void summarize();

  Job &job(size_t Index) { return *Jobs[Index]; }
  void newId(Job &J);
  uint64_t takeId(const Job &J);
  void freeBytes(Job &J) {
    BytesOut -= J.Bytes;
    J.Bytes = 0;
  }
  /// What the plugin is told; falling with the order.
  static uint64_t cost(const Job &J) {
    return std::max<uint64_t>(1, static_cast<uint64_t>(J.Seconds * 1e6));
  }
  /// What the plugin's jobs import from. Before 1.2, a plugin could rely on one
  /// path being one content in all jobs.
  SlimImports *slimForPlugin() const {
    return L.TheLinker.Plugin->abi_minor >= 2 ? Slim.get() : nullptr;
  }
  llvm::StringRef pluginName() const { return L.TheLinker.Plugin->name; }
  /// Whether anybody is going to look at the record.
  bool wantsRecord() const {
    return !L.opts().Report.empty() || L.Conf.TimeTraceEnabled;
  }
  bool mayFallBack() const {
    return L.opts().Fallback == FallbackKind::Local && WhyNoFallback.empty();
  }
  std::chrono::seconds timeout() const {
    return std::chrono::seconds(L.opts().TimeoutSeconds);
  }

  // How many jobs may be prepared ahead of the plugin: enough to keep it busy,
  // and a limit to the memory of the linker. In between, it follows the
  // plugin's slots.
  static constexpr size_t MinPreparedLimit = 32;
  static constexpr size_t MaxPreparedLimit = 4096;
  // The plugin's load is asked for at most so often.
  static constexpr std::chrono::milliseconds LoadInterval{250};

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
  size_t NextWaiting = 0, EndWaiting = 0; // the jobs in between are Waiting
  std::set<size_t> Ready;
  std::deque<size_t> LocalQueue;
  size_t NumPreparing = 0, NumOffered = 0, NumAccepted = 0;
  size_t NumPreparingHere = 0; // a part of NumPreparing
  size_t NumLocalRunning = 0, NumEnded = 0;
  size_t NumOnThreads = 0; // work given to our threads that has not come back
  uint64_t LastId = 0;

  size_t MaxPrepared;    // jobs prepared ahead of the plugin
  uint64_t MaxBytes;     // of memory that jobs on their way may take
  uint64_t BytesOut = 0; // taken by what is offered and accepted
  dtlto_load LastLoad = unknownLoad();
  bool LoadKnown = false; // load() has answered
  bool KeepOrder = false; // jobs run in LLVM's order
  bool PluginOpen = false;
  bool PluginBusy = false;
  bool PluginBegan = false;   // a job of it has run, or is on its way
  bool PluginGone = false;    // no use any more
  bool Aborting = false;      // the link has failed: start nothing more
  Clock::time_point LastSign; // of life, of the plugin
  Clock::time_point LastOffer;
  Clock::time_point LastLoadQuery;
  Clock::time_point NextCheck; // of deadlines

  std::unique_ptr<CostHistory> Costs;
  CostMatch Match;
  Rate RemoteRate, LocalRate;          // of the estimates, in actual seconds
  Rate Waits;                          // seconds from acceptance to running
  double SecondsInAll = 0;             // of all jobs, estimated
  double SecondsLeft = 0;              // of those that nobody here has begun
  double SecondsTwice = 0;             // of second starts
  bool ReportsStates = false;          // the plugin tells when a job runs
  Clock::time_point NextLook;          // for stragglers, and what pays here
  Clock::time_point LastResult;        // of the plugin, or when it was opened
  llvm::StringMap<unsigned> NumSlowOn; // slow jobs, by worker
  bool HereIsIdle = false; // there are jobs, but they don't pay here yet

  size_t NumFallback = 0, NumKept = 0; // of those that were done
  size_t NumVerified = 0;
  llvm::StringMap<unsigned> NumOfKind; // warnings, by what is alike in them
  size_t NumWarnings = 0, NumUntold = 0;
  size_t NumHere = 0, NumTwice = 0, NumTwiceWon = 0;
  size_t NumRetried = 0;
  std::string LastRetry; // which, and why
  std::set<std::string> KeptReasons;
  std::string WhyNoFallback;       // beside the user's option; empty: nothing
  Timeline Record;                 // of all this, where somebody wants it
  std::unique_ptr<Progress> Shown; // null: not at all

  // Threads last, so that they end before what they use.
  std::unique_ptr<llvm::DefaultThreadPool> Helpers; // prepare and deliver
  std::unique_ptr<llvm::DefaultThreadPool> LocalPool;
};

} // namespace dtlto

#endif // DTLTO_LINK_SCHEDULER_H
