//===- Client.cpp - Sends jobs to hosts and returns results ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

using namespace dtlto;
using namespace dtlto::distcc;
using namespace std::chrono_literals;

// The most bytes of compressed modules that are kept for further imports.
static constexpr uint64_t MaxPacked = uint64_t(256) << 20;
// LZO runs at hundreds of megabytes a second: two threads fill any network.
static constexpr unsigned NumHelpers = 2;

static unsigned localSlots(const Settings &TheSettings) {
  unsigned N = 0;
  for (const HostSpec &H : TheSettings.Hosts)
    if (H.Kind == HostKind::Local)
      N += H.Limit ? H.Limit : 2;
  return N;
}

/// Reads the settings and reports notable ones to the user.
static Settings openSettings(const dtlto_host &Host,
                             const dtlto_session_params &Params,
                             MessageLog &TheLog) {
  Settings S = readSettings(Params, os::environment);
  TheLog.open(S.LogFile, S.Verbose);
  for (const std::string &Note : S.Notes)
    TheLog.note(Note);
  for (const std::string &Remark : S.Remarks)
    TheLog.debug(Remark);
  if (!S.NoHosts.empty())
    TheLog.fail(DTLTO_ERROR_INFRASTRUCTURE, S.NoHosts);
  if (isWorker(S.Compiler))
    sdk::require<dtlto_bundle>(Host, DTLTO_EXT_BUNDLE);
  return S;
}

void Client::configure(const dtlto_session_params &Params,
                       dtlto_session_config &Config) {
  Settings S = readSettings(Params, os::environment);
  Config.needs = isWorker(S.Compiler)
                     ? DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG
                     : DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS;
  if (!S.Fallback)
    Config.no_fallback = "DISTCC_FALLBACK is 0";
}

/// Whether a job for \p H stays on this machine, as far as its name says.
static bool isThisMachine(const HostSpec &H) {
  return H.Kind == HostKind::Local || H.Name == "localhost" ||
         H.Name == "::1" || H.Name.compare(0, 4, "127.") == 0;
}

std::string Client::probe(const dtlto_session_params &Params,
                          std::chrono::milliseconds) {
  Settings S = readSettings(Params, os::environment);
  if (!S.NoHosts.empty())
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, S.NoHosts);
  // Debian's package has such a file, which the user may not know.
  const bool IsFile = S.HostsSource.front() == '/';
  if (IsFile && std::all_of(S.Hosts.begin(), S.Hosts.end(), isThisMachine))
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                     S.HostsSource + " names only this machine");
  size_t N = S.Hosts.size();
  return S.HostsSource + " has " + std::to_string(N) +
         (N == 1 ? " host" : " hosts");
}

Client::Client(const dtlto_host &Host, const dtlto_session_params &Params)
    : Session(Host), TheLog(Host, "distcc", "DISTCC_LOG"),
      TheSettings(openSettings(Host, Params, TheLog)),
      TheFarm(TheSettings, Params.llvm_version,
              Params.linker ? Params.linker : "",
              extension<dtlto_local_codegen>(DTLTO_EXT_LOCAL_CODEGEN), TheLog,
              Box, Children),
      Results(Params), Monitor(TheSettings.StateDir), Packs(MaxPacked),
      Helpers(NumHelpers), LocalPool(localSlots(TheSettings)) {}

void Client::begin() {
  if (Box->fd() < 0)
    throw std::system_error(EMFILE, std::generic_category());
  publish();
  Io = std::thread([this] { run(); });
}

//===----------------------------------------------------------------------===//
// Requests of the linker, on its thread
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
    Job &J = It->second;
    if (J.State == Job::Remote &&
        Clock::now() - J.BeginTime >= TheSettings.patience())
      TheFarm.recordUnanswered(*J.Target, J.BeginTime);
    // A job that a helper has ends when the helper is done.
    if (J.State == Job::Queued || J.State == Job::Remote)
      finish(J, DTLTO_CANCELLED, "");
    else
      J.WasCancelled = true;
  });
}

void Client::refuted(uint64_t, const std::string &Worker, int32_t Status) {
  Box->post([this, Worker, Status] { TheFarm.recordRefuted(Worker, Status); });
}

void Client::load(dtlto_load &Load) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Load = CurrentLoad;
}

std::vector<dtlto::sdk::Worker>
Client::status(std::chrono::milliseconds Limit) {
  auto New = std::make_shared<StatusQuery>();
  New->Limit = Limit;
  New->End = Clock::now() + Limit;
  auto Answer = New->Promise.get_future();
  Box->post([this, New] { Query = New; });
  return Answer.get();
}

void Client::stop() {
  Box->post([this] { IsClosing = true; });
  if (Io.joinable())
    Io.join();
}

//===----------------------------------------------------------------------===//
// The I/O thread
//===----------------------------------------------------------------------===//

void Client::run() {
  IoId = std::this_thread::get_id();
  TheFarm.start();
  while (!IsClosing)
    turn();
  shutDown();
}

void Client::turn() {
  Poller P;
  bool HasMail = false;
  P.add(Box->fd(), POLLIN, [&](short) { HasMail = true; });
  TheFarm.prepare(P);
  for (auto &[Id, J] : Jobs)
    if (J.Conn) {
      P.wakeAt(J.LastNote + NotePeriod);
      J.Conn->prepare(P);
    }
  if (MaxRunning != SIZE_MAX)
    P.wakeAt(RaiseAt);
  if (Query)
    P.wakeAt(Query->End);
  if (!Children.empty())
    P.wakeAt(Clock::now() + 100ms);
  P.wait();

  // Deliver mail only after wait(): a letter may end a connection that wait()
  // would call.
  if (HasMail)
    Box->deliver();
  Children.reap();
  Clock::time_point Time = Clock::now();
  TheFarm.checkTime(Time);
  for (auto It = Jobs.begin(); It != Jobs.end();) {
    Job &J = It++->second; // J may be erased
    if (!J.Conn)
      continue;
    J.Conn->checkTime(Time);
    watch(J);
    if (J.Conn->ended())
      onConnectionEnd(J);
  }
  if (MaxRunning != SIZE_MAX && Time >= RaiseAt) {
    MaxRunning += std::max<size_t>(1, MaxRunning / 4);
    RaiseAt = Time + RaisePeriod;
    if (MaxRunning >= TheFarm.counts().Expected)
      MaxRunning = SIZE_MAX;
  }
  assign();
  answerStatus();
  giveUpIfUnusable();
  publish();
}

void Client::answerStatus() {
  if (!Query || (!TheFarm.isSettled() && Clock::now() < Query->End))
    return;
  Query->Promise.set_value(TheFarm.report(Query->Limit));
  Query.reset();
}

Client::Job &Client::job(uint64_t Id) {
  assert(onIoThread());
  auto It = Jobs.find(Id);
  assert(It != Jobs.end() && "a job lives until its helper is done");
  return It->second;
}

void Client::add(std::shared_ptr<sdk::Job> Offer) {
  Job &J = Jobs.try_emplace(Offer->id(), Offer).first->second;
  J.TriedHosts.resize(TheFarm.size());
  J.ExcludedHosts.resize(TheFarm.size());
  Offer->forEachInput([&](auto, auto Bytes, const dtlto_input &In) {
    if (In.role == DTLTO_ROLE_PRIMARY)
      J.Module = Bytes.data();
  });
  if (const char *Avoid = Offer->avoid())
    J.Avoid = Avoid;
  auto It = Failures.find({J.Module, J.Name});
  if (It != Failures.end()) {
    J.TriedHosts = It->second.TriedHosts;
    J.ExcludedHosts = It->second.ExcludedHosts;
    J.NumTries = MaxTries - 1;
    J.LastError = It->second.LastError;
  }
  if (HasGivenUp)
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, "no host is left");
  if (!canContinue(J))
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);

  Helpers.run([this, Offer = std::move(Offer)] {
    std::string Error;
    auto Req = build(*Offer, Error);
    Box->post(
        [this, Id = Offer->id(), Req, Error] { onPacked(Id, Req, Error); });
  });
}

/// Builds the request for \p J. Returns null with \p Error on failure.
std::shared_ptr<const Request> Client::build(const sdk::Job &J,
                                             std::string &Error) {
  try {
    if (!isWorker(TheSettings.Compiler))
      return buildRequest(J.raw(), TheSettings.Compiler, Packs);
    // LZO can't compress a stream: the bundle must be in one piece.
    return buildBundleRequest(J.raw(), TheSettings.Compiler,
                              J.bundle().bytes());
  } catch (const sdk::Error &E) {
    Error = E.what();
  } catch (const std::bad_alloc &) {
    Error = "this machine has too little memory to compress the job";
  }
  return nullptr;
}

void Client::onPacked(uint64_t Id, std::shared_ptr<const Request> Req,
                      const std::string &Error) {
  Job &J = job(Id);
  if (J.WasCancelled)
    return finish(J, DTLTO_CANCELLED, "");
  if (!Req) // it would fail for each host
    return finish(J, DTLTO_ERROR_CALLER, Error);
  if (HasGivenUp)
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, "no host is left");
  J.Req = std::move(Req);
  J.State = Job::Queued;
  Queue.push_back(Id);
}

/// If no other host is left for \p J, lets hosts that failed it try again,
/// unless their failures were final. Returns whether a host can take \p J, or
/// no host is left for any job.
bool Client::canContinue(Job &J) {
  if (!TheFarm.mayTake(J.TriedHosts))
    J.TriedHosts = J.ExcludedHosts;
  return TheFarm.mayTake(J.TriedHosts) || !TheFarm.mayTakeJobs();
}

/// Gives queued jobs to idle slots.
void Client::assign() {
  TheFarm.yield();
  for (uint64_t Id : std::exchange(Queue, {})) {
    Job &J = job(Id);
    if (!canContinue(J))
      finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);
    else if (Host *H = NumRunning < MaxRunning
                           ? TheFarm.choose(J.TriedHosts, J.Avoid)
                           : nullptr)
      start(J, *H);
    else
      Queue.push_back(Id);
  }
  TheFarm.settle(NumRunning < MaxRunning ? Queue.size() : 0);
}

void Client::start(Job &J, Host &H) {
  assert(J.State == Job::Queued && !J.Target && !J.HasSlot);
  J.Target = &H;
  J.HasSlot = true;
  J.BeginTime = J.LastReport = J.LastNote = Clock::now();
  if (H.Spec.Kind == HostKind::Local)
    startLocal(J);
  else
    startRemote(J);
}

void Client::startLocal(Job &J) {
  J.State = Job::Local;
  J.Target->take(J.Id);
  J.Offer->state(DTLTO_STATE_LOCAL, J.Target->Name);
  LocalPool.run([this, Offer = J.Offer] {
    sdk::Result R = Offer->compileLocally();
    bool IsGood = R.Status == DTLTO_OK;
    Offer->finish(std::move(R));
    Box->post([this, Id = Offer->id(), IsGood] {
      Job &J = job(Id);
      J.Duration = Clock::now() - J.BeginTime;
      ended(J, IsGood);
      erase(J);
    });
  });
}

/// Closes the connection of \p J, if it has one, and returns it.
std::unique_ptr<Connection> Client::hangUp(Job &J) {
  std::unique_ptr<Connection> C = std::move(J.Conn);
  if (!C)
    return C;
  BytesSent += C->bytesSent();
  BytesReceived += C->bytesReceived();
  --NumRunning;
  Monitor.remove(J.Id);
  return C;
}

void Client::freeSlot(Job &J) {
  if (std::exchange(J.HasSlot, false))
    J.Target->release(J.Id);
}

/// Returns a result to the linker. No helper may have the job.
void Client::finish(Job &J, int32_t Status, std::string Message,
                    sdk::Buffer Object) {
  if (Status == DTLTO_ERROR_INFRASTRUCTURE)
    Failures[{J.Module, J.Name}] = {J.TriedHosts, J.ExcludedHosts, J.LastError};
  std::shared_ptr<sdk::Job> Offer = J.Offer;
  std::string Worker = J.Target ? J.Target->Name : "";
  erase(J);
  Offer->finish(
      {std::move(Object), std::move(Message), std::move(Worker), Status});
}

void Client::erase(Job &J) {
  assert(onIoThread());
  hangUp(J);
  freeSlot(J);
  Queue.erase(std::remove(Queue.begin(), Queue.end(), J.Id), Queue.end());
  Jobs.erase(J.Id);
}

unsigned Client::numAssigned() const {
  return static_cast<unsigned>(
      std::count_if(Jobs.begin(), Jobs.end(), [](auto &Entry) {
        return Entry.second.Target != nullptr;
      }));
}

/// Gives up if no host is left. Waits for running jobs: if one succeeds, its
/// host is used again.
void Client::giveUpIfUnusable() {
  if (HasGivenUp || TheFarm.mayTakeJobs() || TheSettings.IsStatusOnly ||
      numAssigned())
    return;
  HasGivenUp = true;
  TheLog.error(
      (TheFarm.size() == 1
           ? "the only host, " + TheFarm.host(0).Name + ", cannot be used"
           : "none of the " + std::to_string(TheFarm.size()) +
                 " hosts can be used") +
      "; --thinlto-dist-status shows why");
  for (uint64_t Id : std::deque<uint64_t>(Queue))
    finish(job(Id), DTLTO_ERROR_INFRASTRUCTURE, "no host is left");
}

/// Reports the new state to the linker.
void Client::publish() {
  auto AtMost = [this](unsigned N) {
    return static_cast<unsigned>(std::min<size_t>(N, MaxRunning));
  };
  Farm::Counts C = TheFarm.counts();
  unsigned Expected = AtMost(C.Expected);
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    uint32_t Accepted = static_cast<uint32_t>(numJobs());
    CurrentLoad.slots = AtMost(C.Slots);
    CurrentLoad.free = std::min(C.Free, CurrentLoad.slots);
    CurrentLoad.queued = Accepted - std::min(Accepted, numAssigned());
    CurrentLoad.workers = C.Hosts;
    CurrentLoad.local = C.Local;
    CurrentLoad.expected_wait_ms = UINT64_MAX;
    if (CurrentLoad.free > CurrentLoad.queued)
      CurrentLoad.expected_wait_ms = 0;
    else if (CurrentLoad.slots && SecondsPerJob != 0)
      CurrentLoad.expected_wait_ms = static_cast<uint64_t>(
          1000 * SecondsPerJob * (CurrentLoad.queued - CurrentLoad.free + 1) /
          CurrentLoad.slots);
  }
  // Accept a few more than can run, so that the next one is packed when a slot
  // becomes idle.
  setCapacity(Expected + std::max(2u, Expected / 4));
}

void Client::shutDown() {
  // Close the connections first, so that the compilers at the other end stop
  // while the helpers finish.
  for (auto It = Jobs.begin(); It != Jobs.end();)
    if (Job &J = It++->second; J.Conn)
      finish(J, DTLTO_CANCELLED, "");
  Helpers.stop();
  LocalPool.stop();
  // Deliver the helpers' last results and the linker's last requests.
  Box->deliver();
  Box->stop();
  while (!Jobs.empty())
    finish(Jobs.begin()->second, DTLTO_CANCELLED, "");

  TheFarm.reportFailures();
  uint64_t KiB = 1024;
  TheLog.debug("sent " + std::to_string(BytesSent / KiB) + " KiB, received " +
               std::to_string(BytesReceived / KiB) + " KiB");
  number("bytes sent", DTLTO_UNIT_BYTES, BytesSent);
  number("bytes received", DTLTO_UNIT_BYTES, BytesReceived);
  for (size_t I = 0; I != TheFarm.size(); ++I)
    TheLog.debug(TheFarm.host(I).Name + ": " +
                 std::to_string(TheFarm.host(I).NumDone) + " modules");
}
