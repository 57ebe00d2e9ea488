//===- ServerRecord.cpp - What a link has learned about a server ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServerRecord.h"
#include <algorithm>
#include <utility>

using namespace dtlto::reapi;

// How often an action may begin or fail, even if the linker submits its job
// again.
static constexpr unsigned MaxTries = 3;
// How many actions in a row a server may fail: before it has executed any, and
// after.
static constexpr unsigned MaxRejected = 3, MaxRejectedLater = 10;
// When the user is told that jobs only wait on the server.
static constexpr std::chrono::seconds WaitingReportDelay{3};

void ServerRecord::change(Execution &Old, Execution New) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (NumActive == 0 || New.IsRunning || Old.IsRunning)
    WaitingSince = std::chrono::steady_clock::now();
  NumActive += unsigned(New.IsActive) - unsigned(Old.IsActive);
  NumQueued += unsigned(New.IsQueued) - unsigned(Old.IsQueued);
  NumRunning += unsigned(New.IsRunning) - unsigned(Old.IsRunning);
  MaxQueued = std::max(MaxQueued, NumQueued);
  MaxRunning = std::max(MaxRunning, NumRunning);
  HasQueued |= New.IsActive && !New.IsRunning && NumRunning != 0;
  Old = New;
}

void ServerRecord::addWorker(const std::string &Name) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!Name.empty())
    Workers.insert(Name);
}

size_t ServerRecord::numWorkers() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Workers.size();
}

void ServerRecord::load(dtlto_load &Load, unsigned Used, unsigned Size,
                        uint32_t Accepted) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  // The API doesn't report slots. Once a job waits at the server, the server
  // runs as many jobs as it can.
  if (HasQueued && MaxRunning) {
    Load.slots = std::min(MaxRunning, Size);
    Load.free = Load.slots - std::min(Load.slots, NumRunning);
  }
  Load.queued = Accepted - std::min(Accepted, std::min(Used, NumRunning));
  if (!Workers.empty())
    Load.workers = uint32_t(Workers.size());
}

//===----------------------------------------------------------------------===//
// Tries and refusals
//===----------------------------------------------------------------------===//

void ServerRecord::recordStart(const BlobName &Action) {
  std::lock_guard<std::mutex> Lock(Mutex);
  ++TriesByAction[Action.Hash].NumBegun;
}

std::string ServerRecord::whyNot(const BlobName &Action) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = TriesByAction.find(Action.Hash);
  if (It == TriesByAction.end() ||
      std::max(It->second.NumBegun, It->second.NumFailed) < MaxTries)
    return "";
  return It->second.Why;
}

void ServerRecord::recordEnd(const BlobName &Action, const Fault &F,
                             bool IsRefusal) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (F) {
    Tries &T = TriesByAction[Action.Hash];
    T.Why = F.Text;
    T.NumFailed += F.IsFromServer && !IsRefusal;
    return;
  }
  TriesByAction.erase(Action.Hash);
  ToRepair.erase(Action.Hash);
  NumRejected = 0;
  LastRefusal.clear();
}

bool ServerRecord::isRejected(const Fault &F, bool HasExecuted) {
  // An action that is cancelled, takes too long, or lacks a blob that the
  // server names shows nothing about others.
  if (!F.IsFromServer || !F.Blobs.empty() ||
      F.Code == grpc::StatusCode::CANCELLED ||
      F.Code == grpc::StatusCode::ABORTED ||
      F.Code == grpc::StatusCode::DEADLINE_EXCEEDED)
    return false;
  std::lock_guard<std::mutex> Lock(Mutex);
  return ++NumRejected >= (HasExecuted ? MaxRejectedLater : MaxRejected);
}

bool ServerRecord::handleRefusal(const std::string &Text, bool ShouldReport) {
  std::lock_guard<std::mutex> Lock(Mutex);
  LastRefusal = Text;
  return ShouldReport && !std::exchange(HasReportedWaiting, true);
}

std::string ServerRecord::waitingReason() {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (HasReportedWaiting || NumQueued == 0 || NumRunning != 0 ||
      std::chrono::steady_clock::now() - WaitingSince < WaitingReportDelay)
    return "";
  HasReportedWaiting = true;
  return std::to_string(NumQueued) +
         (NumQueued == 1 ? " job is" : " jobs are") +
         " in its queue, and none has started for " +
         std::to_string(WaitingReportDelay.count()) + " s";
}

std::string ServerRecord::noResultReason() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (HasReportedWaiting || MaxRunning)
    return "";
  if (!LastRefusal.empty())
    return "refused all jobs: " + LastRefusal;
  if (MaxQueued)
    return "had " + std::to_string(MaxQueued) +
           (MaxQueued == 1 ? " job in its queue, and started none"
                           : " jobs in its queue, and started none");
  return "";
}

//===----------------------------------------------------------------------===//
// Wrong results
//===----------------------------------------------------------------------===//

bool ServerRecord::wasRefuted(uint64_t Job, const BlobName &Action) {
  std::lock_guard<std::mutex> Lock(Mutex);
  ActionByJob[Job] = Action;
  return Refuted.count(Action.Hash) != 0;
}

void ServerRecord::refute(uint64_t Job, bool MayBeCached) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = ActionByJob.find(Job);
  if (It == ActionByJob.end())
    return;
  Refuted.insert(It->second.Hash);
  if (MayBeCached)
    ToRepair[It->second.Hash] = It->second;
}

std::map<std::string, BlobName> ServerRecord::takeRepairs() {
  std::lock_guard<std::mutex> Lock(Mutex);
  return std::exchange(ToRepair, {});
}
