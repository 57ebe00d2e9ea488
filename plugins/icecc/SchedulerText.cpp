//===- SchedulerText.cpp - A scheduler's text port ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulerText.h"
#include "Text.h"
#include <algorithm>
#include <cerrno>
#include <icecc/comm.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

static constexpr uint32_t MaxJobs = 100000;
// A thousand nodes with a hundred jobs each have about that.
static constexpr size_t MaxAnswer = 16 << 20;

static constexpr std::string_view End = "\n200 done\n";

/// The node of one line, if it is one.
static bool parseNode(std::string_view Line, NodeJobs &Node) {
  if (Line.size() < 2 || Line[0] != ' ' || Line[1] == ' ')
    return false;
  Line.remove_prefix(1);
  // Names are the users': what is ours stands at the end.
  size_t Jobs = Line.rfind(" jobs=");
  if (Jobs == std::string_view::npos)
    return false;
  std::string_view Number = Line.substr(Jobs + 6);
  Number = Number.substr(0, Number.find('/'));
  size_t Close = Line.rfind(") [", Jobs);
  size_t Open =
      Close == std::string_view::npos ? Close : Line.rfind(" (", Close);
  if (Open == std::string_view::npos ||
      !dtlto::parseNumber(Number, 0, MaxJobs, Node.Jobs))
    return false;
  std::string_view Address = Line.substr(Open + 2, Close - Open - 2);
  Node.Name = Line.substr(0, Open);
  Node.Address = Address.substr(0, Address.rfind(':'));
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

namespace {
struct Descriptor {
  int Fd;
  ~Descriptor() {
    if (Fd >= 0)
      ::close(Fd);
  }
};
} // namespace

/// A scheduler lets in one client a second, and looks again when something
/// else has happened, which on a farm at rest can take half a minute. The
/// question with which clients look for a scheduler is something.
static void wake(int Datagrams, const sockaddr_in &Scheduler) {
  const char Question = PROTOCOL_VERSION;
  (void)!::sendto(Datagrams, &Question, 1, MSG_DONTWAIT,
                  reinterpret_cast<const sockaddr *>(&Scheduler),
                  sizeof(Scheduler));
}

std::vector<NodeJobs> dtlto::icecc::askForNodes(const sockaddr_in &Scheduler,
                                                Clock::time_point TimeIsUp,
                                                const Interrupt &I) {
  if (Scheduler.sin_family != AF_INET)
    return {};
  sockaddr_in At = Scheduler;
  At.sin_port = htons(static_cast<uint16_t>(ntohs(At.sin_port) + 1));
  Descriptor Socket{
      ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  watchMachine(Socket.Fd);
  Descriptor Datagrams{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (Socket.Fd < 0 ||
      (::connect(Socket.Fd, reinterpret_cast<sockaddr *>(&At), sizeof(At)) &&
       errno != EINPROGRESS))
    return {};
  std::string Answer;
  bool Asked = false;
  for (Clock::time_point Now; (Now = Clock::now()) < TimeIsUp && !I.raised();) {
    pollfd Fds[2] = {{Socket.Fd, short(Asked ? POLLIN : POLLOUT), 0},
                     {I.fd(), POLLIN, 0}};
    auto Left = std::chrono::ceil<std::chrono::milliseconds>(TimeIsUp - Now);
    ::poll(Fds, 2, static_cast<int>(std::min(Left.count(), int64_t(500))));
    if (!Fds[0].revents) {
      wake(Datagrams.Fd, Scheduler);
      continue;
    }
    if (!Asked) {
      static constexpr std::string_view Question = "listcs\n";
      // A fresh socket has room for so little.
      if (::send(Socket.Fd, Question.data(), Question.size(), MSG_NOSIGNAL) !=
          ssize_t(Question.size()))
        return {};
      Asked = true;
      continue;
    }
    char Buffer[16384];
    ssize_t N = ::recv(Socket.Fd, Buffer, sizeof(Buffer), 0);
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
