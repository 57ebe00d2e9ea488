//===- FarmStore.cpp - The store of a plugin's farm -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/FarmStore.h"
#include "Host/StructSize.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "Support/Text.h"

using namespace llvm;
using namespace dtlto;

// If the plugin takes longer to open, jobs do without the store.
static constexpr std::chrono::seconds MaxOpenWait(2);

void FarmStore::setOpener(std::function<void()> Fn) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Opener = std::move(Fn);
  if (!IsAbandoned)
    State = Unknown;
}

void FarmStore::waitForOpen(std::unique_lock<std::mutex> &Lock) {
  if (State != Unknown)
    return;
  if (std::function<void()> Fn = std::exchange(Opener, nullptr)) {
    WaitsForOpen = true;
    Lock.unlock();
    Fn();
    Lock.lock();
  }
  if (WaitsForOpen &&
      !Changed.wait_for(Lock, MaxOpenWait, [&] { return State != Unknown; }))
    WaitsForOpen = false;
}

bool FarmStore::open(const dtlto_store *PluginStore,
                     dtlto_session *PluginSession) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (IsAbandoned)
    return true;
  bool HasStore = hasField(PluginStore, &dtlto_store::put) &&
                  PluginStore->get && PluginStore->put;
  State = HasStore ? Open : None;
  Calls = PluginStore;
  Session = PluginSession;
  Changed.notify_all();
  return HasStore;
}

void FarmStore::close() {
  std::unique_lock<std::mutex> Lock(Mutex);
  State = None;
  Changed.notify_all();
  Changed.wait(Lock, [&] { return NumCalls == 0; });
}

void FarmStore::abandon() {
  std::lock_guard<std::mutex> Lock(Mutex);
  IsAbandoned = true;
  State = None;
  Changed.notify_all();
}

bool FarmStore::mayBeAvailable() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return State != None;
}

/// Calls \p F(store, session, milliseconds, answer) on a new thread and waits
/// for its result. Returns false if the session isn't open, or ends meanwhile.
template <typename Fn> bool FarmStore::call(Answer &Out, Fn F) {
  auto A = std::make_shared<Answer>();
  std::unique_lock<std::mutex> Lock(Mutex);
  waitForOpen(Lock);
  if (State != Open)
    return false;
  ++NumCalls;
  bool IsStarted = startThread(
      [Self = shared_from_this(), A, F = std::make_shared<Fn>(std::move(F))] {
        Answer Reply;
        char Why[1024] = "";
        Reply.Status = (*F)(*Self->Calls, Self->Session,
                            static_cast<uint32_t>(Self->Limit.count()),
                            Reply.Bytes, Why, sizeof(Why));
        Why[sizeof(Why) - 1] = 0;
        Reply.Why = sanitizedLine(Why);
        std::lock_guard<std::mutex> Lock(Self->Mutex);
        Reply.HasArrived = true;
        *A = std::move(Reply);
        --Self->NumCalls;
        Self->Changed.notify_all();
      });
  if (!IsStarted) {
    --NumCalls;
    Out.Status = DTLTO_ERROR_INFRASTRUCTURE;
    Out.Why = NoThread;
    return true;
  }
  // The plugin has the same limit.
  auto Deadline = std::chrono::steady_clock::now() + Limit + Limit / 10;
  Changed.wait_until(Lock, Deadline,
                     [&] { return A->HasArrived || State != Open; });
  if (A->HasArrived ? A->Status == DTLTO_CANCELLED : State != Open)
    return false;
  if (A->HasArrived) {
    Out = std::move(*A);
  } else {
    Out.Status = DTLTO_ERROR_INFRASTRUCTURE;
    Out.Why = "no answer within " + std::to_string(Limit.count()) + " ms";
  }
  return true;
}

Expected<std::optional<Buffer>> FarmStore::get(const Key &K,
                                               uint64_t MaxBytes) {
  Answer A;
  if (!call(A, [K, MaxBytes](const dtlto_store &S, dtlto_session *Session,
                             uint32_t Ms, Buffer &Out, char *Why,
                             uint64_t WhySize) {
        dtlto_buffer Raw = {};
        int32_t Status =
            S.get(Session, K.data(), MaxBytes, Ms, &Raw, Why, WhySize);
        // Copy, so that a release() that hangs is within this call.
        Buffer Data(Raw);
        if (StringRef Bytes = Data.bytes(); Bytes.size() <= MaxBytes)
          Out = Buffer::own(SmallVector<char, 0>(Bytes.begin(), Bytes.end()));
        return Status;
      }))
    return std::nullopt;
  if (A.Status != DTLTO_OK)
    return failure(A.Why);
  return std::move(A.Bytes);
}

Expected<bool> FarmStore::put(const Key &K, std::string Bytes) {
  Answer A;
  if (!call(A, [K, Bytes = std::move(Bytes)](
                   const dtlto_store &S, dtlto_session *Session, uint32_t Ms,
                   Buffer &, char *Why, uint64_t WhySize) {
        return S.put(Session, K.data(), {Bytes.data(), Bytes.size()}, Ms, Why,
                     WhySize);
      }))
    return false;
  if (A.Status != DTLTO_OK)
    return failure(A.Why);
  return true;
}
