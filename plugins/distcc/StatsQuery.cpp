//===- StatsQuery.cpp - How many jobs a distccd runs ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatsQuery.h"
#include <cerrno>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// It is a page of text; what is longer is something else.
static constexpr size_t MaxAnswer = 64 << 10;
static constexpr unsigned MaxSlots = 4096;

unsigned dtlto::distcc::slotsFromStats(std::string_view Answer) {
  constexpr std::string_view Name = "\ndcc_max_kids ";
  size_t At = Answer.find(Name);
  if (At == std::string_view::npos)
    return 0;
  unsigned Slots = 0;
  At += Name.size();
  size_t First = At;
  for (; At != Answer.size() && Answer[At] >= '0' && Answer[At] <= '9'; ++At) {
    Slots = Slots * 10 + static_cast<unsigned>(Answer[At] - '0');
    if (Slots > MaxSlots)
      return 0;
  }
  // Without the end of the line, the number may go on.
  bool Ends = At != First && At != Answer.size() &&
              (Answer[At] == '\n' || Answer[At] == '\r');
  return Ends ? Slots : 0;
}

StatsQuery::StatsQuery(Address A, uint16_t Port)
    : Deadline(std::chrono::steady_clock::now() + 3s) {
  if (A.Storage.ss_family == AF_INET)
    reinterpret_cast<sockaddr_in *>(&A.Storage)->sin_port = htons(Port);
  else if (A.Storage.ss_family == AF_INET6)
    reinterpret_cast<sockaddr_in6 *>(&A.Storage)->sin6_port = htons(Port);
  else
    return;
  Fd = beginConnect(A);
}

StatsQuery::~StatsQuery() { end(); }

void StatsQuery::end() {
  if (Fd >= 0)
    ::close(Fd);
  Fd = -1;
}

short StatsQuery::events() const { return Asked ? POLLIN : POLLOUT; }

void StatsQuery::ready() {
  if (!Asked) {
    static const char Question[] = "GET / HTTP/1.0\r\n\r\n";
    const ssize_t Size = sizeof(Question) - 1;
    // A fresh socket has room for so little.
    if (connectError(Fd) != 0 ||
        ::send(Fd, Question, Size, MSG_NOSIGNAL) != Size)
      return end();
    Asked = true;
    return;
  }
  char Buffer[4096];
  ssize_t N = ::recv(Fd, Buffer, sizeof(Buffer), 0);
  if (N < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (N > 0) {
    Answer.append(Buffer, static_cast<size_t>(N));
    if (Answer.size() <= MaxAnswer)
      return;
  }
  Slots = slotsFromStats(Answer);
  end();
}

void StatsQuery::checkTime(std::chrono::steady_clock::time_point Now) {
  if (Now >= Deadline)
    end();
}
