//===- Session.cpp - One link's use of a plugin ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/SessionState.h"
#include "Support/CrashReport.h"
#include "Support/System.h"
#include "dtlto/ext/refuted.h"
#include "LLVM/Version.h"

using namespace llvm;
using namespace dtlto;

Session::Impl::Impl(const HostContext &Ctx, std::shared_ptr<EventQueue> Events,
                    uint64_t NumJobs, std::shared_ptr<LocalRoom> Room)
    : Ctx(Ctx),
      Room(Room ? std::move(Room) : std::make_shared<LocalRoom>(UINT64_MAX)),
      Msg(Ctx.Msg), Plugin(*Ctx.Plugin), PluginName(Plugin.name),
      Params(Ctx, NumJobs), Events(std::move(Events)) {
  makeHost();
}

//===----------------------------------------------------------------------===//
// The thread that calls the plugin
//===----------------------------------------------------------------------===//

void Session::Impl::post(std::function<void()> Call, bool IsMandatory) {
  {
    std::lock_guard<std::mutex> Lock(WorkMutex);
    Work.push_back({std::move(Call), IsMandatory});
  }
  HasWork.notify_one();
}

/// Ends after doClose(), the last posted call.
void Session::Impl::callThread() {
  bool HasClosed = false;
  while (!HasClosed) {
    std::function<void()> Next;
    {
      std::unique_lock<std::mutex> Lock(WorkMutex);
      HasWork.wait(Lock, [&] { return !Work.empty() || !ToRelease.empty(); });
      if (!Work.empty()) {
        Next = std::move(Work.front().Call);
        Work.pop_front();
      }
    }
    if (Next)
      Next();
    else
      releaseAll();
    std::lock_guard<std::mutex> Lock(Mutex);
    HasClosed = HasQuit;
  }
}

Buffer Session::Impl::wrapBuffer(const dtlto_buffer &Raw) {
  if (!Raw.release)
    return Buffer(Raw);
  struct Holder {
    std::weak_ptr<Impl>
        PImpl; // weak: events in its own queue have such buffers
    dtlto_buffer Raw;
  };
  return Buffer(
      dtlto_buffer{Raw.data, Raw.size, new Holder{weak_from_this(), Raw},
                   [](void *Owner, const void *, uint64_t) {
                     std::unique_ptr<Holder> H(static_cast<Holder *>(Owner));
                     if (std::shared_ptr<Impl> PImpl = H->PImpl.lock())
                       return PImpl->release(H->Raw);
                     H->Raw.release(H->Raw.owner, H->Raw.data, H->Raw.size);
                   }});
}

void Session::Impl::release(const dtlto_buffer &Raw) {
  {
    std::lock_guard<std::mutex> Lock(WorkMutex);
    if (!HasCallThreadEnded) {
      ToRelease.push_back(Raw);
      return HasWork.notify_one();
    }
  }
  Raw.release(Raw.owner, Raw.data, Raw.size);
}

/// Calls the plugin, and records the call for currentCall().
template <typename Fn> auto Session::Impl::call(const char *Name, Fn F) {
  CallThread.check();
  {
    std::lock_guard<std::mutex> Lock(CallMutex);
    Current = Call{Name, Clock::now()};
  }
  auto Reset = onScopeExit([&] {
    limitAbortHandler();
    std::lock_guard<std::mutex> Lock(CallMutex);
    Current.reset();
  });
  return F();
}

template <typename T, typename F>
const T *Session::Impl::extensionWith(F T::*Field, const char *Id) {
  auto *Extension = static_cast<const T *>(
      call("extension", [&] { return Plugin.extension(Id); }));
  return hasField(Extension, Field) && Extension->*Field ? Extension : nullptr;
}

void Session::Impl::releaseAll() {
  CallThread.check();
  std::vector<dtlto_buffer> Buffers;
  {
    std::lock_guard<std::mutex> Lock(WorkMutex);
    Buffers.swap(ToRelease);
  }
  for (const dtlto_buffer &B : Buffers)
    call("release", [&] { B.release(B.owner, B.data, B.size); });
}

bool Session::Impl::isInCall() const {
  std::lock_guard<std::mutex> Lock(CallMutex);
  return Current.has_value();
}

void Session::Impl::doOpen() {
  int32_t Status =
      call("open", [&] { return Plugin.open(&Host, &Params.raw(), &Handle); });
  IsOpen = Status == DTLTO_OK;
  const bool WantsBatches =
      IsOpen && extensionWith(&dtlto_batch::complete, DTLTO_EXT_BATCH);
  Guard Lock(*this);
  Opened = true;
  Event E{Event::Opened};
  E.Status = Status;
  E.Message = std::move(OpenErrors); // from any thread
  E.WantsBatches = WantsBatches;
  push(Lock, std::move(E));
}

void Session::Impl::doSubmit(uint64_t Id, bool Insist) {
  const dtlto_job *Job = nullptr;
  uint64_t RoomBefore;
  {
    Guard Lock(*this);
    Record &R = Jobs[Id];
    RoomBefore = RoomCount;
    if (!R.IsForgotten && IsOpen && (Insist || BusySince != RoomCount))
      Job = &R.Built->Job;
  }
  // Records are never erased while the session lives, and Built is kept while
  // IsInSubmit is set.
  int32_t Status = DTLTO_BUSY;
  if (Job)
    Status = call("submit", [&] { return Plugin.submit(Handle, Job); });

  Guard Lock(*this);
  Record &R = Jobs[Id];
  R.IsInSubmit = false;
  Event E{Event::Submitted};
  E.Job = Id;
  E.Status = Status;
  if (Status != DTLTO_OK) {
    if (Status == DTLTO_BUSY) {
      // A forgotten job was never offered to the plugin.
      if (Job)
        BusySince = RoomBefore;
      // The event that reports room is in the queue before this one.
      E.HasRoomSince = RoomCount != RoomBefore;
    }
    R.Done = true;
    E.Built = std::move(R.Built);
  }
  dropIfUnused(R);
  if (!R.IsForgotten)
    push(Lock, std::move(E));
}

void Session::Impl::doCompleteBatch() {
  if (!IsOpen)
    return;
  if (auto *Batch = extensionWith(&dtlto_batch::complete, DTLTO_EXT_BATCH))
    call("complete", [&] { Batch->complete(Handle); });
}

void Session::Impl::doCancel(uint64_t Id) {
  {
    Guard Lock(*this);
    if (Jobs[Id].Done)
      return;
  }
  if (IsOpen)
    call("cancel", [&] { Plugin.cancel(Handle, Id); });
}

void Session::Impl::doRefute(uint64_t Id) {
  if (!IsOpen)
    return;
  int32_t Status;
  std::string Worker;
  {
    Guard Lock(*this);
    Status = Jobs[Id].Status;
    Worker = Jobs[Id].Worker;
  }
  if (auto *Refuted = extensionWith(&dtlto_refuted::result, DTLTO_EXT_REFUTED))
    call("refuted", [&] {
      Refuted->result(Handle, Id, Worker.empty() ? nullptr : Worker.c_str(),
                      Status);
    });
}

void Session::Impl::doLoad() {
  Event E{Event::Loaded};
  // Fields that a plugin doesn't set are unknown.
  E.Load = unknownLoad();
  if (!IsOpen ||
      call("load", [&] { return Plugin.load(Handle, &E.Load); }) != DTLTO_OK)
    return;
  Guard Lock(*this);
  push(Lock, std::move(E));
}

void Session::Impl::doStatus(uint32_t LimitMs) {
  Event E{Event::NoStatus};
  auto *Status = extensionWith(&dtlto_status::query, DTLTO_EXT_STATUS);
  if (IsOpen && Status) {
    E.Kind = Event::StatusReported;
    E.Status = call("query", [&] {
      return Status->query(
          Handle, LimitMs,
          [](void *Context, const dtlto_worker_status *Worker) {
            static_cast<Impl *>(Context)->reportWorker(Worker);
          },
          this);
    });
  }
  Guard Lock(*this);
  push(Lock, std::move(E));
}

void Session::Impl::doClose() {
  releaseAll();
  if (IsOpen)
    call("close", [&] { Plugin.close(Handle); });
  IsOpen = false;
  {
    std::lock_guard<std::mutex> Lock(WorkMutex);
    HasCallThreadEnded = true;
  }
  releaseAll();
  Guard Lock(*this);
  HasQuit = true;
  Changed.notify_all();
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

Session::Session(const HostContext &Ctx, std::shared_ptr<EventQueue> Events,
                 uint64_t NumJobs, std::shared_ptr<LocalRoom> Room)
    : PImpl(std::make_shared<Impl>(Ctx, std::move(Events), NumJobs,
                                   std::move(Room))) {
  // The thread keeps the session's state alive, even after it was abandoned.
  PImpl->HasThread = startThread([PImpl = PImpl] {
    {
      std::lock_guard<std::mutex> Lock(PImpl->Mutex);
      PImpl->CallThreadId = std::this_thread::get_id();
    }
    PImpl->callThread();
  });
}

Session::~Session() = default;

void Session::open() {
  if (!PImpl->HasThread || !PImpl->Ctx.Config.Problem.empty()) {
    Event E{Event::Opened};
    E.Status = DTLTO_ERROR_INFRASTRUCTURE;
    E.Message = PImpl->HasThread ? PImpl->Ctx.Config.Problem : NoThread;
    Session::Impl::Guard Lock(*PImpl);
    return PImpl->push(Lock, std::move(E));
  }
  PImpl->post([PImpl = PImpl.get()] { PImpl->doOpen(); });
}

void Session::submit(std::unique_ptr<BuiltJob> Job, LocalJob Local,
                     bool Insist) {
  uint64_t Id = Job->Job.id;
  {
    std::lock_guard<std::mutex> Lock(PImpl->Mutex);
    Impl::Record &R = PImpl->Jobs[Id];
    R.Built = std::move(Job);
    R.Local = std::move(Local);
    if (R.Built->Job.fields & DTLTO_JOB_ARGS && !R.Built->Inputs.empty())
      PImpl->UserNames[R.Built->Inputs[0].path] = R.Local.Name;
    R.IsInSubmit = true;
    R.Done = false;
  }
  PImpl->post(
      [PImpl = PImpl.get(), Id, Insist] { PImpl->doSubmit(Id, Insist); });
}

void Session::completeBatch() {
  PImpl->post([PImpl = PImpl.get()] { PImpl->doCompleteBatch(); });
}

void Session::forget(uint64_t Job) {
  {
    std::lock_guard<std::mutex> Lock(PImpl->Mutex);
    Impl::Record *R = PImpl->findRunning(Job);
    if (!R)
      return;
    R->IsForgotten = true;
  }
  PImpl->Room->wake();
  PImpl->post([PImpl = PImpl.get(), Job] { PImpl->doCancel(Job); });
}

bool Session::blockLocalRun(uint64_t Job) {
  std::lock_guard<std::mutex> Lock(PImpl->Mutex);
  Impl::Record *R = PImpl->findRunning(Job);
  if (!R)
    return true;
  R->MayRunLocally = false;
  return !R->IsCompiling;
}

void Session::refute(uint64_t Job) {
  // Otherwise the next link would get the same result.
  PImpl->post([PImpl = PImpl.get(), Job] { PImpl->doRefute(Job); },
              /*IsMandatory=*/true);
}

void Session::queryLoad() {
  PImpl->post([PImpl = PImpl.get()] { PImpl->doLoad(); });
}

void Session::queryStatus(std::chrono::milliseconds Limit) {
  PImpl->post([PImpl = PImpl.get(), Ms = static_cast<uint32_t>(Limit.count())] {
    PImpl->doStatus(Ms);
  });
}

std::optional<Session::Call> Session::currentCall() const {
  std::lock_guard<std::mutex> Lock(PImpl->CallMutex);
  return PImpl->Current;
}

Clock::time_point Session::lastLocalRun(uint64_t Job) const {
  std::lock_guard<std::mutex> Lock(PImpl->Mutex);
  const Impl::Record *R = PImpl->find(Job);
  if (!R)
    return {};
  return R->NumLocalRuns ? Clock::now() : R->LastLocalRun;
}

std::vector<PluginNumber> Session::numbers() const {
  std::lock_guard<std::mutex> Lock(PImpl->Mutex);
  return PImpl->Numbers.list();
}

void Session::keepAlive(std::shared_ptr<const void> BorrowedData) {
  std::lock_guard<std::mutex> Lock(PImpl->Mutex);
  PImpl->BorrowedData.push_back(std::move(BorrowedData));
}

bool Session::close(std::chrono::milliseconds Limit) {
  if (!PImpl->HasThread) {
    std::lock_guard<std::mutex> Lock(PImpl->Mutex);
    PImpl->IsClosed = true;
    return true;
  }
  {
    std::lock_guard<std::mutex> Lock(PImpl->WorkMutex);
    llvm::erase_if(PImpl->Work, [](auto &P) { return !P.IsMandatory; });
  }
  PImpl->post([PImpl = PImpl.get()] { PImpl->doClose(); });

  std::unique_lock<std::mutex> Lock(PImpl->Mutex);
  // A plugin that compiles locally can't return before the compiler does.
  bool Ended = false;
  auto Deadline = Clock::now() + Limit;
  while (true) {
    Ended = PImpl->Changed.wait_until(Lock, Deadline,
                                      [&] { return PImpl->HasQuit; });
    if (Ended || PImpl->NumLocalRuns == 0)
      break;
    PImpl->Changed.wait(
        Lock, [&] { return PImpl->HasQuit || PImpl->NumLocalRuns == 0; });
    Deadline = Clock::now() + Limit;
  }
  PImpl->IsClosed = true;
  PImpl->Changed.wait(Lock, [&] { return PImpl->NumLocalRuns == 0; });
  return Ended;
}
