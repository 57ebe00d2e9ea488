//===- Network.cpp - What a connection to a farm may take -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Network.h"
#include <cerrno>
#include <cstring>
#include <linux/sockios.h>
#include <linux/tcp.h> // tcp_info: libc's ends early
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

using namespace dtlto;
using namespace std::chrono;

NetworkLimits dtlto::TheNetworkLimits;

static void set(int Socket, int Level, int Name, int64_t Value) {
  int Int = static_cast<int>(std::clamp<int64_t>(Value, 1, INT32_MAX));
  ::setsockopt(Socket, Level, Name, &Int, sizeof(Int));
}

void dtlto::watchMachine(int Socket) {
  const milliseconds Gone = TheNetworkLimits.Gone;
  // The first question after a third of the time, and three more. What decides
  // is the limit for acknowledgements: it holds for them as well.
  int64_t Seconds = duration_cast<seconds>(Gone).count();
  set(Socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(Socket, IPPROTO_TCP, TCP_KEEPIDLE, Seconds / 3);
  set(Socket, IPPROTO_TCP, TCP_KEEPINTVL, Seconds / 6);
  set(Socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(Socket, IPPROTO_TCP, TCP_USER_TIMEOUT, Gone.count());
}

/// Zeros if it isn't of TCP.
static tcp_info infoOf(int Socket) {
  tcp_info Info = {};
  socklen_t Size = sizeof(Info);
  ::getsockopt(Socket, IPPROTO_TCP, TCP_INFO, &Info, &Size);
  return Info;
}

void dtlto::allowStall(int Socket, steady_clock::duration Stalled) {
  const milliseconds Gone = TheNetworkLimits.Gone;
  milliseconds Limit = Gone;
  int Unsent = 0; // or sent, and not acknowledged
  // The system asks again before its limit has passed. So an answer is never as
  // old as Gone as long as the machine is there.
  if (::ioctl(Socket, SIOCOUTQ, &Unsent) == 0 && Unsent > 0 &&
      milliseconds(infoOf(Socket).tcpi_last_ack_recv) < Gone)
    Limit =
        std::max(Limit, duration_cast<milliseconds>(Stalled) + Gone * 2 / 3);
  set(Socket, IPPROTO_TCP, TCP_USER_TIMEOUT, Limit.count());
}

bool dtlto::machineIsSilent(int Socket) {
  // The system's timers are a little coarse.
  return milliseconds(infoOf(Socket).tcpi_last_ack_recv) >=
         TheNetworkLimits.Gone * 3 / 4;
}

bool dtlto::isMachineGone(int Errno) {
  // Of a network that says so; the limit has passed all the same.
  return Errno == ETIMEDOUT || Errno == EHOSTUNREACH || Errno == ENETUNREACH ||
         Errno == EHOSTDOWN;
}

std::string dtlto::connectionLost(int Errno) {
  if (!isMachineGone(Errno))
    return std::strerror(Errno);
  std::string Seconds =
      std::to_string(ceil<seconds>(TheNetworkLimits.Gone).count());
  std::string Why = "its machine, or the network to it, has not answered for " +
                    Seconds + " s";
  return Why;
}

WireBytes dtlto::wireBytes(int Socket) {
  tcp_info Info = infoOf(Socket);
  return {Info.tcpi_bytes_acked, Info.tcpi_bytes_received};
}

Transfer::Clock::time_point Transfer::due() const {
  // No number overflows.
  uint64_t Capped = std::min(Bytes, uint64_t(1) << 40);
  return Began + milliseconds(Capped * 1000 / TheNetworkLimits.MinRate);
}

std::string Transfer::text() const {
  auto Took = round<seconds>(Clock::now() - Began);
  return std::to_string(Bytes) + (Bytes == 1 ? " byte in " : " bytes in ") +
         std::to_string(Took.count()) + " s";
}
