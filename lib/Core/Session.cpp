//===- Session.cpp - One link's use of a plugin ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Bundle.h"
#include "LLVMCompat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ThreadPool.h"
#include <cstddef>
#include <functional>
#include <thread>
#include <unordered_map>

using namespace llvm;
using namespace dtlto;

/// The plugin holds a pointer to this as its dtlto_host_context.
struct Session::Impl : std::enable_shared_from_this<Session::Impl> {
  Impl(const Link &L, std::shared_ptr<EventQueue> Events, uint64_t NumJobs);

  //===--------------------------------------------------------------------===//
  // Jobs
  //===--------------------------------------------------------------------===//

  struct Record {
    std::unique_ptr<BuiltJob> Built; // until the plugin can't look any more
    const Task *T = nullptr;
    bool InSubmit = true;   // submit() hasn't returned
    bool Done = false;      // job_done() was called, or the job not accepted
    bool Forgotten = false; // nobody waits for an event
    unsigned RunsHere = 0;  // calls of local code generation now
    Clock::time_point LastRunHere = {}; // the last that ended
    bool RanHere = false;
    bool NoObject = false;
    double SecondsHere = 0;
    std::string LocalErrors; // memory for dtlto_result::message
  };

  void dropIfUnused(Record &R) {
    if (R.Done && !R.InSubmit)
      R.Built.reset();
  }

  //===--------------------------------------------------------------------===//
  // The thread that calls the plugin
  //===--------------------------------------------------------------------===//

  void post(std::function<void()> Work);
  void callThread();
  template <typename Fn> auto call(const char *Name, Fn F);

  void doOpen();
  void doSubmit(uint64_t Id, bool Insist);
  void doCancel(uint64_t Id);
  void doLoad();
  void doStatus(uint32_t LimitMs);
  void doClose();

  //===--------------------------------------------------------------------===//
  // The host's functions, any thread
  //===--------------------------------------------------------------------===//

  static Impl &from(dtlto_host_context *Context) {
    return *reinterpret_cast<Impl *>(Context);
  }
  void log(uint32_t Level, const char *Message);
  void jobState(uint64_t Job, uint32_t State, const char *Worker);
  void jobDone(uint64_t Job, const dtlto_result *Result);
  void loadChanged();
  int32_t runLocally(uint64_t Job, dtlto_result *Result);
  int32_t makeBundle(uint64_t Job, dtlto_buffer *Bytes);
  void workerTold(const dtlto_worker_status *Worker);
  void violation(uint64_t Job, const Twine &What);
  void tell(Event::KindTy Kind, const char *Message);

  void push(Event E) {
    if (!Closed)
      Events->push(std::move(E));
  }

  const Link &L; // not after Closed
  Messages &Msg;
  const dtlto_plugin &Plugin;
  const std::string PluginName;
  std::shared_ptr<EventQueue> Events;
  dtlto_host Host = {};
  dtlto_local_codegen LocalCodegen = {};
  dtlto_fallback Fallback = {};
  dtlto_needs Needs = {};
  dtlto_bundle Bundle = {};
  std::vector<const char *> PluginArgs;
  dtlto_session_params Params = {};

  mutable std::mutex Mutex; // guards all below
  std::condition_variable Changed;
  std::unordered_map<uint64_t, Record> Jobs;
  unsigned RunsHere = 0;
  Clock::time_point LastRunHere = {};
  bool Opened = false;    // open() has returned
  std::string OpenErrors; // what was logged before
  bool Closed = false;    // the link is over: nothing of it may be touched
  std::deque<std::function<void()>> Work;
  bool Quit = false;
  std::optional<Call> Current;
  std::thread::id CallThreadId;
  uint64_t RoomCount = 0;            // how often the plugin told of room
  std::optional<uint64_t> BusySince; // RoomCount at the last BUSY

  // The call thread only.
  std::optional<uint32_t> SessionNeeds;
  dtlto_session *Handle = nullptr;
  bool IsOpen = false;
};

Session::Impl::Impl(const Link &L, std::shared_ptr<EventQueue> Events,
                    uint64_t NumJobs)
    : L(L), Msg(L.msg()), Plugin(*L.TheLinker.Plugin), PluginName(Plugin.name),
      Events(std::move(Events)) {
  Host.size = sizeof(Host);
  Host.abi_major = DTLTO_ABI_MAJOR;
  Host.abi_minor = DTLTO_ABI_MINOR;
  Host.name = "dtlto";
  Host.version = DTLTO_VERSION;
  Host.context = reinterpret_cast<dtlto_host_context *>(this);
  Host.log = [](dtlto_host_context *C, uint32_t Level, const char *Message) {
    from(C).log(Level, Message);
  };
  Host.job_state = [](dtlto_host_context *C, uint64_t Job, uint32_t State,
                      const char *Worker) {
    from(C).jobState(Job, State, Worker);
  };
  Host.job_done = [](dtlto_host_context *C, uint64_t Job,
                     const dtlto_result *R) { from(C).jobDone(Job, R); };
  Host.load_changed = [](dtlto_host_context *C) { from(C).loadChanged(); };
  Host.extension = [](dtlto_host_context *C, const char *Id) -> const void * {
    Impl &I = from(C);
    return StringSwitch<const void *>(Id ? Id : "")
        .Case(DTLTO_EXT_LOCAL_CODEGEN, &I.LocalCodegen)
        .Case(DTLTO_EXT_FALLBACK, &I.Fallback)
        .Case(DTLTO_EXT_NEEDS, &I.Needs)
        .Case(DTLTO_EXT_BUNDLE, &I.Bundle)
        .Default(nullptr);
  };

  LocalCodegen.size = sizeof(LocalCodegen);
  LocalCodegen.slots = L.Parallelism;
  LocalCodegen.run = [](dtlto_host_context *C, uint64_t Job, dtlto_result *R) {
    return from(C).runLocally(Job, R);
  };

  Fallback.size = sizeof(Fallback);
  Fallback.forbid = [](dtlto_host_context *C, const char *Why) {
    from(C).tell(Event::FallbackForbidden, Why);
  };

  Needs.size = sizeof(Needs);
  Needs.set = [](dtlto_host_context *C, uint32_t Parts) {
    from(C).SessionNeeds = Parts;
  };
  Bundle.size = sizeof(Bundle);
  Bundle.make = [](dtlto_host_context *C, uint64_t Job, dtlto_buffer *B) {
    return from(C).makeBundle(Job, B);
  };

  for (const std::string &Arg : L.opts().PluginArgs)
    PluginArgs.push_back(Arg.c_str());
  Params.size = sizeof(Params);
  Params.num_args = PluginArgs.size();
  Params.args = PluginArgs.data();
  Params.llvm_version = LLVM_VERSION_STRING;
  Params.output = L.opts().OutputFile.c_str();
  Params.num_jobs = NumJobs;
  Params.job_timeout_s = L.opts().TimeoutSeconds;
  Params.verbose = L.msg().verbose();
}

//===----------------------------------------------------------------------===//
// The thread that calls the plugin
//===----------------------------------------------------------------------===//

void Session::Impl::post(std::function<void()> W) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Work.push_back(std::move(W));
  }
  Changed.notify_all();
}

void Session::Impl::callThread() {
  while (true) {
    std::function<void()> Next;
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      Changed.wait(Lock, [&] { return Quit || !Work.empty(); });
      if (Work.empty())
        return;
      Next = std::move(Work.front());
      Work.pop_front();
    }
    Next();
  }
}

/// Calls the plugin, and lets the watchdog know.
template <typename Fn> auto Session::Impl::call(const char *Name, Fn F) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Current = Call{Name, Clock::now()};
  }
  auto Reset = onScopeExit([&] {
    std::lock_guard<std::mutex> Lock(Mutex);
    Current.reset();
  });
  return F();
}

void Session::Impl::doOpen() {
  int32_t Status =
      call("open", [&] { return Plugin.open(&Host, &Params, &Handle); });
  IsOpen = Status == DTLTO_OK;
  std::lock_guard<std::mutex> Lock(Mutex);
  Opened = true;
  Event E{Event::Opened};
  E.Status = Status;
  E.Message = std::move(OpenErrors);
  E.Needs = SessionNeeds.value_or(Plugin.needs);
  push(std::move(E));
}

void Session::Impl::doSubmit(uint64_t Id, bool Insist) {
  const dtlto_job *Job = nullptr;
  uint64_t RoomBefore;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Record &R = Jobs[Id];
    RoomBefore = RoomCount;
    if (!R.Forgotten && IsOpen && (Insist || BusySince != RoomCount))
      Job = &R.Built->Job;
  }
  // Records are never erased while the session lives, and Built is kept while
  // InSubmit is set.
  int32_t Status = DTLTO_BUSY;
  if (Job)
    Status = call("submit", [&] { return Plugin.submit(Handle, Job); });

  std::lock_guard<std::mutex> Lock(Mutex);
  Record &R = Jobs[Id];
  R.InSubmit = false;
  Event E{Event::Submitted};
  E.Job = Id;
  E.Status = Status;
  if (Status != DTLTO_OK) {
    if (Status == DTLTO_BUSY) {
      BusySince = RoomBefore;
      // The event that tells of the room is in the queue before this one.
      E.RoomSince = RoomCount != RoomBefore;
    }
    R.Done = true;
    E.Built = std::move(R.Built);
  }
  dropIfUnused(R);
  if (!R.Forgotten)
    push(std::move(E));
}

void Session::Impl::doCancel(uint64_t Id) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Jobs[Id].Done)
      return;
  }
  if (IsOpen)
    call("cancel", [&] { Plugin.cancel(Handle, Id); });
}

void Session::Impl::doLoad() {
  Event E{Event::Loaded};
  // What a plugin doesn't fill in isn't known.
  E.Load = unknownLoad();
  if (!IsOpen ||
      call("load", [&] { return Plugin.load(Handle, &E.Load); }) != DTLTO_OK)
    return;
  std::lock_guard<std::mutex> Lock(Mutex);
  push(std::move(E));
}

void Session::Impl::doStatus(uint32_t LimitMs) {
  Event E{Event::NoStatus};
  const auto *Status = static_cast<const dtlto_status *>(
      call("extension", [&] { return Plugin.extension(DTLTO_EXT_STATUS); }));
  if (IsOpen && Status && Status->size >= sizeof(dtlto_status)) {
    E.Kind = Event::StatusTold;
    E.Status = call("query", [&] {
      return Status->query(
          Handle, LimitMs,
          [](void *Context, const dtlto_worker_status *Worker) {
            static_cast<Impl *>(Context)->workerTold(Worker);
          },
          this);
    });
  }
  std::lock_guard<std::mutex> Lock(Mutex);
  push(std::move(E));
}

void Session::Impl::doClose() {
  if (IsOpen)
    call("close", [&] { Plugin.close(Handle); });
  IsOpen = false;
  std::lock_guard<std::mutex> Lock(Mutex);
  Quit = true;
  Changed.notify_all();
}

//===----------------------------------------------------------------------===//
// The host's functions
//===----------------------------------------------------------------------===//

void Session::Impl::log(uint32_t Level, const char *Message) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Closed || !Message)
    return;
  // Why open() is going to fail: for the one message that tells of it.
  if (Level == DTLTO_LOG_ERROR && !Opened) {
    OpenErrors += (OpenErrors.empty() ? "" : "; ") + std::string(Message);
    return;
  }
  MessageLevel To = MessageLevel::Note;
  if (Level == DTLTO_LOG_DEBUG)
    To = MessageLevel::Debug;
  else if (Level == DTLTO_LOG_WARNING)
    To = MessageLevel::Warning;
  else if (Level == DTLTO_LOG_ERROR) {
    Event E{Event::GaveUp};
    E.Message = Message;
    return push(std::move(E));
  }
  Msg.emit(To, PluginName + ": " + Message);
}

void Session::Impl::workerTold(const dtlto_worker_status *W) {
  constexpr uint32_t Size_1_3 =
      offsetof(dtlto_worker_status, load_permille) + sizeof(uint32_t);
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!W || W->size < Size_1_3 || !W->name)
    return violation(0, "told of a worker without a size or a name");
  auto Text = [](const char *T) { return std::string(T ? T : ""); };
  Event E{Event::WorkerTold};
  E.Told = std::make_unique<WorkerStatus>(
      WorkerStatus{W->name, Text(W->compiler), Text(W->why), W->state, W->slots,
                   W->busy, W->load_permille});
  push(std::move(E));
}

void Session::Impl::violation(uint64_t Job, const Twine &What) {
  Event E{Event::Violation};
  E.Job = Job;
  E.Message = What.str();
  push(std::move(E));
}

void Session::Impl::tell(Event::KindTy Kind, const char *Message) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Event E{Kind};
  E.Message = Message ? Message : "";
  push(std::move(E));
}

void Session::Impl::jobState(uint64_t Job, uint32_t State, const char *Worker) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = Jobs.find(Job);
  // Late news of a job that has ended is no harm.
  if (It == Jobs.end() || It->second.Done || It->second.Forgotten)
    return;
  Event E{Event::State};
  E.Job = Job;
  E.Status = static_cast<int32_t>(State);
  E.Worker = Worker ? Worker : "";
  push(std::move(E));
}

void Session::Impl::jobDone(uint64_t Job, const dtlto_result *Result) {
  constexpr uint32_t ResultSize_1_0 =
      offsetof(dtlto_result, worker) + sizeof(const char *);
  Event E{Event::Done};
  E.Job = Job;
  if (Result && Result->size >= ResultSize_1_0) {
    E.Object = Buffer(Result->object);
    E.Status = Result->status;
    E.Message = Result->message ? Result->message : "";
    E.Worker = Result->worker ? Result->worker : "";
  }

  std::lock_guard<std::mutex> Lock(Mutex);
  if (Closed)
    return;
  auto It = Jobs.find(Job);
  if (It == Jobs.end())
    return violation(0, "reported a result for job " + Twine(Job) +
                            ", which it was never given");
  Record &R = It->second;
  if (R.Done)
    return violation(Job, "reported a second result for module '" +
                              R.T->name() + "'");
  R.Done = true;
  ++RoomCount;
  if (R.InSubmit && Current && std::this_thread::get_id() == CallThreadId)
    violation(Job, "reported the result for module '" + R.T->name() +
                       "' from inside of submit()");
  if (!Result || Result->size < ResultSize_1_0)
    violation(Job, "reported a result without a size for module '" +
                       R.T->name() + "'");
  E.RanHere = R.RanHere;
  E.NoObject = R.NoObject;
  E.Seconds = R.SecondsHere;
  dropIfUnused(R);
  if (!R.Forgotten)
    push(std::move(E));
}

void Session::Impl::loadChanged() {
  std::lock_guard<std::mutex> Lock(Mutex);
  ++RoomCount;
  push(Event{Event::LoadChanged});
}

int32_t Session::Impl::runLocally(uint64_t Job, dtlto_result *Result) {
  Result->status = DTLTO_ERROR_CALLER;
  Result->object = {};
  Result->message = "no such job";
  Result->worker = nullptr;
  Record *R;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto It = Jobs.find(Job);
    if (It == Jobs.end() || It->second.Done)
      return Result->status;
    R = &It->second;
    if (Closed || R->Forgotten) {
      Result->message = nullptr;
      return Result->status = DTLTO_CANCELLED;
    }
    ++R->RunsHere;
    ++RunsHere;
    Event E{Event::State};
    E.Job = Job;
    E.Status = DTLTO_STATE_LOCAL;
    push(std::move(E));
  }

  Clock::time_point Begin = Clock::now();
  CodegenResult Code = runLocalCodegen(L, *R->T);

  std::lock_guard<std::mutex> Lock(Mutex);
  --R->RunsHere;
  --RunsHere;
  R->LastRunHere = LastRunHere = Clock::now();
  Changed.notify_all();
  R->RanHere = true;
  R->SecondsHere = secondsSince(Begin);
  R->NoObject = !Code.Produced;
  Result->message = nullptr;
  Result->worker = ThisMachine;
  if (Code.Failed) {
    R->LocalErrors = std::move(Code.Errors);
    Result->message = R->LocalErrors.c_str();
    return Result->status = DTLTO_ERROR_COMPILER;
  }
  Result->object = Buffer::own(std::move(Code.Object)).take();
  return Result->status = DTLTO_OK;
}

int32_t Session::Impl::makeBundle(uint64_t Id, dtlto_buffer *Bytes) {
  *Bytes = {};
  const dtlto_job *Job = nullptr;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto It = Jobs.find(Id);
    if (!Closed && It != Jobs.end() && It->second.Built && !It->second.Done)
      Job = &It->second.Built->Job;
  }
  // The plugin has the job, so it lives.
  if (!Job || !(Job->parts & DTLTO_PART_CONFIG))
    return DTLTO_ERROR_CALLER;
  Expected<SmallVector<char, 0>> Made = writeBundle(*Job);
  if (!Made) {
    log(DTLTO_LOG_WARNING, toString(Made.takeError()).c_str());
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  *Bytes = Buffer::own(std::move(*Made)).take();
  return DTLTO_OK;
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

Session::Session(const Link &L, std::shared_ptr<EventQueue> Events,
                 uint64_t NumJobs)
    : I(std::make_shared<Impl>(L, std::move(Events), NumJobs)) {
  // The thread keeps the session's state alive, also if it is left behind.
  std::thread Thread([I = I] { I->callThread(); });
  {
    std::lock_guard<std::mutex> Lock(I->Mutex);
    I->CallThreadId = Thread.get_id();
  }
  Thread.detach();
}

Session::~Session() = default;

void Session::open() {
  I->post([I = I.get()] { I->doOpen(); });
}

void Session::submit(std::unique_ptr<BuiltJob> Job, const Task &T,
                     bool Insist) {
  uint64_t Id = Job->Job.id;
  {
    std::lock_guard<std::mutex> Lock(I->Mutex);
    Impl::Record &R = I->Jobs[Id];
    R.Built = std::move(Job);
    R.T = &T;
    R.InSubmit = true;
    R.Done = false;
  }
  I->post([I = I.get(), Id, Insist] { I->doSubmit(Id, Insist); });
}

void Session::forget(uint64_t Job) {
  {
    std::lock_guard<std::mutex> Lock(I->Mutex);
    auto It = I->Jobs.find(Job);
    if (It == I->Jobs.end() || It->second.Done)
      return;
    It->second.Forgotten = true;
  }
  I->post([I = I.get(), Job] { I->doCancel(Job); });
}

void Session::queryLoad() {
  I->post([I = I.get()] { I->doLoad(); });
}

void Session::queryStatus(std::chrono::milliseconds Limit) {
  I->post([I = I.get(), Ms = static_cast<uint32_t>(Limit.count())] {
    I->doStatus(Ms);
  });
}

std::optional<Session::Call> Session::currentCall() const {
  std::lock_guard<std::mutex> Lock(I->Mutex);
  return I->Current;
}

Clock::time_point Session::lastRunHere() const {
  std::lock_guard<std::mutex> Lock(I->Mutex);
  return I->RunsHere ? Clock::now() : I->LastRunHere;
}

Clock::time_point Session::lastRunHere(uint64_t Job) const {
  std::lock_guard<std::mutex> Lock(I->Mutex);
  auto It = I->Jobs.find(Job);
  if (It == I->Jobs.end())
    return {};
  return It->second.RunsHere ? Clock::now() : It->second.LastRunHere;
}

bool Session::close(std::chrono::milliseconds Limit) {
  {
    std::lock_guard<std::mutex> Lock(I->Mutex);
    I->Work.clear(); // calls that have lost their point
  }
  I->post([I = I.get()] { I->doClose(); });

  std::unique_lock<std::mutex> Lock(I->Mutex);
  // A plugin that compiles here can't come back before the compiler does.
  bool Ended = false;
  auto Deadline = Clock::now() + Limit;
  while (true) {
    Ended = I->Changed.wait_until(Lock, Deadline, [&] { return I->Quit; });
    if (Ended || I->RunsHere == 0)
      break;
    I->Changed.wait(Lock, [&] { return I->Quit || I->RunsHere == 0; });
    Deadline = Clock::now() + Limit;
  }
  I->Closed = true;
  I->Changed.wait(Lock, [&] { return I->RunsHere == 0; });
  return Ended;
}
