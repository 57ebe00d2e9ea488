//===- ClientJob.cpp - A job at a host ------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the connection to the verdict, and what is done if the host fails.
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include <algorithm>
#include <utility>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// A job that makes progress is reported so often.
static constexpr Clock::duration ReportPeriod = 5s;

void Client::startRemote(Job &J, Host &H) {
  J.At = Job::Remote;
  J.On = &H;
  J.Began = J.Reported = J.Noted = Clock::now();
  J.Shown = -1;
  ++NumUnfinished;
  int Slot = H.take(J.Id);
  Monitor.open(J.Id, J.Name, H.Name, Slot);
  J.Conn =
      std::make_unique<Connection>(H.Spec, H.Addresses, J.Req, S, S.IoTimeout,
                                   Children, UINT64_MAX, &Results);
  Running.push_back(J.Id);
  watch(J);
}

/// Tells the linker and the monitors where \p J is.
void Client::watch(Job &J) {
  Connection::StateTy State = J.Conn->state();
  Clock::time_point Time = Clock::now();
  uint64_t Bytes = J.Conn->bytesSent() + J.Conn->bytesReceived();
  bool New = State != J.Shown;
  if (State < Connection::Done &&
      (New || (Bytes != J.ShownBytes && Time - J.Reported > ReportPeriod))) {
    uint32_t ToHost = State == Connection::Waiting     ? DTLTO_STATE_RUNNING
                      : State == Connection::Receiving ? DTLTO_STATE_RECEIVING
                                                       : DTLTO_STATE_SENDING;
    J.Offer->state(ToHost, J.On->Name);
    J.Shown = State;
    J.ShownBytes = Bytes;
    J.Reported = Time;
  }
  if (State < Connection::Done && New) {
    Monitor.note(J.Id, State == Connection::Connecting  ? Phase::Connect
                       : State == Connection::Sending   ? Phase::Send
                       : State == Connection::Receiving ? Phase::Receive
                                                        : Phase::Compile);
    J.Noted = Time;
  } else if (Time - J.Noted >= NotePeriod) {
    Monitor.refresh(J.Id);
    J.Noted = Time;
  }
}

void Client::connectionEnded(Job &J) {
  std::unique_ptr<Connection> C = std::move(J.Conn);
  // An answer that comes at once is no state of its own. But the slot may be
  // the next job's from here on, and until the answer is unpacked, that job may
  // be under way.
  if (C->state() == Connection::Done)
    for (int State = J.Shown + 1; State <= Connection::Receiving; ++State)
      if (State >= Connection::Waiting)
        J.Offer->state(State == Connection::Waiting ? DTLTO_STATE_RUNNING
                                                    : DTLTO_STATE_RECEIVING,
                       J.On->Name);
  BytesSent += C->bytesSent();
  BytesReceived += C->bytesReceived();
  Running.erase(std::find(Running.begin(), Running.end(), J.Id));
  Monitor.remove(J.Id);
  J.Took = Clock::now() - J.Began;
  if (C->state() == Connection::Failed) {
    J.On->release(J.Id);
    --NumUnfinished;
    if (C->failure() == Connection::Exhausted)
      return putBack(J, C->error());
    bool Heard = isHeard(*J.On);
    unsigned NumOpen = numOpen(*J.On);
    // A reset says so only where others are open, which are waited for.
    if (C->wasIgnored() && Heard && (!C->wasReset() || NumOpen)) {
      if (J.IgnoredSince == Clock::time_point())
        J.IgnoredSince = J.Began;
      if (Clock::now() < J.IgnoredSince + S.IoTimeout)
        return waitForRoom(J, NumOpen);
    }
    bool IsOff =
        C->failure() == Connection::Unreachable ||
        (C->failure() == Connection::Lost && !Heard) ||
        (C->failure() == Connection::Silent && J.On->LastAnswer < J.Began);
    TheFarm.recordFailure(*J.On, J.Module, J.Began, C->error(), IsOff);
    return tryAnother(J, C->error(), true);
  }
  J.At = Job::Judging;
  auto R = std::make_shared<Reply>(C->reply());
  // One that fails whatever it gets, in no time, would have had many jobs
  // before the first of them is judged.
  J.KeepsSlot = R->WaitStatus != 0;
  if (!J.KeepsSlot)
    J.On->release(J.Id);
  Helpers.run([this, R, Share = C->share(), Offer = J.Offer] {
    auto V = std::make_shared<Verdict>(
        judge(*R, std::min(MaxObject, Share->room())));
    Share->grow(V->Object.size());
    if (V->Status == DTLTO_OK)
      if (std::string Why =
              Offer->problem({reinterpret_cast<const char *>(V->Object.data()),
                              V->Object.size()});
          !Why.empty()) {
        *V = {};
        V->Message = Why;
        V->HostAtFault = true;
      }
    Box->post([this, V, Id = Offer->id()] { judged(Id, *V); });
  });
}

void Client::judged(uint64_t Id, Verdict &V) {
  Job &J = *Jobs.at(Id);
  --NumUnfinished;
  if (J.KeepsSlot)
    J.On->release(J.Id);
  J.At = Job::Queued; // with nobody
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

/// Its host did what it could for \p J. How long that takes is learnt from what
/// was compiled: to fail takes no time.
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

/// The machine of \p H is there: a job of its others has heard of it, or it has
/// answered, within the time that tells so.
bool Client::isHeard(const Host &H) const {
  for (uint64_t Id : Running) {
    const Job &J = *Jobs.at(Id);
    if (J.On == &H && J.Conn->isHeard())
      return true;
  }
  return std::max(H.LastSign, H.LastAnswer) >=
         Clock::now() - TheNetworkLimits.Gone * 3 / 4;
}

/// Of \p H, the connections of this link that are established.
unsigned Client::numOpen(const Host &H) const {
  return static_cast<unsigned>(
      std::count_if(Running.begin(), Running.end(), [&](uint64_t Id) {
        const Job &J = *Jobs.at(Id);
        return J.On == &H && J.Conn->state() != Connection::Connecting;
      }));
}

/// Takes \p J off its host. False: it was cancelled, and has ended.
bool Client::takeOff(Job &J) {
  J.On = nullptr;
  J.At = Job::Queued;
  if (!J.Cancelled)
    return true;
  finish(J, DTLTO_CANCELLED, "");
  return false;
}

void Client::queueAgain(Job &J) {
  J.Offer->state(DTLTO_STATE_QUEUED);
  Queue.push_front(J.Id);
}

/// Its host is there, but took no connection for \p J next to the \p NumOpen
/// that it has.
void Client::waitForRoom(Job &J, unsigned NumOpen) {
  TheFarm.recordFull(*J.On, NumOpen);
  if (takeOff(J))
    queueAgain(J);
}

/// The host that \p J was on could not do it. \p MayReturn: that was the host's
/// fault, and it may do it the next time.
void Client::tryAnother(Job &J, const std::string &Why, bool MayReturn) {
  J.Tried[J.On->Index] = true;
  J.Never[J.On->Index] = J.Never[J.On->Index] || !MayReturn;
  J.IgnoredSince = {};
  J.LastError = J.On->Name + ": " + Why;
  if (!takeOff(J))
    return;
  if (++J.NumTries >= MaxTries || !TheFarm.anyHope() || !mayGoOn(J))
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, J.LastError);
  TheLog->debug("module '" + J.Name + "': " + J.LastError +
                "; trying it again");
  queueAgain(J);
}

/// There is no connection to be had for \p J beside the others, whatever the
/// host.
void Client::putBack(Job &J, const std::string &Why) {
  J.LastError = Why;
  if (!takeOff(J))
    return;
  TheFarm.endSharing();
  if (Running.empty())
    return finish(J, DTLTO_ERROR_INFRASTRUCTURE, Why);
  if (!std::exchange(SaidFewer, true))
    TheLog->warning(Why + "; fewer jobs run at a time");
  MaxRunning = Running.size();
  RaiseAt = Clock::now() + RaisePeriod;
  queueAgain(J);
}
