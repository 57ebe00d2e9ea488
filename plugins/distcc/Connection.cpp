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

// How long to wait for the end of file after a complete reply.
static constexpr Clock::duration MaxEofWait = 1s;
// In bytes per turn, so that no connection keeps the others waiting.
static constexpr size_t MaxBytesPerTurn = size_t(4) << 20;

Connection::Connection(const HostSpec &Host,
                       const std::vector<SocketAddress> &Addresses,
                       std::shared_ptr<const Request> Req, const Settings &S,
                       Reaper &Children, uint64_t MaxReply,
                       sdk::ResultMemory *Results)
    : Host(Host), Req(std::move(Req)), Silence(S.IoTimeout), MaxReply(MaxReply),
      Children(Children), CurrentTransfer(Silence) {
  if (Results)
    Share = std::make_shared<sdk::ResultMemory::Share>(*Results);
  if (Host.Kind != HostKind::Ssh) {
    Dialing = std::make_unique<Dial>(
        Addresses, std::min<Clock::duration>(Silence, S.connectLimit()));
    connect(Clock::now());
    return;
  }
  Fd = Children.start(S.SshCommand, Host, Ssh);
  if (Fd >= 0)
    enter(Sending);
  else if (isLocalShortage(errno))
    fail(OutOfResources, "this machine cannot start '" + S.SshCommand[0] +
                             "': " + os::errorText(errno));
  else
    fail(Unreachable,
         "cannot start '" + S.SshCommand[0] + "': " + os::errorText(errno));
}

Connection::~Connection() {
  if (Fd >= 0)
    os::closeSocket(Fd);
  Children.end(Ssh);
}

void Connection::enter(StateTy Next) {
  State = Next;
  CurrentTransfer =
      Transfer(Next == Receiving
                   ? std::min<Clock::duration>(Silence, TheNetworkLimits.Pause)
                   : Silence);
  Deadline = CurrentTransfer.deadline();
  if (Next == Sending)
    LastSent = Clock::now();
  else if (Next == Receiving) // the server has taken the job
    os::setResetOnClose(Fd, false);
  NextStallCheck = Next == Receiving
                       ? Clock::time_point::max()
                       : Clock::now() + TheNetworkLimits.AckTimeout / 4;
}

/// Lets the connection stall: a server that is busy with other jobs reads
/// nothing for a while, not even the bytes that were sent last.
void Connection::checkStall(Clock::time_point Now) {
  if (Now < NextStallCheck)
    return;
  const Clock::duration AckTimeout = TheNetworkLimits.AckTimeout;
  // A server whose queue was full may have accepted the connection meanwhile,
  // and wait for the job. The system would drop the connection without telling
  // the server.
  if (Host.Kind == HostKind::Tcp && Now - LastSent >= AckTimeout * 2 / 3 &&
      isMachineSilent(Fd) && wireBytes(Fd).Acknowledged <= 1)
    return onBreak("the connection broke", ETIMEDOUT);
  allowStall(Fd, Now - LastSent);
  NextStallCheck = Now + AckTimeout / 4;
}

void Connection::fail(FailureTy F, std::string Why) {
  State = Failed;
  Failure = F;
  Error = std::move(Why);
  if (std::string Line = Ssh.lastLine(); !Line.empty())
    Error = (BytesReceived ? Error + ": " : "") + "ssh says '" + Line + "'";
  Deadline = Clock::now(); // wakes the I/O thread
}

void Connection::onBreak(const char *What, int Errno) {
  WasReset = Errno == ECONNRESET || Errno == EPIPE;
  // wireBytes() counts the request for the connection as one byte. A server
  // whose queue is full may also reset the connection after a while.
  WasIgnored = Fd >= 0 && Host.Kind == HostKind::Tcp &&
               (isMachineUnreachable(Errno) || WasReset) &&
               wireBytes(Fd).Acknowledged <= 1;
  // Observed with a distccd that can't write a job's files.
  bool MayBeFull = WasReset && State != Connecting && State != Receiving &&
                   Host.Kind == HostKind::Tcp;
  fail(isMachineUnreachable(Errno) ? MachineLost : Dropped,
       std::string(What) + ": " + connectionErrorText(Errno) +
           (MayBeFull ? ": is the disk of its TMPDIR full? its log says why"
                      : ""));
}

std::string Connection::connectErrorText(int Errno) const {
  std::string Port = std::to_string(Host.Port);
  std::string Text = "cannot connect: ";
  Text += Errno == ETIMEDOUT ? "no answer" : os::errorText(Errno);
  switch (Errno) {
  case ETIMEDOUT:
    Text += ": is the machine on, and does a firewall let port " + Port +
            " through?";
    break;
  case ENETUNREACH:
  case ENETDOWN:
  case EADDRNOTAVAIL:
  case EAFNOSUPPORT:
    Text += ": this machine has no route to it: is its network or VPN up?";
    break;
  case EHOSTUNREACH:
    Text += ": is the machine on, and does a router or firewall refuse it?";
    break;
  case EACCES:
  case EPERM:
    Text += ": does a firewall of this machine forbid it?";
    break;
  case EINVAL: // seen for link-local addresses only
    Text += ": a link-local address needs its interface, [fe80::1%eth0]";
    break;
  default:
    Text += ": is distccd running on port " + Port + "?";
  }
  return Text;
}

/// Continues once the Dial has ended.
void Connection::connect(Clock::time_point Now) {
  Dialing->checkTime(Now);
  if (!Dialing->ended())
    return;
  PeerAddress = Dialing->address();
  int Why = Dialing->error();
  Fd = Dialing->take();
  Dialing.reset();
  if (Fd >= 0) {
    enter(Sending);
    return send();
  }
  if (Why == ECONNRESET || Why == EPIPE)
    return onBreak("the connection broke", Why);
  if (isLocalShortage(Why))
    return fail(OutOfResources,
                "this machine cannot open a connection: " + os::errorText(Why));
  WasIgnored = Why == ETIMEDOUT;
  fail(Unreachable, connectErrorText(Why));
}

void Connection::prepare(Poller &P) {
  if (State == Connecting)
    return Dialing->prepare(P);
  P.wakeAt(std::min(Deadline, NextStallCheck));
  // A server may refuse or close before it has received everything.
  if (!ended())
    P.add(Fd, State == Sending ? POLLOUT | POLLIN : POLLIN,
          [this](short Events) { onReady(Events); });
}

void Connection::onReady(short Events) {
  if (Events & (POLLIN | POLLHUP | POLLERR))
    receive();
  if (State == Sending && Events & POLLOUT)
    send();
}

void Connection::send() {
  const std::vector<std::string_view> &All = Req->Segments;
  for (size_t NumBytes = 0;
       Segment != All.size() && NumBytes < MaxBytesPerTurn;) {
    os::Part Parts[os::MaxParts];
    size_t NumParts = std::min(All.size() - Segment, os::MaxParts);
    for (size_t I = 0; I != NumParts; ++I) {
      std::string_view Remaining = All[Segment + I].substr(I == 0 ? Offset : 0);
      Parts[I] = {Remaining.data(), Remaining.size()};
    }
    int64_t N = os::send(Fd, Parts, NumParts);
    if (N < 0) {
      if (errno == EAGAIN)
        return;
      return onBreak("the connection broke before the server had read the job",
                     errno);
    }
    NumBytes += static_cast<size_t>(N);
    BytesSent += static_cast<uint64_t>(N);
    Offset += static_cast<size_t>(N);
    while (Segment != All.size() && Offset >= All[Segment].size())
      Offset -= All[Segment++].size();
    CurrentTransfer.recordBytes(BytesSent);
    Deadline = CurrentTransfer.deadline();
    LastSent = Clock::now();
    if (Segment == All.size())
      enter(Waiting);
  }
}

void Connection::receive() {
  size_t NumBytes = 0;
  while (NumBytes < MaxBytesPerTurn) {
    size_t Size;
    uint8_t *To = Parser.space(Size);
    int64_t N = os::receive(Fd, To, Size);
    if (N < 0) {
      if (errno == EAGAIN)
        return;
      return onBreak("the connection broke", errno);
    }
    if (N == 0) {
      if (State == Sending && !Parser.hasStarted())
        return fail(Dropped,
                    "it closed the connection before it had read the job");
      if (!Parser.hasStarted())
        return fail(Dropped, "it closed the connection without an answer");
      if (!Parser.end())
        return fail(Dropped, Parser.error());
      if (State == Sending)
        return fail(InvalidReply, "it answered before it had the whole job");
      State = Done;
      return;
    }
    NumBytes += static_cast<size_t>(N);
    BytesReceived += static_cast<uint64_t>(N);
    if (!Parser.commit(static_cast<size_t>(N)))
      return fail(InvalidReply, Parser.error());
    if (BytesReceived > MaxReply)
      return fail(InvalidReply, "its answer has more than " +
                                    std::to_string(MaxReply) + " bytes");
    if (Share && !Share->grow(static_cast<uint64_t>(N)))
      return fail(InvalidReply, "its answer exceeds the memory for results");
    if (State == Waiting)
      enter(Receiving);
    if (State == Receiving) {
      CurrentTransfer.recordBytes(BytesReceived);
      Deadline = CurrentTransfer.deadline();
    }
    if (Parser.isComplete())
      Deadline = std::min(Deadline, Clock::now() + MaxEofWait);
  }
}

void Connection::checkTime(Clock::time_point Now) {
  if (ended())
    return;
  if (State == Connecting)
    return connect(Now);
  checkStall(Now);
  if (Now < Deadline)
    return;
  if (State == Receiving && Parser.isComplete())
    State = Done; // another process holds the connection open
  else
    giveUp(Now);
}

void Connection::giveUp(Clock::time_point Now) {
  auto Seconds = std::to_string(
      std::chrono::round<std::chrono::seconds>(Now - CurrentTransfer.lastByte())
          .count());
  if (State == Waiting)
    fail(Silent, "no answer for " + Seconds + " s");
  else if (CurrentTransfer.hasStopped())
    fail(Silent, (State == Sending ? "it read nothing of a job for "
                                   : "its answer stalled for ") +
                     Seconds + " s");
  else
    fail(Silent,
         State == Sending
             ? "it read only " + CurrentTransfer.text() + " of a job"
             : "it sent only " + CurrentTransfer.text() + " of its answer");
}
