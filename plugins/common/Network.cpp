//===- Network.cpp - Time limits of connections to a farm -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Network.h"
#include "System.h"
#include <cerrno>

using namespace dtlto;
using namespace std::chrono;

NetworkLimits dtlto::TheNetworkLimits;

bool dtlto::isLocalShortage(int Errno) {
  return Errno == EMFILE || Errno == ENFILE || Errno == ENOBUFS ||
         Errno == ENOMEM || Errno == EAGAIN;
}

bool dtlto::isMachineUnreachable(int Errno) {
  // A network reports these errors; the limit has passed then, too.
#ifdef EHOSTDOWN
  if (Errno == EHOSTDOWN)
    return true;
#endif
  return Errno == ETIMEDOUT || Errno == EHOSTUNREACH || Errno == ENETUNREACH;
}

std::string dtlto::connectionErrorText(int Errno) {
  if (!isMachineUnreachable(Errno))
    return os::errorText(Errno);
  std::string Text =
      "the machine or the network to it has not answered for " +
      std::to_string(ceil<seconds>(TheNetworkLimits.AckTimeout).count()) + " s";
  return Text;
}

Transfer::Clock::time_point Transfer::due() const {
  // Cap the bytes to avoid an overflow.
  uint64_t CappedBytes = std::min(Bytes, uint64_t(1) << 40);
  return BeginTime +
         milliseconds(CappedBytes * 1000 / TheNetworkLimits.MinRate);
}

std::string Transfer::text() const {
  auto Duration = round<seconds>(Clock::now() - BeginTime);
  return std::to_string(Bytes) + (Bytes == 1 ? " byte in " : " bytes in ") +
         std::to_string(Duration.count()) + " s";
}
