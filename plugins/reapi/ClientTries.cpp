//===- ClientTries.cpp - An action, executed as often as it takes ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"

using namespace dtlto::reapi;

// So often an action begins, or fails, and no more, however often the linker
// gives its job.
static constexpr unsigned MaxTries = 3;
// A server that is full is asked so often, longer and longer apart.
static constexpr unsigned MaxBusy = 12;
// So many refusals in a row, and the user is told that jobs wait.
static constexpr unsigned RefusalsAreNews = 4;
// So many actions of a server that has executed none yet, and it is of no use.
static constexpr unsigned MaxRejected = 3;
// And so many in a row of one that has.
static constexpr unsigned MaxRejectedLater = 10;

void ServerLoad::change(Job &Old, Job New) {
  if (NumThere == 0 || New.IsRunning || Old.IsRunning)
    WaitingSince = std::chrono::steady_clock::now();
  NumThere += unsigned(New.IsThere) - unsigned(Old.IsThere);
  NumQueued += unsigned(New.IsQueued) - unsigned(Old.IsQueued);
  NumRunning += unsigned(New.IsRunning) - unsigned(Old.IsRunning);
  MostQueued = std::max(MostQueued, NumQueued);
  MostRunning = std::max(MostRunning, NumRunning);
  HasQueued |= New.IsThere && !New.IsRunning && NumRunning != 0;
  Old = New;
}

void Client::limitTries(ExecuteOptions &O) {
  O.Begun = [&] {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++TriesOf[O.Action.Hash].Begun;
  };
  // The linker may give the same job again, which is another one here.
  O.WhyNot = [&] {
    std::lock_guard<std::mutex> Lock(Mutex);
    Tries &T = TriesOf[O.Action.Hash];
    return T.Begun < MaxTries && T.Failed < MaxTries ? "" : T.Why;
  };
}

void Client::countTry(const BlobName &Action, const Fault &F, bool IsRefusal) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (F) {
    Tries &T = TriesOf[Action.Hash];
    T.Why = F.Text;
    T.Failed += F.FromServer && !IsRefusal;
    return;
  }
  TriesOf.erase(Action.Hash);
  ActionsOfLink.ToRepair.erase(Action.Hash);
  NumRejected = 0;
  LastRefusal.clear();
}

void Client::prepareAgain(Job &J, const Action &A, const Fault &F,
                          unsigned Try) {
  log(DTLTO_LOG_DEBUG,
      "module '" + std::string(J.Offer.name()) + "': " + F.Text + "; again");
  // What an operation ends with may be said at once.
  if (F.What == Fault::Later && !TheServer.pause(J.Cancelled, F, Try - 1))
    stopped(J);
  if (F.What != Fault::Missing)
    return;
  // Which it doesn't have to name.
  std::vector<BlobName> Gone = F.Blobs;
  if (Gone.empty())
    for (const Blob &B : A.Blobs)
      Gone.push_back(B.Name);
  Contents->forget(Gone);
  uploadAll(J, A);
}

unsigned Client::leaveWindow(uint64_t Round, const Fault &F, bool IsRefusal) {
  unsigned InRow = 0;
  if (IsRefusal)
    InRow = InFlight.refused(
        Round, [&](unsigned N) { return TheServer.pauseAfter(F, N - 1); });
  else if (!F)
    InFlight.grow();
  InFlight.leave();
  return InRow;
}

Outcome Client::tryToExecute(Job &J, const Action &A, ExecuteOptions &O) {
  ServerLoad::Job Now;
  auto Change = [&](ServerLoad::Job New, const std::string &By) {
    std::lock_guard<std::mutex> Lock(Mutex);
    AtServer.change(Now, New);
    if (!By.empty())
      Workers.insert(By);
  };
  O.Limit = ResultLimit;
  O.Report = [&](uint32_t State, const std::string &By, bool IsInQueue) {
    bool IsRunning = State == DTLTO_STATE_RUNNING;
    Change({true, IsRunning, IsInQueue && !IsRunning}, By);
    if (IsRunning)
      InFlight.begun();
    J.Offer.state(State, By);
  };
  limitTries(O);
  unsigned NumRefused = 0;
  for (unsigned Try = 1;; ++Try) {
    uint64_t Round;
    if (!InFlight.enter([&] { return J.Cancelled.raised(); }, Round))
      stopped(J);
    Outcome Out = reapi::execute(TheServer, J.Cancelled, Can.Digest, O);
    Change({}, "");
    Fault &F = Out.Failed;
    bool IsRefusal = F.FromServer && (F.What == Fault::Busy ||
                                      (F.What == Fault::Later && !F.Renewed));
    unsigned InRow = leaveWindow(Round, F, IsRefusal);
    if (F && J.Cancelled.raised())
      stopped(J);
    countTry(O.Action, F, IsRefusal);
    if (!F)
      return Out;
    J.Offer.state(DTLTO_STATE_QUEUED);
    if (IsRefusal) {
      onRefusal(F, InRow);
      // That the server is full is no failure of the job's.
      if (J.Cancelled.raised())
        stopped(J);
      if (++NumRefused > MaxBusy)
        return Out;
      --Try;
      ++TheServer.Sum.Retried;
      continue;
    }
    // A server that has lost contents need not know the API's word for that:
    // buildbox-casd says NOT_FOUND of an action, and INTERNAL of its inputs.
    if (F.Code == grpc::StatusCode::NOT_FOUND ||
        F.Code == grpc::StatusCode::INTERNAL)
      F.What = Fault::Missing;
    // Also if it was the server that cancelled it.
    bool MayHelp = F.What == Fault::Missing || F.What == Fault::Later ||
                   F.What == Fault::Cancelled;
    if (!MayHelp || Try >= MaxTries) {
      // That it has no worker for such actions, say: it says so of each.
      if (isRejected(F))
        F.What = Fault::Refused;
      return Out;
    }
    prepareAgain(J, A, F, Try);
  }
}

void Client::onRefusal(const Fault &F, unsigned InRow) {
  bool IsBusy = F.What == Fault::Busy;
  bool IsUseless = TheServer.Sum.Executed == 0 && !IsBusy;
  unsigned Limit = IsUseless ? std::min(MaxRejected, S.Retries + 1) : MaxBusy;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    LastRefusal = F.Text;
  }
  // As long as it works on others, it is of use.
  if (InRow >= Limit && InFlight.used() == 0)
    return refused(F);
  bool IsNews = InRow >= RefusalsAreNews && InFlight.used() == 0;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsNews = IsNews && !std::exchange(ToldWaiting, true);
  }
  if (IsNews)
    log(DTLTO_LOG_WARNING, "server " + S.Server.name() + ": " + F.Text +
                               "; jobs wait until it takes them");
}

bool Client::isRejected(const Fault &F) {
  // Whether an action is cancelled, takes too long, or lacks a blob that the
  // server names, says nothing of others.
  if (!F.FromServer || !F.Blobs.empty() ||
      F.Code == grpc::StatusCode::CANCELLED ||
      F.Code == grpc::StatusCode::ABORTED ||
      F.Code == grpc::StatusCode::DEADLINE_EXCEEDED)
    return false;
  std::lock_guard<std::mutex> Lock(Mutex);
  unsigned Limit = TheServer.Sum.Executed == 0 ? MaxRejected : MaxRejectedLater;
  return ++NumRejected >= Limit;
}
