//===- Session.h - One link's use of a plugin -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's side of the ABI. All calls into the plugin are made on one thread
// of the session's own (the ABI's link-thread), in the order in which they are
// asked for; what comes of them, and all that the plugin tells on its threads,
// arrives as events. So the linker itself never waits inside of a plugin, and a
// plugin that doesn't come back from a call can be left behind.
//
// What the plugin may still reach when it is left behind (the host's functions,
// the jobs that it borrowed) is then left alive until the process ends.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_SESSION_H
#define DTLTO_HOST_SESSION_H

#include "Host/CodegenResult.h"
#include "Host/HostContext.h"
#include "Host/LocalRoom.h"
#include "Host/SessionEvents.h"
#include <functional>
#include <memory>
#include <optional>

namespace dtlto {

/// The worker of a job that is compiled in the linker.
inline constexpr const char *ThisMachine = "this machine";

/// What a plugin's load is before it has told.
inline dtlto_load unknownLoad() {
  dtlto_load Load = {};
  Load.size = sizeof(Load);
  Load.slots = Load.free = Load.queued = Load.workers = UINT32_MAX;
  Load.expected_wait_ms = UINT64_MAX;
  return Load;
}

/// What the session knows of a job beside what the plugin is given.
struct JobHere {
  std::string Name;    // of its module, for messages
  uint64_t Memory = 0; // bytes, that a compile on this machine may take
  /// Compiles it here, on the calling thread. Any thread, until the session is
  /// closed.
  std::function<CodegenResult()> Compile;
  /// Fails, with a reason, if the bytes are no object that it could have. As
  /// above; empty: any may be.
  std::function<llvm::Error(llvm::StringRef)> Check = {};
};

class Session {
public:
  /// \p Events outlives all threads of the plugin that keeps the ABI; a session
  /// that is left behind pushes no more events. The plugin's jobs that are
  /// compiled here share \p Room with others; null: there is no limit.
  Session(const HostContext &L, std::shared_ptr<EventQueue> Events,
          uint64_t NumJobs, std::shared_ptr<LocalRoom> Room = nullptr);
  ~Session();

  /// Asks for open(). Event: Opened. With a message, which are the errors that
  /// the plugin has logged so far, the session is of no use whatever open()
  /// returned; and with DTLTO_OK, it is open all the same.
  void open();

  /// Asks for submit(). Events: Submitted, and if its status is DTLTO_OK, one
  /// Done. After a BUSY, jobs are given back as BUSY without a call until the
  /// plugin has told that there is room, or \p Insist.
  void submit(std::unique_ptr<BuiltJob> Job, JobHere Here, bool Insist);

  /// The job is of no interest any more: no events for it follow, and cancel()
  /// is asked for if the plugin has it.
  void forget(uint64_t Job);

  /// Tells the plugin, which wants to know (Opened), that it has all jobs.
  void completeBatch();

  /// Tells the plugin, if it has dtlto.refuted/1, that the result which it had
  /// for \p Job was wrong.
  void refute(uint64_t Job);

  /// Asks for load(). Event: Loaded, unless the plugin fails to answer.
  void queryLoad();

  /// Asks the plugin for its workers, for which it has \p Limit. Events:
  /// WorkerTold for each, then StatusTold; or NoStatus.
  void queryStatus(std::chrono::milliseconds Limit);

  /// The call that the plugin is in, and since when.
  struct Call {
    const char *Name;
    Clock::time_point Since;
  };
  std::optional<Call> currentCall() const;

  /// When the plugin last compiled \p Job here: now, if it does. At the epoch
  /// if never.
  Clock::time_point lastRunHere(uint64_t Job) const;

  /// Ends the session: no event follows. Waits for close(), at most until
  /// \p Limit has passed, and for local code generation to end. Returns false
  /// if the plugin had to be left behind.
  bool close(std::chrono::milliseconds Limit);

  /// What the plugin has told of the session with dtlto.numbers/1; all of it
  /// once close() has returned.
  std::vector<PluginNumber> numbers() const;

  /// Keeps \p Lent, which the plugin was lent, for as long as it may look
  /// there: until its close() returns.
  void keep(std::shared_ptr<const void> Lent);

private:
  struct Impl;
  std::shared_ptr<Impl> I;
};

} // namespace dtlto

#endif // DTLTO_HOST_SESSION_H
