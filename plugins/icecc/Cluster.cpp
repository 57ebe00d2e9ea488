//===- Cluster.cpp - What the scheduler reports on nodes ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cluster.h"
#include "SchedulerText.h"
#include "Text.h"
#include "dtlto/sdk/Socket.hpp"
#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstring>
#include <icecc/comm.h>
#include <poll.h>
#include <sstream>
#include <thread>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

static constexpr uint16_t SchedulerPort = 8765;
static constexpr Clock::duration ConnectLimit = 2500ms;
// How long a status waits until the name is resolved and a scheduler answers.
static constexpr std::chrono::milliseconds StatusLimit = 3s;
// How long a node may take to accept a connection: twice the system's retry
// time.
static constexpr Clock::duration ProbeLimit = 2s;
// How long libicecc collects answers, in seconds. A short link can't wait for
// long, and an answer may be late.
static constexpr int DiscoverySeconds[] = {1, 2};
// How long connecting to the scheduler that answered may take.
static constexpr Clock::duration DiscoveryLimit = 30s;
// How long to gather nodes: a scheduler sends one message for each.
static constexpr Clock::duration GatherPause = 20ms, MaxGatherTime = 200ms;
// How long a scheduler may take to answer a login. It delays messages
// smaller than a packet by 0.2 s.
static constexpr Clock::duration LoginLimit = 1s;
// The limit for the text port, which may be unreachable.
static constexpr Clock::duration MaxText = 3s;
// The pause before looking again for a scheduler that was lost or not found.
static constexpr int PauseMs = 5000;

Cluster::Cluster(const Settings &S, std::vector<std::string> Platforms)
    : Scheduler(S.Scheduler), SchedulerSource(S.SchedulerSource),
      NetName(S.NetName), Platforms(std::move(Platforms)) {}

void Cluster::start(std::function<void()> Callback) {
  OnChange = std::move(Callback);
  // The linker's own threads must get its signals.
  sigset_t All, Old;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Old);
  std::shared_ptr<void> Unmask( // also if no thread can be started
      nullptr, [&](void *) { pthread_sigmask(SIG_SETMASK, &Old, nullptr); });
  // The thread makes no calls after stop(), and plugins are never unloaded.
  std::thread([Self = shared_from_this()] { Self->run(); }).detach();
}

void Cluster::stop() {
  {
    // Wait for a call in progress.
    std::lock_guard<std::mutex> Lock(OnChangeMutex);
    OnChange = nullptr;
  }
  {
    // If a monitor hangs up while its login is handled, the scheduler of
    // icecream 1.4 uses the monitor after deleting it, and may crash.
    std::unique_lock<std::mutex> Lock(Mutex);
    IsStopping = true;
    NodesChanged.wait_for(Lock, LoginLimit, [&] { return !IsLoggingIn; });
  }
  Stop.raise();
}

void Cluster::notifyChanged() {
  std::lock_guard<std::mutex> Lock(OnChangeMutex);
  if (OnChange)
    OnChange();
}

std::unique_ptr<Channel> Cluster::findScheduler(std::string &Why) {
  if (!Scheduler.empty()) {
    auto Fail = [&](const std::string &Reason) {
      Why = "the icecream scheduler " + quote(Scheduler) +
            (SchedulerSource.empty() ? ""
                                     : ", as " + SchedulerSource + " says,") +
            " cannot be queried: " + Reason;
      return nullptr;
    };
    size_t Colon = Scheduler.rfind(':');
    uint32_t Port = SchedulerPort;
    if (Colon != std::string::npos &&
        !dtlto::parseNumber(Scheduler.substr(Colon + 1), 1, 65535, Port))
      return Fail("expected HOST or HOST:PORT");
    sdk::LookupResult Found =
        sdk::lookUp(Scheduler.substr(0, Colon), uint16_t(Port), AF_INET);
    sockaddr_in At = {};
    if (Found.Error.empty())
      std::memcpy(&At, &Found.Addresses.front().Storage, sizeof(At));
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      IsResolved = true;
      if (Found.Error.empty())
        SchedulerAddress = At;
    }
    if (!Found.Error.empty())
      return Fail(Found.Error);
    char Address[INET_ADDRSTRLEN] = "";
    ::inet_ntop(AF_INET, &At.sin_addr, Address, sizeof(Address));
    std::string Error;
    std::unique_ptr<Channel> C;
    try {
      C = Channel::connect(Address, uint16_t(Port), ConnectLimit, Stop, Error);
    } catch (const OutOfDescriptors &E) { // tried again later
      Error = E.what();
    }
    if (!C)
      return Fail(Error);
    return C;
  }
  for (int Seconds : DiscoverySeconds)
    if (std::unique_ptr<Channel> C = discover(Seconds))
      return C;
  Why = "no icecream scheduler answered on the local network" +
        (NetName.empty() ? "" : " " + quote(NetName)) +
        "; ICECC_SCHEDULER=HOST names it, netname=NAME its network";
  return nullptr;
}

/// Lets libicecc ask the local networks. When its time is up, libicecc connects
/// to the best scheduler that answered.
std::unique_ptr<Channel> Cluster::discover(int Seconds) {
  DiscoverSched Discovery(NetName, Seconds);
  Clock::time_point End = Clock::now() + DiscoveryLimit;
  while (!Stop.isRaised() && Clock::now() < End) {
    bool TimeIsUp = Discovery.timed_out();
    if (MsgChannel *C = Discovery.try_get_scheduler())
      return Channel::adopt(C, Stop);
    // Only one of these is open at a time.
    int ListenFd = Discovery.listen_fd(), ConnectFd = Discovery.connect_fd();
    if (ConnectFd == -1 && (TimeIsUp || ListenFd == -1))
      return nullptr;
    pollfd Fds[3] = {
        {Stop.fd(), POLLIN, 0}, {ListenFd, POLLIN, 0}, {ConnectFd, POLLOUT, 0}};
    ::poll(Fds, 3, 50);
  }
  return nullptr;
}

/// Returns false if the session is stopping.
bool Cluster::beginLogin() {
  std::lock_guard<std::mutex> Lock(Mutex);
  IsLoggingIn = !IsStopping;
  return IsLoggingIn;
}

void Cluster::run() {
  while (!Stop.isRaised()) {
    std::string Why;
    std::unique_ptr<Channel> C = findScheduler(Why);
    if (C && beginLogin() && C->send(MonLoginMsg())) {
      {
        std::lock_guard<std::mutex> Lock(Mutex);
        SchedulerAddress = C->peer();
      }
      std::string Error;
      while (std::unique_ptr<Msg> M =
                 C->receive(Clock::time_point::max(), Error)) {
        Clock::time_point End = Clock::now() + MaxGatherTime;
        do
          handle(*M);
        while (
            (M = C->receive(std::min(End, Clock::now() + GatherPause), Error)));
        {
          std::lock_guard<std::mutex> Lock(Mutex);
          HasAllNodes = IsConnected;
          IsLoggingIn = false;
        }
        NodesChanged.notify_all();
        notifyChanged();
        if (!C->hasTimedOut())
          break;
      }
    }
    C.reset();
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      IsConnected = HasAllNodes = IsLoggingIn = false;
      Problem = Why;
      Nodes.clear();
      Running.clear();
    }
    NodesChanged.notify_all();
    notifyChanged();
    pollfd Pause = {Stop.fd(), POLLIN, 0};
    ::poll(&Pause, 1, PauseMs);
  }
}

void Cluster::handle(const Msg &M) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (M.type == M_MON_STATS) {
    IsConnected = true;
    auto &Stats = static_cast<const MonStatsMsg &>(M);
    // Lines of "Key:value".
    std::map<std::string, std::string> Values;
    std::istringstream Lines(Stats.statmsg);
    for (std::string Line; std::getline(Lines, Line);)
      if (size_t Colon = Line.find(':'); Colon != std::string::npos)
        Values[Line.substr(0, Colon)] = Line.substr(Colon + 1);
    if (Values["State"] == "Offline") {
      Nodes.erase(Stats.hostid);
      for (auto It = Running.begin(); It != Running.end();)
        It = It->second == Stats.hostid ? Running.erase(It) : std::next(It);
      return;
    }
    Node &N = Nodes[Stats.hostid];
    N.Name = Values["Name"];
    N.Address = Values["IP"];
    N.Slots = 0;
    dtlto::parseNumber(Values["MaxJobs"], 0, 100000, N.Slots);
    N.LoadPermille = UINT32_MAX;
    dtlto::parseNumber(Values["Load"], 0, 1000, N.LoadPermille);
    N.UnusableReason = "";
    if (Values["NoRemote"] == "true")
      // The scheduler does not report the reason.
      N.UnusableReason = "its iceccd takes no jobs of others: it has the "
                         "option --no-remote, or "
                         "neither root nor CAP_SYS_CHROOT; see its log";
    else if (N.Slots == 0)
      N.UnusableReason = "its iceccd has no slots: it runs with -m 0";
    else if (std::find(Platforms.begin(), Platforms.end(),
                       Values["Platform"]) == Platforms.end()) {
      std::string KnownPlatforms;
      for (const std::string &Platform : Platforms)
        KnownPlatforms +=
            (KnownPlatforms.empty() ? "" : ", ") + dtlto::quote(Platform);
      N.UnusableReason =
          "its platform is " + dtlto::quote(Values["Platform"]) +
          ", and there is a compiler for " + KnownPlatforms +
          " only; DTLTO_ICECC_VERSION or dtlto-codegen-static-PLATFORM can add "
          "others";
    }
  } else if (M.type == M_MON_JOB_BEGIN) {
    auto &Begin = static_cast<const MonJobBeginMsg &>(M);
    Running[Begin.job_id] = Begin.hostid;
  } else if (M.type == M_MON_JOB_DONE) {
    Running.erase(static_cast<const MonJobDoneMsg &>(M).job_id);
  }
}

Cluster::Numbers Cluster::numbers() {
  std::lock_guard<std::mutex> Lock(Mutex);
  Numbers N;
  N.IsKnown = IsConnected;
  std::map<uint32_t, uint32_t> Busy;
  for (const auto &[Job, Id] : Running)
    ++Busy[Id];
  for (const auto &[Id, TheNode] : Nodes)
    if (TheNode.isUsable()) {
      ++N.Nodes;
      N.Slots += TheNode.Slots;
      // A node with more jobs than slots takes no slot of another.
      N.Free += TheNode.Slots - std::min(TheNode.Slots, Busy[Id]);
    }
  return N;
}

/// Returns why report() knows no nodes after \p Waited. Needs the lock.
std::string Cluster::explainUnknown(std::chrono::milliseconds Waited) const {
  if (!Problem.empty())
    return Problem;
  std::string Error =
      "no icecream scheduler with a node answered " +
      (Scheduler.empty() ? "on the local network" : "at " + quote(Scheduler));
  if (!Scheduler.empty() && !IsResolved)
    Error = "the name of the icecream scheduler, " + quote(Scheduler) +
            ", has not been resolved";
  Error += " within " + std::to_string(Waited.count()) +
           " ms; ICECC_SCHEDULER=HOST names it, netname=NAME its network";
  return Error;
}

std::vector<dtlto::sdk::Worker> Cluster::report(std::chrono::milliseconds Limit,
                                                const std::string &Compiler) {
  Clock::time_point End = Clock::now() + Limit;
  Clock::time_point StatusDeadline = std::min(End, Clock::now() + StatusLimit);
  std::unique_lock<std::mutex> Lock(Mutex);
  auto IsDecided = [&] { return HasAllNodes || !Problem.empty(); };
  // A scheduler that has just accepted another client handles us only after the
  // next event.
  while (!IsDecided() && Clock::now() < StatusDeadline) {
    NodesChanged.wait_until(
        Lock, std::min(StatusDeadline, Clock::now() + 500ms), IsDecided);
    if (!IsDecided())
      wakeScheduler(SchedulerAddress);
  }
  if (!HasAllNodes)
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                     explainUnknown(std::min(Limit, StatusLimit)));
  sockaddr_in At = SchedulerAddress;
  Lock.unlock();
  std::vector<NodeJobs> AllJobs =
      queryNodes(At, std::min(End, Clock::now() + MaxText), Stop);
  std::vector<std::string> Unreachable = probe(
      AllJobs, std::min(ProbeLimit, std::max(End - Clock::now(), 0ns)), Stop);
  Lock.lock();
  std::vector<sdk::Worker> Result;
  for (const auto &[Id, TheNode] : Nodes) {
    bool IsUp = TheNode.isUsable();
    sdk::Worker R{TheNode.Name.empty() ? TheNode.Address : TheNode.Name};
    R.Why = TheNode.UnusableReason;
    R.Slots = TheNode.Slots;
    R.LoadPermille = TheNode.LoadPermille;
    auto IsSameNode = [&N = TheNode](const NodeJobs &J) {
      return J.Name == N.Name && J.Address == N.Address;
    };
    // Several nodes can have the same name.
    if (std::count_if(AllJobs.begin(), AllJobs.end(), IsSameNode) == 1) {
      auto It = std::find_if(AllJobs.begin(), AllJobs.end(), IsSameNode);
      R.Busy = It->Jobs;
      const std::string &Why = Unreachable[size_t(It - AllJobs.begin())];
      if (IsUp && !Why.empty()) {
        IsUp = false;
        R.Why = It->Address + ":" + std::to_string(It->Port) +
                " cannot be reached from this machine: " + Why;
      }
    }
    R.State = IsUp ? DTLTO_WORKER_UP : DTLTO_WORKER_OUT;
    R.Compiler = IsUp ? Compiler : "";
    Result.push_back(std::move(R));
  }
  std::stable_sort(Result.begin(), Result.end(),
                   [](const sdk::Worker &A, const sdk::Worker &B) {
                     return A.Name < B.Name;
                   });
  return Result;
}

std::string Cluster::nodeName(const std::string &Address, uint32_t Port) {
  std::lock_guard<std::mutex> Lock(Mutex);
  const Node *Result = nullptr;
  unsigned NumMatches = 0;
  for (const auto &[Id, TheNode] : Nodes)
    if (TheNode.Address == Address) {
      Result = &TheNode;
      ++NumMatches;
    }
  // The scheduler doesn't report the ports to monitors.
  if (NumMatches == 1 && !Result->Name.empty())
    return Result->Name;
  return Address + ":" + std::to_string(Port);
}
