//===- Network.h - Time limits of connections to a farm ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network can stop a job in two ways. Both time out:
//
//   - Nothing arrives any more: a machine has no power, or a network drops all
//     packets. The system probes the other machine, and breaks the connection
//     if there is no answer for too long.
//   - Almost nothing arrives. A transfer may pause for a while. Its limit is
//     that pause plus the time for its bytes at the lowest rate.
//
// While a compiler runs at the other end, nothing is transferred, and no limit
// in this file applies.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_NETWORK_H
#define DTLTO_PLUGINS_NETWORK_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace dtlto {

/// The limits that all plugins share. Tests change them.
struct NetworkLimits {
  /// How long an address may take to answer a connection.
  std::chrono::milliseconds Connect{10000};
  /// How long a machine may take to acknowledge anything. After that, the
  /// machine or the network is considered gone.
  std::chrono::milliseconds AckTimeout{12000};
  /// The longest pause of a transfer, unless the plugin's user has set another.
  std::chrono::milliseconds Pause{30000};
  /// The lowest rate in bytes per second. It is low since many jobs may share a
  /// slow line: 64 jobs on one of 64 kB/s.
  uint64_t MinRate = 1024;
};
extern NetworkLimits TheNetworkLimits;

/// Makes the system detect within NetworkLimits::AckTimeout that the machine at
/// the other end of \p Socket is gone: by keepalive while nothing is sent,
/// otherwise by a limit for acknowledgements. Does nothing for sockets other
/// than TCP.
void watchMachine(int Socket);

/// Keeps a connection whose other end reads nothing although its machine
/// answers. watchMachine() alone would break it. Must be called a few times in
/// each NetworkLimits::AckTimeout. \p Stalled is how long nothing could be
/// sent.
void allowStall(int Socket, std::chrono::steady_clock::duration Stalled);

/// Whether the machine at the other end of \p Socket acknowledges nothing. The
/// connection may be broken already. True if the system does not report that.
bool isMachineSilent(int Socket);

/// Whether this machine lacks descriptors, memory or processes.
bool isLocalShortage(int Errno);
/// Whether \p Errno, from a failed call, means that the machine at the other
/// end, or the network to it, is gone.
bool isMachineUnreachable(int Errno);

/// Describes why a connection broke, in one line.
std::string connectionErrorText(int Errno);

/// The number of bytes that the machine at the other end of \p Socket has
/// acknowledged and sent. 0 for sockets other than TCP.
struct WireBytes {
  uint64_t Acknowledged = 0, Received = 0;
};
WireBytes wireBytes(int Socket);

/// A transfer of bytes in one direction, and its time limit.
class Transfer {
public:
  using Clock = std::chrono::steady_clock;

  /// Begins now. \p Pause is the longest pause that is allowed.
  explicit Transfer(Clock::duration Pause)
      : Pause(Pause), BeginTime(Clock::now()), LastProgress(BeginTime) {}

  /// Records that \p AllBytes have arrived since the transfer began.
  void recordBytes(uint64_t AllBytes) {
    if (AllBytes == Bytes)
      return;
    Bytes = AllBytes;
    LastProgress = Clock::now();
  }
  uint64_t bytes() const { return Bytes; }
  Clock::time_point lastByte() const { return LastProgress; }

  /// Returns when the transfer times out.
  Clock::time_point deadline() const {
    return std::min(LastProgress, due()) + Pause;
  }
  /// Whether the transfer times out because nothing arrives, rather than
  /// because too few bytes do.
  bool hasStopped() const { return LastProgress <= due(); }
  /// Returns "12 bytes in 30 s", for example.
  std::string text() const;

private:
  Clock::time_point due() const; // when MinRate has the last byte arrive

  Clock::duration Pause;
  Clock::time_point BeginTime, LastProgress;
  uint64_t Bytes = 0;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_NETWORK_H
