//===- Session.h - One link's use of a plugin -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's side of the ABI. All calls into the plugin run on a thread of the
// session (the ABI's link-thread), in the order of the requests. Their results,
// and everything that the plugin reports on its threads, arrive as events. So
// the linker itself never waits inside a plugin, and can abandon a plugin
// whose call doesn't return.
//
// If a plugin is abandoned, whatever it may still reach (the host's
// functions, the jobs that it borrowed) stays alive until the process ends.
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

/// The worker's name for jobs that are compiled in the linker.
inline constexpr const char *ThisMachine = "this machine";

/// Returns the load of a plugin that hasn't reported any.
inline dtlto_load unknownLoad() {
  dtlto_load Load = {};
  Load.size = sizeof(Load);
  Load.slots = Load.free = Load.queued = Load.workers = UINT32_MAX;
  Load.expected_wait_ms = UINT64_MAX;
  return Load;
}

/// What the session knows of a job in addition to what the plugin gets.
struct LocalJob {
  std::string Name;    // of the module, for messages
  uint64_t Memory = 0; // expected bytes of a local compile
  /// Compiles the job locally, on the calling thread. Thread-safe until the
  /// session is closed.
  std::function<CodegenResult()> Compile;
  /// Fails, with a reason, if the bytes can't be an object of the job.
  /// Thread-safe until the session is closed. If empty, any bytes are valid.
  std::function<llvm::Error(llvm::StringRef)> Check = {};
};

class Session {
public:
  /// \p Events outlives all threads of a plugin that follows the ABI; a session
  /// that was abandoned pushes no more events. Jobs of the plugin that are
  /// compiled locally share \p Room with others; if null, there is no limit.
  Session(const HostContext &Ctx, std::shared_ptr<EventQueue> Events,
          uint64_t NumJobs, std::shared_ptr<LocalRoom> Room = nullptr);
  ~Session();

  /// Requests open(). Event: Opened. Its message has the errors that the plugin
  /// has logged so far. With a message, the session can't be used, whatever
  /// open() returned; with DTLTO_OK, it is open nevertheless.
  void open();

  /// Requests submit(). Events: Submitted and, if its status is DTLTO_OK, one
  /// Done. After a BUSY, jobs are returned as BUSY without a call until the
  /// plugin has reported room, unless \p Insist.
  void submit(std::unique_ptr<BuiltJob> Job, LocalJob Local, bool Insist);

  /// Ignores the job from now on: no events for it follow, and cancel() is
  /// requested if the plugin has it.
  void forget(uint64_t Job);

  /// Keeps the plugin from compiling the job in this process from now on, with
  /// its side files. Returns false if it is doing so.
  bool blockLocalRun(uint64_t Job);

  /// Tells a plugin that wants batches (Opened) that it has all jobs.
  void completeBatch();

  /// Tells the plugin, if it has dtlto.refuted/1, that its result for \p Job
  /// was wrong.
  void refute(uint64_t Job);

  /// Requests load(). Event: Loaded, unless the plugin fails to answer.
  void queryLoad();

  /// Queries the plugin's workers, with the time limit \p Limit. Events:
  /// WorkerReported for each, then StatusReported; or NoStatus.
  void queryStatus(std::chrono::milliseconds Limit);

  /// A call that the plugin hasn't returned from, and when it began.
  struct Call {
    const char *Name;
    Clock::time_point Since;
  };
  std::optional<Call> currentCall() const;

  /// When the plugin last compiled \p Job locally: now, if it does; the epoch
  /// if it never has.
  Clock::time_point lastLocalRun(uint64_t Job) const;

  /// Ends the session: no event follows. Waits for close(), at most \p Limit,
  /// and for local code generation to end. Returns false if the plugin had to
  /// be abandoned.
  bool close(std::chrono::milliseconds Limit);

  /// The numbers of the session that the plugin has reported with
  /// dtlto.numbers/1; complete once close() has returned.
  std::vector<PluginNumber> numbers() const;

  /// Keeps \p BorrowedData, which the plugin borrows, alive until the plugin's
  /// close() returns.
  void keepAlive(std::shared_ptr<const void> BorrowedData);

private:
  struct Impl;
  std::shared_ptr<Impl> PImpl;
};

} // namespace dtlto

#endif // DTLTO_HOST_SESSION_H
