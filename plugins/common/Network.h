//===- Network.h - What a connection to a farm may take -------- *- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two ways in which a network holds up a job for ever, and their ends:
//
//   - nothing arrives any more: a machine without power, a cable that is cut, a
//     network that drops everything. The system asks the other machine all the
//     time, and breaks the connection when it has not answered for long enough;
//   - next to nothing arrives: each byte is a sign of life, and the last never
//     comes. A transfer may pause for a while, and what it may take altogether
//     is that time and one for its bytes.
//
// What a program at the other end takes for its work is no matter of this file:
// while a compiler runs, nothing is transferred.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_NETWORK_H
#define DTLTO_PLUGINS_NETWORK_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace dtlto {

/// All limits that plugins have in common. Tests change them.
struct NetworkLimits {
  /// An address that has not answered a connection for so long does not answer.
  std::chrono::milliseconds Connect{10000};
  /// A machine that has acknowledged nothing for so long is gone, or the
  /// network to it is.
  std::chrono::milliseconds Gone{12000};
  /// The longest pause of a transfer, where a plugin's user has set no other.
  std::chrono::milliseconds Pause{30000};
  /// In bytes per second. Far below what a line has, since as many jobs share
  /// one as there are slots behind it: 64 on a line of 64 kB/s.
  uint64_t MinRate = 1024;
};
extern NetworkLimits TheNetworkLimits;

/// Has the system find out, within NetworkLimits::Gone, that the machine at the
/// other end of \p Socket is gone: by questions while nothing else is on the
/// way (keepalive), by a limit for acknowledgements otherwise. connectionLost()
/// then says so. Does nothing to a socket that is not of TCP.
void watchMachine(int Socket);

/// The limit of watchMachine() also ends a connection whose other end reads
/// nothing, although its machine answers. To be called a few times in each
/// NetworkLimits::Gone, it keeps the connection as long as the machine does.
/// \p Stalled is how long nothing could be sent. Whoever never calls it lets
/// nobody stall for longer than that limit.
void allowStall(int Socket, std::chrono::steady_clock::duration Stalled);

/// Whether the machine at the other end of \p Socket, which may be broken
/// already, acknowledges nothing. True where the system does not tell.
bool machineIsSilent(int Socket);

/// Whether \p Errno, of a call that failed, says that the machine at the other
/// end is gone, or the network to it.
bool isMachineGone(int Errno);

/// Why a connection broke, for its user: one line.
std::string connectionLost(int Errno);

/// What the machine at the other end of \p Socket has acknowledged and sent, in
/// bytes, ever. 0 for a socket that is not of TCP.
struct WireBytes {
  uint64_t Acknowledged = 0, Received = 0;
};
WireBytes wireBytes(int Socket);

/// Bytes on their way in one direction.
class Transfer {
public:
  using Clock = std::chrono::steady_clock;

  /// It begins now. \p Pause: the longest.
  explicit Transfer(Clock::duration Pause)
      : Pause(Pause), Began(Clock::now()), Last(Began) {}

  /// So many have arrived since it began. More than before: just now.
  void arrived(uint64_t AllBytes) {
    if (AllBytes == Bytes)
      return;
    Bytes = AllBytes;
    Last = Clock::now();
  }
  uint64_t bytes() const { return Bytes; }
  Clock::time_point lastByte() const { return Last; }

  /// Has it not ended by then, it is too slow.
  Clock::time_point deadline() const { return std::min(Last, due()) + Pause; }
  /// Whether that is so since the last byte came, and not since too few have.
  bool stopped() const { return Last <= due(); }
  /// "12 bytes in 30 s".
  std::string text() const;

private:
  Clock::time_point due() const; // at the lowest rate, the last byte

  Clock::duration Pause;
  Clock::time_point Began, Last;
  uint64_t Bytes = 0;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_NETWORK_H
