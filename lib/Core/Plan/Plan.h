//===- Plan.h - Which job runs where, and when ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All decisions about the jobs of a link, and nothing else: events and the time
// go in, actions come out. There is no thread, lock, clock, file or message in
// here, and nothing of LLVM, so that a test can put a link through any history,
// and a log of events repeats the decisions of a link that went wrong.
//
// A job is brought to its end by attempts. Each is at the plugin's or here:
//
//   at the plugin's:  Preparing -> Ready -> Offered -> Accepted -> (a result)
//                                    |________| BUSY
//   here:             [Preparing ->] Queued -> Compiling -> (an object)
//
// Jobs are taken in falling order of cost; a job's number is its rank.
// Preparing looks into LLVM's cache and builds what the plugin needs; only a
// few jobs are prepared ahead of the plugin, so that memory follows what it has
// room for. The first good result wins, and the other attempts are cancelled.
// Then the object may be verified, and is delivered: at once, or if any are
// verified, when all of them were and none differs. An attempt that fails
// while no other is under way is tried once more if the infrastructure was to
// blame, then compiled here, or fails the link, as the user chose.
//
// A compile error is one worker's word. It is the module's once the compiler
// here, or a second attempt at the plugin's, says so too. An object that was
// refused may be as odd as its program: then it is made a second time with the
// same bytes. Once there is an object, the plugin is told which of its workers
// were wrong.
//
// Plan.cpp has what events do to jobs, Steps.cpp what is done next with each,
// Sharing.cpp which jobs run here and which get a duplicate attempt,
// Attempts.cpp the attempts and sums over them, Check.cpp what must hold after
// each step.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_PLAN_H
#define DTLTO_CORE_PLAN_PLAN_H

#include "Plan/Options.h"
#include "Plan/Rate.h"
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dtlto::plan {

using JobId = uint32_t;     // rank: 0 is started first
using AttemptId = uint64_t; // unique in a link, from 1 on
using WorkerId = uint32_t;  // the driver interns names; 0: unknown

constexpr Time Never = Time::max();
constexpr uint32_t Unknown = UINT32_MAX; // of a number in Load

struct JobInfo {
  double Estimate = 0; // seconds, good for comparisons only
  /// Local code generation writes files beside the object, so it must not run
  /// beside another attempt.
  bool HasSideFiles = false;
  /// Of memory, that local code generation is expected to take.
  uint64_t BytesHere = 0;
};

enum class AttemptKind : uint8_t {
  First,
  Retry,     // after an earlier one has failed
  Duplicate, // beside one that takes long
  Here,      // in this process, not by way of the plugin
  Verify     // likewise, only to compare
};

enum class AttemptState : uint8_t {
  Preparing, // a helper thread looks into the cache, or builds the job
  Ready,     // for the plugin
  Offered,   // submit() has been asked for
  Accepted,  // the plugin has it
  Queued,    // for a thread that compiles here
  Compiling  // on such a thread
};
constexpr size_t NumAttemptStates = 6;

/// Where the plugin says that an accepted job is.
enum class PluginState : uint8_t { Queued, Sending, Running, Receiving };

/// Why something came to pass: of events, what went wrong; of actions, what led
/// to the decision.
enum class Cause : uint8_t {
  None,
  // An attempt has failed.
  Compiler,       // the remote compiler said no
  CompilerHere,   // the one in this process did
  Caller,         // the plugin doesn't accept the job
  Refused,        // submit() returned an error
  Cancelled,      // by the plugin, without having been asked to
  Infrastructure, // the plugin or its workers
  BadResult,      // what came back is no object, or one of another kind
  Timeout,        // no sign of life
  // An attempt is not needed any more.
  Overtaken, // by another one
  // A job is compiled here.
  NotExpressible, // on a remote compiler's command line
  PluginFull,     // and it pays
  TakenBack,      // it only waited at the plugin's
  PluginSilent,   // the plugin had begun no job, or its first object was late
  Straggler,      // it takes long at the plugin's
  Overdue,        // so long that it matters no more what is done twice
  PluginGone,     // there is no plugin any more
  // The plugin is dropped.
  OpenFailed,
  PluginFailed, // it broke the ABI, or gave up
  CallHangs,    // it doesn't come back from a call
  AlwaysBusy,
  // A job ends.
  Done,
  Cached,
  PrepareFailed,
  VerifyFailed,
  DeliverFailed,
  LinkFailed // it wasn't begun, or not brought to an end
};

/// The plugin's load, as far as decisions depend on it.
struct Load {
  uint32_t Slots = Unknown, Free = Unknown, Workers = Unknown, Local = 0;
};

/// What the driver saw. Only the fields that are named matter.
struct Event {
  enum Kind : uint8_t {
    Tick,         // CallSince
    OpenWanted,   // a job that is being prepared waits for the plugin
    Opened,       // WantsBatches: it is told when it has all jobs
    OpenFailed,   // Flag: the user's argument is wrong, so the link fails
    PluginFailed, // it broke the ABI, or gave up
    RoomChanged,  // it may have room again
    LoadKnown,    // TheLoad
    TokenTaken,   // that TakeToken has asked for
    // Of an attempt.
    Prepared,       // Bytes: of memory, while the plugin has it
    CacheHit,       // LLVM has the object. Flag: no, the driver has: another
                    // machine's, that is to be compared
    PrepareFailed,  // in a way that fails the link
    NotExpressible, // the job can't be compiled elsewhere
    Accepted,
    Busy,         // Flag: the plugin has told of room since
    StateChanged, // State; Worker, if it is known. RanHere: it runs here, or if
                  // it is queued, it waits for memory or a token
    Alive,        // the plugin compiles it here
    Succeeded,    // with a good object. Worker; Seconds, if it ran here; Flag:
                  // the object is this process's own. Bytes: of memory that it
                  // took, for observers; 0: not known
    Failed,       // Why; Worker
    CompiledHere, // Seconds
    CompileHereFailed,
    // Of a job.
    Verified,
    VerifyFailed,
    Delivered,
    DeliverFailed,
    Confirmed // Attempt: its object, which was refused, was made again
  };
  Kind What = Tick;
  JobId Job = 0;         // of Verified and what follows
  AttemptId Attempt = 0; // of what stands before, and of Confirmed
  WorkerId Worker = 0;
  PluginState State = PluginState::Queued;
  Cause Why = Cause::None;
  bool Flag = false;
  bool RanHere = false; // Succeeded: through local code generation
  bool WantsBatches = false;
  uint64_t Bytes = 0;
  double Seconds = 0;
  Time CallSince = Never; // when the plugin was called that hasn't come back
  Load TheLoad = {};
};
constexpr size_t NumEventKinds = Event::Confirmed + 1;

/// What the driver is to do. Those marked * are decisions that only observers
/// need.
struct Action {
  enum Kind : uint8_t {
    Open,    // the plugin
    Prepare, // the attempt. ForPlugin; IsAgain: the cache was asked before;
             // IsSampled: another machine's object in there is to be compared
    Offer,   // the attempt to the plugin. Insist: though it was busy
    CompleteBatch, // tell the plugin: it has all jobs that there are for it now
    Cancel,    // the attempt, wherever it is; no more events of it matter. Why
    StaysHere, // * the attempt is to be compiled here. Why
    CompileHere, // the attempt
    Won,         // * the attempt has made the job's object
    Refute,      // tell the plugin: its result of the attempt was wrong. Why
    Verify,      // compare the objects of Job's winner and of this attempt
    Deliver,     // the object of the attempt. IsProven: this process has made
                 // it, or an equal one
    QueryLoad,
    TakeToken,   // from the jobserver, as soon as it has one
    ReturnToken, // one of those that were taken
    DropPlugin,  // no more calls but cancel() and close(). Why
    EndJob,      // Why; for the last time that Job is named
    FailLink,    // Why. Attempt, if there is one: whose failure is to blame
    Close        // the plugin: all jobs have ended
  };
  Kind What = Open;
  JobId Job = 0;
  AttemptId Attempt = 0;
  AttemptKind AKind = AttemptKind::First;
  Cause Why = Cause::None;
  WorkerId Avoid = 0; // Prepare, StaysHere: has the job already, and takes
                      // long; or failed to compile it
  bool ForPlugin = false, IsAgain = false, Insist = false;
  bool IsSampled = false, IsProven = false;

  bool operator==(const Action &O) const {
    return What == O.What && Job == O.Job && Attempt == O.Attempt &&
           AKind == O.AKind && Why == O.Why && Avoid == O.Avoid &&
           ForPlugin == O.ForPlugin && IsAgain == O.IsAgain &&
           Insist == O.Insist && IsSampled == O.IsSampled &&
           IsProven == O.IsProven;
  }
};
constexpr size_t NumActionKinds = Action::Close + 1;

/// The plan of one link. Belongs to one thread.
class Plan {
public:
  /// \p Jobs are in the order in which they are to be started.
  Plan(std::vector<JobInfo> Jobs, const Options &O);

  /// Begins: what has to be done first is added to \p Out. Call once.
  void start(Time Now, std::vector<Action> &Out);

  /// One step: what has to be done after \p E is added to \p Out. The same
  /// history gives the same actions. Time never goes back. Events of attempts
  /// that have ended, or never were, are ignored.
  void handle(Time Now, const Event &E, std::vector<Action> &Out);

  /// When a Tick is due, if no event comes before; Never: only events matter.
  /// Later than the last step.
  Time wakeUp() const;

  /// Whether nothing follows at once when an offer is accepted, or when the
  /// plugin tells that a job has begun here. Not where it has other machines:
  /// their jobs take longer than a wake-up costs.
  bool newsCanWait() const;
  /// The same of so many results of jobs that ran here by way of the plugin: it
  /// has others for its slots, and the next are ready.
  size_t numResultsThatCanWait() const;

  /// Every job has ended, and no thread of the driver's has anything to do.
  bool isDone() const;

  /// Whether events of this attempt still matter.
  bool isLive(AttemptId Id) const;
  /// The attempts that the plugin has accepted, the highest rank first.
  std::vector<AttemptId> accepted() const;
  /// Whether the plugin could begin another job at once; false if nobody knows,
  /// and true until it was asked.
  bool hasIdleSlots() const;
  /// The estimate from which on the link may have to wait for a job that begins
  /// late: half of what each slot of the plugin, and each core that helps it,
  /// still has to do.
  double longFrom() const;
  /// How many attempts and jobs wait for a thread of the driver's.
  size_t numOnThreads() const {
    return in(AttemptState::Preparing).size() +
           in(AttemptState::Compiling).size() + NumBusyThreads;
  }
  bool hasFailed() const { return Failing; }

  /// Empty, or the rule that doesn't hold. Every job and attempt is looked at.
  std::string check() const;

private:
  struct Attempt {
    AttemptId Id = 0;
    JobId Job = 0;
    AttemptKind Kind = AttemptKind::First;
    AttemptState State = AttemptState::Preparing;
    /// The driver's thread can't be stopped; what comes of it is not needed.
    bool IsOrphan = false;
    Cause Why = Cause::None; // of one that runs here
    WorkerId Worker = 0;     // that runs it, if it is known
    uint64_t Bytes = 0;      // of memory, once it is prepared
    PluginState Reported = PluginState::Queued;
    bool RunsHere = false; // the plugin's, but on this machine
    bool IsSlow = false;   // counts in NumSlowOn
    bool IsTwice = false;  // there was another one when it was begun, and is
    Time Since = {};       // it was offered, then accepted
    Time LastSign = {};    // of life
    std::optional<Time> Running, Receiving;
  };
  enum class Stage : uint8_t {
    Waiting,    // for its turn
    UnderWay,   // has attempts
    Verifying,  // the objects are being compared
    Held,       // until all that are to be compared are
    Delivering, // the object goes to LLVM
    Ended
  };
  struct Job {
    JobInfo Info;
    Stage At = Stage::Waiting;
    std::vector<Attempt> Attempts;
    AttemptId Decisive = 0; // how that attempt ended is how the job ends
    unsigned Tries = 0, Duplicates = 0; // begun at the plugin's
    bool WasPrepared = false;           // the cache was asked
    bool IsCached = false;              // it had the object
    bool IsLeft = true;                 // counts in SecondsLeft
    bool IsSampled = false;             // is compared, wherever it was made
    bool IsProven = false;              // as in Action
    /// Attempts that failed as the job may (Compiler), or whose object was
    /// refused and may be right (BadResult).
    std::vector<std::pair<AttemptId, Cause>> Doubted;
  };
  using Key = std::pair<JobId, AttemptId>;
  using KeySet = std::set<Key>;

  // Attempts.
  Attempt *find(AttemptId Id);
  const Attempt *find(AttemptId Id) const {
    return const_cast<Plan *>(this)->find(Id);
  }
  Attempt &add(JobId J, AttemptKind Kind, AttemptState State, Cause Why);
  void move(Attempt &A, AttemptState To);
  void remove(AttemptId Id);
  void count(const Attempt &A, bool IsIn);
  void cancel(AttemptId Id, Cause Why);
  void cancelAll(JobId J, Cause Why);
  KeySet &in(AttemptState S) { return InState[static_cast<size_t>(S)]; }
  const KeySet &in(AttemptState S) const {
    return InState[static_cast<size_t>(S)];
  }
  static bool isAtPlugin(const Attempt &A) {
    return A.Kind != AttemptKind::Here && A.Kind != AttemptKind::Verify;
  }
  static bool isOnThread(const Attempt &A) {
    return A.State == AttemptState::Preparing ||
           A.State == AttemptState::Compiling;
  }
  /// Attempts of \p J that may still make its object.
  unsigned numLive(const Job &J) const;
  bool hasHere(const Job &J) const;

  // Events (Plan.cpp).
  void react(const Event &E);
  void forgive(Time T);
  void decide();
  void onPrepared(Attempt &A, const Event &E);
  void onOpened(const Event &E);
  void onBusy(Attempt &A, const Event &E);
  void onState(Attempt &A, const Event &E);
  void onSucceeded(Attempt &A, const Event &E);
  void onFailed(Attempt &A, Cause Why);
  void onCompiledHere(Attempt &A, const Event &E);
  void onCompileHereFailed(Attempt &A);
  void onLoad(const Load &L);
  void sawWork() { LastSign = LastWork = Now; }

  // Steps of a job (Steps.cpp).
  void prepareMore();
  void prepare(JobId J, bool ForPlugin, Cause Why);
  void prepareAgain(JobId J, AttemptKind Kind, WorkerId Avoid);
  void setKind(Attempt &A, AttemptKind Kind, bool IsTwice);
  void offerMore();
  void compileMore();
  bool hasRoomHere(const Job &J, size_t NumBefore = 0,
                   uint64_t BytesBefore = 0);
  void returnTokens();
  void compile(Attempt &A);
  void compileHere(JobId J, Cause Why, WorkerId Slow = 0);
  void fallBack(JobId J, AttemptId Failed, Cause Why);
  void win(Attempt &A);
  void refute(JobId J, AttemptId Wrong, Cause Why);
  void sample();
  void compare(Attempt &A);
  bool compareAHeldOne();
  void hold(JobId J);
  void deliver(JobId J);
  void deliverHeld();
  void endJob(JobId J, Cause Why);
  void failLink(JobId J, AttemptId Failed, Cause Why);
  bool isBatchComplete() const;
  void dropPlugin(Cause Why);
  void checkDeadlines();
  bool keepsOrder(const Attempt &A) const;
  bool keepsOrderHere(const Attempt &A) const;
  bool lacksMemory(const Attempt &A) const;
  static bool isRunningHere(const Attempt &A) {
    return A.State == AttemptState::Compiling ||
           (A.RunsHere && A.Reported != PluginState::Queued &&
            A.State == AttemptState::Accepted);
  }

  // What runs here, and what gets a duplicate attempt (Sharing.cpp).
  void shareMore();
  std::optional<Key> readyForHere(bool Longest) const;
  bool takeBack();
  bool hasFreeSlots() const;
  bool onlyWaits(const Attempt &A, bool HasFreeSlots) const;
  void takeFromPlugin(Key K);
  double laterSlots() const;
  std::optional<Key> lateThere() const;
  size_t slots() const;
  bool startSilent();
  void startOverdue(JobId J);
  bool mayStillCome(const Job &J) const;
  /// Whether \p J must not be compiled here while the plugin has it.
  bool mustBeAlone(const Job &J) const {
    return J.Info.HasSideFiles || O.DuplicatePercent == 0;
  }
  void duplicateMore();
  bool isSlow(Attempt &A);
  unsigned localShare() const;
  bool waitsForMemory() const;
  bool mayBeginHere(const Job &J);
  bool paysHere(const Job &J) const;
  void recheckLater(const Job &J);
  double slowAfter(const Job &J) const;
  void expectResult(JobId J);
  Time firstDue() const;
  bool isSilent() const {
    return !PluginEnded && (!DueBegan || Now > firstDue());
  }
  Time silence() const;
  bool opensSlowly() const;
  void checkLate();
  double remoteRate() const;
  double localRate() const;
  double expected(const Job &J) const;
  bool isGivenOut() const {
    return NextWaiting == EndWaiting && NumUnoffered == 0;
  }
  void markTaken(Job &J);
  void learn(const Attempt &A, const Event &E);
  /// Whether so much more may be done twice. One job at a time always may: of a
  /// few jobs, each is a large part, and of several that are stuck, each must
  /// have its turn.
  bool mayDoTwice(double Estimate) const {
    return NumTwice == 0 || SecondsTwice + SecondsInVain + Estimate <=
                                SecondsInAll * O.DuplicatePercent / 100;
  }

  bool isFull() const;
  /// Whether all that the plugin has is run here.
  bool isThisMachine() const {
    return TheLoad.Local != 0 && TheLoad.Slots != 0 &&
           TheLoad.Local >= TheLoad.Slots;
  }
  Action &act(Action::Kind What, JobId J = 0, AttemptId A = 0,
              Cause Why = Cause::None);
  bool mayFallBack() const { return O.Fallback && !FallbackForbidden; }
  size_t numAtPlugin() const {
    return in(AttemptState::Offered).size() + in(AttemptState::Accepted).size();
  }

  const Options O;
  Time Now = {};
  std::vector<Action> *Out = nullptr; // while a step is being made

  std::vector<Job> Jobs;
  std::unordered_map<AttemptId, JobId> JobOf; // of those in Attempts
  std::array<KeySet, NumAttemptStates> InState;
  AttemptId LastId = 0;
  JobId NextWaiting = 0, EndWaiting = 0; // the jobs in between are Waiting
  size_t NumEnded = 0;
  size_t NumBusyThreads = 0; // verifying or delivering
  size_t NumHeld = 0;
  bool HasCompared = false, HasDifference = false; // any object
  size_t NumUnoffered = 0; // attempts before Accepted, but for duplicates
  size_t NumPreparingHere = 0;
  uint64_t BytesPreparingHere = 0; // that these will take
  size_t NumPluginHere = 0;        // the plugin's that run on this machine
  uint64_t BytesHere = 0;          // of memory, of all that runs here
  size_t Tokens = 0;               // that were taken
  bool TokenAsked = false;         // and hasn't come
  bool LacksToken = false;         // in this step: a job could use one more
  size_t NumTwice = 0;             // attempts that are IsTwice
  uint64_t BytesInFlight = 0;

  unsigned PreparedLimit;
  // How many offers may be on their way: so many were accepted since one was
  // BUSY. A plugin with one idle slot isn't offered MaxOffers jobs for it.
  unsigned OffersAhead;
  Load TheLoad;
  bool LoadIsKnown = false;
  bool IsOpen = false, OpenAsked = false;
  bool HasOffered = false; // it was offered a job: from then on, it has to work
  bool PluginBusy = false;
  // It said BUSY, and that there is room since, so often without taking a job.
  unsigned BusyInSpite = 0;
  // With so many jobs it said BUSY, then. While that is news, it isn't asked
  // again whenever one of them is replaced by another.
  size_t FullAt = SIZE_MAX;
  Time FullSince = {};
  bool EndedSinceRoom = false; // a job there, so that is the room it tells of
  bool PluginEnded = false;    // it has returned an object
  bool WantsBatches = false;
  bool BatchIsOpen = false; // it has jobs since CompleteBatch
  bool PluginGone = false;
  bool FallbackForbidden = false; // open() refused an argument
  bool OpenIsWanted = false;
  bool Failing = false; // the link has failed: nothing more is started
  bool CloseAsked = false;
  Time LastSign = {}; // of life, of the plugin
  Time LastWork = {}; // a job was accepted, has begun, runs or has ended
  // Of the plugin, or when it was first offered a job or, before, opened.
  Time LastResult = {};
  // Of the jobs that the plugin has begun, the one that should end first: when
  // it was begun, and which.
  std::optional<Time> DueBegan;
  JobId DueJob = 0;
  Time FirstOffer = {}, LastOffer = {}, LastLoadQuery = {};
  Time NextCheck = {}; // of deadlines
  Time NextLate = {};  // whether the link is
  Time NextLook = {};  // for stragglers, and what pays here
  Time NextTake = {};  // for jobs to take from the plugin: NextLook if
                       // there was none
  Time CallSince = Never;
  // Of the time in which this process was stopped: when it began last, and how
  // much of it the call has seen that is under way.
  Time StoppedFrom{0}, StoppedInCall{0};
  bool IsLate = false;     // and remains so
  bool HereIsIdle = false; // there are jobs, but they don't pay here yet

  Rate RemoteRate, LocalRate; // of the estimates, in actual seconds
  Rate Waits;                 // seconds from acceptance to running
  bool ReportsStates = false; // the plugin tells when a job runs
  double SecondsInAll = 0;    // of all jobs, estimated
  double SecondsLeft = 0;     // of those that nobody here has begun
  double SecondsTwice = 0;    // of attempts that are IsTwice
  double SecondsInVain = 0;   // of those that were, and were not faster
  std::map<WorkerId, unsigned> NumSlowOn; // slow jobs
};

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_PLAN_H
