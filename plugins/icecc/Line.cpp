//===- Line.cpp - Jobs that wait for their turn ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Line.h"
#include <cassert>

using namespace dtlto::icecc;
using namespace std::chrono_literals;

// How often the number of jobs is raised by one after this machine had no room
// for a connection.
static constexpr Clock::duration RoomPause = 1s;

void Line::admit() {
  while (!Waiting.empty() && NumTrying < maxConcurrent() &&
         NumTrying - NumSettled < Window) {
    Waiting.front()->MayTry = true;
    Waiting.front()->Wake.notify_all();
    Waiting.pop_front();
    ++NumTrying;
  }
}

void Line::enter(Job &J, bool IsNew) {
  J.MayTry = false;
  Waiting.insert(IsNew ? Waiting.end() : Waiting.begin(), &J);
  admit();
}

void Line::leave(Job &J) {
  auto It = std::find(Waiting.begin(), Waiting.end(), &J);
  assert(It != Waiting.end());
  Waiting.erase(It);
}

void Line::settle(Job &J) {
  assert(J.MayTry && !J.IsSettled);
  J.IsSettled = true;
  ++NumSettled;
  Window = std::min(Window + 1, MaxWindow);
  admit();
}

void Line::recordTry(Job &J) {
  assert(J.MayTry && NumTrying > 0);
  --NumTrying;
  if (J.IsSettled)
    --NumSettled;
  else if (!J.Stop.isRaised()) // a cancelled job says nothing about the cluster
    Window = std::max(1u, Window / 2);
  // This machine may have room again.
  if (J.IsSettled && MaxTrying != UINT_MAX &&
      Clock::now() - LastLimitChange >= RoomPause) {
    ++MaxTrying;
    LastLimitChange = Clock::now();
  }
  J.IsSettled = false;
  admit();
}

void Line::setLimits(unsigned Requests, unsigned Slots) {
  MaxRequests = Requests;
  NumSlots = Slots;
  admit();
}

bool Line::reduce(unsigned Max) {
  bool IsFirst = MaxTrying == UINT_MAX;
  MaxTrying = std::max(1u, std::min(Max, NumTrying) - 1);
  LastLimitChange = Clock::now();
  return IsFirst;
}

size_t Line::share() const {
  // All slots share the line, except the jobs that can soon have a request of
  // their own.
  size_t NumOpen = maxConcurrent() - std::min(maxConcurrent(), NumTrying);
  return 1 + (Waiting.size() - std::min(Waiting.size(), NumOpen)) /
                 std::max(1u, NumSlots);
}
