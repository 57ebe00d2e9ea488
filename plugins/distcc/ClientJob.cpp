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
  J.At = Job::Remote;
  J.Shown = -1;
  Monitor.open(J.Id, J.Name, J.On->Name, J.On->take(J.Id));
  J.Conn =
      std::make_unique<Connection>(J.On->Spec, J.On->Addresses, J.Req, S,
                                   S.IoTimeout, Children, UINT64_MAX, &Results);
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
  bool IsNew = State != J.Shown;
  if (IsNew || (Bytes != J.ShownBytes && Time - J.Reported > ReportPeriod)) {
    J.Offer->state(Stages[State].ToHost, J.On->Name);
    J.Shown = State;
    J.ShownBytes = Bytes;
    J.Reported = Time;
  }
  if (IsNew || Time - J.Noted >= NotePeriod) {
    Monitor.note(J.Id, Stages[State].ToMonitors);
    J.Noted = Time;
  }
}

void Client::connectionEnded(Job &J) {
  std::unique_ptr<Connection> C = hangUp(J);
  J.Took = Clock::now() - J.Began;
  if (C->state() == Connection::Failed)
    return connectionFailed(J, *C);
  // Report states that a fast answer has skipped: another job may have the slot
  // while this one is judged.
  for (int State = std::max<int>(J.Shown + 1, Connection::Waiting);
       State <= Connection::Receiving; ++State)
    J.Offer->state(Stages[State].ToHost, J.On->Name);
  J.At = Job::Judging;
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
      V->HostAtFault = true;
    }
    Box->post([this, V, Id = Offer->id()] { judged(Id, *V); });
  });
}

void Client::connectionFailed(Job &J, const Connection &C) {
  freeSlot(J);
  if (C.failure() == Connection::Exhausted)
    return putBack(J, C.error());
  bool Heard = isHeard(*J.On);
  unsigned NumOpen = numOpen(*J.On);
  // After a reset, wait only if another connection is open: its end shows that
  // there is room.
  if (C.wasIgnored() && Heard && (!C.wasReset() || NumOpen)) {
    if (J.IgnoredSince == Clock::time_point())
      J.IgnoredSince = J.Began;
    if (Clock::now() < J.IgnoredSince + S.IoTimeout) {
      TheFarm.recordFull(*J.On, NumOpen);
      return queueAgain(J);
    }
  }
  bool IsOff =
      C.failure() == Connection::Unreachable ||
      (C.failure() == Connection::Lost && !Heard) ||
      (C.failure() == Connection::Silent && J.On->LastAnswer < J.Began);
  TheFarm.recordFailure(*J.On, J.Module, J.Began, C.error(), IsOff);
  tryAnother(J, C.error(), true);
}

void Client::judged(uint64_t Id, Verdict &V) {
  Job &J = job(Id);
  assert(J.At == Job::Judging);
  freeSlot(J);
  if (J.Cancelled)
    return finish(J, DTLTO_CANCELLED, "");
  if (V.Status == DTLTO_ERROR_INFRASTRUCTURE) {
    if (V.HostAtFault)
      TheFarm.recordFailure(*J.On, J.Module, J.Began, V.Message, false);
    return tryAnother(J, V.Message, V.HostAtFault);
  }
  ended(J, V.Status == DTLTO_OK);
  finish(J, V.Status, V.Message, std::move(V.Object));
}

/// Records that the host of \p J has compiled it, or that the compiler has
/// failed. Only successes show how long jobs take.
void Client::ended(Job &J, bool IsGood) {
  double Seconds = std::chrono::duration<double>(J.Took).count();
  if (IsGood) {
    TheFarm.recordSuccess(*J.On, J.Cost, J.Took);
    SecondsOfAJob =
        SecondsOfAJob == 0 ? Seconds : 0.9 * SecondsOfAJob + 0.1 * Seconds;
  } else if (J.On->Spec.Kind != HostKind::Local) {
    TheFarm.recordCompileError(*J.On);
  }
  TheLog->debug("module '" + J.Name +
                "': " + (IsGood ? "compiled on " : "failed on ") + J.On->Name +
                " in " + std::to_string(Seconds).substr(0, 5) + " s");
}

/// Whether the machine of \p H is up: it answers on a job's connection, or has
/// answered a short time ago.
bool Client::isHeard(const Host &H) const {
  for (auto &[Id, J] : Jobs)
    if (J.On == &H && J.Conn && J.Conn->isHeard())
      return true;
  return std::max(H.LastSign, H.LastAnswer) >=
         Clock::now() - TheNetworkLimits.Gone * 3 / 4;
}

/// Returns how many connections of this link \p H has accepted.
unsigned Client::numOpen(const Host &H) const {
  unsigned N = 0;
  for (auto &[Id, J] : Jobs)
    N += J.On == &H && J.Conn && J.Conn->state() != Connection::Connecting;
  return N;
}

/// Takes \p J off its host and queues it for another one.
void Client::queueAgain(Job &J) {
  assert(!J.Conn && !J.HasSlot && !J.Cancelled);
  J.On = nullptr;
  J.At = Job::Queued;
  J.Offer->state(DTLTO_STATE_QUEUED);
  Queue.push_front(J.Id);
}

/// Retries \p J after its host has failed it, or gives it back to the linker.
/// \p MayReturn: the failure was the host's fault, and the host may succeed the
/// next time.
void Client::tryAnother(Job &J, const std::string &Why, bool MayReturn) {
  J.Tried[J.On->Index] = true;
  J.Never[J.On->Index] = J.Never[J.On->Index] || !MayReturn;
  J.IgnoredSince = {};
  J.LastError = J.On->Name + ": " + Why;
  J.On = nullptr;
  if (++J.NumTries >= MaxTries || !TheFarm.anyHope() || !mayGoOn(J))
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);
  TheLog->debug("module '" + J.Name + "': " + J.LastError + "; retrying");
  queueAgain(J);
}

/// Out of file descriptors: requeues \p J and lowers the connection limit.
void Client::putBack(Job &J, const std::string &Why) {
  J.LastError = Why;
  J.On = nullptr;
  TheFarm.endSharing();
  if (NumRunning == 0)
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, Why);
  if (!std::exchange(SaidFewer, true))
    TheLog->warning(Why + "; fewer jobs run at a time");
  MaxRunning = NumRunning;
  RaiseAt = Clock::now() + RaisePeriod;
  queueAgain(J);
}
