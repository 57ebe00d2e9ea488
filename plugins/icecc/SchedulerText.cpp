//===- SchedulerText.cpp - A scheduler's text port ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulerText.h"
#include "Process.h"
#include "System.h"
#include "Text.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <icecc/comm.h>
#include <poll.h>
#include <sys/socket.h>

using namespace dtlto;
using namespace dtlto::icecc;
using namespace std::chrono_literals;

static constexpr uint32_t MaxJobs = 100000;
// A thousand nodes with a hundred jobs each need about this much.
static constexpr size_t MaxAnswer = 16 << 20;

static constexpr std::string_view End = "\n200 done\n";

/// Parses one line. Returns false if it is not a node's.
static bool parseNode(std::string_view Line, NodeJobs &Node) {
  if (Line.size() < 2 || Line[0] != ' ' || Line[1] == ' ')
    return false;
  Line.remove_prefix(1);
  // A name can contain anything, so parse from the end.
  size_t Jobs = Line.rfind(" jobs=");
  if (Jobs == std::string_view::npos)
    return false;
  std::string_view Number = Line.substr(Jobs + 6);
  Number = Number.substr(0, Number.find('/'));
  size_t Close = Line.rfind(") [", Jobs);
  size_t Open =
      Close == std::string_view::npos ? Close : Line.rfind(" (", Close);
  if (Open == std::string_view::npos ||
      !parseNumber(Number, 0, MaxJobs, Node.Jobs))
    return false;
  std::string_view Address = Line.substr(Open + 2, Close - Open - 2);
  Node.Name = Line.substr(0, Open);
  size_t Colon = Address.rfind(':');
  Node.Address = Address.substr(0, Colon);
  if (Colon != std::string_view::npos)
    parseNumber(Address.substr(Colon + 1), 1, 65535, Node.Port);
  return true;
}

std::vector<NodeJobs> dtlto::icecc::nodesFromText(std::string_view Answer) {
  std::vector<NodeJobs> Nodes;
  while (!Answer.empty()) {
    std::string_view Line = Answer.substr(0, Answer.find('\n'));
    Answer.remove_prefix(std::min(Line.size() + 1, Answer.size()));
    if (!Line.empty() && Line.back() == '\r')
      Line.remove_suffix(1);
    if (NodeJobs Node; parseNode(Line, Node))
      Nodes.push_back(std::move(Node));
  }
  return Nodes;
}

/// A scheduler accepts one client a second, and the next only after another
/// event, which on an idle farm can take half a minute. A discovery request is
/// an event.
void dtlto::icecc::wakeScheduler(const sockaddr_in &Scheduler) {
  const char Question = PROTOCOL_VERSION;
  Descriptor Datagrams(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (Scheduler.sin_family == AF_INET && Datagrams.isOpen())
    (void)!::sendto(Datagrams.get(), &Question, 1, MSG_DONTWAIT,
                    reinterpret_cast<const sockaddr *>(&Scheduler),
                    sizeof(Scheduler));
}

/// Returns a socket that begins to connect to \p To. Returns none with errno on
/// failure.
static Descriptor beginConnect(const sockaddr_in &To) {
  Descriptor Socket(os::openSocket(AF_INET));
  watchMachine(Socket.get());
  if (Socket.isOpen() &&
      !os::beginConnect(Socket.get(), reinterpret_cast<const sockaddr *>(&To),
                        sizeof(To)))
    Socket.reset();
  return Socket;
}

std::vector<std::string> dtlto::icecc::probe(const std::vector<NodeJobs> &Nodes,
                                             Clock::duration Limit,
                                             const Interrupt &I) {
  std::vector<std::string> Why(Nodes.size());
  std::vector<Descriptor> Sockets(Nodes.size());
  const Clock::time_point End = Clock::now() + Limit;
  for (size_t N = 0; N != Nodes.size(); ++N) {
    sockaddr_in At = {};
    At.sin_family = AF_INET;
    At.sin_port = htons(uint16_t(Nodes[N].Port));
    if (Nodes[N].Port == 0 ||
        ::inet_pton(AF_INET, Nodes[N].Address.c_str(), &At.sin_addr) != 1)
      continue;
    Sockets[N] = beginConnect(At);
    if (Sockets[N].isOpen())
      continue;
    if (isLocalShortage(errno))
      break;
    Why[N] = std::strerror(errno);
  }
  for (size_t N = 0; N != Nodes.size(); ++N) {
    if (!Sockets[N].isOpen())
      continue;
    int Fd = Sockets[N].get(), Code = 0;
    // All connect at the same time, so the last ones may be connected at the
    // end.
    Wait W = waitFor(Fd, POLLOUT, std::max(End, Clock::now() + 1ms), I);
    if (W != Wait::Interrupted)
      Code = W == Wait::Ready ? os::connectError(Fd) : ETIMEDOUT;
    if (Code != 0)
      Why[N] = std::strerror(Code);
  }
  return Why;
}

std::vector<NodeJobs> dtlto::icecc::queryNodes(const sockaddr_in &Scheduler,
                                               Clock::time_point Deadline,
                                               const Interrupt &I) {
  if (Scheduler.sin_family != AF_INET)
    return {};
  sockaddr_in At = Scheduler;
  At.sin_port = htons(static_cast<uint16_t>(ntohs(At.sin_port) + 1));
  Descriptor Socket = beginConnect(At);
  if (!Socket.isOpen())
    return {};
  std::string Answer;
  bool HasSentQuery = false;
  while (Clock::now() < Deadline) {
    Wait W = waitFor(Socket.get(), HasSentQuery ? POLLIN : POLLOUT,
                     std::min(Deadline, Clock::now() + 500ms), I);
    if (W == Wait::Interrupted)
      return {};
    if (W == Wait::TimedOut) {
      wakeScheduler(Scheduler);
      continue;
    }
    if (!HasSentQuery) {
      static constexpr std::string_view Question = "listcs\n";
      // The buffer of a new socket has room for this.
      if (::send(Socket.get(), Question.data(), Question.size(),
                 MSG_NOSIGNAL) != ssize_t(Question.size()))
        return {};
      HasSentQuery = true;
      continue;
    }
    char Buffer[16384];
    ssize_t N = ::recv(Socket.get(), Buffer, sizeof(Buffer), 0);
    if (N < 0 && (errno == EAGAIN || errno == EINTR))
      continue;
    if (N <= 0)
      return {};
    Answer.append(Buffer, static_cast<size_t>(N));
    if (Answer.size() > MaxAnswer)
      return {};
    if (Answer.size() >= End.size() &&
        Answer.compare(Answer.size() - End.size(), End.size(), End) == 0)
      return nodesFromText(Answer);
  }
  return {};
}
