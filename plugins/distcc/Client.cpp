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
#include <utility>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// Compressed modules that are kept for the next job that imports them.
static constexpr uint64_t MaxPacked = uint64_t(256) << 20;
// LZO runs at hundreds of megabytes a second: two threads fill any network.
static constexpr unsigned NumHelpers = 2;
static unsigned localSlots(const Settings &S) {
  unsigned N = 0;
  for (const HostSpec &H : S.Hosts)
    if (H.Kind == HostKind::Local)
      N += H.Limit ? H.Limit : 2;
  return N;
}

Client::Opened Client::openSettings(const dtlto_host &Host,
                                    const dtlto_session_params &Params) {
  Opened O{{}, std::make_unique<Log>(Host)};
  Settings &S = O.S;
  Log &L = *O.TheLog;
  std::string Error;
  SettingsStatus Status = readSettings(Params, os::environment, S, Error);
  if (Status == SettingsStatus::Wrong)
    L.fail(DTLTO_ERROR_CALLER, Error);
  std::string LogError;
  if (!L.open(S.LogFile, S.Verbose, LogError))
    L.warning(LogError);
  for (const std::string &Note : S.Notes)
    L.note(Note);
  for (const std::string &Remark : S.Remarks)
    L.debug(Remark);
  if (Status == SettingsStatus::NoHosts)
    L.fail(DTLTO_ERROR_INFRASTRUCTURE, Error);

  if (S.isWorker())
    sdk::require<dtlto_bundle>(Host, DTLTO_EXT_BUNDLE);
  return O;
}

void Client::configure(const dtlto_session_params &Params,
                       dtlto_session_config &Config) {
  Settings S;
  std::string Error;
  readSettings(Params, os::environment, S, Error);
  Config.needs = S.isWorker()
                     ? DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG
                     : DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS;
  if (!S.Fallback)
    Config.no_fallback = "DISTCC_FALLBACK is 0";
}

Client::Client(const dtlto_host &Host, const dtlto_session_params &Params,
               Opened O)
    : Session(Host), S(std::move(O.S)), TheLog(std::move(O.TheLog)),
      TheFarm(S, Params.llvm_version, Params.linker ? Params.linker : "",
              extension<dtlto_local_codegen>(DTLTO_EXT_LOCAL_CODEGEN), *TheLog,
              Box, Children),
      Results(Params), Monitor(S.StateDir), Packs(MaxPacked),
      Helpers(NumHelpers), Here(localSlots(S)) {}

void Client::begin() {
  if (Box->fd() < 0)
    throw std::system_error(EMFILE, std::generic_category());
  publish();
  Io = std::thread([this] { run(); });
}

//===----------------------------------------------------------------------===//
// What the linker asks for; on its thread
//===----------------------------------------------------------------------===//

bool Client::submit(std::shared_ptr<sdk::Job> J) {
  Box->post([this, J = std::move(J)] { add(J); });
  return true;
}

void Client::cancel(sdk::Job &J) {
  Box->post([this, Id = J.id()] {
    auto It = Jobs.find(Id);
    if (It == Jobs.end())
      return;
    Job &J = *It->second;
    if (J.At == Job::Remote && Clock::now() - J.Began >= S.patience())
      TheFarm.recordUnanswered(*J.On, J.Began);
    // What a helper works on ends when it is done with it.
    if (J.At == Job::Queued || J.At == Job::Remote)
      finish(J, DTLTO_CANCELLED, "");
    else
      J.Cancelled = true;
  });
}

void Client::refuted(uint64_t, const std::string &Worker, int32_t Status) {
  Box->post([this, Worker, Status] { TheFarm.recordRefuted(Worker, Status); });
}

void Client::load(dtlto_load &Load) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Load = Now;
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

void Client::stop() {
  Box->post([this] { Closing = true; });
  if (Io.joinable())
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
    P.wakeAt(J.Noted + NotePeriod);
    J.Conn->prepare(P);
  }
  if (MaxRunning != SIZE_MAX)
    P.wakeAt(RaiseAt);
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
  if (MaxRunning != SIZE_MAX && Time >= RaiseAt) {
    MaxRunning += std::max<size_t>(1, MaxRunning / 4);
    RaiseAt = Time + RaisePeriod;
    if (MaxRunning >= TheFarm.expectedSlots())
      MaxRunning = SIZE_MAX;
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

void Client::add(std::shared_ptr<sdk::Job> Offer) {
  JobPtr &Owned = Jobs[Offer->id()];
  Owned = std::make_unique<Job>(Offer);
  Job &J = *Owned;
  J.Tried.resize(TheFarm.size());
  J.Never.resize(TheFarm.size());
  Offer->forEachInput([&](auto, auto Bytes, const dtlto_input &In) {
    if (In.role == DTLTO_ROLE_PRIMARY)
      J.Module = Bytes.data();
  });
  if (const char *Avoid = Offer->avoid())
    J.Avoid = Avoid;
  auto It = Failed.find({J.Module, J.Name});
  if (It != Failed.end()) {
    J.Tried = It->second.Tried;
    J.Never = It->second.Never;
    J.NumTries = MaxTries - 1;
    J.LastError = It->second.LastError;
  }
  if (GaveUp)
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, "no host is left");
  if (!mayGoOn(J))
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);

  Helpers.run([this, Offer = std::move(Offer)] {
    std::string Error;
    auto Req = build(*Offer, Error);
    Box->post([this, Id = Offer->id(), Req, Error] { packed(Id, Req, Error); });
  });
}

/// Makes what is sent for \p J; by a helper.
std::shared_ptr<const Request> Client::build(const sdk::Job &J,
                                             std::string &Error) {
  try {
    if (!S.isWorker())
      return buildRequest(
          J.raw(), S.Compiler,
          [&](const dtlto_input &Input) { return Packs.pack(Input); }, Error);
    // LZO has no way to begin before all is there.
    std::string Bundle = J.bundle().bytes();
    return buildBundleRequest(
        J.raw(), S.Compiler, "--frame",
        {reinterpret_cast<const uint8_t *>(Bundle.data()), Bundle.size()},
        Error);
  } catch (const sdk::Error &E) {
    Error = E.what();
  } catch (const std::bad_alloc &) {
    Error = "this machine has no memory to compress what is sent";
  }
  return nullptr;
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

/// If no other host is left for \p J, lets hosts that failed it try again,
/// unless their failures were final. Returns whether a host can take \p J.
bool Client::mayGoOn(Job &J) {
  if (!TheFarm.mayTake(J.Tried))
    J.Tried = J.Never;
  return TheFarm.mayTake(J.Tried) || !TheFarm.anyHope();
}

/// Gives waiting jobs to idle slots.
void Client::assign() {
  TheFarm.yield();
  std::deque<uint64_t> Waiting = std::move(Queue);
  Queue.clear();
  for (uint64_t Id : Waiting) {
    Job &J = *Jobs.at(Id);
    if (!mayGoOn(J)) {
      finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);
      continue;
    }
    Host *H = TheFarm.anyRoom() && Running.size() < MaxRunning
                  ? TheFarm.choose(J.Tried, J.Avoid)
                  : nullptr;
    if (!H)
      Queue.push_back(Id);
    else if (H->Spec.Kind == HostKind::Local)
      startLocal(J, *H);
    else
      startRemote(J, *H);
  }
  TheFarm.settle(Running.size() < MaxRunning ? Queue.size() : 0);
}

void Client::startLocal(Job &J, Host &H) {
  J.At = Job::Local;
  J.On = &H;
  J.Began = Clock::now();
  ++NumUnfinished;
  H.take(J.Id);
  J.Offer->state(DTLTO_STATE_LOCAL, H.Name);
  Here.run([this, Offer = J.Offer] {
    sdk::Result R = Offer->compileHere();
    bool IsGood = R.Status == DTLTO_OK;
    Offer->finish(std::move(R));
    Box->post([this, Id = Offer->id(), IsGood] {
      Job &J = *Jobs.at(Id);
      J.Took = Clock::now() - J.Began;
      ended(J, IsGood);
      erase(J);
    });
  });
}

/// Ends a job that no helper has.
void Client::finish(Job &J, int32_t Status, const std::string &Message,
                    Pages Object) {
  if (Status == DTLTO_ERROR_INFRASTRUCTURE)
    Failed[{J.Module, J.Name}] = {J.Tried, J.Never, J.LastError};
  std::string Worker = J.On ? J.On->Name : "";
  if (J.Conn) {
    BytesSent += J.Conn->bytesSent();
    BytesReceived += J.Conn->bytesReceived();
    Running.erase(std::find(Running.begin(), Running.end(), J.Id));
    J.Conn.reset();
    Monitor.remove(J.Id);
    J.On->release(J.Id);
    --NumUnfinished;
  }
  J.Offer->finish({std::move(Object), Message, std::move(Worker), Status});
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
  auto AtMost = [this](unsigned N) {
    return static_cast<unsigned>(std::min<size_t>(N, MaxRunning));
  };
  unsigned Expected = AtMost(TheFarm.expectedSlots());
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    uint32_t Accepted = static_cast<uint32_t>(numJobs());
    Now.slots = AtMost(TheFarm.slots());
    Now.free = std::min(TheFarm.freeSlots(), Now.slots);
    Now.queued = Accepted - std::min(Accepted, NumUnfinished);
    Now.workers = TheFarm.numUsable();
    Now.local = TheFarm.localSlots();
    Now.expected_wait_ms = UINT64_MAX;
    if (Now.free > Now.queued)
      Now.expected_wait_ms = 0;
    else if (Now.slots && SecondsOfAJob != 0)
      Now.expected_wait_ms = static_cast<uint64_t>(
          1000 * SecondsOfAJob * (Now.queued - Now.free + 1) / Now.slots);
  }
  // A few more than can run, so that the next one is packed when a slot
  // becomes idle.
  setCapacity(Expected + std::max(2u, Expected / 4));
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

  TheFarm.sayFailures();
  uint64_t KiB = 1024;
  TheLog->debug("sent " + std::to_string(BytesSent / KiB) + " KiB, received " +
                std::to_string(BytesReceived / KiB) + " KiB");
  number("bytes sent", DTLTO_UNIT_BYTES, BytesSent);
  number("bytes received", DTLTO_UNIT_BYTES, BytesReceived);
  for (size_t I = 0; I != TheFarm.size(); ++I)
    TheLog->debug(TheFarm.host(I).Name + ": " +
                  std::to_string(TheFarm.host(I).NumDone) + " modules");
}
