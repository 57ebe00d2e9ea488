//===- PluginCheck.cpp - A layer that checks a plugin ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/PluginCheck.h"
#include "Host/PluginFindings.h"
#include "Rules/Loan.h"
#include "Support/Failure.h"
#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/draft/local-room.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include "dtlto/ext/refuted.h"
#include "dtlto/ext/status.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <memory>
#include <optional>
#include <thread>

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Larger inputs of a job aren't copied, nor are modules, which many jobs share.
static constexpr uint64_t MaxCopy = 1 << 20;
// For threads that are ending when close() returns, and for load_changed()
// after the last job_done(), on a busy machine.
static constexpr auto MaxEnding = 1s;
// A small link has few calls.
static constexpr unsigned EnoughCalls = 4;

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

namespace {
/// The layer: what the linker gets instead of the plugin.
struct Layer {
  Layer(const dtlto_plugin &Plugin, bool AreErrors);

  PluginFindings Findings;
  dtlto_plugin Entry;
  dtlto_batch Batch = {};
  dtlto_refuted Refuted = {};
  dtlto_status Status = {};
};
} // namespace

static Layer *TheLayer = nullptr; // never destroyed

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

//===----------------------------------------------------------------------===//
// A session
//===----------------------------------------------------------------------===//

namespace {

/// Memory whose owner releases it once: of the linker, owned by the plugin, or
/// the other way around. Never destroyed.
struct CheckedBuffer {
  CheckedBuffer(const Rules &TheRules, std::string What, dtlto_buffer Raw)
      : TheRules(TheRules), What(std::move(What)), Raw(Raw) {}

  /// Replaces \p Buffer by one that is checked.
  static void wrap(dtlto_buffer &Buffer, const Rules &TheRules,
                   std::string What, bool IsPlugins);
  void release();
  uint64_t hash() const {
    return xxh3_64bits(
        ArrayRef(static_cast<const uint8_t *>(Raw.data), Raw.size));
  }

  const Rules &TheRules;
  const std::string What;
  const dtlto_buffer Raw;
  uint64_t Hash = 0; // of an object of the plugin's; 0: not known
  std::atomic<unsigned> NumReleases{0};
};

/// A session of the linker's, for which this is the plugin's, and one of the
/// plugin's, for which this is the host's context. Never destroyed.
class CheckedSession {
public:
  CheckedSession(PluginFindings &Findings, const dtlto_host &Host);

  static void configure(const dtlto_session_params *Params,
                        dtlto_session_config *Config);
  static int32_t open(const dtlto_host *Host,
                      const dtlto_session_params *Params,
                      dtlto_session **Session);
  int32_t submit(const dtlto_job *Job);
  void cancel(uint64_t Job);
  int32_t load(dtlto_load *Load);
  void close();
  static const void *pluginExtension(const char *Id);
  void completeBatch();
  void refute(uint64_t Job, const char *Worker, int32_t Status);
  int32_t queryStatus(uint32_t LimitMs,
                      void (*Worker)(void *, const dtlto_worker_status *),
                      void *Context);

  /// The C function that calls a member for a \p Handle.
  template <typename Handle, auto Fn> struct Entry;

private:
  struct JobRecord {
    std::string Name; // "job 3 (main.o)"
    Loan *Lent;
    std::vector<const dtlto_input *> Inputs, LentInputs;
    bool Done = false, Cancelled = false, Entered = false;
    bool MayBeEmpty = false; // the linker itself made no object
  };

  // The functions of the host.
  void log(uint32_t Level, const char *Message);
  void jobState(uint64_t Job, uint32_t State, const char *Worker);
  void jobDone(uint64_t Job, const dtlto_result *Result);
  void loadChanged();
  int32_t checkResult(uint64_t Job, dtlto_span Object, char *Why,
                      uint64_t WhySize);
  const void *hostExtension(const char *Id);
  int32_t runLocally(uint64_t Job, dtlto_result *Result);
  int32_t makeBundle(uint64_t Job, dtlto_bundle_spans *Out);
  int32_t enterRoom(uint64_t Job);
  void leaveRoom(uint64_t Job, uint64_t Bytes);
  void sessionNumber(const char *Name, uint32_t Unit, uint64_t Value);
  void jobNumber(uint64_t Job, const char *Name, uint32_t Unit, uint64_t Value);

  template <typename F> auto locked(F Fn) {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Fn();
  }
  int32_t openInner(const dtlto_session_params &Params);
  const dtlto_job *lend(const dtlto_job &Job);
  struct HostCall;
  bool isLinkThread() const { return std::this_thread::get_id() == LinkThread; }
  JobRecord *find(uint64_t Job); // with the mutex held; null: not the plugin's
  std::string nameOf(uint64_t Job);
  bool isRunning(uint64_t Job) {
    return locked([&] {
      JobRecord *R = find(Job);
      return R && !R->Done;
    });
  }
  void setCancelled(uint64_t Job);
  template <typename F> auto timed(const char *Name, F Fn);
  template <typename T> const T *hostsOwn(const char *Id) const {
    return static_cast<const T *>(Host.extension(Host.context, Id));
  }
  void checkRoom();
  void checkThreads();

  PluginFindings &Findings;
  Rules TheRules;
  const dtlto_plugin &Plugin;
  const dtlto_host &Host;         // the linker's, until close() returns
  dtlto_session *Inner = nullptr; // the plugin's
  Loan &Lent;                     // the host for the plugin
  const dtlto_host *LentHost;
  const std::thread::id LinkThread = std::this_thread::get_id();
  dtlto_local_codegen Codegen = {};
  dtlto_bundle Bundle = {};
  dtlto_local_room Room = {};
  dtlto_numbers Numbers = {};

  std::mutex Mutex; // guards the members below
  bool IsClosing = false, IsClosed = false;
  std::map<uint64_t, JobRecord> Jobs; // accepted, or in submit()
  std::vector<std::unique_ptr<CheckedBuffer>> Bundles;
  PluginThreads Threads;
  std::string OpenErrors;
  bool InSubmit = false;
  std::atomic<bool> HasNamelessResult{false};
  uint64_t NumAccepted = 0, NumDone = 0, RoomCount = 0;
  Clock::time_point LastDone;
  // Of the last submit(), if it was BUSY: RoomCount before it, NumDone after
  // it.
  std::optional<std::pair<uint64_t, uint64_t>> Busy;
};

template <typename Handle, typename R, typename... Args,
          R (CheckedSession::*Fn)(Args...)>
struct CheckedSession::Entry<Handle, Fn> {
  static R call(Handle *H, Args... A) {
    return (reinterpret_cast<CheckedSession *>(H)->*Fn)(A...);
  }
};

} // namespace

template <auto Fn> using PluginEntry = CheckedSession::Entry<dtlto_session, Fn>;

void CheckedBuffer::release() {
  const unsigned N = ++NumReleases;
  TheRules.releasedOnce(N, What);
  if (N != 1)
    return; // the linker would crash
  TheRules.expect(Hash == 0 || Hash == hash(), "dtlto_buffer",
                  What + " was changed after its job_done()",
                  "the bytes are the host's from then on: free them in "
                  "release(), and nowhere else");
  if (Raw.release)
    Raw.release(Raw.owner, Raw.data, Raw.size);
}

void CheckedBuffer::wrap(dtlto_buffer &Buffer, const Rules &TheRules,
                         std::string What, bool IsPlugins) {
  if (!Buffer.data || Buffer.size == 0 || Buffer.size > INT64_MAX)
    return;
  auto *Checked = new CheckedBuffer(TheRules, std::move(What), Buffer);
  if (IsPlugins)
    Checked->Hash = Checked->hash();
  Buffer.owner = Checked;
  Buffer.release = [](void *Owner, const void *, uint64_t) {
    static_cast<CheckedBuffer *>(Owner)->release();
  };
}

static std::string textOf(const char *Text) { return Text ? Text : ""; }

static const dtlto_session_params *
lendParams(const dtlto_session_params &Params, Loan *&Memory) {
  std::vector<std::string> Args(Params.args, Params.args + Params.num_args);
  size_t Room =
      4096 + textOf(Params.linker).size() + textOf(Params.output).size();
  for (const std::string &Arg : Args)
    Room += Loan::room(Arg.size() + 1) + sizeof(char *);
  Memory = new Loan("the dtlto_session_params (or what they point at)",
                    FixOfParams, Room);
  dtlto_session_params *Copy = Memory->addStruct(Params);
  Copy->args = Memory->addStrings(Args);
  for (auto Field :
       {&dtlto_session_params::llvm_version, &dtlto_session_params::linker,
        &dtlto_session_params::output})
    if (Params.*Field)
      Copy->*Field = Memory->addString(Params.*Field);
  Memory->seal();
  return Copy;
}

/// Lets the plugin's function \p Name fill in \p Struct by \p Fn.
template <typename T, typename F>
static void fillIn(const Rules &R, const char *Name, const char *Type,
                   const char *Why, T &Struct, F Fn) {
  auto *Memory =
      new Loan(std::string("the ") + Type,
               std::string("fill it in ") + Name + "(), and do not keep it");
  T *Copy = Memory->addStruct(Struct);
  Fn(Copy);
  R.keptSize(Struct.size, Copy->size, Name, Type);
  Struct = *Copy;
  Memory->end(Why);
}

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
  using Context = dtlto_host_context;
  dtlto_host *Copy = Lent.addStruct(Host);
  Copy->name = Lent.addString(Host.name);
  Copy->version = Lent.addString(Host.version);
  Copy->context = reinterpret_cast<Context *>(this);
  Copy->log = Entry<Context, &S::log>::call;
  Copy->job_state = Entry<Context, &S::jobState>::call;
  Copy->job_done = Entry<Context, &S::jobDone>::call;
  Copy->load_changed = Entry<Context, &S::loadChanged>::call;
  Copy->check_result = Entry<Context, &S::checkResult>::call;
  Copy->extension = Entry<Context, &S::hostExtension>::call;
  Lent.seal();
  LentHost = Copy;
  auto Wrap = [&](auto &Wrapper, const char *Id) {
    if (auto *Own = hostsOwn<std::decay_t<decltype(Wrapper)>>(Id))
      Wrapper = *Own;
  };
  Wrap(Codegen, DTLTO_EXT_LOCAL_CODEGEN);
  Codegen.run = Entry<Context, &S::runLocally>::call;
  Wrap(Bundle, DTLTO_EXT_BUNDLE);
  Bundle.make = Entry<Context, &S::makeBundle>::call;
  Wrap(Room, DTLTO_EXT_LOCAL_ROOM);
  Room.enter = Entry<Context, &S::enterRoom>::call;
  Room.leave = Entry<Context, &S::leaveRoom>::call;
  Wrap(Numbers, DTLTO_EXT_NUMBERS);
  Numbers.session = Entry<Context, &S::sessionNumber>::call;
  Numbers.job = Entry<Context, &S::jobNumber>::call;
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
  R.Name = "job " + std::to_string(Job.id) + " (" + textOf(Job.name) + ")";
  auto IsCopied = [](const dtlto_input &In) {
    return In.role != DTLTO_ROLE_PRIMARY && In.role != DTLTO_ROLE_IMPORT &&
           In.bytes.size <= MaxCopy;
  };
  constexpr const char *dtlto_job::*Texts[] = {
      &dtlto_job::name, &dtlto_job::triple, &dtlto_job::output,
      &dtlto_job::config, &dtlto_job::avoid};
  size_t Room = 4096;
  for (auto Field : Texts)
    Room += Loan::room(textOf(Job.*Field).size() + 1);
  std::vector<std::string> Args;
  for (uint32_t I = 0; Job.args && I != Job.num_args; ++I) {
    Args.push_back(Job.args[I]);
    Room += Loan::room(Args.back().size() + 1) + sizeof(char *);
  }
  for (uint32_t I = 0; Job.inputs && I != Job.num_inputs; ++I) {
    const dtlto_input &In = *Job.inputs[I];
    R.Inputs.push_back(&In);
    Room += sizeof(In) + sizeof(&In) + Loan::room(textOf(In.path).size() + 1) +
            (IsCopied(In) ? Loan::room(In.bytes.size) : 0);
  }
  R.Lent = new Loan("the dtlto_job (or what it points at) of " + R.Name,
                    FixOfJob, Room);
  dtlto_job *Copy = R.Lent->addStruct(Job);
  for (auto Field : Texts)
    if (Job.*Field)
      Copy->*Field = R.Lent->addString(Job.*Field);
  if (Job.args)
    Copy->args = R.Lent->addStrings(Args);
  for (const dtlto_input *In : R.Inputs) {
    dtlto_input *InputCopy = R.Lent->addStruct(*In);
    InputCopy->path = R.Lent->addString(In->path);
    if (IsCopied(*In))
      InputCopy->bytes.data = R.Lent->addBytes(In->bytes.data, In->bytes.size);
    R.LentInputs.push_back(InputCopy);
  }
  if (Job.inputs)
    Copy->inputs = R.Lent->addArray(R.LentInputs);
  R.Lent->seal();
  // A job that was refused may be offered again.
  locked([&] { Jobs.insert_or_assign(Job.id, std::move(R)); });
  return Copy;
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
// The host's functions
//===----------------------------------------------------------------------===//

/// A call of the host's \p Function. Becomes false if it must not be passed on.
struct CheckedSession::HostCall {
  HostCall(CheckedSession &S, const char *Function) {
    static thread_local const CheckedSession *Last = nullptr;
    S.Findings.addMisuses();
    if (Last != &S && !S.isLinkThread())
      S.locked([&] { S.Threads.addCaller(); });
    Last = &S;
    IsInTime =
        S.TheRules.isInTime(S.locked([&] { return !S.IsClosed; }), Function);
  }
  explicit operator bool() const { return IsInTime; }

  bool IsInTime;
  const ThreadName Name{ThreadName::Linker}; // it may start threads
};

void CheckedSession::log(uint32_t Level, const char *Message) {
  const HostCall Call(*this, "log");
  if (!Call)
    return;
  TheRules.log(Level, Message);
  if (Level == DTLTO_LOG_ERROR)
    locked([&] { OpenErrors += textOf(Message); });
  Host.log(Host.context, Level, Message);
}

void CheckedSession::jobState(uint64_t Job, uint32_t State,
                              const char *Worker) {
  const HostCall Call(*this, "job_state");
  if (!Call)
    return;
  TheRules.state(locked([&] { return find(Job); }), nameOf(Job));
  Host.job_state(Host.context, Job, State, Worker);
}

void CheckedSession::jobDone(uint64_t Job, const dtlto_result *Result) {
  const HostCall Call(*this, "job_done");
  if (!Call)
    return;
  const std::string Name = nameOf(Job);
  std::unique_lock<std::mutex> Lock(Mutex);
  JobRecord *R = find(Job);
  const bool IsFirst = R && !R->Done;
  const bool MayBeCancelled = R && (R->Cancelled || IsClosing);
  const bool MayBeEmpty = R && R->MayBeEmpty;
  const bool IsInSubmit = InSubmit && isLinkThread();
  Loan *Memory = IsFirst ? R->Lent : nullptr;
  if (IsFirst) {
    R->Done = true;
    ++NumDone;
    LastDone = Clock::now();
  }
  Lock.unlock();
  dtlto_result Copy;
  if (TheRules.isDue(R, IsFirst, Name)) {
    TheRules.notInSubmit(IsInSubmit);
    if (TheRules.hasSize(Result, Name)) {
      TheRules.result(*Result, Name, MayBeCancelled, MayBeEmpty);
      if (isNameless(*Result))
        HasNamelessResult = true;
      Copy = *Result;
      CheckedBuffer::wrap(Copy.object, TheRules, "the object of " + Name,
                          /*IsPlugins=*/true);
      Result = &Copy;
    }
  }
  Host.job_done(Host.context, Job, Result);
  // The result's strings may be in the job.
  if (Memory)
    Memory->end("its job_done() was called");
}

void CheckedSession::loadChanged() {
  const HostCall Call(*this, "load_changed");
  if (!Call)
    return;
  locked([&] { ++RoomCount; });
  Host.load_changed(Host.context);
}

int32_t CheckedSession::checkResult(uint64_t Job, dtlto_span Object, char *Why,
                                    uint64_t WhySize) {
  const HostCall Call(*this, "check_result");
  if (!Call)
    return DTLTO_ERROR_CALLER;
  TheRules.checksRunningJob(isRunning(Job), nameOf(Job));
  return Host.check_result(Host.context, Job, Object, Why, WhySize);
}

const void *CheckedSession::hostExtension(const char *Id) {
  const HostCall Call(*this, "extension");
  if (!Call)
    return nullptr;
  const void *Own = Host.extension(Host.context, Id);
  if (!Own)
    return nullptr;
  return StringSwitch<const void *>(Id)
      .Case(DTLTO_EXT_LOCAL_CODEGEN, &Codegen)
      .Case(DTLTO_EXT_BUNDLE, &Bundle)
      .Case(DTLTO_EXT_LOCAL_ROOM, &Room)
      .Case(DTLTO_EXT_NUMBERS, &Numbers)
      .Default(Own);
}

int32_t CheckedSession::runLocally(uint64_t Job, dtlto_result *Result) {
  const HostCall Call(*this, "run");
  if (!Call)
    return Result->status = DTLTO_ERROR_CALLER;
  const std::string Name = nameOf(Job);
  TheRules.runsRunningJob(isRunning(Job), Name);
  const int32_t Status = hostsOwn<dtlto_local_codegen>(DTLTO_EXT_LOCAL_CODEGEN)
                             ->run(Host.context, Job, Result);
  if (Status == DTLTO_CANCELLED)
    setCancelled(Job);
  if (Status == DTLTO_OK && Result->object.size == 0)
    locked([&] {
      if (JobRecord *R = find(Job))
        R->MayBeEmpty = true;
    });
  CheckedBuffer::wrap(Result->object, TheRules,
                      "the linker's own object of " + Name,
                      /*IsPlugins=*/false);
  return Status;
}

int32_t CheckedSession::makeBundle(uint64_t Job, dtlto_bundle_spans *Out) {
  const HostCall Call(*this, "make");
  if (!Call)
    return DTLTO_ERROR_CALLER;
  TheRules.bundleSize(Out->size);
  dtlto_bundle_spans Own = {sizeof(Own), 0, nullptr, nullptr, nullptr};
  const int32_t Status =
      hostsOwn<dtlto_bundle>(DTLTO_EXT_BUNDLE)->make(Host.context, Job, &Own);
  std::vector<dtlto_bundle_span> Spans(Own.spans, Own.spans + Own.num_spans);
  const std::string Name = nameOf(Job);
  std::lock_guard<std::mutex> Lock(Mutex);
  // Inputs are those that the plugin has.
  if (JobRecord *R = find(Job))
    for (dtlto_bundle_span &Span : Spans)
      if (auto I = llvm::find(R->Inputs, Span.input); I != R->Inputs.end()) {
        Span.input = R->LentInputs[I - R->Inputs.begin()];
        Span.bytes = Span.input->bytes;
      }
  *Out = Own;
  if (Status != DTLTO_OK)
    return Status;
  struct Owned {
    CheckedBuffer *Buffer;
    Loan *Memory;
    dtlto_bundle_spans Own;
  };
  const std::string What = "the bundle of " + Name;
  auto *Memory = new Loan(What, "read a bundle only until you release it",
                          4096 + Spans.size() * sizeof(Spans[0]));
  auto *O = new Owned{nullptr, Memory, Own};
  Bundles.push_back(std::make_unique<CheckedBuffer>(
      TheRules, What,
      dtlto_buffer{nullptr, 0, O, [](void *Owner, const void *, uint64_t) {
                     auto *O = static_cast<Owned *>(Owner);
                     O->Memory->end("it was released");
                     if (O->Own.release)
                       O->Own.release(O->Own.owner);
                   }}));
  Out->spans = Memory->addArray(Spans);
  Memory->seal();
  Out->owner = Bundles.back().get();
  Out->release = [](void *Owner) {
    static_cast<CheckedBuffer *>(Owner)->release();
  };
  return Status;
}

int32_t CheckedSession::enterRoom(uint64_t Job) {
  const HostCall Call(*this, "enter");
  if (!Call)
    return DTLTO_ERROR_CALLER;
  TheRules.entersOutside(isLinkThread());
  TheRules.entersOnce(locked([&] {
                        JobRecord *R = find(Job);
                        return R && !R->Done &&
                               !std::exchange(R->Entered, true);
                      }),
                      nameOf(Job));
  const int32_t Status = hostsOwn<dtlto_local_room>(DTLTO_EXT_LOCAL_ROOM)
                             ->enter(Host.context, Job);
  if (Status == DTLTO_CANCELLED)
    setCancelled(Job);
  return Status;
}

void CheckedSession::leaveRoom(uint64_t Job, uint64_t Bytes) {
  const HostCall Call(*this, "leave");
  if (!Call)
    return;
  locked([&] {
    if (JobRecord *R = find(Job))
      R->Entered = false;
  });
  hostsOwn<dtlto_local_room>(DTLTO_EXT_LOCAL_ROOM)
      ->leave(Host.context, Job, Bytes);
}

void CheckedSession::sessionNumber(const char *Name, uint32_t Unit,
                                   uint64_t Value) {
  const HostCall Call(*this, "a function of dtlto.numbers/1");
  if (!Call)
    return;
  TheRules.number(Name);
  hostsOwn<dtlto_numbers>(DTLTO_EXT_NUMBERS)
      ->session(Host.context, Name, Unit, Value);
}

void CheckedSession::jobNumber(uint64_t Job, const char *Name, uint32_t Unit,
                               uint64_t Value) {
  const HostCall Call(*this, "a function of dtlto.numbers/1");
  if (!Call)
    return;
  TheRules.number(Name);
  TheRules.numberOfJob(locked([&] { return find(Job); }), nameOf(Job));
  hostsOwn<dtlto_numbers>(DTLTO_EXT_NUMBERS)
      ->job(Host.context, Job, Name, Unit, Value);
}

//===----------------------------------------------------------------------===//
// The layer
//===----------------------------------------------------------------------===//

Layer::Layer(const dtlto_plugin &Plugin, bool AreErrors)
    : Findings(Plugin, AreErrors), Entry(Plugin) {
  using S = CheckedSession;
  Entry.size = sizeof(Entry);
  Entry.configure = S::configure;
  Entry.open = S::open;
  Entry.submit = PluginEntry<&S::submit>::call;
  Entry.cancel = PluginEntry<&S::cancel>::call;
  Entry.load = PluginEntry<&S::load>::call;
  Entry.close = PluginEntry<&S::close>::call;
  Entry.extension = S::pluginExtension;
  Batch.size = sizeof(Batch);
  Batch.complete = PluginEntry<&S::completeBatch>::call;
  Refuted.size = sizeof(Refuted);
  Refuted.result = PluginEntry<&S::refute>::call;
  Status.size = sizeof(Status);
  Status.query = PluginEntry<&S::queryStatus>::call;
}

const dtlto_plugin *dtlto::checkedPlugin(const dtlto_plugin &Plugin,
                                         bool AreErrors) {
  recordMisuses();
  TheLayer = new Layer(Plugin, AreErrors);
  return &TheLayer->Entry;
}
