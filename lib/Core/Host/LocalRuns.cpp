//===- LocalRuns.cpp - Jobs that a plugin runs on this machine ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/SessionState.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;

Session::Impl::Record *Session::Impl::waitForRoom(uint64_t Job,
                                                  int32_t &Status) {
  Record *R;
  uint64_t Bytes;
  {
    Guard Lock(*this);
    R = findRunning(Job);
    Status = DTLTO_ERROR_CALLER;
    if (!R || R->HasRoom)
      return nullptr;
    Status = DTLTO_CANCELLED;
    if (IsClosed || R->IsForgotten || !R->MayRunLocally)
      return nullptr;
    Bytes = R->Local.Memory;
    R->IsCompiling = true;
    beginLocalRun(Lock, *R);
  }
  bool IsNeeded = Room->enter(
      Bytes, [&] { return !R->IsForgotten; },
      [&] {
        Guard Lock(*this);
        pushState(Lock, Job, DTLTO_STATE_QUEUED, /*IsLocal=*/true);
      });
  Guard Lock(*this);
  if (!IsNeeded) {
    endLocalRun(Lock, *R);
    return nullptr;
  }
  R->RoomBytes = Bytes;
  Status = DTLTO_OK;
  pushState(Lock, Job, DTLTO_STATE_LOCAL, /*IsLocal=*/true);
  return R;
}

/// Keeps \p R unchanged and valid until endLocalRun().
void Session::Impl::beginLocalRun(const Guard &Lock, Record &R) {
  Lock.check();
  ++R.NumLocalRuns;
  ++NumLocalRuns;
}

void Session::Impl::endLocalRun(const Guard &Lock, Record &R) {
  Lock.check();
  assert(R.NumLocalRuns != 0);
  --R.NumLocalRuns;
  --NumLocalRuns;
  R.LastLocalRun = Clock::now();
  dropIfUnused(R);
  Changed.notify_all();
}

int32_t Session::Impl::enterRoom(uint64_t Job) {
  int32_t Status;
  if (Record *R = waitForRoom(Job, Status)) {
    Guard Lock(*this);
    R->HasRoom = true;
    R->IsCompiling = false; // another process does
    endLocalRun(Lock, *R);
  }
  return Status;
}

void Session::Impl::leaveRoom(uint64_t Job, uint64_t Bytes) {
  Guard Lock(*this);
  Record *R = find(Job);
  if (!R || !std::exchange(R->HasRoom, false))
    return;
  R->LocalBytes = Bytes;
  Room->leave(R->RoomBytes);
}

int32_t Session::Impl::runLocally(uint64_t Job, dtlto_result *Result) {
  Result->object = {};
  Result->worker = nullptr;
  Record *R = waitForRoom(Job, Result->status);
  Result->message =
      Result->status == DTLTO_ERROR_CALLER ? "no such job" : nullptr;
  if (!R)
    return Result->status;

  Clock::time_point Begin = Clock::now();
  CodegenResult Code = R->Local.Compile();
  Room->reclaim(R->RoomBytes);
  Room->leave(R->RoomBytes);

  Guard Lock(*this);
  endLocalRun(Lock, *R);
  R->RanLocally = true;
  R->LocalSeconds = secondsSince(Begin);
  R->NoObject = !Code.Failed && !Code.HasObject;
  R->LocalMessages = std::move(Code.Messages);
  Result->message = nullptr;
  Result->worker = ThisMachine;
  if (Code.Failed) {
    R->LocalErrors = std::move(Code.Errors);
    R->LocalMessage = join(R->LocalErrors, "\n");
    R->ObjectWithErrors = Buffer::own(std::move(Code.Object));
    Result->message = R->LocalMessage.c_str();
    return Result->status = DTLTO_ERROR_COMPILER;
  }
  auto Object =
      std::make_shared<const SmallVector<char, 0>>(std::move(Code.Object));
  R->LocalObject = Object;
  Result->object = Buffer::share(std::move(Object)).take();
  return Result->status = DTLTO_OK;
}
