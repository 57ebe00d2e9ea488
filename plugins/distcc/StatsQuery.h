//===- StatsQuery.h - Asks a distccd for its slots --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A distccd that was started with --stats answers HTTP on its statistics port,
// by default 3633, with lines of a name and a number. Among them are
// "dcc_max_kids N", its --jobs, and "dcc_load1 N.NN", the machine's load
// average.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_STATSQUERY_H
#define DTLTO_DISTCC_STATSQUERY_H

#include "Dial.h"
#include <chrono>
#include <string>
#include <string_view>

namespace dtlto::distcc {

/// Returns the number of slots in \p Answer, or 0 if it is missing or invalid.
unsigned slotsFromStats(std::string_view Answer);
/// Returns the machine's load in the last minute, in hundredths of a runnable
/// process, or UINT32_MAX if it is missing or invalid.
uint32_t loadFromStats(std::string_view Answer);

/// A query to a statistics port. Most distccds have no such port, so a failure
/// only ends the query. Polled like a Connection.
class StatsQuery {
public:
  /// Asks the first of \p Hosts that answers, at \p Port.
  StatsQuery(std::vector<SocketAddress> Hosts, uint16_t Port);
  ~StatsQuery();
  StatsQuery(const StatsQuery &) = delete;

  void prepare(Poller &P);
  void checkTime(std::chrono::steady_clock::time_point Now);

  bool ended() const { return HasEnded; }
  /// Whether any answer came, which shows that the machine is up.
  bool isAlive() const { return !Answer.empty(); }
  unsigned slots() const { return Slots; }         // 0: unknown
  uint32_t loadHundredths() const { return Load; } // UINT32_MAX: unknown

private:
  void sendQuery();
  void onReady();

  Dial Dialing;
  int Fd = -1;
  bool HasEnded = false;
  std::string Answer;
  unsigned Slots = 0;
  uint32_t Load = UINT32_MAX;
  std::chrono::steady_clock::time_point Deadline;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_STATSQUERY_H
