//===- StatsQuery.cpp - Asks a distccd for its slots ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatsQuery.h"
#include "HostSpec.h"
#include "Text.h"
#include <cerrno>

using namespace dtlto;
using namespace dtlto::distcc;
using namespace std::chrono_literals;

// A page of text; a longer answer is something else.
static constexpr size_t MaxAnswer = 64 << 10;
static constexpr std::chrono::steady_clock::duration QueryLimit = 3s;
static constexpr uint32_t MaxLoad = 1000000;

/// Returns the digits and points after "\n<Name> ", if a line end follows;
/// otherwise nothing.
static std::string_view valueOf(std::string_view Name,
                                std::string_view Answer) {
  std::string Prefix = "\n" + std::string(Name) + " ";
  size_t At = Answer.find(Prefix);
  if (At == std::string_view::npos)
    return {};
  Answer.remove_prefix(At + Prefix.size());
  // Without the end of the line, the number may be incomplete.
  size_t End = Answer.find_first_not_of("0123456789.");
  if (End == std::string_view::npos ||
      (Answer[End] != '\n' && Answer[End] != '\r'))
    return {};
  return Answer.substr(0, End);
}

unsigned dtlto::distcc::slotsFromStats(std::string_view Answer) {
  uint32_t Slots = 0;
  parseNumber(valueOf("dcc_max_kids", Answer), 0, MaxSlots, Slots);
  return Slots;
}

uint32_t dtlto::distcc::loadFromStats(std::string_view Answer) {
  std::string_view Value = valueOf("dcc_load1", Answer);
  size_t Point = Value.find('.');
  uint32_t Whole = 0, Hundredths = 0;
  if (Point == std::string_view::npos || Value.size() != Point + 3 ||
      !parseNumber(Value.substr(0, Point), 0, MaxLoad, Whole) ||
      !parseNumber(Value.substr(Point + 1), 0, 99, Hundredths))
    return UINT32_MAX;
  return 100 * Whole + Hundredths;
}

/// Returns \p Hosts with another port.
static std::vector<SocketAddress> atPort(std::vector<SocketAddress> Hosts,
                                         uint16_t Port) {
  for (SocketAddress &A : Hosts)
    if (A.Storage.ss_family == AF_INET6)
      reinterpret_cast<sockaddr_in6 *>(&A.Storage)->sin6_port = htons(Port);
    else
      reinterpret_cast<sockaddr_in *>(&A.Storage)->sin_port = htons(Port);
  return Hosts;
}

StatsQuery::StatsQuery(std::vector<SocketAddress> Hosts, uint16_t Port)
    : Dialing(atPort(std::move(Hosts), Port), QueryLimit),
      Deadline(std::chrono::steady_clock::now() + QueryLimit) {}

StatsQuery::~StatsQuery() {
  if (Fd >= 0)
    os::closeSocket(Fd);
}

void StatsQuery::prepare(Poller &P) {
  P.wakeAt(Deadline);
  if (Fd < 0)
    Dialing.prepare(P);
  else
    P.add(Fd, POLLIN, [this](short) { onReady(); });
}

/// Called once the connection is established or has failed.
void StatsQuery::sendQuery() {
  Fd = Dialing.take();
  static const char HttpRequest[] = "GET / HTTP/1.0\r\n\r\n";
  const os::Part All = {HttpRequest, sizeof(HttpRequest) - 1};
  // The buffer of a new socket has room for this.
  HasEnded = Fd < 0 || os::send(Fd, &All, 1) != static_cast<int64_t>(All.Size);
}

void StatsQuery::onReady() {
  char Buffer[4096];
  int64_t N = os::receive(Fd, Buffer, sizeof(Buffer));
  if (N < 0 && errno == EAGAIN)
    return;
  if (N > 0) {
    Answer.append(Buffer, static_cast<size_t>(N));
    if (Answer.size() <= MaxAnswer)
      return;
  }
  Slots = slotsFromStats(Answer);
  Load = loadFromStats(Answer);
  HasEnded = true;
}

void StatsQuery::checkTime(std::chrono::steady_clock::time_point Now) {
  if (HasEnded)
    return;
  if (Fd < 0)
    Dialing.checkTime(Now);
  if (Fd < 0 && Dialing.ended())
    sendQuery();
  HasEnded |= Now >= Deadline;
}
