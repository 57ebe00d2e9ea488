//===- Session.cpp - One link's use of a plugin ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/FarmStore.h"
#include "Host/SessionState.h"
#include "Host/StructSize.h"
#include "Support/System.h"
#include "dtlto/ext/refuted.h"
#include "LLVM/Version.h"

using namespace llvm;
using namespace dtlto;

Session::Impl::Impl(const HostContext &L, std::shared_ptr<EventQueue> Events,
                    uint64_t NumJobs, std::shared_ptr<LocalRoom> Room)
    : L(L),
      Room(Room ? std::move(Room) : std::make_shared<LocalRoom>(UINT64_MAX)),
      Store(L.Store), Msg(L.Msg), Plugin(*L.Plugin), PluginName(Plugin.name),
      Params(L, NumJobs), Events(std::move(Events)) {
  makeHost();
}

//===----------------------------------------------------------------------===//
// The thread that calls the plugin
//===----------------------------------------------------------------------===//

void Session::Impl::post(std::function<void()> Call, bool IsKept) {
  {
    std::lock_guard<std::mutex> Lock(WorkMutex);
    Work.push_back({std::move(Call), IsKept});
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
    HasClosed = Quit;
  }
}

Buffer Session::Impl::fromPlugin(const dtlto_buffer &Raw) {
  if (!Raw.release)
    return Buffer(Raw);
  struct Held {
    std::weak_ptr<Impl> I; // weak: events in its own queue have such buffers
    dtlto_buffer Raw;
  };
  return Buffer(
      dtlto_buffer{Raw.data, Raw.size, new Held{weak_from_this(), Raw},
                   [](void *Owner, const void *, uint64_t) {
                     std::unique_ptr<Held> H(static_cast<Held *>(Owner));
                     if (std::shared_ptr<Impl> I = H->I.lock())
                       return I->release(H->Raw);
                     H->Raw.release(H->Raw.owner, H->Raw.data, H->Raw.size);
                   }});
}

void Session::Impl::release(const dtlto_buffer &Raw) {
  {
    std::lock_guard<std::mutex> Lock(WorkMutex);
    if (!ReleasesItself) {
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
    std::lock_guard<std::mutex> Lock(CallMutex);
    Current.reset();
  });
  return F();
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
  const dtlto_batch *Batch = IsOpen ? batch() : nullptr;
  if (IsOpen && Store)
    openStore();
  Guard Lock(*this);
  Opened = true;
  Event E{Event::Opened};
  E.Status = Status;
  E.Message = std::move(OpenErrors); // from any thread
  E.WantsBatches = Batch != nullptr;
  push(Lock, std::move(E));
}

/// Opens the store before the Opened event is pushed.
void Session::Impl::openStore() {
  const auto *OfPlugin = static_cast<const dtlto_store *>(
      call("extension", [&] { return Plugin.extension(DTLTO_EXT_STORE); }));
  if (!Store->open(OfPlugin, Handle))
    Msg.warning("plugin '" + PluginName +
                "' has no store for optimised modules, so none is kept or "
                "used; --thinlto-dist-keep-ir=<folder> keeps them on this "
                "machine");
}

void Session::Impl::doSubmit(uint64_t Id, bool Insist) {
  const dtlto_job *Job = nullptr;
  uint64_t RoomBefore;
  {
    Guard Lock(*this);
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

  Guard Lock(*this);
  Record &R = Jobs[Id];
  R.InSubmit = false;
  Event E{Event::Submitted};
  E.Job = Id;
  E.Status = Status;
  if (Status != DTLTO_OK) {
    if (Status == DTLTO_BUSY) {
      // A forgotten job was never offered to the plugin.
      if (Job)
        BusySince = RoomBefore;
      // The event that reports room is in the queue before this one.
      E.RoomSince = RoomCount != RoomBefore;
    }
    R.Done = true;
    E.Built = std::move(R.Built);
  }
  dropIfUnused(R);
  if (!R.Forgotten)
    push(Lock, std::move(E));
}

const dtlto_batch *Session::Impl::batch() {
  const auto *Batch = static_cast<const dtlto_batch *>(
      call("extension", [&] { return Plugin.extension(DTLTO_EXT_BATCH); }));
  return hasField(Batch, &dtlto_batch::complete) && Batch->complete ? Batch
                                                                    : nullptr;
}

void Session::Impl::doCompleteBatch() {
  if (!IsOpen)
    return;
  if (const dtlto_batch *Batch = batch())
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
  const auto *Refuted = static_cast<const dtlto_refuted *>(
      call("extension", [&] { return Plugin.extension(DTLTO_EXT_REFUTED); }));
  if (hasField(Refuted, &dtlto_refuted::result) && Refuted->result)
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
  const auto *Status = static_cast<const dtlto_status *>(
      call("extension", [&] { return Plugin.extension(DTLTO_EXT_STATUS); }));
  if (IsOpen && hasField(Status, &dtlto_status::query) && Status->query) {
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
  Guard Lock(*this);
  push(Lock, std::move(E));
}

void Session::Impl::doClose() {
  releaseAll();
  if (Store)
    call("get or put", [&] { Store->close(); });
  if (IsOpen)
    call("close", [&] { Plugin.close(Handle); });
  IsOpen = false;
  {
    std::lock_guard<std::mutex> Lock(WorkMutex);
    ReleasesItself = true;
  }
  releaseAll();
  Guard Lock(*this);
  Quit = true;
  Changed.notify_all();
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

Session::Session(const HostContext &L, std::shared_ptr<EventQueue> Events,
                 uint64_t NumJobs, std::shared_ptr<LocalRoom> Room)
    : I(std::make_shared<Impl>(L, std::move(Events), NumJobs,
                               std::move(Room))) {
  // The thread keeps the session's state alive, even after it was abandoned.
  I->HasThread = startThread([I = I] {
    {
      std::lock_guard<std::mutex> Lock(I->Mutex);
      I->CallThreadId = std::this_thread::get_id();
    }
    I->callThread();
  });
}

Session::~Session() = default;

void Session::open() {
  if (!I->HasThread || !I->L.Config.Problem.empty()) {
    Event E{Event::Opened};
    E.Status = DTLTO_ERROR_INFRASTRUCTURE;
    E.Message = I->HasThread ? I->L.Config.Problem : NoThread;
    Session::Impl::Guard Lock(*I);
    return I->push(Lock, std::move(E));
  }
  I->post([I = I.get()] { I->doOpen(); });
}

void Session::submit(std::unique_ptr<BuiltJob> Job, JobHere Here, bool Insist) {
  uint64_t Id = Job->Job.id;
  {
    std::lock_guard<std::mutex> Lock(I->Mutex);
    Impl::Record &R = I->Jobs[Id];
    R.Built = std::move(Job);
    R.Here = std::move(Here);
    if (R.Built->Job.fields & DTLTO_JOB_ARGS && !R.Built->Inputs.empty())
      I->UsersNames[R.Built->Inputs[0].path] = R.Here.Name;
    R.InSubmit = true;
    R.Done = false;
  }
  I->post([I = I.get(), Id, Insist] { I->doSubmit(Id, Insist); });
}

void Session::completeBatch() {
  I->post([I = I.get()] { I->doCompleteBatch(); });
}

void Session::forget(uint64_t Job) {
  {
    std::lock_guard<std::mutex> Lock(I->Mutex);
    auto It = I->Jobs.find(Job);
    if (It == I->Jobs.end() || It->second.Done)
      return;
    It->second.Forgotten = true;
  }
  I->Room->wake();
  I->post([I = I.get(), Job] { I->doCancel(Job); });
}

void Session::refute(uint64_t Job) {
  // Otherwise the next link would get the same result.
  I->post([I = I.get(), Job] { I->doRefute(Job); }, /*IsKept=*/true);
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
  std::lock_guard<std::mutex> Lock(I->CallMutex);
  return I->Current;
}

Clock::time_point Session::lastRunHere(uint64_t Job) const {
  std::lock_guard<std::mutex> Lock(I->Mutex);
  auto It = I->Jobs.find(Job);
  if (It == I->Jobs.end())
    return {};
  return It->second.RunsHere ? Clock::now() : It->second.LastRunHere;
}

std::vector<PluginNumber> Session::numbers() const {
  std::lock_guard<std::mutex> Lock(I->Mutex);
  return I->Numbers.list();
}

void Session::keep(std::shared_ptr<const void> Lent) {
  std::lock_guard<std::mutex> Lock(I->Mutex);
  I->Lent.push_back(std::move(Lent));
}

bool Session::close(std::chrono::milliseconds Limit) {
  if (!I->HasThread) {
    std::lock_guard<std::mutex> Lock(I->Mutex);
    I->Closed = true;
    return true;
  }
  {
    std::lock_guard<std::mutex> Lock(I->WorkMutex);
    llvm::erase_if(I->Work, [](auto &P) { return !P.IsKept; });
  }
  I->post([I = I.get()] { I->doClose(); });

  std::unique_lock<std::mutex> Lock(I->Mutex);
  // A plugin that compiles locally can't return before the compiler does.
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
