//===- Farm.h - A simulated plugin ------------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plugin of a simulated link, with its workers. It reports to its host, as
// the events that the driver would make, and asks the host to be called again
// at certain times.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_FARM_H
#define DTLTO_SIM_FARM_H

#include "Random.h"
#include "Scenario.h"
#include <deque>
#include <functional>

namespace dtlto::sim {

class Farm {
public:
  /// What is due, at the times that the farm has asked for; of one job, except
  /// for Freed: a slot that was taken before the link, of the worker with that
  /// index.
  enum class Stage { Sent, Ran, Returned, StillAlive, Freed };

  struct Host {
    /// Passes the event to the plan after \p Delay.
    std::function<void(plan::Time Delay, const plan::Event &)> PostEvent;
    /// Calls advance() after \p Delay.
    std::function<void(plan::Time Delay, Stage, plan::AttemptId)>
        ScheduleAdvance;
  };

  Farm(const Scenario &TheScenario, Host H);
  /// To be called first.
  void begin();

  enum class Answer { Accepted, Busy, Refused };
  /// \p Number: the number of earlier attempts of the job.
  Answer submit(plan::Time Now, plan::AttemptId Id, plan::JobId J,
                unsigned Number, plan::WorkerId Avoid);
  /// The plugin has all jobs that are ready now.
  void completeBatch(plan::Time Now);
  void cancel(plan::AttemptId Id);
  void advance(plan::Time Now, Stage At, plan::AttemptId Id);
  plan::Load load();
  /// Events without a job: workers die, storms end.
  void poll(plan::Time Now);
  /// The slots that still have jobs when the session is closed at \p Now:
  /// cancelled jobs that run on, and jobs that the plugin has forgotten.
  std::vector<BusySlot> busySlots(plan::Time Now) const;
  /// Stops the farm.
  void stop() { IsStopped = true; }
  /// How often it has reported room.
  size_t numRoomReports() const { return NumRoomReports; }
  size_t numResults() const { return NumResults; }

private:
  enum class Fate {
    Good,
    Lost,
    Late,
    Twice,
    Bad,
    Failed,
    Cancelled,
    Caller,
    NeverBegun
  };
  struct Job {
    plan::JobId Id = 0;
    Fate Outcome = Fate::Good;
    plan::WorkerId Avoid = 0;
    size_t Worker = SIZE_MAX; // index
    plan::Time Duration = {}, EndsAt = {};
  };

  Fate drawFate(plan::JobId J, unsigned Number) const;
  void assign();
  void reportState(plan::AttemptId Id, const Job &J, plan::PluginState State);
  void reportResult(plan::AttemptId Id, const Job &J);
  void reportRoom();
  void leave(plan::AttemptId Id);
  void freeSlot(size_t Worker);
  bool isStormy(plan::Time T) const;
  bool hasRoom() const;

  const Scenario &TheScenario;
  Host TheHost;
  plan::Time Now = {};
  std::vector<Worker> Workers;
  std::vector<unsigned> UsedSlots; // slots of each worker that are in use
  std::vector<unsigned> OldSlots;  // those in use since before the link
  std::map<plan::AttemptId, Job> Jobs;
  std::deque<plan::AttemptId> Queue;
  std::deque<plan::AttemptId> Batch; // starts when it is complete
  bool ReturnedBusy = false, IsStopped = false;
  size_t NumRoomReports = 0, NumResults = 0;
  Random Lies;
};

} // namespace dtlto::sim

#endif // DTLTO_SIM_FARM_H
