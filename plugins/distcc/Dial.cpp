//===- Dial.cpp - A connection to one of several addresses ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dial.h"
#include <cerrno>
#include <utility>

using namespace dtlto::distcc;
using namespace std::chrono_literals;

// RFC 8305, "Connection Attempt Delay".
static constexpr Dial::Clock::duration Stagger = 250ms;

/// This machine has no way to such addresses, which says little if another
/// address fails in another way.
static bool isNoWay(int Errno) {
  return Errno == ENETUNREACH || Errno == EAFNOSUPPORT ||
         Errno == EADDRNOTAVAIL;
}

Dial::Dial(std::vector<Address> All, Clock::duration Limit)
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

/// Begins to connect to the next address. If that fails at once, goes on with
/// the one after it, and ends if no attempt is left.
void Dial::startNext(Clock::time_point Now) {
  while (Attempts.size() != Addresses.size()) {
    size_t Index = Attempts.size();
    int Fd = beginConnect(Addresses[Index]);
    int Why = Fd < 0 ? errno : 0;
    // Other addresses need a descriptor, too.
    if (Fd < 0 && isOurLack(Why) && !isPending()) {
      Errno = Why;
      return;
    }
    Attempts.push_back({Fd, Index, Now + Limit});
    NextStart = Now + Stagger;
    if (Fd >= 0)
      return;
    failed(Attempts.back(), Why);
  }
  if (!isPending())
    Errno = LastErrno;
}

void Dial::failed(Attempt &A, int Why) {
  if (A.Fd >= 0)
    os::closeSocket(std::exchange(A.Fd, -1));
  if (!LastErrno || !isNoWay(Why)) {
    LastErrno = Why;
    Which = A.Index;
  }
}

void Dial::ready(size_t Index) {
  Attempt &A = Attempts[Index];
  if (ended() || A.Fd < 0)
    return;
  int Why = os::connectError(A.Fd);
  if (Why == 0) {
    Winner = std::exchange(A.Fd, -1);
    Which = A.Index;
    return;
  }
  failed(A, Why);
  // It was connected, and is not any more: no other address is better.
  if (Why == ECONNRESET || Why == EPIPE)
    Errno = Why;
  else
    startNext(Clock::now());
}

void Dial::prepare(Poller &P) {
  if (ended())
    return P.wakeAt(Clock::now());
  for (size_t I = 0; I != Attempts.size(); ++I)
    if (Attempts[I].Fd >= 0) {
      P.add(Attempts[I].Fd, POLLOUT, [this, I](short) { ready(I); });
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
      failed(A, ETIMEDOUT);
  if (Now >= NextStart || !isPending())
    startNext(Now);
}

int Dial::take() {
  int Fd = std::exchange(Winner, -1);
  closeAll();
  return Fd;
}
