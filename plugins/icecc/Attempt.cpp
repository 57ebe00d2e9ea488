//===- Attempt.cpp - One try of a job, from the request to the object -----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a job's thread does for one try:
//
//   ask()           the local iceccd for a node; the bundle is made meanwhile
//   waitForGrant()  of a node, or of this machine
//   runAt()         the node            buildHere()     in the linker
//   conclude()      what came back
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include <algorithm>
#include <icecc/comm.h>
#include <sys/resource.h>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

// Nodes before that can't verify an environment.
static constexpr int MinProtocol = 31;

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

struct Client::Attempt {
  Attempt(Job &J, std::string &Error, Retry &Next)
      : J(J), Error(Error), Next(Next) {}
  Attempt(const Attempt &) = delete;

  /// Not here: why, and when to try again.
  bool fails(std::string Why, Retry When) {
    Error = std::move(Why);
    Next = When;
    return false;
  }

  Job &J;
  std::string &Error;
  Retry &Next;
  const EnvironmentTable::List *Envs = nullptr;
  // As long as it is open, the request is.
  std::unique_ptr<Channel> Daemon;
  sdk::Bundle Bundle;
  // Of a grant.
  std::string Address, Node;
  Clock::time_point Began;
};

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
} // namespace

std::optional<dtlto::sdk::Result> Client::attempt(Job &J, std::string &Error,
                                                  Retry &Next) {
  Attempt A(J, Error, Next);
  if (!ask(A))
    return std::nullopt;
  std::unique_ptr<Msg> Answer = waitForGrant(J, *A.Daemon, Error);
  if (!Answer) {
    if (A.Daemon->timedOut()) {
      Next = Retry::Never;
      tookTooLong(J, Error);
    }
    return std::nullopt;
  }
  if (Answer->type == M_NO_CS)
    return buildHere(J, *A.Daemon, static_cast<NoCSMsg &>(*Answer).job_id,
                     Error);
  if (Answer->type != M_USE_CS) {
    Error = "the local iceccd answers something else than a node";
    return std::nullopt;
  }
  auto &Grant = static_cast<UseCSMsg &>(*Answer);
  // So an iceccd names its own machine, but for tests with all on one.
  if (Grant.hostname == "127.0.0.1" && (Grant.port == 0 || !S.LocalNodes))
    return buildHere(J, *A.Daemon, Grant.job_id, Error);
  return conclude(A, runAt(A, Grant));
}

/// Asks for a node. False: the try has failed.
bool Client::ask(Attempt &A) {
  A.Envs = Environments.get(*A.J.Stop, A.Error);
  if (!A.Envs)
    return A.fails(A.Error, Retry::Never);
  A.Daemon = connectDaemon(S, *A.J.Stop, A.Error);
  if (!A.Daemon) {
    if (!A.J.Stop->raised())
      cannotGoOn("the local iceccd can't be reached any more: " + A.Error);
    return A.fails("no local iceccd any more: " + A.Error, Retry::Never);
  }

  ::Environments Names;
  unsigned Features = 0;
  for (const auto &E : *A.Envs) {
    Names.emplace_back(E->platform(), E->name());
    Features |= E->features();
  }
  int Nice = std::clamp(::getpriority(PRIO_PROCESS, 0), 0, 20);
  GetCSMsg Request(Names, A.J.Name, CompileJob::Lang_C, 1,
                   CompileJob().targetPlatform(), 0, S.PreferredHost,
                   MinProtocol, Features, Nice);
  if (!A.Daemon->send(Request))
    return A.fails("the local iceccd takes no request", Retry::AtOnce);
  // Made while the scheduler thinks, so that no grant waits for it.
  try {
    A.Bundle = A.J.Offer.bundle();
  } catch (const sdk::Error &E) {
    return A.fails(E.what(), Retry::Never);
  }
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
    if (!M && !J.Stop->raised() && Daemon.timedOut()) {
      {
        std::lock_guard<std::mutex> Lock(Mutex);
        if (std::max(Asked, LastGrant) != Since)
          continue;
      }
      Error = "no node was granted for " +
              std::to_string(S.GrantTimeout.count()) +
              " s; --thinlto-dist-status shows the farm";
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

/// Runs the job at the node that was granted.
Outcome Client::runAt(Attempt &A, const UseCSMsg &Grant) {
  Environment *Env = A.Envs->front().get();
  for (const auto &E : *A.Envs)
    if (E->platform() == Grant.host_platform)
      Env = E.get();
  A.Address = Grant.hostname + ":" + std::to_string(Grant.port);
  A.Node = TheCluster->nodeName(Grant.hostname, Grant.port);
  A.Began = Clock::now();
  auto Blacklist = [&](const Environment &E) {
    A.Daemon->send(BlacklistHostEnvMsg(E.platform(), E.name(), Grant.hostname));
  };
  bool IsRefuted;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsRefuted = NumRefuted[A.Node] >= MaxRefuted;
  }
  if (IsRefuted) {
    // The scheduler chooses: it is to name others.
    Blacklist(*Env);
    Outcome O;
    O.Text = "its results were wrong";
    return O;
  }
  Counted Granted(Mutex, NumGranted, &MostGranted);
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    NodesSeen.insert(A.Address);
    MustBuildHere = false;
  }
  publish();
  RemoteJob R;
  R.Host = Grant.hostname;
  R.Port = static_cast<uint16_t>(Grant.port);
  R.GrantId = Grant.job_id;
  R.Platform = Grant.host_platform;
  R.HasEnvironment = Grant.got_env;
  R.Bundle = &A.Bundle;
  R.ResultOption = A.J.Offer.resultOption();
  R.Compressed = &Compressed;
  R.Results = &Results;
  R.ResultLimit = ResultLimit;
  R.TransferLimit = S.TransferLimit;
  R.Problem = [&](std::string_view O) { return A.J.Offer.problem(O); };
  R.Report = [&](uint32_t State) { A.J.Offer.state(State, A.Node); };
  R.Blacklist = [&](const Environment &E) {
    TheLog->warning("node " + A.Node +
                    " can't run the worker and is not used with it any more");
    Blacklist(E);
  };
  return runRemotely(R, A.Address, *Env, Environments, *A.J.Stop);
}

/// Acts on what a node made of the job.
std::optional<dtlto::sdk::Result> Client::conclude(Attempt &A, Outcome O) {
  if (O.Kind == Outcome::NodeFailed) {
    // The daemon takes the grant back as we hang up.
    Environments.distrust(A.Address);
    A.fails(A.Node + ": " + O.Text,
            O.TookTooLong ? Retry::Never : Retry::Later);
    if (O.TookTooLong)
      tookTooLong(A.J, A.Error);
    return std::nullopt;
  }
  // Without it, the daemon takes the job for lost.
  A.Daemon->send(EndMsg());
  if (O.Kind == Outcome::WorkerFailed) {
    A.fails(A.Node + ": " + O.Text, Retry::Never);
    return std::nullopt;
  }
  if (O.Kind == Outcome::CompilerError)
    return sdk::Result{{}, O.Text, A.Node, DTLTO_ERROR_COMPILER};
  double Seconds =
      std::chrono::duration<double>(Clock::now() - A.Began).count();
  TheLog->debug("module '" + A.J.Name + "': compiled on " + A.Node + " in " +
                std::to_string(Seconds).substr(0, 5) + " s");
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++NumDone[A.Node];
  }
  return sdk::Result{std::move(O.Object), O.Text, A.Node};
}

/// The scheduler, or the daemon without one, wants this machine to do it.
std::optional<dtlto::sdk::Result> Client::buildHere(Job &J, Channel &Daemon,
                                                    uint32_t GrantId,
                                                    std::string &Error) {
  if (!Codegen) {
    Error = "icecream has no node for it, and the linker compiles nothing here";
    return std::nullopt;
  }
  {
    std::unique_lock<std::mutex> Lock(Mutex);
    MustBuildHere = true;
    Changed.wait(Lock,
                 [&] { return NumHere < Codegen->slots || J.Stop->raised(); });
    if (J.Stop->raised())
      return std::nullopt;
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
  J.Offer.state(DTLTO_STATE_LOCAL);
  sdk::Result R = J.Offer.compileHere();
  Daemon.send(JobDoneMsg(static_cast<int>(GrantId), R.Status != DTLTO_OK,
                         JobDoneMsg::FROM_SUBMITTER));
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    --NumHere;
  }
  Changed.notify_all();
  return R;
}
