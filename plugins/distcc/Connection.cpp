//===- Connection.cpp - One request, and its reply ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Connection.h"
#include <algorithm>
#include <cerrno>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// For one address; a machine that is there answers at once.
static constexpr Clock::duration MaxConnect = 10s;
// For the end of file after a reply that is complete.
static constexpr Clock::duration MaxEnd = 1s;
// Moved in one turn, so that no connection keeps the others waiting.
static constexpr size_t MaxTurn = size_t(4) << 20;

Connection::Connection(const HostSpec &Host,
                       const std::vector<Address> &Addresses,
                       std::shared_ptr<const Request> Req, const Settings &S,
                       Clock::duration Silence, Reaper &Children,
                       uint64_t MaxReply, sdk::ResultMemory *Results)
    : Addresses(Addresses), Req(std::move(Req)), Silence(Silence),
      MaxReply(MaxReply), Children(Children), Moving(Silence) {
  if (Results)
    Share = std::make_shared<sdk::ResultMemory::Share>(*Results);
  if (Host.Kind != HostKind::Ssh) {
    connectNext();
    return;
  }
  Fd = spawnSsh(S.SshCommand, Host, Pid);
  if (Fd >= 0)
    enter(Sending);
  else if (isOurLack(errno))
    fail(Exhausted, "this machine can't start '" + S.SshCommand[0] +
                        "': " + os::errorText(errno));
  else
    fail(Unreachable,
         "can't start '" + S.SshCommand[0] + "': " + os::errorText(errno));
}

Connection::~Connection() {
  if (Fd >= 0)
    os::closeSocket(Fd);
  if (Pid >= 0)
    Children.add(Pid);
}

void Connection::enter(StateTy Next) {
  State = Next;
  Moving =
      Transfer(Next == Receiving
                   ? std::min<Clock::duration>(Silence, TheNetworkLimits.Pause)
                   : Silence);
  Deadline = Moving.deadline();
  if (Next == Sending)
    LastSent = Clock::now();
  NextLook = Next == Receiving ? Clock::time_point::max()
                               : Clock::now() + TheNetworkLimits.Gone / 3;
}

/// A server that is busy with others reads nothing for a while. What it does
/// not read may also lie at this end, when all is sent.
void Connection::look(Clock::time_point Now) {
  if (Now < NextLook)
    return;
  allowStall(Fd, Now - LastSent);
  NextLook = Now + TheNetworkLimits.Gone / 3;
}

void Connection::fail(FailureTy F, std::string Why) {
  FailedIn = State;
  State = Failed;
  Failure = F;
  Error = std::move(Why);
  Deadline = Clock::now(); // so that nobody sleeps over it
}

void Connection::broken(const char *What, int Errno) {
  Reset = Errno == ECONNRESET || Errno == EPIPE;
  fail(isMachineGone(Errno) ? Lost : Dropped,
       std::string(What) + ": " + connectionLost(Errno));
}

/// Turns to the next address. Fails if there is none, with the reason of the
/// last.
void Connection::connectNext() {
  while (NextAddress != Addresses.size()) {
    if (Fd >= 0)
      os::closeSocket(Fd);
    Fd = beginConnect(Addresses[NextAddress++]);
    if (Fd >= 0) {
      Deadline = Clock::now() + std::min(Silence, MaxConnect);
      return;
    }
    Error = os::errorText(errno);
    if (isOurLack(errno))
      return fail(Exhausted, "this machine can't open a connection: " + Error);
  }
  fail(Unreachable,
       "can't connect: " + (Error.empty() ? std::string("no address") : Error));
}

short Connection::events() const {
  switch (State) {
  case Connecting:
    return POLLOUT;
  case Sending:
    // A server that refuses says so, or leaves, before it has all.
    return POLLOUT | POLLIN;
  case Waiting:
  case Receiving:
    return POLLIN;
  case Done:
  case Failed:
    return 0;
  }
  return 0;
}

void Connection::ready(short Events) {
  if (State == Connecting) {
    if (int Why = os::connectError(Fd)) {
      // It was connected, and is not any more: no other address is better.
      if (Why == ECONNRESET || Why == EPIPE)
        return broken("the connection broke", Why);
      Error = os::errorText(Why);
      return connectNext();
    }
    enter(Sending);
    return send();
  }
  if (Events & (POLLIN | POLLHUP | POLLERR))
    receive();
  if (State == Sending && Events & POLLOUT)
    send();
}

void Connection::send() {
  size_t Turn = 0;
  while (Segment != Req->Segments.size() && Turn < MaxTurn) {
    os::Part Parts[os::MaxParts];
    size_t NumParts = 0;
    size_t From = Offset;
    for (size_t I = Segment;
         I != Req->Segments.size() && NumParts != os::MaxParts; ++I) {
      const ByteView &V = Req->Segments[I];
      Parts[NumParts++] = {V.Data + From, V.Size - From};
      From = 0;
    }
    int64_t N = os::send(Fd, Parts, NumParts);
    if (N < 0) {
      if (errno == EAGAIN)
        return;
      return broken("the connection broke before it had read all", errno);
    }
    Turn += static_cast<size_t>(N);
    Sent += static_cast<uint64_t>(N);
    for (size_t Left = static_cast<size_t>(N); Left;) {
      size_t Here = std::min(Left, Req->Segments[Segment].Size - Offset);
      Left -= Here;
      Offset += Here;
      if (Offset == Req->Segments[Segment].Size) {
        ++Segment;
        Offset = 0;
      }
    }
    Moving.arrived(Sent);
    Deadline = Moving.deadline();
    LastSent = Clock::now();
    if (Segment == Req->Segments.size())
      enter(Waiting);
  }
}

void Connection::receive() {
  size_t Turn = 0;
  while (Turn < MaxTurn) {
    size_t Size;
    uint8_t *To = Parser.space(Size);
    int64_t N = os::receive(Fd, To, Size);
    if (N < 0) {
      if (errno == EAGAIN)
        return;
      return broken("the connection broke", errno);
    }
    if (N == 0) {
      if (State == Sending && !Parser.started())
        return fail(Dropped, "it closed the connection before it had read all");
      if (!Parser.started())
        return fail(Dropped, "it closed the connection without an answer");
      if (!Parser.end())
        return fail(Dropped, Parser.error());
      if (State == Sending)
        return fail(Nonsense, "it answered before it had the whole job");
      State = Done;
      return;
    }
    Turn += static_cast<size_t>(N);
    Received += static_cast<uint64_t>(N);
    if (!Parser.commit(static_cast<size_t>(N)))
      return fail(Nonsense, Parser.error());
    if (Received > MaxReply)
      return fail(Nonsense, "it answers with more than " +
                                std::to_string(MaxReply) + " bytes");
    if (Share && !Share->grow(static_cast<uint64_t>(N)))
      return fail(Nonsense, "its answer takes more memory than there is for "
                            "results");
    if (State == Waiting)
      enter(Receiving);
    if (State == Receiving) {
      Moving.arrived(Received);
      Deadline = Moving.deadline();
    }
    if (Parser.complete())
      Deadline = std::min(Deadline, Clock::now() + MaxEnd);
  }
}

void Connection::checkTime(Clock::time_point Now) {
  if (ended())
    return;
  look(Now);
  if (Now < Deadline)
    return;
  if (State == Connecting) {
    Error = "no answer";
    return connectNext();
  }
  if (State == Receiving && Parser.complete()) {
    State = Done; // somebody else holds the connection open
    return;
  }
  auto Seconds = std::to_string(
      std::chrono::round<std::chrono::seconds>(Now - Moving.lastByte())
          .count());
  if (State == Waiting)
    fail(Silent, "no answer for " + Seconds + " s");
  else if (Moving.stopped())
    fail(Silent, (State == Sending ? "it took nothing of a job for "
                                   : "it stopped in its answer for ") +
                     Seconds + " s");
  else
    fail(Silent, State == Sending
                     ? "it took " + Moving.text() + " of a job"
                     : "it sent " + Moving.text() + " of its answer");
}
