//===- ClientJob.cpp - A job at a host ------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the connection to the verdict, and the handling of host failures.
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include <algorithm>
#include <cassert>
#include <utility>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// How often a job that makes progress is reported.
static constexpr Clock::duration ReportPeriod = 5s;

namespace {
/// How a connection's state is shown.
struct Stage {
  uint32_t ToHost; // DTLTO_STATE_...
  Phase ToMonitors;
};
} // namespace

// By state, from Connecting to Receiving.
static constexpr Stage Stages[] = {{DTLTO_STATE_SENDING, Phase::Connect},
                                   {DTLTO_STATE_SENDING, Phase::Send},
                                   {DTLTO_STATE_RUNNING, Phase::Compile},
                                   {DTLTO_STATE_RECEIVING, Phase::Receive}};

void Client::startRemote(Job &J) {
  J.State = Job::Remote;
  J.ReportedState = -1;
  Monitor.open(J.Id, J.Name, J.Target->Name, J.Target->take(J.Id));
  J.Conn =
      std::make_unique<Connection>(J.Target->Spec, J.Target->Addresses, J.Req,
                                   TheSettings, Children, UINT64_MAX, &Results);
  ++NumRunning;
  watch(J);
}

/// Reports the state of \p J to the linker and to monitors.
void Client::watch(Job &J) {
  int State = J.Conn->state();
  if (State >= Connection::Done)
    return;
  Clock::time_point Time = Clock::now();
  uint64_t Bytes = J.Conn->bytesSent() + J.Conn->bytesReceived();
  bool IsNew = State != J.ReportedState;
  if (IsNew ||
      (Bytes != J.ReportedBytes && Time - J.LastReport > ReportPeriod)) {
    J.Offer->state(Stages[State].ToHost, J.Target->Name);
    J.ReportedState = State;
    J.ReportedBytes = Bytes;
    J.LastReport = Time;
  }
  if (IsNew || Time - J.LastNote >= NotePeriod) {
    Monitor.writePhase(J.Id, Stages[State].ToMonitors);
    J.LastNote = Time;
  }
}

void Client::onConnectionEnd(Job &J) {
  std::unique_ptr<Connection> C = hangUp(J);
  J.Duration = Clock::now() - J.BeginTime;
  if (C->state() == Connection::Failed)
    return onConnectionFailure(J, *C);
  // Report states that a fast answer has skipped: another job may have the slot
  // while this one is judged.
  for (int State = std::max<int>(J.ReportedState + 1, Connection::Waiting);
       State <= Connection::Receiving; ++State)
    J.Offer->state(Stages[State].ToHost, J.Target->Name);
  J.State = Job::Judging;
  auto R = std::make_shared<Reply>(C->reply());
  // Keep the slot on failure: a host that fails every job at once would
  // otherwise get many jobs before the first of them is judged.
  if (R->WaitStatus == 0)
    freeSlot(J);
  Helpers.run([this, R, Share = C->share(), Offer = J.Offer] {
    auto V = std::make_shared<Verdict>(
        judge(*R, std::min(MaxObject, Share->room())));
    Share->grow(V->Object.size());
    std::string Why;
    if (V->Status == DTLTO_OK)
      Why = Offer->problem({V->Object.data(), V->Object.size()});
    if (!Why.empty()) {
      *V = {};
      V->Message = Why;
      V->IsHostAtFault = true;
    }
    Box->post([this, V, Id = Offer->id()] { onJudged(Id, *V); });
  });
}

void Client::onConnectionFailure(Job &J, const Connection &C) {
  freeSlot(J);
  if (C.failure() == Connection::OutOfResources)
    return onOutOfDescriptors(J, C.error());
  bool IsAlive = isAlive(*J.Target);
  unsigned NumOpen = numOpen(*J.Target);
  // After a reset, wait only if another connection is open: its end shows that
  // there is room.
  if (C.wasIgnored() && IsAlive && (!C.wasReset() || NumOpen)) {
    if (J.IgnoredSince == Clock::time_point())
      J.IgnoredSince = J.BeginTime;
    if (Clock::now() < J.IgnoredSince + TheSettings.IoTimeout) {
      TheFarm.recordFull(*J.Target, NumOpen);
      return requeue(J);
    }
  }
  bool IsOff =
      C.failure() == Connection::Unreachable ||
      (C.failure() == Connection::MachineLost && !IsAlive) ||
      (C.failure() == Connection::Silent && J.Target->LastAnswer < J.BeginTime);
  TheFarm.recordFailure(*J.Target, J.Module, J.BeginTime, C.error(), IsOff);
  retryElsewhere(J, C.error(), true);
}

void Client::onJudged(uint64_t Id, Verdict &V) {
  Job &J = job(Id);
  assert(J.State == Job::Judging);
  freeSlot(J);
  if (J.WasCancelled)
    return finish(J, DTLTO_CANCELLED, "");
  if (V.Status == DTLTO_ERROR_INFRASTRUCTURE) {
    if (V.IsHostAtFault)
      TheFarm.recordFailure(*J.Target, J.Module, J.BeginTime, V.Message, false);
    return retryElsewhere(J, V.Message, V.IsHostAtFault);
  }
  ended(J, V.Status == DTLTO_OK);
  finish(J, V.Status, V.Message, std::move(V.Object));
}

/// Records that the host of \p J has compiled it, or that the compiler has
/// failed. Only successes show how long jobs take.
void Client::ended(Job &J, bool IsGood) {
  double Seconds = std::chrono::duration<double>(J.Duration).count();
  if (IsGood) {
    TheFarm.recordSuccess(*J.Target, J.Cost, J.Duration);
    SecondsPerJob =
        SecondsPerJob == 0 ? Seconds : 0.9 * SecondsPerJob + 0.1 * Seconds;
  } else if (J.Target->Spec.Kind != HostKind::Local) {
    TheFarm.recordCompileError(*J.Target);
  }
  TheLog.debug(
      "module '" + J.Name + "': " + (IsGood ? "compiled on " : "failed on ") +
      J.Target->Name + " in " + std::to_string(Seconds).substr(0, 5) + " s");
}

/// Whether the machine of \p H is up: it answers on a job's connection, or has
/// answered a short time ago.
bool Client::isAlive(const Host &H) const {
  for (auto &[Id, J] : Jobs)
    if (J.Target == &H && J.Conn && J.Conn->isAlive())
      return true;
  return std::max(H.LastStatsAnswer, H.LastAnswer) >=
         Clock::now() - TheNetworkLimits.AckTimeout * 3 / 4;
}

/// Returns how many connections of this link \p H has accepted.
unsigned Client::numOpen(const Host &H) const {
  unsigned N = 0;
  for (auto &[Id, J] : Jobs)
    N += J.Target == &H && J.Conn && J.Conn->state() != Connection::Connecting;
  return N;
}

/// Takes \p J off its host and queues it for another one.
void Client::requeue(Job &J) {
  assert(!J.Conn && !J.HasSlot && !J.WasCancelled);
  J.Target = nullptr;
  J.State = Job::Queued;
  J.Offer->state(DTLTO_STATE_QUEUED);
  Queue.push_front(J.Id);
}

/// Retries \p J after its host has failed it, or gives it back to the linker.
/// \p MayReturn: the failure was the host's fault, and the host may succeed the
/// next time.
void Client::retryElsewhere(Job &J, const std::string &Why, bool MayReturn) {
  J.TriedHosts[J.Target->Index] = true;
  J.ExcludedHosts[J.Target->Index] =
      J.ExcludedHosts[J.Target->Index] || !MayReturn;
  J.IgnoredSince = {};
  J.LastError = J.Target->Name + ": " + Why;
  J.Target = nullptr;
  if (++J.NumTries >= MaxTries || !TheFarm.mayTakeJobs() || !canContinue(J))
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);
  TheLog.debug("module '" + J.Name + "': " + J.LastError + "; retrying");
  requeue(J);
}

/// Out of file descriptors: requeues \p J and lowers the connection limit.
void Client::onOutOfDescriptors(Job &J, const std::string &Why) {
  J.LastError = Why;
  J.Target = nullptr;
  TheFarm.endSharing();
  if (NumRunning == 0)
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, Why);
  if (!std::exchange(HasReportedShortage, true))
    TheLog.warning(Why + "; fewer jobs run at a time");
  MaxRunning = NumRunning;
  RaiseAt = Clock::now() + RaisePeriod;
  requeue(J);
}
