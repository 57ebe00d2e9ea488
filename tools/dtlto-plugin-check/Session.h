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
#include "Rules/Lend.h"
#include "Samples.h"
#include "dtlto/testing/BasicHost.hpp"

namespace dtlto::check {

using namespace std::chrono_literals;
using dtlto::FixOfThreads, dtlto::hasField, dtlto::Loan, testing::nameOf;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

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

  /// Time limits: of a call that must not wait, and of what the header calls
  /// soon; of close(), as in the linker; and of silence while jobs run.
  Milliseconds callLimit() const { return std::min({10000ms, CaseLimit / 4}); }
  Milliseconds closeLimit() const { return std::min({10000ms, CaseLimit / 3}); }
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

/// A job of the plugin's.
struct JobRecord : testing::Job {
  const Sample *S = nullptr;
  Loan *Lent = nullptr; // Given, and what it points to
  BundleSpans Bundle;
  std::string BundleError;           // why there is none
  bool UsesBundle = false;           // the plugin asked for it
  const void *LocalObject = nullptr; // of the last run()
  std::string Unframed;              // Object without its frame, if it has one

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

/// The host of one session: what it lends, and its extensions.
class Host : public testing::BasicHost<Rules, JobRecord> {
public:
  /// \p More: bytes after each struct, as of a later minor of the ABI.
  Host(const dtlto_plugin &ThePlugin, const Options &Opts, uint32_t More);

  /// Returns a job that doesn't change any more, or null if there is none.
  const JobRecord *job(uint64_t Id) {
    return locked([&] { return find(Id); });
  }
  std::vector<uint64_t> accepted();
  const Rules &rules() const { return TheRules; }

  /// From now on, callbacks on other threads wait until load() was answered.
  void waitForLoadInCallbacks() { WaitsForLoad = true; }
  /// Whether job_done() on other threads blocks, and doesn't count yet.
  void holdResults(bool Hold) {
    change([&] { HoldsResults = Hold; });
  }

protected:
  void enter(const char *Function) override;
  const dtlto_session_params *lend(const dtlto_session_params &P) override {
    return lendParams(P, LentParams, More);
  }
  void onMessage(uint32_t Level, const std::string &Text) override;
  void onEnd(JobRecord &R, const char *Why) override;
  void onResult(JobRecord &R, const dtlto_result &Result) override;
  /// The linker doesn't need the others either, and releases them at once.
  bool keepsObject(const JobRecord &R) override {
    return !R.Cancelled && Phase != Closing;
  }
  void release(const dtlto_buffer &B) override;
  std::string check(JobRecord &R, dtlto_span Object) override;

  const Options &Opts;
  const uint32_t More;
  Loan &Lent, *LentParams = nullptr;
  std::atomic<bool> WaitsForLoad{false};

  // Guarded by the mutex.
  uint64_t LoadWanted = 0, LoadAnswered = 0;
  bool HoldsResults = false;      // job_done()s wait
  unsigned NumReleasing = 0;      // job_done()s inside release()
  unsigned NumLocal = 0;          // run()s
  uint64_t JobInRoom = 0;         // the job that this machine has room for
  bool HasNamelessResult = false; // without a worker
  std::vector<std::unique_ptr<HostBuffer>> Buffers;

private:
  // The functions of extensions.
  int32_t runLocally(uint64_t Job, dtlto_result *Result);
  int32_t bundle(uint64_t Job, dtlto_bundle_spans *Out);
  int32_t enterRoom(uint64_t Job);
  void leaveRoom(uint64_t Job, uint64_t Bytes);
  void sessionNumber(const char *Name, uint32_t Unit, uint64_t Value);
  void jobNumber(uint64_t Job, const char *Name, uint32_t Unit, uint64_t Value);

  bool isLate(const char *Name);
  void waitForLoadAnswer(const char *Name);
  /// The mutex is held.
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
  ~Session() override; // close()

  int32_t open(uint64_t NumJobs, const std::string &LLVMVersion);
  int32_t open(uint64_t NumJobs);
  /// Closes the session, and checks what it leaves.
  void close();

  /// Offers a job once. Returns submit()'s status.
  int32_t offer(const Sample &S, const char *Avoid = nullptr);
  /// Offers a job until it is accepted, as the linker does. Returns its id, or
  /// 0 if it was refused, or the plugin has given up instead.
  uint64_t submit(const Sample &S, const char *Avoid = nullptr);
  using Host::call, Host::Handle;

  /// Submits \p N jobs of \p Some, round robin, and waits. Fails unless each
  /// object equals the linker's own.
  void compile(const std::vector<Sample> &Some, unsigned N);
  void compile(const Sample &S, const char *Avoid = nullptr);
  /// Fails unless \p Id ended with the object of \p S.
  void expectObject(uint64_t Id, const Sample &S);

  /// Waits until all accepted jobs have ended; fails after a job's limit.
  void waitForAll();
  using Host::waitFor;
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

private:
  void beginCall(const char *Name) override;
  void endCall(const char *Name) override;
  void configure(const dtlto_session_params &Params) override;
  int32_t fill(dtlto_load &Load) override;
  bool serve(std::unique_lock<std::mutex> &Lock) override;

  void checkAfterClose();
  void checkBuffers();
  testing::JobSpec specOf(const Sample &S, const char *Avoid);
  void makeBundle(JobRecord &R, const LentJob &L);
  const void *addModule(dtlto_span Bytes);
  void completeBatch();
  void watchCalls();
  [[noreturn]] void failHungCall();

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
extern const std::vector<Case> PluginCases, ExtensionCases, JobCases,
    ErrorCases;

/// Loads the plugin and checks its entry. A failure fails the case.
const dtlto_plugin &loadPlugin(const std::string &Path);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_SESSION_H
