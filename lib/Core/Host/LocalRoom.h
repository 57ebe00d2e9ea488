//===- LocalRoom.h - Resources of local jobs --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Jobs that are compiled on this machine share its memory, and share its cores
// with the rest of a build (Support/Jobserver.h). The plan decides when its own
// jobs run, and reports their begin and end. A plugin's threads wait in enter()
// for their turn, first come, first served. One job may always run, so every
// wait ends.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_LOCALROOM_H
#define DTLTO_HOST_LOCALROOM_H

#include "Support/Jobserver.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

namespace dtlto {

/// The memory and tokens of local jobs. Thread-safe.
class LocalRoom {
public:
  /// \p MaxBytes limits the memory of all jobs. \p Tokens is null without a
  /// jobserver.
  explicit LocalRoom(uint64_t MaxBytes,
                     std::unique_ptr<Jobserver> Tokens = nullptr)
      : MaxBytes(MaxBytes), Tokens(std::move(Tokens)) {}

  /// For the plan, which manages its own tokens; null without a jobserver.
  Jobserver *tokens() { return Tokens.get(); }
  /// Reports that the plan has begun a job that needs about \p Bytes of memory.
  void begin(uint64_t Bytes);
  void end(uint64_t Bytes);

  /// Waits until a plugin may begin a job that needs about \p Bytes; the caller
  /// must call leave() afterwards. Calls \p OnWait before it waits. Returns
  /// false if \p IsNeeded does. \p IsNeeded is called after each wake(), and
  /// must not block.
  bool enter(uint64_t Bytes, llvm::function_ref<bool()> IsNeeded,
             llvm::function_ref<void()> OnWait);
  void leave(uint64_t Bytes);
  void wake();
  /// Returns all tokens, and takes no more. For the end of a run: an abandoned
  /// plugin keeps this object, but a process can have only one jobserver
  /// connection, which the next run needs.
  void disconnect();

  /// Reports that a thread of this process has compiled a job of \p Bytes.
  /// malloc keeps the freed memory in the thread's arena until its next job:
  /// returns it to the system if that would exceed the limit. Call this before
  /// end() or leave().
  void reclaim(uint64_t Bytes);

private:
  bool hasMemory(uint64_t Bytes) const {
    return BytesTaken <= MaxBytes && Bytes <= MaxBytes - BytesTaken;
  }
  void requestToken(const std::unique_lock<std::mutex> &Lock);

  const uint64_t MaxBytes;
  std::mutex Mutex; // guards all members below
  std::condition_variable Changed;
  std::set<uint64_t> Waiting; // tickets
  uint64_t LastTicket = 0;
  size_t NumJobs = 0; // both the plan's and the plugin's
  uint64_t BytesTaken = 0;
  uint64_t BytesFreed = 0; // upper limit of freed memory that was not returned
  // Tokens of the plugin's jobs, and one for the next of them.
  size_t NumTokens = 0;
  bool HasSpareToken = false, IsTokenRequested = false;

  std::unique_ptr<Jobserver> Tokens; // last: its thread uses the members above
};

} // namespace dtlto

#endif // DTLTO_HOST_LOCALROOM_H
