//===- Network.h - What a connection to a farm may take -------- *- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network can stop a job in two ways, which time out:
//
//   - nothing arrives any more: a machine has no power, or a network drops all
//     packets. The system probes the other machine, and breaks the connection
//     when there is no answer for too long;
//   - almost nothing arrives. A transfer may pause for a while. Its limit is
//   that
//     time and one for its bytes.
//
// While a compiler runs at the other end, nothing is transferred, and there is
// no limit in this file.
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
  /// For an address to answer a connection.
  std::chrono::milliseconds Connect{10000};
  /// For a machine to acknowledge anything. Then it, or the network, is gone.
  std::chrono::milliseconds Gone{12000};
  /// The longest pause of a transfer, where a plugin's user has set no other.
  std::chrono::milliseconds Pause{30000};
  /// In bytes per second. Low, since many jobs may share a slow line: 64 on one
  /// of 64 kB/s.
  uint64_t MinRate = 1024;
};
extern NetworkLimits TheNetworkLimits;

/// Has the system detect within NetworkLimits::Gone that the machine at the
/// other end of \p Socket is gone: by keepalive while nothing is sent, and by a
/// limit for acknowledgements otherwise. Does nothing to sockets other than
/// TCP.
void watchMachine(int Socket);

/// Keeps a connection whose other end reads nothing although its machine
/// answers, which watchMachine() would end. To be called a few times in each
/// NetworkLimits::Gone. \p Stalled: how long nothing could be sent.
void allowStall(int Socket, std::chrono::steady_clock::duration Stalled);

/// Whether the machine at the other end of \p Socket, which may be broken
/// already, acknowledges nothing. True if the system does not report that.
bool machineIsSilent(int Socket);

/// Whether \p Errno, of a call that failed, means that the machine at the other
/// end, or the network to it, is gone.
bool isMachineGone(int Errno);

/// Describes why a connection broke, in one line.
std::string connectionLost(int Errno);

/// All bytes that the machine at the other end of \p Socket has acknowledged
/// and sent. 0 for sockets other than TCP.
struct WireBytes {
  uint64_t Acknowledged = 0, Received = 0;
};
WireBytes wireBytes(int Socket);

/// Bytes on their way in one direction.
class Transfer {
public:
  using Clock = std::chrono::steady_clock;

  /// Begins now. \p Pause: the longest pause.
  explicit Transfer(Clock::duration Pause)
      : Pause(Pause), Began(Clock::now()), Last(Began) {}

  /// \p AllBytes have arrived since the begin.
  void arrived(uint64_t AllBytes) {
    if (AllBytes == Bytes)
      return;
    Bytes = AllBytes;
    Last = Clock::now();
  }
  uint64_t bytes() const { return Bytes; }
  Clock::time_point lastByte() const { return Last; }

  /// When the transfer times out.
  Clock::time_point deadline() const { return std::min(Last, due()) + Pause; }
  /// Whether it times out since nothing arrives, and not since too few bytes
  /// do.
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
