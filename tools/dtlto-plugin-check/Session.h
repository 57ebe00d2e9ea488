//===- Session.h - A link that watches the plugin ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One session with the plugin, as in the linker: all calls of the plugin are on
// one thread (Session.cpp, Jobs.cpp). The plugin calls the host's functions on
// any thread (Host.cpp). Each case checks all rules of the ABI that can be
// observed on the way (CaseReport.h).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_SESSION_H
#define DTLTO_PLUGINCHECK_SESSION_H

#include "Bundle/Bundle.h"
#include "CaseReport.h"
#include "Rules/Loan.h"
#include "Rules/Rules.h"
#include "Samples.h"
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace dtlto::check {

using namespace std::chrono_literals;
using dtlto::FixOfHost, dtlto::FixOfJob, dtlto::FixOfParams;
using dtlto::FixOfThreads, dtlto::isError, dtlto::isNameless, dtlto::Loan;
using dtlto::NamelessResult, dtlto::nullHint, dtlto::Rules;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// Large ids, so that a plugin that stores fewer than 64 bits fails.
constexpr uint64_t FirstJob = 10000000001;
inline std::string jobName(uint64_t Id) { return "job " + std::to_string(Id); }
inline std::string seconds(Milliseconds D) {
  return std::to_string((D.count() + 999) / 1000) + " s";
}

/// The fix for a session that ended because of one job.
constexpr char OneJobFailed[] = "log(DTLTO_LOG_ERROR) ends the session; report "
                                "what is wrong with one job in its job_done()";

/// The user's options.
struct Options {
  std::vector<std::string> PluginArgs;
  unsigned NumJobs = 48; // in the cases with many jobs
  Milliseconds CaseLimit = 120s;
  bool Verbose = false;

  /// Time limits: of a call that must not wait, of close(), as in the linker,
  /// and of silence while jobs run.
  Milliseconds callLimit() const { return std::min({10000ms, CaseLimit / 4}); }
  Milliseconds closeLimit() const { return std::min({10000ms, CaseLimit / 3}); }
  /// What the header calls soon.
  Milliseconds soon() const { return callLimit(); }
  Milliseconds jobLimit() const { return CaseLimit / 3; }
};

/// The inputs of a case.
struct CaseContext {
  const dtlto_plugin &Plugin;
  const std::string &Path; // the plugin's
  const Options &Opts;
  const std::vector<Sample> &Samples; // at least one; the largest first
  const std::vector<Sample> &Refused; // fail to compile; may be none
  const std::vector<Sample> &Long;    // take about a minute; may be none

  const Sample &largest() const { return Samples.front(); }
  const Sample &smallest() const { return Samples.back(); }
};

/// Bytes after each struct of a host with a later minor of the ABI.
constexpr uint32_t LaterBytes = 64;

/// A job that was offered to the plugin.
struct JobRecord {
  JobRecord(uint64_t Id, const Sample &S);

  const uint64_t Id;
  const Sample &S;
  Loan &Lent;
  const dtlto_job *Raw = nullptr; // lent
  BundleSpans Bundle;
  std::string BundleError; // why there is none

  bool Accepted = false, Refused = false, Cancelled = false;
  bool UsesBundle = false;           // the plugin asked for it
  const void *LocalObject = nullptr; // of the last run()
  // Set once it is Done:
  bool Done = false;
  int32_t Status = 0;
  std::string Object, Message;
  std::string Unframed; // Object without its frame, if it has one
  dtlto_buffer Buffer = {};

  /// Takes \p Bytes out of the bundle's frame. Returns the error, or nothing.
  std::string removeFrame(std::string &Bytes) const;
};

/// Memory of the host that the plugin owns.
struct HostBuffer {
  HostBuffer(const Rules &TheRules, std::string What)
      : TheRules(TheRules), What(std::move(What)) {}

  const Rules &TheRules;
  const std::string What;
  std::string Bytes;
  std::atomic<int> Releases{0};

  void release();
};

/// The host of one session: the functions that the plugin calls, and the data
/// that it was given.
class Host {
protected:
  template <typename F> auto locked(F Fn) {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Fn();
  }
  /// Calls \p Fn under the lock, and wakes all waiting threads.
  template <typename F> void change(F Fn) {
    locked(Fn);
    Changed.notify_all();
  }

public:
  /// \p More: bytes after each struct, as of a later minor of the ABI.
  Host(const dtlto_plugin &ThePlugin, const Options &Opts, uint32_t More);

  /// Returns a job that doesn't change any more, or null if there is none.
  const JobRecord *job(uint64_t Id) {
    return locked([&] { return find(Id); });
  }
  std::vector<uint64_t> accepted();
  uint64_t roomCount() {
    return locked([&] { return RoomCount; });
  }
  /// Whether the plugin gave up with DTLTO_LOG_ERROR.
  bool hasGivenUp() {
    return locked([&] { return HasGivenUp; });
  }
  const Rules &rules() const { return TheRules; }
  /// The errors logged in open(), once it has returned.
  const std::string &openErrors() const { return OpenErrors; }

  /// From now on, callbacks on other threads wait until load() was answered.
  void waitForLoadInCallbacks() { WaitsForLoad = true; }
  /// Whether job_done() on other threads blocks, and doesn't count yet.
  void holdResults(bool Hold) {
    change([&] { HoldsResults = Hold; });
  }

protected:
  bool isLinkThread() const { return std::this_thread::get_id() == LinkThread; }
  JobRecord *find(uint64_t Job); // with the mutex held

  const dtlto_plugin &ThePlugin;
  Rules TheRules{ThePlugin, fail};
  const Options &Opts;
  const uint32_t More;
  Loan &Lent;
  const dtlto_host *Raw;
  uint32_t Needs = 0; // DTLTO_JOB_...
  const std::thread::id LinkThread = std::this_thread::get_id();
  std::atomic<bool> WaitsForLoad{false};

  std::mutex Mutex; // guards the fields below
  std::condition_variable Changed;
  enum { Opening, Open, Closing, Closed } Phase = Opening;
  std::map<uint64_t, JobRecord> Jobs;
  uint64_t RoomCount = 0; // load_changed()s
  uint64_t NumSigns = 0;  // of life, of all jobs
  uint64_t NumEnded = 0;  // refused jobs included
  uint64_t LoadWanted = 0, LoadAnswered = 0;
  bool InSubmit = false, HasGivenUp = false;
  bool HoldsResults = false;      // job_done()s wait
  unsigned NumReleasing = 0;      // job_done()s inside release()
  uint64_t JobInRoom = 0;         // the job that this machine has room for
  bool HasNamelessResult = false; // without a worker
  std::string OpenErrors;
  std::vector<std::unique_ptr<HostBuffer>> Buffers;

private:
  // The ABI's functions.
  template <auto Fn> struct Callback;
  void log(uint32_t Level, const char *Message);
  void jobState(uint64_t Job, uint32_t State, const char *Worker);
  void jobDone(uint64_t Job, const dtlto_result *Result);
  void loadChanged();
  int32_t checkResult(uint64_t Job, dtlto_span Object, char *Why,
                      uint64_t WhySize);
  const void *extension(const char *Id);
  int32_t runLocally(uint64_t Job, dtlto_result *Result);
  int32_t bundle(uint64_t Job, dtlto_bundle_spans *Out);
  int32_t enterRoom(uint64_t Job);
  void leaveRoom(uint64_t Job, uint64_t Bytes);
  void sessionNumber(const char *Name, uint32_t Unit, uint64_t Value);
  void jobNumber(uint64_t Job, const char *Name, uint32_t Unit, uint64_t Value);

  bool isLate(const char *Name);
  void waitForLoadAnswer(const char *Name);
  // To be called with the mutex held.
  JobRecord *findRunning(uint64_t Job);
  void storeResult(JobRecord &R, const dtlto_result &Result);
  HostBuffer &addBuffer(const char *What, uint64_t Job);
};

/// Settings of the process that a plugin must not change, as names and values:
/// working folder, umask, environment, locale, standard descriptors and
/// signals.
using Settings = std::map<std::string, std::string>;

/// What the process uses.
struct Resources {
  size_t Threads, Descriptors;
  size_t Memory; // bytes from malloc(); 0: not known
};
Resources currentResources();

/// Calls the plugin and waits, all on the thread that made the object.
class Session : public Host {
public:
  Session(const dtlto_plugin &ThePlugin, const Options &Opts,
          uint32_t More = 0);
  /// Opens the session; a failure fails the case.
  Session(const CaseContext &B, uint64_t NumJobs, uint32_t More = 0);
  ~Session(); // close()

  /// Calls open(). Checks the result, except for being an error.
  int32_t open(uint64_t NumJobs, const std::string &LLVMVersion);
  int32_t open(uint64_t NumJobs);
  void close();

  /// Offers a job once. Returns submit()'s status.
  int32_t offer(const Sample &S, const char *Avoid = nullptr);
  /// Offers a job until it is accepted, as the linker does. Returns its id, or
  /// 0 if it was refused, or the plugin has given up instead.
  uint64_t submit(const Sample &S, const char *Avoid = nullptr);
  void cancel(uint64_t Id);
  dtlto_load load();
  /// Calls the plugin's function \p Name with \p Fn. It must return in time.
  template <typename F> auto call(const char *Name, F Fn) {
    struct Scope {
      Scope(Session &S, const char *Name) : S(S) { S.beginCall(Name); }
      ~Scope() { S.endCall(); }
      Session &S;
    } TheCall(*this, Name);
    return Fn();
  }

  /// Submits \p N jobs of \p Some, round robin, and waits. Fails unless each
  /// object equals the linker's own.
  void compile(const std::vector<Sample> &Some, unsigned N);
  void compile(const Sample &S, const char *Avoid = nullptr);
  /// Fails unless \p Id ended with the object of \p S.
  void expectObject(uint64_t Id, const Sample &S);

  /// Waits until all accepted jobs have ended; fails after a job's limit.
  void waitForAll();
  /// Waits until \p Id has ended, for at most \p Limit. Returns whether it has.
  bool waitFor(uint64_t Id, Milliseconds Limit);
  /// Waits until a job reports a state or ends.
  void waitForSign();
  /// Waits for load_changed() after the count was \p Before. Returns false if
  /// it doesn't come although all jobs have ended.
  bool waitForRoom(uint64_t Before);
  /// Waits for load_changed() after the count was \p Before, for at most \p
  /// Limit. Returns whether it has come.
  bool hasRoomWithin(uint64_t Before, Milliseconds Limit);

  dtlto_session *Handle = nullptr; // the plugin's, once open

private:
  void configure(const dtlto_session_params &Params);
  template <typename T, typename F>
  T fillIn(const char *Name, const char *Type, T Struct, F Fn);
  void checkAfterClose();
  void checkBuffers();
  void makeJob(JobRecord &R, const char *Avoid);
  void addInputs(JobRecord &R, dtlto_job &Job);
  const void *addModule(const std::string &Bytes);
  void completeBatch();
  void beginCall(const char *Name);
  void endCall();
  void watchCalls();
  [[noreturn]] void failHungCall();
  template <typename F>
  bool wait(std::unique_lock<std::mutex> &Lock, Milliseconds Limit, F Done);

  std::map<std::string, std::pair<Loan *, const void *>> Modules; // by contents
  size_t ThreadsBefore = 0; // of the process
  Settings SettingsBefore;
  std::string LLVMVersion; // of the linker that is played
  // The plugin's function that is running; guarded by the mutex.
  std::string CallName; // or empty
  Clock::time_point CallBegin;
  Milliseconds CallLimit{0};
  bool IsQuitting = false;
  std::thread Watchdog;
};

/// Returns an extension of the plugin, or null. The linker ignores one whose
/// size isn't that of its struct.
template <typename T>
const T *getExtension(const dtlto_plugin &ThePlugin, const char *Id,
                      const std::string &Struct) {
  auto *E = static_cast<const T *>(ThePlugin.extension(Id));
  if (E && E->size < sizeof(T))
    failAndExit(Struct + ".size", "it is " + llvm::Twine(E->size),
                "set it to sizeof(" + Struct +
                    "): otherwise the linker does not use the extension");
  return E;
}

struct Case {
  const char *Name;
  const char *Promise; // what is checked, in a few words
  std::function<void(const CaseContext &)> Run;
  /// If this case doesn't end, later cases are skipped.
  bool IsBasic = false;
};
/// In the order in which they run.
extern const std::vector<Case> PluginCases, JobCases, ErrorCases;

/// Loads the plugin and checks its entry. A failure fails the case.
const dtlto_plugin &loadPlugin(const std::string &Path);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_SESSION_H
