//===- SchedulerText.cpp - A scheduler's text port ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulerText.h"
#include "Process.h"
#include "Text.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <icecc/comm.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

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

static Descriptor openSocket(int Type) {
  return Descriptor(::socket(AF_INET, Type | SOCK_CLOEXEC, 0));
}

/// A scheduler accepts one client a second, and the next only after another
/// event, which on an idle farm can take half a minute. A discovery request is
/// an event.
static void wake(int Datagrams, const sockaddr_in &Scheduler) {
  const char Question = PROTOCOL_VERSION;
  (void)!::sendto(Datagrams, &Question, 1, MSG_DONTWAIT,
                  reinterpret_cast<const sockaddr *>(&Scheduler),
                  sizeof(Scheduler));
}

void dtlto::icecc::wakeScheduler(const sockaddr_in &Scheduler) {
  Descriptor Datagrams = openSocket(SOCK_DGRAM);
  if (Scheduler.sin_family == AF_INET && Datagrams.isOpen())
    wake(Datagrams.get(), Scheduler);
}

std::vector<std::string> dtlto::icecc::probe(const std::vector<NodeJobs> &Nodes,
                                             Clock::duration Limit,
                                             const Interrupt &I) {
  std::vector<std::string> Why(Nodes.size());
  std::vector<Descriptor> Sockets;
  std::vector<pollfd> Fds(Nodes.size() + 1, {-1, POLLOUT, 0});
  Fds.back() = {I.fd(), POLLIN, 0};
  size_t NumOpen = 0;
  for (size_t N = 0; N != Nodes.size(); ++N) {
    sockaddr_in At = {};
    At.sin_family = AF_INET;
    At.sin_port = htons(uint16_t(Nodes[N].Port));
    if (Nodes[N].Port == 0 ||
        ::inet_pton(AF_INET, Nodes[N].Address.c_str(), &At.sin_addr) != 1)
      continue;
    Descriptor Socket = openSocket(SOCK_STREAM | SOCK_NONBLOCK);
    if (!Socket.isOpen())
      break;
    int Fd = Socket.get();
    Sockets.push_back(std::move(Socket));
    if (::connect(Fd, reinterpret_cast<sockaddr *>(&At), sizeof(At)) == 0)
      continue;
    if (errno != EINPROGRESS) {
      Why[N] = std::strerror(errno);
      continue;
    }
    Fds[N].fd = Fd;
    ++NumOpen;
  }
  const Clock::time_point End = Clock::now() + Limit;
  while (NumOpen != 0 && !I.isRaised()) {
    auto Remaining =
        std::chrono::ceil<std::chrono::milliseconds>(End - Clock::now());
    if (Remaining.count() <= 0)
      break;
    ::poll(Fds.data(), Fds.size(), static_cast<int>(Remaining.count()));
    for (size_t N = 0; N != Nodes.size(); ++N) {
      if (Fds[N].fd < 0 || Fds[N].revents == 0)
        continue;
      int Code = 0;
      socklen_t Size = sizeof(Code);
      ::getsockopt(Fds[N].fd, SOL_SOCKET, SO_ERROR, &Code, &Size);
      if (Code != 0)
        Why[N] = std::strerror(Code);
      Fds[N].fd = -1;
      --NumOpen;
    }
  }
  for (size_t N = 0; N != Nodes.size() && !I.isRaised(); ++N)
    if (Fds[N].fd >= 0)
      Why[N] = std::strerror(ETIMEDOUT);
  return Why;
}

std::vector<NodeJobs> dtlto::icecc::queryNodes(const sockaddr_in &Scheduler,
                                               Clock::time_point Deadline,
                                               const Interrupt &I) {
  if (Scheduler.sin_family != AF_INET)
    return {};
  sockaddr_in At = Scheduler;
  At.sin_port = htons(static_cast<uint16_t>(ntohs(At.sin_port) + 1));
  Descriptor Socket = openSocket(SOCK_STREAM | SOCK_NONBLOCK);
  watchMachine(Socket.get());
  Descriptor Datagrams = openSocket(SOCK_DGRAM);
  if (!Socket.isOpen() ||
      (::connect(Socket.get(), reinterpret_cast<sockaddr *>(&At), sizeof(At)) &&
       errno != EINPROGRESS))
    return {};
  std::string Answer;
  bool HasSentQuery = false;
  for (Clock::time_point Now;
       (Now = Clock::now()) < Deadline && !I.isRaised();) {
    pollfd Fds[2] = {{Socket.get(), short(HasSentQuery ? POLLIN : POLLOUT), 0},
                     {I.fd(), POLLIN, 0}};
    auto Remaining =
        std::chrono::ceil<std::chrono::milliseconds>(Deadline - Now);
    ::poll(Fds, 2, static_cast<int>(std::min(Remaining.count(), int64_t(500))));
    if (!Fds[0].revents) {
      wake(Datagrams.get(), Scheduler);
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
