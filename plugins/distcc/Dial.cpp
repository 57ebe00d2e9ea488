//===- Dial.cpp - Connects to a host by name ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dial.h"
#include "Network.h"
#include "dtlto/sdk/Detached.hpp"
#include <cerrno>
#ifndef _WIN32
#include <netinet/tcp.h>
#endif
#include <system_error>
#include <utility>

using namespace dtlto;
using namespace dtlto::distcc;
using namespace std::chrono_literals;

// RFC 8305, "Connection Attempt Delay".
static constexpr Dial::Clock::duration Stagger = 250ms;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Reorders \p All so that IPv6 and IPv4 alternate, beginning with the family
/// of the first address (RFC 8305). Otherwise all addresses of a family without
/// a route might be tried first.
static void interleave(std::vector<SocketAddress> &All) {
  std::vector<SocketAddress> ByFamily[2];
  for (const SocketAddress &A : All)
    ByFamily[A.Storage.ss_family != All[0].Storage.ss_family].push_back(A);
  All.clear();
  for (size_t I = 0; I != std::max(ByFamily[0].size(), ByFamily[1].size()); ++I)
    for (auto &Family : ByFamily)
      if (I < Family.size())
        All.push_back(Family[I]);
}

void dtlto::distcc::resolve(const std::string &Name, uint16_t Port,
                            std::shared_ptr<Mailbox> Box,
                            std::function<void(LookupResult)> Callback) {
  auto Work = [=] {
    LookupResult R = sdk::lookUp(Name, Port);
    interleave(R.Addresses);
    Box->post([Callback, R = std::move(R)] { Callback(R); });
  };
  try {
    sdk::runDetached(Work);
  } catch (const std::system_error &E) {
    LookupResult R;
    R.Error = std::string("no thread to look up the name: ") + E.what();
    R.IsLocalShortage = true;
    Box->post([Callback, R] { Callback(R); });
  }
}

int dtlto::distcc::beginConnect(const SocketAddress &A) {
  int Fd = os::openSocket(A.Storage.ss_family);
  if (Fd < 0)
    return -1;
  int On = 1;
  ::setsockopt(Fd, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<char *>(&On),
               sizeof(On));
  watchMachine(Fd);
  os::setResetOnClose(Fd, true);
  if (!os::beginConnect(Fd, reinterpret_cast<const sockaddr *>(&A.Storage),
                        A.Size)) {
    int Code = errno;
    os::closeSocket(Fd);
    errno = Code;
    return -1;
  }
  return Fd;
}

//===----------------------------------------------------------------------===//
// Dial
//===----------------------------------------------------------------------===//

/// Whether this machine has no route to an address. The errors of other
/// addresses are more useful.
static bool isNoRoute(int Errno) {
  return Errno == ENETUNREACH || Errno == EAFNOSUPPORT ||
         Errno == EADDRNOTAVAIL;
}

Dial::Dial(std::vector<SocketAddress> All, Clock::duration Limit)
    : Addresses(std::move(All)), Limit(Limit) {
  Attempts.reserve(Addresses.size()); // callbacks refer to them by index
  if (Addresses.empty())
    Errno = EADDRNOTAVAIL;
  else
    startNext(Clock::now());
}

Dial::~Dial() { closeAll(); }

void Dial::closeAll() {
  for (Attempt &A : Attempts)
    if (A.Fd >= 0)
      os::closeSocket(std::exchange(A.Fd, -1));
  if (Winner >= 0)
    os::closeSocket(std::exchange(Winner, -1));
}

bool Dial::isPending() const {
  for (const Attempt &A : Attempts)
    if (A.Fd >= 0)
      return true;
  return false;
}

/// Begins to connect to the next address. If that fails at once, tries the one
/// after it. Ends the dial if no attempt is left.
void Dial::startNext(Clock::time_point Now) {
  while (Attempts.size() != Addresses.size()) {
    int Fd = beginConnect(Addresses[Attempts.size()]);
    int Code = Fd < 0 ? errno : 0;
    // The other addresses need a descriptor, too.
    if (Fd < 0 && isLocalShortage(Code) && !isPending()) {
      Errno = Code;
      return;
    }
    Attempts.push_back({Fd, Now + Limit});
    NextStart = Now + Stagger;
    if (Fd >= 0)
      return;
    onFailure(Attempts.back(), Code);
  }
  if (!isPending())
    Errno = LastErrno;
}

void Dial::onFailure(Attempt &A, int Code) {
  if (A.Fd >= 0)
    os::closeSocket(std::exchange(A.Fd, -1));
  if (!LastErrno || !isNoRoute(Code)) {
    LastErrno = Code;
    CurrentIndex = size_t(&A - Attempts.data());
  }
}

void Dial::onReady(size_t Index) {
  Attempt &A = Attempts[Index];
  if (ended() || A.Fd < 0)
    return;
  int Code = os::connectError(A.Fd);
  if (Code == 0) {
    Winner = std::exchange(A.Fd, -1);
    CurrentIndex = Index;
    return;
  }
  onFailure(A, Code);
  // The connection was established and then broke: don't try other addresses.
  if (Code == ECONNRESET || Code == EPIPE)
    Errno = Code;
  else
    startNext(Clock::now());
}

void Dial::prepare(Poller &P) {
  if (ended())
    return P.wakeAt(Clock::now());
  for (size_t I = 0; I != Attempts.size(); ++I)
    if (Attempts[I].Fd >= 0) {
      P.add(Attempts[I].Fd, POLLOUT, [this, I](short) { onReady(I); });
      P.wakeAt(Attempts[I].Deadline);
    }
  if (Attempts.size() != Addresses.size())
    P.wakeAt(NextStart);
}

void Dial::checkTime(Clock::time_point Now) {
  if (ended())
    return;
  for (Attempt &A : Attempts)
    if (A.Fd >= 0 && Now >= A.Deadline)
      onFailure(A, ETIMEDOUT);
  if (Now >= NextStart || !isPending())
    startNext(Now);
}

int Dial::take() {
  int Fd = std::exchange(Winner, -1);
  closeAll();
  return Fd;
}
