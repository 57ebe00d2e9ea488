//===- LocalRoom.h - What jobs may take of this machine ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Jobs that are compiled on this machine share its memory, and its cores with
// the rest of a build (Support/Jobserver.h). The plan decides which of its own
// jobs there is room for, and says here when they begin and end. A plugin's
// threads wait here for their turn, in the order in which they come. One job
// always may run, so every wait has an end.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_LOCALROOM_H
#define DTLTO_HOST_LOCALROOM_H

#include "Support/Jobserver.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <set>

namespace dtlto {

/// Any thread.
class LocalRoom {
public:
  /// Jobs may take \p MaxBytes of memory together. \p Tokens: null without a
  /// jobserver.
  explicit LocalRoom(uint64_t MaxBytes,
                     std::unique_ptr<Jobserver> Tokens = nullptr)
      : MaxBytes(MaxBytes), Tokens(std::move(Tokens)) {}

  /// For the plan, which has to do with its own tokens; null if there are none.
  Jobserver *tokens() { return Tokens.get(); }
  /// The plan has begun a job that is expected to take \p Bytes of memory.
  void begin(uint64_t Bytes);
  void end(uint64_t Bytes);

  /// Waits until a plugin may begin a job that is expected to take \p Bytes;
  /// then leave() is due. Calls \p OnWait before it waits. Returns false if
  /// \p IsNeeded does, which is asked after each wake(), and waits for nobody.
  bool enter(uint64_t Bytes, llvm::function_ref<bool()> IsNeeded,
             llvm::function_ref<void()> OnWait);
  void leave(uint64_t Bytes);
  void wake();
  /// Gives back all tokens, and has none from now on. For the end of a run: a
  /// plugin that is left behind keeps the room, but there may be one jobserver
  /// at a time in a process, and the next run wants it.
  void disconnect();

  /// A thread of this process has compiled a job of so many \p Bytes. What it
  /// has freed is its own until it compiles the next one (malloc's arenas):
  /// returns that to the system where it would be too much. Call before end()
  /// or leave().
  void reclaim(uint64_t Bytes);

private:
  bool hasMemory(uint64_t Bytes) const {
    return BytesTaken <= MaxBytes && Bytes <= MaxBytes - BytesTaken;
  }
  void askForToken(const std::unique_lock<std::mutex> &Lock);

  const uint64_t MaxBytes;
  std::mutex Mutex; // guards all below
  std::condition_variable Changed;
  std::set<uint64_t> Waiting; // tickets
  uint64_t LastTicket = 0;
  size_t NumJobs = 0; // the plan's and the plugin's
  uint64_t BytesTaken = 0;
  uint64_t BytesFreed = 0; // at most, and not returned
  // Of the plugin's jobs, and for the next of them.
  size_t NumTokens = 0;
  bool HasSpareToken = false, IsTokenAsked = false;

  std::unique_ptr<Jobserver> Tokens; // last: its thread uses what is above
};

} // namespace dtlto

#endif // DTLTO_HOST_LOCALROOM_H
