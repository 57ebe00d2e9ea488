//===- Client.cpp - Jobs, from the linker to the nodes and back -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include <algorithm>
#include <icecc/comm.h>
#include <sys/resource.h>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

// So often a node is asked for before the linker gets a job back.
static constexpr unsigned MaxTries = 3;
// After a node failed, and longer each time: a scheduler that hasn't noticed
// its death would name that node again.
static constexpr Clock::duration RetryPause = 300ms;
// Requests of a session that doesn't know yet how many slots there are.
static constexpr unsigned FirstRequests = 8;
// Nodes before that can't verify an environment.
static constexpr int MinProtocol = 31;

/// Those that there is an environment for.
static std::vector<std::string> platforms(const Settings &S) {
  std::vector<std::string> Found;
  std::string Here = CompileJob().targetPlatform();
  for (const auto &E : S.Environments)
    Found.push_back(E.Platform.empty() ? Here : E.Platform);
  if (Found.empty())
    Found.push_back(Here);
  return Found;
}

Client::Client(const dtlto_host &TheHost, const dtlto_session_params &Params,
               Settings TheSettings, std::unique_ptr<Log> L,
               const dtlto_bundle &Bundler, const dtlto_local_codegen *Codegen)
    : TheHost(TheHost), Bundler(Bundler), Codegen(Codegen),
      S(std::move(TheSettings)), TheLog(std::move(L)),
      // The linker has the same limit, and cancels.
      ResultLimit(Params.job_timeout_s ? Params.job_timeout_s : 3600),
      TheCluster(std::make_shared<Cluster>(S, platforms(S))),
      LastGrant(Clock::now()), Pool(S.MaxJobs) {
  publish();
  Preparer = std::thread([this] { prepare(); });
  TheCluster->start([this] { publish(); });
}

/// Packing a worker takes a part of a second.
void Client::prepare() {
  EnvironmentTable::List Found;
  std::string Error, Here = CompileJob().targetPlatform();
  if (S.Environments.empty())
    Found.push_back(
        Environment::ofWorker(S.Worker, S.CacheFolder, Here, Error));
  for (const auto &E : S.Environments)
    Found.push_back(Environment::ofFile(
        E.File, E.Platform.empty() ? Here : E.Platform, Error));
  if (!Error.empty()) {
    TheLog->error(Error);
    Found.clear();
  }
  for (const auto &E : Found)
    TheLog->debug("environment " + E->name() + " for " + E->platform());
  Environments.set(std::move(Found), Error);
}

/// Connects to the local iceccd.
static std::unique_ptr<Channel> connectDaemon(const Settings &S, Interrupt &I,
                                              std::string &Error) {
  std::string All;
  for (const std::string &Name : S.Daemons) {
    size_t Colon = Name.rfind(':');
    std::unique_ptr<Channel> C =
        Name[0] == '/' || Colon == std::string::npos
            ? Channel::connectUnix(Name, I, Error)
            : Channel::connect(Name.substr(0, Colon),
                               uint16_t(std::stoul(Name.substr(Colon + 1))), 2s,
                               I, Error);
    if (C)
      return C;
    All += (All.empty() ? "" : "; ") + Error;
  }
  Error = All;
  return nullptr;
}

bool dtlto::icecc::haveDaemon(const Settings &S, std::string &Error) {
  Interrupt I;
  return connectDaemon(S, I, Error) != nullptr;
}

//===----------------------------------------------------------------------===//
// What the linker asks for; on its thread
//===----------------------------------------------------------------------===//

int32_t Client::submit(const dtlto_job &J) {
  JobPtr New;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Accepted >= Capacity) {
      SaidBusy = true;
      return DTLTO_BUSY;
    }
    ++Accepted;
    New = std::make_shared<Job>(J.id, J.name ? J.name : "");
    Jobs[J.id] = New;
  }
  // There is a thread for each that is accepted.
  Pool.run([this, New] { run(*New); });
  return DTLTO_OK;
}

void Client::cancel(uint64_t Id) {
  JobPtr J;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto It = Jobs.find(Id);
    if (It == Jobs.end())
      return;
    J = It->second;
    J->Stop.raise();
  }
  Changed.notify_all();
  Environments.wake();
}

void Client::load(dtlto_load &Load) {
  Cluster::Numbers N = TheCluster->numbers();
  std::lock_guard<std::mutex> Lock(Mutex);
  Load.slots = Load.free = Load.workers = UINT32_MAX;
  if (N.Known) {
    Load.slots = N.Slots;
    // Jobs that began before we listened aren't in the scheduler's count.
    Load.free = std::min(N.Free, N.Slots - std::min(N.Slots, NumGranted));
    Load.workers = N.Nodes;
  } else if (MostGranted) {
    Load.slots = MostGranted;
    Load.workers = static_cast<uint32_t>(NodesSeen.size());
  }
  Load.queued = Accepted - std::min(Accepted, NumGranted + NumHere);
  Load.expected_wait_ms = N.Known && N.Free > Load.queued ? 0 : UINT64_MAX;
}

void Client::close() {
  TheCluster->stop();
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Closing = true;
    for (auto &[Id, J] : Jobs)
      J->Stop.raise();
  }
  Changed.notify_all();
  Environments.wake();
  Pool.stop();
  Preparer.join();
  // What no thread had begun.
  while (!Jobs.empty())
    finish(*Jobs.begin()->second, DTLTO_CANCELLED, "");
  for (const auto &[Node, N] : NumDone)
    TheLog->debug(Node + ": " + std::to_string(N) + " modules");
}

//===----------------------------------------------------------------------===//
// A job; on its thread
//===----------------------------------------------------------------------===//

void Client::run(Job &J) {
  std::string Error;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (auto It = TookTooLong.find(J.Name); It != TookTooLong.end())
      Error = It->second;
  }
  if (!Error.empty())
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, Error);
  for (unsigned Try = 1;; ++Try) {
    Retry Next = Retry::AtOnce;
    if (attempt(J, Error, Next))
      return;
    if (J.Stop.raised())
      return finish(J, DTLTO_CANCELLED, "");
    if (Next == Retry::Never || Try == MaxTries)
      break;
    TheLog->debug("module '" + J.Name + "': " + Error + "; asking again");
    TheHost.job_state(TheHost.context, J.Id, DTLTO_STATE_QUEUED, nullptr);
    if (Next == Retry::AtOnce)
      continue;
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait_for(Lock, Try * RetryPause, [&] { return J.Stop.raised(); });
  }
  finish(J, DTLTO_ERROR_INFRASTRUCTURE, Error);
}

namespace {
/// Counts while it lives.
class Counted {
public:
  Counted(std::mutex &Mutex, unsigned &N, unsigned *Most = nullptr)
      : Mutex(Mutex), N(N) {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++N;
    if (Most)
      *Most = std::max(*Most, N);
  }
  ~Counted() {
    std::lock_guard<std::mutex> Lock(Mutex);
    --N;
  }

private:
  std::mutex &Mutex;
  unsigned &N;
};

struct OwnedBuffer : dtlto_buffer {
  OwnedBuffer() : dtlto_buffer{} {}
  ~OwnedBuffer() { dtlto::icecc::release(*this); }
};
} // namespace

bool Client::attempt(Job &J, std::string &Error, Retry &Next) {
  const EnvironmentTable::List *Envs = Environments.get(J.Stop, Error);
  if (!Envs) {
    Next = Retry::Never;
    return false;
  }
  std::unique_ptr<Channel> Daemon = connectDaemon(S, J.Stop, Error);
  if (!Daemon) {
    Next = Retry::Never;
    if (!J.Stop.raised())
      cannotGoOn("the local iceccd can't be reached any more: " + Error);
    Error = "no local iceccd any more: " + Error;
    return false;
  }

  ::Environments Names;
  unsigned Features = 0;
  for (const auto &E : *Envs) {
    Names.emplace_back(E->platform(), E->name());
    Features |= E->features();
  }
  int Nice = std::clamp(::getpriority(PRIO_PROCESS, 0), 0, 20);
  GetCSMsg Request(Names, J.Name, CompileJob::Lang_C, 1,
                   CompileJob().targetPlatform(), 0, S.PreferredHost,
                   MinProtocol, Features, Nice);
  if (!Daemon->send(Request)) {
    Error = "the local iceccd takes no request";
    return false;
  }
  // Made while the scheduler thinks, so that no grant waits for it.
  OwnedBuffer Bundle;
  if (Bundler.make(TheHost.context, J.Id, &Bundle) != DTLTO_OK) {
    Error = "the linker can't make the job's bundle";
    Next = Retry::Never;
    return false;
  }
  std::unique_ptr<Msg> Answer = waitForGrant(J, *Daemon, Error);
  if (!Answer) {
    if (Daemon->timedOut()) {
      Next = Retry::Never;
      tookTooLong(J, Error);
    }
    return false;
  }
  if (Answer->type == M_NO_CS)
    return compileHere(J, *Daemon, static_cast<NoCSMsg &>(*Answer).job_id,
                       Error);
  if (Answer->type != M_USE_CS) {
    Error = "the local iceccd answers something else than a node";
    return false;
  }
  auto &Grant = static_cast<UseCSMsg &>(*Answer);
  // So an iceccd names its own machine, but for tests with all on one.
  if (Grant.hostname == "127.0.0.1" && (Grant.port == 0 || !S.LocalNodes))
    return compileHere(J, *Daemon, Grant.job_id, Error);

  Environment *Env = Envs->front().get();
  for (const auto &E : *Envs)
    if (E->platform() == Grant.host_platform)
      Env = E.get();
  std::string Address = Grant.hostname + ":" + std::to_string(Grant.port);
  std::string Node = TheCluster->nodeName(Grant.hostname, Grant.port);
  Clock::time_point Began = Clock::now();
  Outcome O;
  {
    Counted Granted(Mutex, NumGranted, &MostGranted);
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      NodesSeen.insert(Address);
      MustBuildHere = false;
    }
    publish();
    RemoteJob R;
    R.Host = Grant.hostname;
    R.Port = static_cast<uint16_t>(Grant.port);
    R.GrantId = Grant.job_id;
    R.Platform = Grant.host_platform;
    R.HasEnvironment = Grant.got_env;
    R.Bundle = &Bundle;
    R.ResultLimit = ResultLimit;
    R.Report = [&](uint32_t State) {
      TheHost.job_state(TheHost.context, J.Id, State, Node.c_str());
    };
    R.Blacklist = [&](const Environment &E) {
      TheLog->warning("node " + Node +
                      " can't run the worker and is not used with it any more");
      Daemon->send(BlacklistHostEnvMsg(E.platform(), E.name(), Grant.hostname));
    };
    O = runRemotely(R, Address, *Env, Environments, J.Stop);
  }
  switch (O.Kind) {
  case Outcome::NodeFailed:
    Environments.distrust(Address);
    Next = O.TookTooLong ? Retry::Never : Retry::Later;
    Error = Node + ": " + O.Text;
    if (O.TookTooLong)
      tookTooLong(J, Error);
    return false; // and the daemon takes the grant back as we hang up
  case Outcome::WorkerFailed:
    Daemon->send(EndMsg());
    Error = Node + ": " + O.Text;
    Next = Retry::Never;
    return false;
  case Outcome::CompilerError:
    Daemon->send(EndMsg());
    finish(J, DTLTO_ERROR_COMPILER, O.Text, Node);
    return true;
  case Outcome::Compiled:
    break;
  }
  // Without it, the daemon takes the job for lost.
  Daemon->send(EndMsg());
  double Seconds = std::chrono::duration<double>(Clock::now() - Began).count();
  TheLog->debug("module '" + J.Name + "': compiled on " + Node + " in " +
                std::to_string(Seconds).substr(0, 5) + " s");
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++NumDone[Node];
  }
  finish(J, DTLTO_OK, O.Text, Node, O.Object);
  return true;
}

/// A job may wait as long as others of this link are given nodes.
std::unique_ptr<Msg> Client::waitForGrant(Job &J, Channel &Daemon,
                                          std::string &Error) {
  Clock::time_point Asked = Clock::now();
  while (true) {
    Clock::time_point Since;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Since = std::max(Asked, LastGrant);
    }
    std::unique_ptr<Msg> M = Daemon.receive(Since + S.GrantTimeout, Error);
    if (!M && !J.Stop.raised() && Daemon.timedOut()) {
      {
        std::lock_guard<std::mutex> Lock(Mutex);
        if (std::max(Asked, LastGrant) != Since)
          continue;
      }
      Error = "no node was granted for " +
              std::to_string(S.GrantTimeout.count()) + " s";
      // Or each of the jobs to come would wait as long.
      cannotGoOn(Error);
    } else if (!M) {
      Error = "local iceccd: " + Error;
    } else {
      std::lock_guard<std::mutex> Lock(Mutex);
      LastGrant = Clock::now();
      TheEnd.clear();
    }
    return M;
  }
}

/// The scheduler, or the daemon without one, wants this machine to do it.
bool Client::compileHere(Job &J, Channel &Daemon, uint32_t GrantId,
                         std::string &Error) {
  if (!Codegen) {
    Error = "icecream has no node for it, and the linker compiles nothing here";
    return false;
  }
  {
    std::unique_lock<std::mutex> Lock(Mutex);
    MustBuildHere = true;
    Changed.wait(Lock,
                 [&] { return NumHere < Codegen->slots || J.Stop.raised(); });
    if (J.Stop.raised())
      return false;
    ++NumHere;
  }
  publish();
  // Tells the daemon that it is done, not how: no environment.
  CompileJob Compile;
  Compile.setLanguage(CompileJob::Lang_C);
  Compile.setCompilerName("clang");
  Compile.setEnvironmentVersion("__client");
  Compile.setJobID(GrantId);
  Daemon.send(CompileFileMsg(&Compile));
  TheLog->debug("module '" + J.Name + "': compiled here, as icecream wants");
  TheHost.job_state(TheHost.context, J.Id, DTLTO_STATE_LOCAL, nullptr);
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  Codegen->run(TheHost.context, J.Id, &Result);
  Daemon.send(JobDoneMsg(static_cast<int>(GrantId), Result.status != DTLTO_OK,
                         JobDoneMsg::FROM_SUBMITTER));
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    --NumHere;
  }
  Changed.notify_all();
  TheHost.job_done(TheHost.context, J.Id, &Result);
  ended(J);
  return true;
}

void Client::finish(Job &J, int32_t Status, const std::string &Message,
                    const std::string &Worker, dtlto_buffer Object) {
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  Result.status = Status;
  Result.message = Message.empty() ? nullptr : Message.c_str();
  Result.worker = Worker.empty() ? nullptr : Worker.c_str();
  Result.object = Object;
  TheHost.job_done(TheHost.context, J.Id, &Result);
  ended(J);
}

/// The linker has had its job_done().
void Client::ended(Job &J) {
  uint64_t Id = J.Id;
  std::string Why;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Jobs.erase(Id);
    --Accepted;
    // Those that are at nodes come to their end all the same.
    if (!TheEnd.empty() && NumGranted + NumHere == 0 && !GaveUp && !Closing) {
      GaveUp = true;
      Why = TheEnd;
    }
  }
  if (!Why.empty())
    TheLog->error(Why);
  publish();
}

/// The linker may offer it once more, as another job.
void Client::tookTooLong(const Job &J, const std::string &Why) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!J.Name.empty())
    TookTooLong[J.Name] = Why;
}

void Client::cannotGoOn(const std::string &Why) {
  std::lock_guard<std::mutex> Lock(Mutex);
  TheEnd = Why;
}

/// Makes room for as many jobs as there are slots, and a few.
void Client::publish() {
  Cluster::Numbers N = TheCluster->numbers();
  bool Tell = false;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    unsigned Slots = std::max(N.Slots, MostGranted);
    if (MustBuildHere && Codegen)
      Slots = std::max(Slots, Codegen->slots);
    unsigned Few =
        N.Known || MostGranted ? std::max(2u, Slots / 4) : FirstRequests;
    // Slots that weren't known may be more than those that were granted.
    if (!N.Known)
      Few = std::max(Few, FirstRequests / 2);
    Capacity = std::min(Slots + Few, S.MaxJobs);
    if (SaidBusy && Accepted < Capacity && !Closing) {
      SaidBusy = false;
      Tell = true;
    }
    // Not how many are free: that changes with each job of anybody's, and would
    // look like a sign of life of ours.
    if (N.Known && (N.Nodes != ToldNodes || N.Slots != ToldSlots) && !Closing) {
      ToldNodes = N.Nodes;
      ToldSlots = N.Slots;
      Tell = true;
    }
  }
  if (Tell)
    TheHost.load_changed(TheHost.context);
}
