//===- LocalRoom.cpp - Resources of local jobs ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/LocalRoom.h"
#include "Support/System.h"
#include <cassert>

using namespace llvm;
using namespace dtlto;

void LocalRoom::begin(uint64_t Bytes) {
  std::lock_guard<std::mutex> Lock(Mutex);
  ++NumJobs;
  BytesTaken += Bytes;
}

void LocalRoom::end(uint64_t Bytes) {
  std::lock_guard<std::mutex> Lock(Mutex);
  assert(NumJobs != 0 && BytesTaken >= Bytes && "end() without begin()");
  --NumJobs;
  BytesTaken -= Bytes;
  Changed.notify_all();
}

bool LocalRoom::enter(uint64_t Bytes, function_ref<bool()> IsNeeded,
                      function_ref<void()> OnWait) {
  std::unique_lock<std::mutex> Lock(Mutex);
  uint64_t Ticket = ++LastTicket;
  Waiting.insert(Ticket);
  bool Needed, HasWaited = false;
  while ((Needed = IsNeeded())) {
    if (Ticket == *Waiting.begin()) {
      if (NumJobs == 0 || (hasMemory(Bytes) && (!Tokens || HasSpareToken)))
        break;
      if (hasMemory(Bytes) && Tokens)
        requestToken(Lock);
    }
    if (std::exchange(HasWaited, true)) {
      Changed.wait(Lock);
      continue;
    }
    Lock.unlock();
    OnWait();
    Lock.lock();
  }
  Waiting.erase(Ticket);
  if (Needed) {
    if (NumJobs != 0 && std::exchange(HasSpareToken, false))
      ++NumTokens;
    ++NumJobs;
    BytesTaken += Bytes;
  }
  if (Waiting.empty() && std::exchange(HasSpareToken, false))
    Jobserver::releaseToken();
  Changed.notify_all(); // for the next in the queue
  return Needed;
}

void LocalRoom::requestToken(const std::unique_lock<std::mutex> &Lock) {
  assert(Lock.owns_lock() && "the state is guarded");
  (void)Lock;
  if (std::exchange(IsTokenRequested, true))
    return;
  Tokens->take([this] {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsTokenRequested = false;
    HasSpareToken = !Waiting.empty();
    if (!HasSpareToken)
      Jobserver::releaseToken();
    Changed.notify_all();
  });
}

void LocalRoom::leave(uint64_t Bytes) {
  std::lock_guard<std::mutex> Lock(Mutex);
  assert(NumJobs != 0 && BytesTaken >= Bytes && "leave() without enter()");
  --NumJobs;
  BytesTaken -= Bytes;
  // One of the remaining jobs uses the linker's own token.
  if (NumTokens != 0) {
    --NumTokens;
    Jobserver::releaseToken();
  }
  Changed.notify_all();
}

void LocalRoom::reclaim(uint64_t Bytes) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    BytesFreed += Bytes;
    if (BytesTaken <= MaxBytes && BytesFreed <= MaxBytes - BytesTaken)
      return;
    BytesFreed = 0;
  }
  returnFreeMemory();
}

void LocalRoom::disconnect() {
  std::unique_ptr<Jobserver> Old;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Old = std::move(Tokens);
  }
  Old.reset(); // without the lock, which its thread may wait for
  std::lock_guard<std::mutex> Lock(Mutex);
  NumTokens = 0;
  HasSpareToken = false;
  Changed.notify_all();
}

void LocalRoom::wake() {
  std::lock_guard<std::mutex> Lock(Mutex);
  Changed.notify_all();
}
