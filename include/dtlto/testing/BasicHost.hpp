//===- dtlto/testing/BasicHost.hpp - A host that checks rules ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base of Host.hpp, of dtlto-plugin-check, and of test hosts with rules,
// extensions or jobs of their own. Throws no exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_TESTING_BASICHOST_HPP
#define DTLTO_TESTING_BASICHOST_HPP

#include "../sdk/Callback.hpp"
#include "Job.hpp"
#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace dtlto::testing {

/// One session with a plugin. One thread makes all calls, like the linker; the
/// plugin calls back on any thread. \p RulesT judges each call, like TextRules
/// in Host.hpp; \p JobT is derived from Job. A derived class closes the session
/// in its destructor, since its own functions are called until then.
template <typename RulesT, typename JobT = Job> class BasicHost {
public:
  using Duration = std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;

  BasicHost(const BasicHost &) = delete;

  // To be set before open().
  std::map<std::string, const void *> Extensions; // of the host, by id
  dtlto_session_params Params = {}; // open() has arguments for the others

  /// Calls configure() and open(), also after close(). Returns open()'s status.
  int32_t open(const std::vector<std::string> &Args,
               const std::string &LLVMVersion, uint64_t NumJobs = 1) {
    const std::vector<const char *> Pointers = pointersTo(Args);
    locked([&] {
      Phase = Opening;
      OpenErrors.clear();
      GaveUp = false;
    });
    dtlto_session_params P = Params;
    P.num_args = static_cast<uint32_t>(Args.size());
    P.args = Pointers.data();
    P.llvm_version = LLVMVersion.c_str();
    P.num_jobs = NumJobs;
    const dtlto_session_params *Given = lend(P);
    configure(*Given);
    const int32_t Status =
        call("open", [&] { return ThePlugin.open(GivenHost, Given, &Handle); });
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Status != DTLTO_OK) {
      Handle = nullptr;
      TheRules.openFailed(Status, OpenErrors);
    } else if (TheRules.opened(Handle)) {
      Phase = Open;
      // An error ends the session even if it comes before open() returns.
      GaveUp |= !OpenErrors.empty();
    }
    return Status;
  }
  /// The plugin's answer to configure().
  const dtlto_session_config &config() const { return Config; }
  /// The fields that the plugin needs: DTLTO_JOB_...
  uint32_t needs() const { return Config.needs; }

  void cancel(uint64_t Id) {
    locked([&] {
      if (JobT *J = find(Id))
        J->Cancelled = true;
    });
    call("cancel", [&] { ThePlugin.cancel(Handle, Id); });
  }
  /// Calls load(). Fields that the plugin leaves are unknown.
  dtlto_load load() {
    dtlto_load Load = {sizeof(Load), UINT32_MAX, UINT32_MAX, UINT32_MAX,
                       UINT32_MAX,   0,          UINT64_MAX};
    const int32_t Status = fill(Load);
    TheRules.load(Status, Load, locked([&] { return NumAccepted; }));
    return Load;
  }
  /// Closes the session, if it is open. The plugin's jobs are cancelled.
  void close() {
    if (Phase != Open)
      return;
    change([&] { Phase = Closing; });
    call("close", [&] { ThePlugin.close(Handle); });
    std::lock_guard<std::mutex> Lock(Mutex);
    Phase = Closed;
    for (auto &[Id, J] : Jobs)
      TheRules.hasEnded(J.Done, nameOf(Id));
  }

  // What the plugin has reported.
  /// The messages in order: all, or those of one level.
  std::vector<std::string> messages(uint32_t Level = UINT32_MAX) {
    std::lock_guard<std::mutex> Lock(Mutex);
    std::vector<std::string> Texts;
    for (auto &[Of, Text] : Messages)
      if (Level == UINT32_MAX || Level == Of)
        Texts.push_back(Text);
    return Texts;
  }
  /// The jobs' states in order, as pairs of a job and DTLTO_STATE_...
  std::vector<std::pair<uint64_t, uint32_t>> states() {
    return locked([&] { return States; });
  }
  /// How often load_changed() was called.
  uint64_t numRoomReports() {
    return locked([&] { return NumRoom; });
  }
  /// The errors logged in the last open().
  std::string openErrors() {
    return locked([&] { return OpenErrors; });
  }
  /// Whether the plugin gave up with DTLTO_LOG_ERROR.
  bool hasGivenUp() {
    return locked([&] { return GaveUp; });
  }

protected:
  /// The other arguments make the rules.
  template <typename... Args>
  explicit BasicHost(const dtlto_plugin &ThePlugin, Args &&...A)
      : ThePlugin(ThePlugin), TheRules(std::forward<Args>(A)...) {
    using Self = BasicHost;
    Params.size = sizeof(Params);
    Params.output = "a.out";
    Params.job_timeout_s = 600;
    Raw.size = sizeof(Raw);
    Raw.abi_major = DTLTO_ABI_MAJOR;
    Raw.abi_minor = DTLTO_ABI_MINOR;
    Raw.name = "dtlto";
    Raw.version = "testing";
    Raw.context = reinterpret_cast<dtlto_host_context *>(this);
    Raw.log = sdk::Callback<Self, &Self::log>::call;
    Raw.job_state = sdk::Callback<Self, &Self::jobState>::call;
    Raw.job_done = sdk::Callback<Self, &Self::jobDone>::call;
    Raw.load_changed = sdk::Callback<Self, &Self::loadChanged>::call;
    Raw.check_result = sdk::Callback<Self, &Self::checkResult>::call;
    Raw.extension = sdk::Callback<Self, &Self::extension>::call;
  }
  virtual ~BasicHost() {
    assert(Phase != Open && "the derived class closes the session");
  }

  //===--------------------------------------------------------------------===//
  // For derived classes
  //===--------------------------------------------------------------------===//

  /// Around each call of the plugin's function \p Name.
  virtual void beginCall(const char *) {}
  virtual void endCall(const char *) {}
  /// First in each of the host's functions, without the lock.
  virtual void enter(const char *) {}
  /// Returns the parameters that the plugin gets, until open() returns.
  virtual const dtlto_session_params *lend(const dtlto_session_params &P) {
    return &P;
  }
  /// Calls configure() or load() to fill in Config or \p Load.
  virtual void configure(const dtlto_session_params &P) {
    Config.size = sizeof(Config);
    call("configure", [&] { ThePlugin.configure(&P, &Config); });
  }
  virtual int32_t fill(dtlto_load &Load) {
    return call("load", [&] { return ThePlugin.load(Handle, &Load); });
  }
  /// While the link's thread waits: does what other threads ask of it. Returns
  /// whether there was anything. The lock is held, and may be released
  /// meanwhile.
  virtual bool serve(std::unique_lock<std::mutex> &) { return false; }
  /// A message has come. The lock is held.
  virtual void onMessage(uint32_t, const std::string &) {}
  /// The job ended, because of \p Why, a literal: frees the memory that the
  /// plugin must not read any more. The lock is held.
  virtual void onEnd(JobT &J, const char *) { J.freeMemory(); }
  /// Records \p R as the result of \p J. The lock is held.
  virtual void onResult(JobT &J, const dtlto_result &R) {
    J.Status = R.status;
    J.Message = R.message ? R.message : "";
    J.Worker = R.worker ? R.worker : "";
    J.Buffer = R.object;
    TheRules.result(R, nameOf(J.Raw.id), J.Cancelled || Phase == Closing);
    if (R.object.data && R.object.size <= INT64_MAX)
      J.Object.assign(static_cast<const char *>(R.object.data),
                      static_cast<size_t>(R.object.size));
  }
  /// Whether the object is kept beyond job_done(). The lock is held.
  virtual bool keepsObject(const JobT &) { return false; }
  virtual void release(const dtlto_buffer &B) {
    B.release(B.owner, B.data, B.size);
  }
  /// Returns why the host refuses the object, or nothing. The lock is held.
  virtual std::string check(JobT &, dtlto_span) { return {}; }

  template <typename F> auto locked(F Fn) -> decltype(Fn()) {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Fn();
  }
  /// Calls \p Fn under the lock, and wakes all waiting threads.
  template <typename F> void change(F Fn) {
    locked(Fn);
    Changed.notify_all();
  }
  /// Calls the plugin's function \p Name by \p Fn.
  template <typename F> auto call(const char *Name, F Fn) {
    struct Scope {
      Scope(BasicHost &H, const char *Name) : H(H), Name(Name) {
        H.beginCall(Name);
      }
      ~Scope() { H.endCall(Name); }
      BasicHost &H;
      const char *Name;
    } TheCall(*this, Name);
    return Fn();
  }
  /// Waits until \p Done(), which is called with the lock held. Returns false
  /// if that takes longer than \p Limit.
  template <typename F>
  bool waitFor(std::unique_lock<std::mutex> &Lock, Duration Limit, F Done) {
    const auto End = Clock::now() + Limit;
    while (!Done())
      if (!serve(Lock) &&
          Changed.wait_until(Lock, End) == std::cv_status::timeout)
        return Done();
    return true;
  }
  bool isLinkThread() const { return std::this_thread::get_id() == LinkThread; }
  /// Returns a job that the plugin has or had, or null. The lock is held.
  JobT *find(uint64_t Id) {
    auto I = Jobs.find(Id);
    return I == Jobs.end() ? nullptr : &I->second;
  }
  JobT *findRunning(uint64_t Id) {
    JobT *J = find(Id);
    return J && !J->Done && Phase != Closed ? J : nullptr;
  }
  bool allDone() const {
    return std::all_of(Jobs.begin(), Jobs.end(),
                       [](const auto &J) { return J.second.Done; });
  }

  /// Makes a new job, with the fields that the plugin needs.
  JobT &add(JobSpec Spec) {
    JobT &J = locked([&]() -> JobT & { return Jobs[++LastId]; });
    J.fill(LastId, std::move(Spec), Config.needs);
    return J;
  }
  /// Offers \p J once, which no longer exists unless submit()'s status, which
  /// this returns, is DTLTO_OK.
  int32_t offer(JobT &J) {
    locked([&] { InSubmit = true; });
    const int32_t Status =
        call("submit", [&] { return ThePlugin.submit(Handle, J.Given); });
    std::lock_guard<std::mutex> Lock(Mutex);
    InSubmit = false;
    TheRules.submitReturned(Status, J.Done);
    if (Status == DTLTO_OK) {
      ++NumAccepted;
    } else {
      onEnd(J, Status == DTLTO_BUSY ? "submit() has returned DTLTO_BUSY"
                                    : "submit() has refused the job");
      Jobs.erase(J.Raw.id);
    }
    return Status;
  }
  const dtlto_plugin &ThePlugin;
  RulesT TheRules;
  dtlto_host Raw = {};
  const dtlto_host *GivenHost = &Raw; // what the plugin gets
  dtlto_session_config Config = {};
  dtlto_session *Handle = nullptr; // the plugin's, once open
  const std::thread::id LinkThread = std::this_thread::get_id();

  std::mutex Mutex; // guards the fields below
  std::condition_variable Changed;
  enum { Opening, Open, Closing, Closed } Phase = Opening;
  std::map<uint64_t, JobT> Jobs;
  uint64_t LastId = 10000000000; // so that ids have more than 32 bits
  std::vector<std::pair<uint32_t, std::string>> Messages;
  std::vector<std::pair<uint64_t, uint32_t>> States;
  std::string OpenErrors;
  uint64_t NumAccepted = 0, NumDone = 0, NumRoom = 0;
  bool InSubmit = false, GaveUp = false;

private:
  /// Handles a call of the host's \p Function: \p Fn runs with the lock held.
  template <typename F> void handle(const char *Function, F Fn) {
    enter(Function);
    change([&] {
      if (TheRules.isInTime(Phase != Closed, Function))
        Fn();
    });
  }
  void log(uint32_t Level, const char *Message) {
    handle("log", [&] {
      TheRules.log(Level, Message);
      const std::string Text = Message ? Message : "";
      Messages.push_back({Level, Text});
      if (Level == DTLTO_LOG_ERROR && Phase == Opening)
        OpenErrors += (OpenErrors.empty() ? "" : "; ") + Text;
      GaveUp |= Level == DTLTO_LOG_ERROR && Phase != Opening;
      onMessage(Level, Text);
    });
  }
  void jobState(uint64_t Id, uint32_t State, const char *) {
    handle("job_state", [&] {
      TheRules.state(find(Id), nameOf(Id));
      States.push_back({Id, State});
    });
  }
  void loadChanged() {
    handle("load_changed", [&] { ++NumRoom; });
  }
  void jobDone(uint64_t Id, const dtlto_result *R) {
    dtlto_buffer Unwanted = {};
    handle("job_done", [&] {
      JobT *J = find(Id);
      if (!TheRules.isDue(J, J && !J->Done, nameOf(Id)))
        return;
      TheRules.notInSubmit(InSubmit && isLinkThread());
      J->Done = true;
      ++NumDone;
      if (TheRules.hasSize(R, nameOf(Id)))
        onResult(*J, *R);
      onEnd(*J, "its job_done() was called");
      if (!keepsObject(*J))
        std::swap(Unwanted, J->Buffer);
    });
    if (Unwanted.release)
      release(Unwanted);
  }
  int32_t checkResult(uint64_t Id, dtlto_span Object, char *Why,
                      uint64_t WhySize) {
    std::lock_guard<std::mutex> Lock(Mutex);
    JobT *J = findRunning(Id);
    if (!TheRules.checksRunningJob(J, nameOf(Id)))
      return DTLTO_ERROR_CALLER;
    const std::string Text = check(*J, Object);
    if (Why && WhySize)
      std::snprintf(Why, static_cast<size_t>(WhySize), "%s", Text.c_str());
    return Text.empty() ? DTLTO_OK : DTLTO_ERROR_INFRASTRUCTURE;
  }
  const void *extension(const char *Id) {
    auto I = Extensions.find(Id ? Id : "");
    return I == Extensions.end() ? nullptr : I->second;
  }
};

} // namespace dtlto::testing

#endif // DTLTO_TESTING_BASICHOST_HPP
