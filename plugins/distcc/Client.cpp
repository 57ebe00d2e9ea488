//===- Client.cpp - Jobs, from the linker to the hosts and back -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include <cerrno>
#include <cstddef>
#include <system_error>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// On so many hosts a job is tried before the linker gets it back.
static constexpr size_t MaxHosts = 3;
// Compressed modules that are kept for the next job that imports them.
static constexpr uint64_t MaxPacked = uint64_t(256) << 20;
// LZO runs at hundreds of megabytes a second: two threads fill any network.
static constexpr unsigned NumHelpers = 2;
// A job that makes progress is reported so often, and its state file is written
// again long before monitors take it for a leftover.
static constexpr Clock::duration ReportPeriod = 5s;
static constexpr Clock::duration NotePeriod = 20s;

static unsigned localSlots(const Settings &S) {
  unsigned N = 0;
  for (const HostSpec &H : S.Hosts)
    if (H.Kind == HostKind::Local)
      N += H.Limit ? H.Limit : 2;
  return N;
}

Client::Client(const dtlto_host &TheHost, const dtlto_session_params &Params,
               Settings TheSettings, std::unique_ptr<Log> L,
               const dtlto_local_codegen *Codegen, const dtlto_bundle *Bundles)
    : TheHost(TheHost), Codegen(Codegen), Bundles(Bundles),
      S(std::move(TheSettings)), TheLog(std::move(L)),
      TheFarm(S, Params.llvm_version, Codegen != nullptr, *TheLog, Box,
              Children),
      Packs(MaxPacked), Helpers(NumHelpers), Here(localSlots(S)) {
  if (Box->fd() < 0)
    throw std::system_error(EMFILE, std::generic_category());
  publish();
  Io = std::thread([this] { run(); });
}

//===----------------------------------------------------------------------===//
// What the linker asks for; on its thread
//===----------------------------------------------------------------------===//

int32_t Client::submit(const dtlto_job &J) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Accepted >= Capacity) {
      SaidBusy = true;
      return DTLTO_BUSY;
    }
    ++Accepted;
  }
  Box->post([this, &J] { add(J); });
  return DTLTO_OK;
}

void Client::cancel(uint64_t Id) {
  Box->post([this, Id] {
    auto It = Jobs.find(Id);
    if (It == Jobs.end())
      return;
    Job &J = *It->second;
    // What a helper works on ends when it is done with it.
    if (J.At == Job::Queued || J.At == Job::Remote)
      finish(J, DTLTO_CANCELLED, "");
    else
      J.Cancelled = true;
  });
}

void Client::load(dtlto_load &Load) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Load.slots = Now.slots;
  Load.free = Now.free;
  Load.queued = Now.queued;
  Load.workers = Now.workers;
  Load.expected_wait_ms = Now.expected_wait_ms;
  if (Load.size >= offsetof(dtlto_load, local) + sizeof(Load.local))
    Load.local = Now.local;
}

std::vector<dtlto::sdk::Worker>
Client::status(std::chrono::milliseconds Limit) {
  auto A = std::make_shared<StatusAnswer>();
  A->Limit = Limit;
  A->End = Clock::now() + Limit;
  auto Answer = A->Promise.get_future();
  Box->post([this, A] { Asker = A; });
  return Answer.get();
}

void Client::close() {
  Box->post([this] { Closing = true; });
  Io.join();
}

//===----------------------------------------------------------------------===//
// The I/O thread
//===----------------------------------------------------------------------===//

void Client::run() {
  TheFarm.start();
  while (!Closing)
    turn();
  shutDown();
}

void Client::turn() {
  Poller P;
  bool HaveMail = false;
  P.add(Box->fd(), POLLIN, [&](short) { HaveMail = true; });
  TheFarm.prepare(P);
  for (uint64_t Id : Running) {
    Job &J = *Jobs.at(Id);
    P.wakeAt(std::min(J.Conn->deadline(), J.Noted + NotePeriod));
    P.add(J.Conn->fd(), J.Conn->events(),
          [&J](short Events) { J.Conn->ready(Events); });
  }
  if (Asker)
    P.wakeAt(Asker->End);
  if (!Children.empty())
    P.wakeAt(Clock::now() + 100ms);
  P.wait();

  // Not from inside of wait(): a letter may end a connection.
  if (HaveMail)
    Box->deliver();
  Children.reap();
  Clock::time_point Time = Clock::now();
  TheFarm.checkTime(Time);
  for (uint64_t Id : std::vector<uint64_t>(Running)) {
    Job &J = *Jobs.at(Id);
    J.Conn->checkTime(Time);
    watch(J);
    if (J.Conn->ended())
      connectionEnded(J);
  }
  assign();
  answerStatus();
  giveUpIfHopeless();
  publish();
}

void Client::answerStatus() {
  if (!Asker || (!TheFarm.isSettled() && Clock::now() < Asker->End))
    return;
  Asker->Promise.set_value(TheFarm.report(Asker->Limit));
  Asker.reset();
}

void Client::add(const dtlto_job &TheJob) {
  JobPtr &Owned = Jobs[TheJob.id];
  Owned = std::make_unique<Job>(TheJob);
  Job &J = *Owned;
  J.Tried.resize(TheFarm.size());
  for (uint32_t I = 0; I != TheJob.num_inputs; ++I)
    if (TheJob.inputs[I]->role == DTLTO_ROLE_PRIMARY)
      J.Module = TheJob.inputs[I]->bytes.data;
  if (TheJob.size >= offsetof(dtlto_job, avoid) + sizeof(TheJob.avoid) &&
      TheJob.avoid)
    J.Avoid = TheJob.avoid;
  auto It = Failed.find(J.Module);
  if (It != Failed.end()) {
    J.Tried = It->second.Tried;
    J.LastError = It->second.LastError;
  }
  if (GaveUp)
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, "no host is left");
  if (!TheFarm.mayTake(J.Tried) && TheFarm.anyHope())
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);

  Helpers.run([this, &TheJob, Id = TheJob.id] {
    std::string Error;
    auto Req = build(TheJob, Error);
    Box->post([this, Id, Req, Error] { packed(Id, Req, Error); });
  });
}

/// Makes what is sent for \p J; by a helper.
std::shared_ptr<const Request> Client::build(const dtlto_job &J,
                                             std::string &Error) {
  if (!S.isWorker())
    return buildRequest(
        J, S.Compiler,
        [&](const dtlto_input &Input) { return Packs.pack(Input); }, Error);
  dtlto_buffer Bundle = {};
  if (Bundles->make(TheHost.context, J.id, &Bundle) != DTLTO_OK) {
    Error = "the job can't be made into one stream";
    return nullptr;
  }
  auto Req = buildBundleRequest(J, S.Compiler,
                                {static_cast<const uint8_t *>(Bundle.data),
                                 static_cast<size_t>(Bundle.size)},
                                Error);
  Bundle.release(Bundle.owner, Bundle.data, Bundle.size);
  return Req;
}

void Client::packed(uint64_t Id, std::shared_ptr<const Request> Req,
                    const std::string &Error) {
  Job &J = *Jobs.at(Id);
  if (J.Cancelled)
    return finish(J, DTLTO_CANCELLED, "");
  // No other host can do better.
  if (!Req)
    return finish(J, DTLTO_ERROR_CALLER, Error);
  if (GaveUp)
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, "no host is left");
  J.Req = std::move(Req);
  J.At = Job::Queued;
  Queue.push_back(Id);
}

/// Gives waiting jobs to idle slots.
void Client::assign() {
  std::deque<uint64_t> Waiting = std::move(Queue);
  Queue.clear();
  for (uint64_t Id : Waiting) {
    Job &J = *Jobs.at(Id);
    if (!TheFarm.mayTake(J.Tried) && TheFarm.anyHope()) {
      finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);
      continue;
    }
    Host *H = TheFarm.anyRoom() ? TheFarm.choose(J.Tried, J.Avoid) : nullptr;
    if (!H)
      Queue.push_back(Id);
    else if (H->Spec.Kind == HostKind::Local)
      startLocal(J, *H);
    else
      startRemote(J, *H);
  }
}

void Client::startRemote(Job &J, Host &H) {
  J.At = Job::Remote;
  J.On = &H;
  J.Began = J.Reported = J.Noted = Clock::now();
  J.Shown = -1;
  ++NumUnfinished;
  int Slot = H.take(J.Id);
  J.Monitor.open(S.StateDir, ++LastStateFile, J.Name, H.Name, Slot);
  J.Conn = std::make_unique<Connection>(H.Spec, H.Addresses, J.Req, S,
                                        S.IoTimeout, Children);
  Running.push_back(J.Id);
  watch(J);
}

void Client::startLocal(Job &J, Host &H) {
  J.At = Job::Local;
  J.On = &H;
  J.Began = Clock::now();
  ++NumUnfinished;
  H.take(J.Id);
  TheHost.job_state(TheHost.context, J.Id, DTLTO_STATE_LOCAL, H.Name.c_str());
  Here.run([this, Id = J.Id] {
    dtlto_result Result = {};
    Result.size = sizeof(Result);
    Codegen->run(TheHost.context, Id, &Result);
    TheHost.job_done(TheHost.context, Id, &Result);
    Box->post([this, Id] {
      Job &J = *Jobs.at(Id);
      J.Took = Clock::now() - J.Began;
      ended(J, "compiled on ");
      erase(J);
    });
  });
}

/// Tells the linker and the monitors where \p J is.
void Client::watch(Job &J) {
  Connection::StateTy State = J.Conn->state();
  Clock::time_point Time = Clock::now();
  uint64_t Bytes = J.Conn->bytesSent() + J.Conn->bytesReceived();
  bool New = State != J.Shown;
  if (State < Connection::Done &&
      (New || (Bytes != J.ShownBytes && Time - J.Reported > ReportPeriod))) {
    uint32_t ToHost = State == Connection::Waiting     ? DTLTO_STATE_RUNNING
                      : State == Connection::Receiving ? DTLTO_STATE_RECEIVING
                                                       : DTLTO_STATE_SENDING;
    TheHost.job_state(TheHost.context, J.Id, ToHost, J.On->Name.c_str());
    J.Shown = State;
    J.ShownBytes = Bytes;
    J.Reported = Time;
  }
  if (State < Connection::Done && New) {
    J.Monitor.note(State == Connection::Connecting  ? Phase::Connect
                   : State == Connection::Sending   ? Phase::Send
                   : State == Connection::Receiving ? Phase::Receive
                                                    : Phase::Compile);
    J.Noted = Time;
  } else if (Time - J.Noted >= NotePeriod) {
    J.Monitor.refresh();
    J.Noted = Time;
  }
}

void Client::connectionEnded(Job &J) {
  std::unique_ptr<Connection> C = std::move(J.Conn);
  // An answer that comes at once is no state of its own. But the slot is the
  // next job's from here on, and until the answer is unpacked, that job may be
  // under way.
  if (C->state() == Connection::Done)
    for (int State = J.Shown + 1; State <= Connection::Receiving; ++State)
      if (State >= Connection::Waiting)
        TheHost.job_state(TheHost.context, J.Id,
                          State == Connection::Waiting ? DTLTO_STATE_RUNNING
                                                       : DTLTO_STATE_RECEIVING,
                          J.On->Name.c_str());
  BytesSent += C->bytesSent();
  BytesReceived += C->bytesReceived();
  Running.erase(std::find(Running.begin(), Running.end(), J.Id));
  J.Monitor.remove();
  J.On->release(J.Id);
  J.Took = Clock::now() - J.Began;
  if (C->state() == Connection::Failed) {
    --NumUnfinished;
    TheFarm.dislike(*J.On, C->error());
    return tryAnother(J, C->error());
  }
  J.At = Job::Judging;
  auto R = std::make_shared<Reply>(C->reply());
  Helpers.run([this, R, TheJob = J.J, Id = J.Id] {
    auto V = std::make_shared<Verdict>(judge(*R, *TheJob));
    Box->post([this, V, Id] { judged(Id, *V); });
  });
}

void Client::judged(uint64_t Id, Verdict &V) {
  Job &J = *Jobs.at(Id);
  --NumUnfinished;
  J.At = Job::Queued; // with nobody
  if (J.Cancelled)
    return finish(J, DTLTO_CANCELLED, "");
  if (V.Status == DTLTO_ERROR_INFRASTRUCTURE) {
    if (V.HostAtFault)
      TheFarm.dislike(*J.On, V.Message);
    return tryAnother(J, V.Message);
  }
  ended(J, V.Status == DTLTO_OK ? "compiled on " : "failed on ");
  finish(J, V.Status, V.Message, std::move(V.Object));
}

/// Its host did what it could for \p J.
void Client::ended(Job &J, const char *What) {
  TheFarm.enjoy(*J.On, J.Cost, J.Took);
  double Seconds = std::chrono::duration<double>(J.Took).count();
  SecondsOfAJob =
      SecondsOfAJob == 0 ? Seconds : 0.9 * SecondsOfAJob + 0.1 * Seconds;
  TheLog->debug("module '" + J.Name + "': " + What + J.On->Name + " in " +
                std::to_string(Seconds).substr(0, 5) + " s");
}

/// The host that \p J was on could not do it.
void Client::tryAnother(Job &J, const std::string &Why) {
  J.Tried[J.On->Index] = true;
  J.LastError = J.On->Name + ": " + Why;
  J.On = nullptr;
  J.At = Job::Queued;
  if (J.Cancelled)
    return finish(J, DTLTO_CANCELLED, "");
  auto NumTried = std::count(J.Tried.begin(), J.Tried.end(), true);
  if (static_cast<size_t>(NumTried) >= MaxHosts || !TheFarm.mayTake(J.Tried))
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);
  TheLog->debug("module '" + J.Name + "': " + J.LastError +
                "; trying another host");
  TheHost.job_state(TheHost.context, J.Id, DTLTO_STATE_QUEUED, nullptr);
  Queue.push_front(J.Id);
}

/// Ends a job that no helper has.
void Client::finish(Job &J, int32_t Status, const std::string &Message,
                    Pages Object) {
  if (Status == DTLTO_ERROR_INFRASTRUCTURE)
    Failed[J.Module] = {J.Tried, J.LastError};
  std::string Worker = J.On ? J.On->Name : "";
  if (J.Conn) {
    BytesSent += J.Conn->bytesSent();
    BytesReceived += J.Conn->bytesReceived();
    Running.erase(std::find(Running.begin(), Running.end(), J.Id));
    J.Conn.reset();
    J.On->release(J.Id);
    --NumUnfinished;
  }
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  Result.status = Status;
  Result.message = Message.empty() ? nullptr : Message.c_str();
  Result.worker = Worker.empty() ? nullptr : Worker.c_str();
  ByteView Bytes = Object.take();
  if (Bytes.Data) {
    Result.object.data = Bytes.Data;
    Result.object.size = Bytes.Size;
    Result.object.release = [](void *, const void *Data, uint64_t Size) {
      Pages::release(static_cast<const uint8_t *>(Data),
                     static_cast<size_t>(Size));
    };
  }
  TheHost.job_done(TheHost.context, J.Id, &Result);
  auto It = std::find(Queue.begin(), Queue.end(), J.Id);
  if (It != Queue.end())
    Queue.erase(It);
  erase(J);
}

/// The linker has had its job_done().
void Client::erase(Job &J) {
  if (J.At == Job::Local) {
    J.On->release(J.Id);
    --NumUnfinished;
  }
  Jobs.erase(J.Id);
  std::lock_guard<std::mutex> Lock(Mutex);
  --Accepted;
}

/// Waits for the last job that still runs: if it comes back well, its host is
/// used again.
void Client::giveUpIfHopeless() {
  if (GaveUp || NumUnfinished || TheFarm.anyHope() || S.OnlyStatus)
    return;
  GaveUp = true;
  TheLog->error(
      (TheFarm.size() == 1
           ? "the only host, " + TheFarm.host(0).Name + ", can't be used"
           : "none of the " + std::to_string(TheFarm.size()) +
                 " hosts can be used") +
      "; --thinlto-dist-status shows why");
  for (uint64_t Id : std::deque<uint64_t>(Queue))
    finish(*Jobs.at(Id), DTLTO_ERROR_INFRASTRUCTURE, "no host is left");
}

/// Makes the new state known to the linker.
void Client::publish() {
  bool TellRoom = false;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    unsigned Expected = TheFarm.expectedSlots();
    // A few more than can run, so that the next one is packed when a slot
    // becomes idle.
    Capacity = Expected + std::max(2u, Expected / 4);
    Now.slots = TheFarm.slots();
    Now.free = TheFarm.freeSlots();
    Now.queued = Accepted - std::min(Accepted, NumUnfinished);
    Now.workers = TheFarm.numUsable();
    Now.local = TheFarm.localSlots();
    Now.expected_wait_ms = UINT64_MAX;
    if (Now.free > Now.queued)
      Now.expected_wait_ms = 0;
    else if (Now.slots && SecondsOfAJob != 0)
      Now.expected_wait_ms = static_cast<uint64_t>(
          1000 * SecondsOfAJob * (Now.queued - Now.free + 1) / Now.slots);
    if (SaidBusy && Accepted < Capacity) {
      SaidBusy = false;
      TellRoom = true;
    }
  }
  if (TellRoom)
    TheHost.load_changed(TheHost.context);
}

void Client::shutDown() {
  // Closes the connections, so that the compilers at the other end stop while
  // the helpers come to their end.
  for (uint64_t Id : std::vector<uint64_t>(Running))
    finish(*Jobs.at(Id), DTLTO_CANCELLED, "");
  Helpers.stop();
  Here.stop();
  // What helpers left behind, and what the linker asked for last.
  Box->deliver();
  Box->stop();
  while (!Jobs.empty())
    finish(*Jobs.begin()->second, DTLTO_CANCELLED, "");

  uint64_t KiB = 1024;
  TheLog->debug("sent " + std::to_string(BytesSent / KiB) + " KiB, received " +
                std::to_string(BytesReceived / KiB) + " KiB");
  for (size_t I = 0; I != TheFarm.size(); ++I)
    TheLog->debug(TheFarm.host(I).Name + ": " +
                  std::to_string(TheFarm.host(I).NumDone) + " modules");
}
