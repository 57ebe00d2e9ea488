//===- CheckedSession.cpp - The functions of a checked plugin -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/CheckedSession.h"
#include "Host/PluginCheck.h"
#include "Support/Failure.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// Larger inputs of a job aren't copied.
static constexpr uint64_t MaxCopy = 1 << 20;
// For threads that are ending when close() returns, and for load_changed()
// after the last job_done(), on a busy machine.
static constexpr auto MaxEnding = 1s;
// A small link has few calls.
static constexpr unsigned EnoughCalls = 4;

Layer *dtlto::TheLayer = nullptr;

void CheckedSession::configure(const dtlto_session_params *Params,
                               dtlto_session_config *Config) {
  PluginFindings &Findings = TheLayer->Findings;
  const dtlto_plugin &Plugin = Findings.Plugin;
  const Rules R(Plugin, Findings.reporter());
  Loan *Memory;
  const dtlto_session_params *Copy = lendParams(*Params, Memory);
  fillIn(R, "configure", "dtlto_session_config", "configure() has returned",
         *Config, [&](dtlto_session_config *ConfigCopy) {
           Findings.call("configure",
                         [&] { Plugin.configure(Copy, ConfigCopy); });
           // The text may be in the parameters. The caller copies it.
           if (ConfigCopy->no_fallback)
             ConfigCopy->no_fallback =
                 (new std::string(ConfigCopy->no_fallback))->c_str();
         });
  R.config(*Config);
  if (const char *Hint = nullHint(Config->needs); *Hint)
    noteNullPointer(*new std::string("dtlto: plugin '" +
                                     std::string(Plugin.name) +
                                     "': at a null pointer; " + Hint + "\n"));
  Memory->end("configure() has returned");
}

CheckedSession::CheckedSession(PluginFindings &Findings, const dtlto_host &Host)
    : Findings(Findings),
      TheRules(Findings.Plugin, Findings.reporter(), EnoughCalls),
      Plugin(Findings.Plugin), Host(Host),
      Lent(*new Loan("the dtlto_host", FixOfHost)) {
  using S = CheckedSession;
  dtlto_host *Copy = Lent.addStruct(Host);
  Copy->name = Lent.addString(Host.name);
  Copy->version = Lent.addString(Host.version);
  Copy->context = reinterpret_cast<dtlto_host_context *>(this);
  Copy->log = Callback<&S::log>::call;
  Copy->job_state = Callback<&S::jobState>::call;
  Copy->job_done = Callback<&S::jobDone>::call;
  Copy->load_changed = Callback<&S::loadChanged>::call;
  Copy->check_result = Callback<&S::checkResult>::call;
  Copy->extension = Callback<&S::hostExtension>::call;
  Lent.seal();
  LentHost = Copy;
  auto Wrap = [&](auto &Wrapper, const char *Id) {
    if (auto *Own = hostsOwn<std::decay_t<decltype(Wrapper)>>(Id))
      Wrapper = *Own;
  };
  Wrap(Codegen, DTLTO_EXT_LOCAL_CODEGEN);
  Codegen.run = Callback<&S::runLocally>::call;
  Wrap(Bundle, DTLTO_EXT_BUNDLE);
  Bundle.make = Callback<&S::makeBundle>::call;
  Wrap(Room, DTLTO_EXT_LOCAL_ROOM);
  Room.enter = Callback<&S::enterRoom>::call;
  Room.leave = Callback<&S::leaveRoom>::call;
  Wrap(Numbers, DTLTO_EXT_NUMBERS);
  Numbers.session = Callback<&S::sessionNumber>::call;
  Numbers.job = Callback<&S::jobNumber>::call;
}

/// Calls the plugin's function \p Name, which doesn't wait.
template <typename F> auto CheckedSession::timed(const char *Name, F Fn) {
  struct Scope {
    ~Scope() { S.TheRules.tookTime(Name, Clock::now() - Begin); }
    CheckedSession &S;
    const char *Name;
    const Clock::time_point Begin = Clock::now();
  } TheScope{*this, Name};
  return Findings.call(Name, Fn);
}

int32_t CheckedSession::open(const dtlto_host *Host,
                             const dtlto_session_params *Params,
                             dtlto_session **Session) {
  auto *S = new CheckedSession(TheLayer->Findings, *Host);
  *Session = reinterpret_cast<dtlto_session *>(S);
  return S->openInner(*Params);
}

int32_t CheckedSession::openInner(const dtlto_session_params &Params) {
  Loan *Memory;
  const dtlto_session_params *Copy = lendParams(Params, Memory);
  const auto Begin = Clock::now();
  const int32_t Status = Findings.call(
      "open", [&] { return Plugin.open(LentHost, Copy, &Inner); });
  if (Clock::now() - Begin > 1s)
    Findings.note("open() took more than a second: connect in the background");
  Memory->end("open() has returned");
  if (Status == DTLTO_OK)
    TheRules.opened(Inner);
  else
    TheRules.openFailed(Status, locked([&] { return OpenErrors; }));
  return Status;
}

CheckedSession::JobRecord *CheckedSession::find(uint64_t Job) {
  auto I = Jobs.find(Job);
  return I == Jobs.end() ? nullptr : &I->second;
}

std::string CheckedSession::nameOf(uint64_t Job) {
  return locked([&] {
    JobRecord *R = find(Job);
    return R ? R->Name : "job " + std::to_string(Job);
  });
}

/// Returns a copy of \p Job for the plugin, and keeps a record of it.
const dtlto_job *CheckedSession::lend(const dtlto_job &Job) {
  JobRecord R;
  R.Name =
      "job " + std::to_string(Job.id) + " (" + (Job.name ? Job.name : "") + ")";
  LentJob L = lendJob(Job, R.Name, MaxCopy);
  L.Memory->seal();
  R.Lent = L.Memory;
  R.Inputs.assign(Job.inputs, Job.inputs + L.Inputs.size());
  R.LentInputs = std::move(L.Inputs);
  // A job that was refused may be offered again.
  locked([&] { Jobs.insert_or_assign(Job.id, std::move(R)); });
  return L.Job;
}

//===----------------------------------------------------------------------===//
// The plugin's functions
//===----------------------------------------------------------------------===//

int32_t CheckedSession::submit(const dtlto_job *Job) {
  const uint64_t Id = Job->id;
  const dtlto_job *Copy = lend(*Job);
  const uint64_t RoomBefore = locked([&] {
    InSubmit = true;
    return RoomCount;
  });
  const int32_t Status =
      timed("submit", [&] { return Plugin.submit(Inner, Copy); });
  std::unique_lock<std::mutex> Lock(Mutex);
  InSubmit = false;
  JobRecord &R = Jobs[Id];
  const bool IsDone = R.Done;
  const bool IsAccepted = Status == DTLTO_OK;
  NumAccepted += IsAccepted;
  Findings.NumJobs += IsAccepted;
  Busy.reset();
  if (Status == DTLTO_BUSY)
    Busy = {RoomBefore, NumDone};
  if (!IsAccepted) {
    R.Lent->end(Status == DTLTO_BUSY ? "submit() has returned DTLTO_BUSY"
                                     : "submit() has refused the job");
    Jobs.erase(Id);
  }
  Lock.unlock();
  TheRules.submitReturned(Status, IsDone);
  return Status;
}

/// The host doesn't need the job any more, which the plugin may know from
/// another function before cancel().
void CheckedSession::setCancelled(uint64_t Job) {
  locked([&] {
    if (JobRecord *R = find(Job))
      R->Cancelled = true;
  });
}

void CheckedSession::cancel(uint64_t Job) {
  setCancelled(Job);
  timed("cancel", [&] { Plugin.cancel(Inner, Job); });
}

int32_t CheckedSession::load(dtlto_load *Load) {
  int32_t Status = DTLTO_OK;
  fillIn(TheRules, "load", "dtlto_load", "load() has returned", *Load,
         [&](dtlto_load *Copy) {
           Status = timed("load", [&] { return Plugin.load(Inner, Copy); });
         });
  TheRules.load(Status, *Load, locked([&] { return NumAccepted; }));
  return Status;
}

void CheckedSession::close() {
  checkRoom();
  locked([&] { IsClosing = true; });
  Findings.call("close", [&] { Plugin.close(Inner); });
  locked([&] { IsClosed = true; });
  Lent.end("close() has returned");
  locked([&] {
    for (auto &[Id, R] : Jobs)
      TheRules.hasEnded(R.Done, R.Name);
    for (const auto &B : Bundles)
      TheRules.isReleased(B->NumReleases, B->What);
  });
  checkThreads();
  for (const std::string &Sentence : TheRules.slowCalls())
    Findings.note(Sentence);
  for (const std::string &Sentence : TheRules.callTimes())
    Findings.note(Sentence, MessageLevel::Debug);
  if (HasNamelessResult)
    Findings.note(NamelessResult);
  Findings.addMisuses();
}

/// A plugin that has returned BUSY reports room when its last job has ended.
void CheckedSession::checkRoom() {
  const bool HasToldRoom = locked([&] {
    return !Busy || Busy->first != RoomCount || Busy->second == NumDone ||
           NumDone != NumAccepted || Clock::now() - LastDone < MaxEnding;
  });
  TheRules.reportsRoom(HasToldRoom, NumAccepted);
}

void CheckedSession::checkThreads() {
  auto NumRunning = [&] { return locked([&] { return Threads; }).count(); };
  auto N = NumRunning();
  for (auto End = Clock::now() + MaxEnding; N != 0 && Clock::now() < End;
       N = NumRunning())
    std::this_thread::sleep_for(5ms);
  TheRules.threadsEnded(N == 0, Twine(N) + (N == 1 ? " thread" : " threads") +
                                    " did not end");
}

const void *CheckedSession::pluginExtension(const char *Id) {
  Layer &L = *TheLayer;
  const dtlto_plugin &Plugin = L.Findings.Plugin;
  const void *Raw = Plugin.extension(Id);
  if (!Raw)
    return nullptr;
  // Those with a session, which is the layer's.
  auto Wrap = [&](auto Wrapper, auto Function) -> const void * {
    using T = std::decay_t<decltype(*Wrapper)>;
    auto *Own = static_cast<const T *>(Raw);
    const bool IsComplete =
        Rules(Plugin, L.Findings.reporter())
            .expect(Own->size >= sizeof(T), "dtlto_plugin.extension",
                    "the `size` of " + Twine(Id) + " is " + Twine(Own->size),
                    "set it to the struct's sizeof(): otherwise the linker "
                    "does not use the extension");
    return IsComplete && Own->*Function ? Wrapper : nullptr;
  };
  StringRef Name = Id;
  return Name == DTLTO_EXT_BATCH     ? Wrap(&L.Batch, &dtlto_batch::complete)
         : Name == DTLTO_EXT_REFUTED ? Wrap(&L.Refuted, &dtlto_refuted::result)
         : Name == DTLTO_EXT_STATUS  ? Wrap(&L.Status, &dtlto_status::query)
                                     : Raw;
}

/// An extension of the plugin, whose size was checked.
template <typename T>
static const T &pluginsOwn(const dtlto_plugin &Plugin, const char *Id) {
  return *static_cast<const T *>(Plugin.extension(Id));
}

void CheckedSession::completeBatch() {
  timed("complete", [&] {
    pluginsOwn<dtlto_batch>(Plugin, DTLTO_EXT_BATCH).complete(Inner);
  });
}

void CheckedSession::refute(uint64_t Job, const char *Worker, int32_t Status) {
  timed("refuted", [&] {
    pluginsOwn<dtlto_refuted>(Plugin, DTLTO_EXT_REFUTED)
        .result(Inner, Job, Worker, Status);
  });
}

int32_t CheckedSession::queryStatus(uint32_t LimitMs,
                                    void (*Worker)(void *,
                                                   const dtlto_worker_status *),
                                    void *Context) {
  return pluginsOwn<dtlto_status>(Plugin, DTLTO_EXT_STATUS)
      .query(Inner, LimitMs, Worker, Context);
}

//===----------------------------------------------------------------------===//
// The layer
//===----------------------------------------------------------------------===//

void dtlto::showFindings(Messages &Msg) {
  if (TheLayer)
    TheLayer->Findings.show(Msg);
}

Error dtlto::failForFindings() {
  if (!TheLayer || !TheLayer->Findings.AreErrors)
    return Error::success();
  const unsigned N = TheLayer->Findings.count();
  if (N == 0)
    return Error::success();
  return failure("dtlto: plugin '" + Twine(TheLayer->Findings.Plugin.name) +
                 "': " + Twine(N) + (N == 1 ? " finding" : " findings") +
                 " (--thinlto-dist-check-plugin=error)");
}

void dtlto::countFindings() {
  if (TheLayer)
    TheLayer->Findings.end();
}

Layer::Layer(const dtlto_plugin &Plugin, bool AreErrors)
    : Findings(Plugin, AreErrors), Entry(Plugin) {
  using S = CheckedSession;
  Entry.size = sizeof(Entry);
  Entry.configure = S::configure;
  Entry.open = S::open;
  Entry.submit = S::Callback<&S::submit>::call;
  Entry.cancel = S::Callback<&S::cancel>::call;
  Entry.load = S::Callback<&S::load>::call;
  Entry.close = S::Callback<&S::close>::call;
  Entry.extension = S::pluginExtension;
  Batch.size = sizeof(Batch);
  Batch.complete = S::Callback<&S::completeBatch>::call;
  Refuted.size = sizeof(Refuted);
  Refuted.result = S::Callback<&S::refute>::call;
  Status.size = sizeof(Status);
  Status.query = S::Callback<&S::queryStatus>::call;
}

const dtlto_plugin *dtlto::checkedPlugin(const dtlto_plugin &Plugin,
                                         bool AreErrors) {
  recordMisuses();
  TheLayer = new Layer(Plugin, AreErrors);
  return &TheLayer->Entry;
}
