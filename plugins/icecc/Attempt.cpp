//===- Attempt.cpp - One try of a job, from the request to the object -----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a job's thread does for one try:
//
//   requestNode()     asks the local iceccd for a node; makes the bundle
//   waitForGrant()    of a node, or of this machine
//   formBatch()       with other small jobs
//   runOnNode()       or compileLocally()
//   handleResults()   of the node
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include "Text.h"
#include <algorithm>
#include <future>
#include <icecc/comm.h>
#include <sys/resource.h>

using namespace dtlto;
using namespace dtlto::icecc;
using namespace std::chrono_literals;

// Older nodes can't verify an environment.
static constexpr int MinProtocol = 31;
// How long the grant of a node that is left out is held while another node is
// requested.
static constexpr Clock::duration HoldLimit = 1s;
// How long a restarting iceccd may be away.
static constexpr Clock::duration RestartLimit = 1s;

static std::string addressOf(const UseCSMsg &Grant) {
  return Grant.hostname + ":" + std::to_string(Grant.port);
}

/// Connects to the local iceccd.
static std::unique_ptr<Channel>
connectDaemon(const Settings &TheSettings, Interrupt &I, std::string &Error) {
  std::string All;
  for (const std::string &Name : TheSettings.Daemons) {
    size_t Colon = Name.rfind(':');
    uint32_t Port = 0;
    std::unique_ptr<Channel> C =
        Name[0] == '/' || Colon == std::string::npos ||
                !dtlto::parseNumber(Name.substr(Colon + 1), 1, UINT16_MAX, Port)
            ? Channel::connectUnix(Name, I, Error)
            : Channel::connect(Name.substr(0, Colon), uint16_t(Port), 2s, I,
                               Error);
    if (C)
      return C;
    All += (All.empty() ? "" : "; ") + Error;
  }
  Error = All;
  return nullptr;
}

std::string dtlto::icecc::daemonProblem(const Settings &TheSettings,
                                        Clock::duration Limit) {
  Interrupt I;
  // libicecc would wait a quarter of a minute for a stopped daemon.
  std::future<void> Watchdog; // its destructor waits for the thread,
  std::promise<void> Done;    // which ends when Done is destroyed
  Watchdog =
      std::async(std::launch::async, [&I, Limit, Ended = Done.get_future()] {
        if (Ended.wait_for(Limit) == std::future_status::timeout)
          I.raise();
      });
  std::string Error;
  return connectDaemon(TheSettings, I, Error)
             ? ""
             : "no local iceccd (" + Error + ")";
}

struct Client::Attempt {
  explicit Attempt(Job &J) : J(J) {}
  Attempt(const Attempt &) = delete;
  /// Returns what interrupts the connection to a node.
  Interrupt &stop() { return Batch ? Batch->Stop : J.Stop; }

  Job &J;
  const EnvironmentTable::List *Envs = nullptr;
  // Keeps the request open.
  std::unique_ptr<Channel> Daemon;
  /// Connections with grants of nodes that are left out. Their slots stay taken
  /// meanwhile, so that the scheduler names another node.
  std::vector<std::unique_ptr<Channel>> HeldDaemons;
  Clock::time_point RequestTime = Clock::now();
  Descriptor NodeSocket;
  std::vector<Job *> Jobs = {&J};   // this job and the others of its batch
  std::vector<sdk::Bundle> Bundles; // of these
  std::unique_ptr<Trip> Batch;      // null: the job goes alone
  // Valid once a node was granted.
  std::string Address, Node;
  Clock::time_point BeginTime;
};

sdk::Result Client::attempt(Job &J) {
  Attempt A(J);
  std::unique_ptr<Msg> Answer;
  while (true) {
    requestNode(A);
    Answer = waitForGrant(A);
    if (!isExcluded(*Answer))
      break;
    A.HeldDaemons.push_back(std::move(A.Daemon));
  }
  A.HeldDaemons.clear();
  if (Answer->type == M_NO_CS)
    return compileLocally(J, *A.Daemon, static_cast<NoCSMsg &>(*Answer).job_id);
  if (Answer->type != M_USE_CS)
    throw Failure{
        "the local iceccd sent an unexpected answer instead of a node",
        Retry::AtOnce};
  auto &Grant = static_cast<UseCSMsg &>(*Answer);
  // The name of an iceccd's own machine, and in tests of all nodes.
  if (Grant.hostname == "127.0.0.1" &&
      (Grant.port == 0 || !TheSettings.AllowsLocalNodes))
    return compileLocally(J, *A.Daemon, Grant.job_id);
  // Release the other jobs of the batch, however it ends.
  std::shared_ptr<void> Release(nullptr, [&](void *) { dissolveBatch(A); });
  formBatch(A);
  return handleResults(A, runOnNode(A, Grant));
}

/// Whether \p M grants a node that is left out.
bool Client::isExcluded(const Msg &M) {
  return M.type == M_USE_CS &&
         Nodes.isExcluded(addressOf(static_cast<const UseCSMsg &>(M)),
                          TheCluster->numbers());
}

/// Asks for a node, and builds the bundle meanwhile.
void Client::requestNode(Attempt &A) {
  std::string Error = Nodes.allWrongError();
  if (!Error.empty() || !(A.Envs = Environments.get(A.J.Stop, Error)))
    throw Failure{Error, Retry::Never};
  // Open the socket first. A granted node that isn't connected to gets no jobs
  // for two minutes, since the scheduler assumes that it unpacks an
  // environment.
  A.NodeSocket = openTcpSocket();
  // The daemon answered when the link began, so it may be restarting.
  const Clock::time_point Until = Clock::now() + RestartLimit;
  while (!(A.Daemon = connectDaemon(TheSettings, A.J.Stop, Error)) &&
         !A.J.Stop.isRaised() && Clock::now() < Until) {
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait_for(Lock, 100ms, [&] { return A.J.Stop.isRaised(); });
  }
  if (!A.Daemon) {
    Error = "the local iceccd can no longer be reached: " + Error;
    if (!A.J.Stop.isRaised())
      setEndReason(Error);
    throw Failure{Error, Retry::Never};
  }

  ::Environments Names;
  unsigned Features = 0;
  for (const auto &E : *A.Envs) {
    Names.emplace_back(E->platform(), E->name());
    Features |= E->features();
  }
  int Nice = std::clamp(::getpriority(PRIO_PROCESS, 0), 0, 20);
  GetCSMsg Request(Names, A.J.Name, CompileJob::Lang_C, 1,
                   CompileJob().targetPlatform(), 0, TheSettings.PreferredHost,
                   MinProtocol, Features, Nice);
  if (!A.Daemon->send(Request))
    throw Failure{"the local iceccd accepts no request", Retry::AtOnce};
  // Build the bundle while the scheduler works, so that no grant waits for it.
  if (A.Bundles.empty())
    try {
      A.Bundles.push_back(A.J.Offer.bundle());
    } catch (const sdk::Error &E) {
      throw Failure{E.what(), Retry::Never};
    }
}

/// Returns the daemon's answer. Keeps waiting as long as other jobs of this
/// link are granted nodes.
std::unique_ptr<Msg> Client::waitForGrant(Attempt &A) {
  const Clock::time_point Release = Clock::now() + HoldLimit;
  while (true) {
    Clock::time_point Since;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Since = std::max(A.RequestTime, LastGrant);
    }
    Clock::time_point End = Since + TheSettings.GrantTimeout;
    if (!A.HeldDaemons.empty())
      End = std::min(End, Release);
    std::string Error;
    std::unique_ptr<Msg> M = A.Daemon->receive(End, Error);
    if (M) {
      if (!isExcluded(*M)) {
        std::lock_guard<std::mutex> Lock(Mutex);
        LastGrant = Clock::now();
        EndReason.clear();
      }
      return M;
    }
    bool HasTimedOut = A.Daemon->hasTimedOut();
    if (A.J.Stop.isRaised() || !HasTimedOut) {
      Error = "local iceccd: " + Error;
    } else {
      A.HeldDaemons.clear();
      if (End == Release && End < Since + TheSettings.GrantTimeout)
        continue;
      {
        std::lock_guard<std::mutex> Lock(Mutex);
        if (std::max(A.RequestTime, LastGrant) != Since)
          continue;
      }
      Error = "no node was granted for " +
              std::to_string(TheSettings.GrantTimeout.count()) +
              " s; --thinlto-dist-status shows the farm";
      // Otherwise each of the next jobs would wait as long.
      setEndReason(Error);
    }
    if (HasTimedOut)
      recordTimeout(A.J, Error);
    throw Failure{Error, HasTimedOut ? Retry::Never : Retry::AtOnce};
  }
}

/// Makes a batch of the job and the next ones in line, if they are small
/// enough.
void Client::formBatch(Attempt &A) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    const size_t Share = TheLine.share();
    uint64_t Cost = A.J.Cost;
    while (A.J.MayBatch && !A.J.Stop.isRaised() && A.Jobs.size() < Share) {
      Job *Next = TheLine.next();
      if (!Next || !Next->MayBatch || Next->Stop.isRaised() ||
          !ThePace.mayAdd(A.Jobs.size(), Cost, Next->Cost))
        break;
      A.Jobs.push_back(Next);
      Cost += Next->Cost;
      TheLine.leave(*Next);
    }
    if (A.Jobs.size() == 1)
      return;
    A.Batch = std::make_unique<Trip>();
    A.Batch->NumNeeded = A.Jobs.size();
    for (Job *J : A.Jobs)
      J->CurrentTrip = A.Batch.get();
    NumShared += unsigned(A.Jobs.size() - 1);
  }
  try {
    for (size_t I = 1; I != A.Jobs.size(); ++I)
      A.Bundles.push_back(A.Jobs[I]->Offer.bundle());
  } catch (const sdk::Error &) {
    // The job whose bundle fails reports it when it goes alone.
    dissolveBatch(A);
  }
}

/// Ends the batch, if it still exists. Its other jobs are tried alone.
void Client::dissolveBatch(Attempt &A) {
  if (!A.Batch)
    return;
  deliverResults(
      A, forAll(A.Jobs.size(), {Outcome::BatchFailed, "the batch failed"}));
}

/// Ends the batch, and hands all jobs but the first their results.
void Client::deliverResults(Attempt &A, RemoteResult R) {
  std::lock_guard<std::mutex> Lock(Mutex);
  A.J.CurrentTrip = nullptr;
  for (size_t I = 1; I != A.Jobs.size(); ++I) {
    Job &To = *A.Jobs[I];
    To.CurrentTrip = nullptr;
    To.TripResult = Job::Delivery{std::move(R.Jobs[I]), A.Node};
    To.Wake.notify_all();
    --NumShared;
  }
  A.Jobs = {&A.J};
  A.Bundles.resize(1);
  A.Batch.reset();
}

/// Runs the job on the node that was granted.
RemoteResult Client::runOnNode(Attempt &A, const UseCSMsg &Grant) {
  Environment *Env = A.Envs->front().get();
  for (const auto &E : *A.Envs)
    if (E->platform() == Grant.host_platform)
      Env = E.get();
  A.Address = addressOf(Grant);
  A.Node = TheCluster->nodeName(Grant.hostname, Grant.port);
  A.BeginTime = Clock::now();
  auto Blacklist = [&](const Environment &E) {
    A.Daemon->send(BlacklistHostEnvMsg(E.platform(), E.name(), Grant.hostname));
  };
  if (Nodes.hasWrongResults(A.Node)) {
    // Make the scheduler name other nodes.
    Blacklist(*Env);
    return forAll(A.Jobs.size(),
                  {Outcome::NodeFailed, "its results were wrong"});
  }
  Nodes.recordGrant(A.Address);
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    MaxGranted = std::max(MaxGranted, ++NumGranted);
    MustCompileLocally = false;
  }
  std::shared_ptr<void> AtEnd(nullptr, [&](void *) {
    std::lock_guard<std::mutex> Lock(Mutex);
    --NumGranted;
  });
  publish();
  RemoteJob R;
  R.Host = Grant.hostname;
  R.Port = static_cast<uint16_t>(Grant.port);
  R.GrantId = Grant.job_id;
  R.Platform = Grant.host_platform;
  R.HasEnvironment = Grant.got_env;
  for (size_t I = 0; I != A.Jobs.size(); ++I)
    R.Bundles.push_back(
        {&A.Bundles[I], [J = A.Jobs[I]](std::string_view Object) {
           return J->Offer.problem(Object);
         }});
  R.ChunkCache = &ChunkCache;
  R.Results = &Results;
  R.ResultLimit = ResultLimit;
  R.TransferLimit = TheSettings.TransferLimit;
  R.Report = [&](uint32_t State) {
    for (Job *J : A.Jobs)
      J->Offer.state(State, A.Node);
  };
  R.OnReady = [&] { settle(A.J); };
  R.Blacklist = [&](const Environment &E) {
    TheLog->warning("node " + A.Node +
                    " cannot run the worker and is no longer used with it");
    Blacklist(E);
  };
  return runRemotely(R, A.Address, std::move(A.NodeSocket), *Env, Environments,
                     A.stop());
}

/// Learns how many jobs are worth one trip.
void Client::learnPace(const Attempt &A, const RemoteResult &R,
                       double Seconds) {
  uint64_t Cost = 0;
  for (const Job *J : A.Jobs)
    Cost += J->Cost;
  const Outcome &First = R.Jobs.front();
  std::lock_guard<std::mutex> Lock(Mutex);
  if (First.Kind == Outcome::BatchFailed || (A.Batch && First.HasTimedOut))
    ThePace.recordFailure();
  else if (First.Kind == Outcome::Compiled)
    ThePace.learn(Seconds, R.WorkSeconds, Cost);
}

/// Handles the results of a node, and hands other jobs theirs.
sdk::Result Client::handleResults(Attempt &A, RemoteResult R) {
  double Seconds =
      std::chrono::duration<double>(Clock::now() - A.BeginTime).count();
  learnPace(A, R, Seconds);
  Nodes.countWrong(A.Node, R);
  Outcome &FirstOutcome = R.Jobs.front();
  // A connection that was cancelled early shows nothing about the node.
  if (FirstOutcome.Unreachable || !A.stop().isRaised())
    Nodes.countUnreachable(A.Address, A.Node, FirstOutcome);
  if (std::any_of(R.Jobs.begin(), R.Jobs.end(), [](const Outcome &O) {
        return O.Kind == Outcome::NodeFailed;
      }))
    Environments.distrust(A.Address);
  // Without this message, the daemon considers the job lost. When we hang up,
  // it takes back the grant of a node that failed.
  if (FirstOutcome.Kind != Outcome::NodeFailed)
    A.Daemon->send(EndMsg());
  for (size_t I = 0; I != R.Jobs.size(); ++I)
    if (R.Jobs[I].Kind == Outcome::Compiled)
      TheLog->debug(
          "module '" + A.Jobs[I]->Name + "': compiled on " + A.Node + " in " +
          std::to_string(Seconds).substr(0, 5) + " s" +
          (A.Batch ? ", in a batch of " + std::to_string(R.Jobs.size()) : ""));
  Outcome OwnOutcome = std::move(FirstOutcome);
  if (A.Batch)
    deliverResults(A, std::move(R));
  return convertOutcome(A.J, std::move(OwnOutcome), A.Node);
}

sdk::Result Client::convertOutcome(Job &J, Outcome O, const std::string &Node) {
  // After any failure, try the job alone: it may have failed because of the
  // others, or they because of it. No lock is needed: the job is not in line.
  J.MayBatch = false;
  Retry Next = Retry::Never;
  switch (O.Kind) {
  case Outcome::Compiled:
    Nodes.recordSuccess(Node);
    return {std::move(O.Object), O.Text, Node};
  case Outcome::CompilerError:
    return {{}, O.Text, Node, DTLTO_ERROR_COMPILER};
  case Outcome::WorkerFailed:
    break;
  case Outcome::NodeFailed:
    Next = O.HasTimedOut ? Retry::Never : Retry::Later;
    break;
  case Outcome::BatchFailed:
    Next = Retry::Alone;
    break;
  }
  std::string Error = Node + ": " + O.Text;
  if (O.HasTimedOut)
    recordTimeout(J, Error);
  throw Failure{Error, Next};
}

/// Compiles in the linker, as the scheduler or, without one, the daemon asks.
sdk::Result Client::compileLocally(Job &J, Channel &Daemon, uint32_t GrantId) {
  if (!Codegen)
    throw Failure{"icecream has no node for the job, and the linker compiles "
                  "nothing locally",
                  Retry::AtOnce};
  {
    std::unique_lock<std::mutex> Lock(Mutex);
    MustCompileLocally = true;
    Changed.wait(
        Lock, [&] { return NumLocal < Codegen->slots || J.Stop.isRaised(); });
    if (J.Stop.isRaised())
      throw Failure{"", Retry::Never};
    ++NumLocal;
  }
  publish();
  settle(J);
  // Without an environment, this only reports the job to the daemon.
  CompileJob Compile;
  Compile.setLanguage(CompileJob::Lang_C);
  Compile.setCompilerName("clang");
  Compile.setEnvironmentVersion("__client");
  Compile.setJobID(GrantId);
  Daemon.send(CompileFileMsg(&Compile));
  TheLog->debug("module '" + J.Name +
                "': compiled locally, as icecream requested");
  J.Offer.state(DTLTO_STATE_LOCAL);
  sdk::Result R = J.Offer.compileLocally();
  Daemon.send(JobDoneMsg(static_cast<int>(GrantId), R.Status != DTLTO_OK,
                         JobDoneMsg::FROM_SUBMITTER));
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    --NumLocal;
    ++NumCompiledLocally;
  }
  Changed.notify_all();
  return R;
}
