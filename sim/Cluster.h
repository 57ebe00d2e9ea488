//===- Cluster.h - A simulated cluster --------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Machines with slots behind a network, as a discrete simulation without a
// clock or threads. The caller passes the time, asks when the next event is
// due, and takes the reports. So the arithmetic can be tested. A caller that
// wakes up late doesn't make the cluster slower: the consequences of an event
// begin at the event's own time.
//
// The network
//   The linker's machine sends one message at a time, at the whole bandwidth.
//   It is a FIFO queue, not fair shares: a client does that to start its first
//   workers early. Messages to machines with an idle slot go before messages
//   that are sent ahead. Each machine's own link has a queue of its own; a
//   message occupies both at the same time. Objects return in the same way, in
//   the order in which jobs end. The two directions don't affect each other.
//   Each message arrives one latency after its last byte was sent.
//
// The client (what a good plugin would do)
//   A job is assigned to a machine when it is accepted: the one with the most
//   idle slots, then the one that lacks the fewest bytes.
//   Machines may take jobs ahead while all slots are taken, so that the inputs
//   are there when a slot becomes idle. The drawback: such a job waits for its
//   machine while others are idle. Each content is sent once to each machine,
//   unless machines have no cache. A job never moves to another machine; the
//   host decides about that.
//
// A machine that dies loses all of its jobs. They are reported as lost after a
// delay, because a client needs time to notice.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_CLUSTER_H
#define DTLTO_SIM_CLUSTER_H

#include <cstdint>
#include <deque>
#include <queue>
#include <unordered_map>
#include <vector>

namespace dtlto {
namespace replay {

using Time = int64_t; // nanoseconds since the session's first job
constexpr Time Never = INT64_MAX;

/// A fault of a machine: at a time, after a number of jobs have ended on the
/// cluster, or when the machine begins its n-th job.
struct Fault {
  enum KindTy { Dies, Slow } Kind = Dies;
  uint32_t Machine = 0;
  Time At = Never;
  uint64_t AfterJobs = 0; // if At is Never
  uint64_t AtBegin = 0;   // if not 0, instead of both
  double Factor = 1;      // Slow: how many times longer jobs take from then on
};

struct ClusterSettings {
  uint32_t Machines = 1;
  uint32_t Slots = 6;         // of each machine
  uint32_t Ahead = 0;         // jobs that each machine takes in addition
  double Rate = 0.125;        // the linker's bandwidth, bytes a nanosecond
  double MachineRate = 0.125; // each machine's bandwidth
  Time Latency = 0;           // of one message
  bool Cache = true;          // machines keep contents
  Time Notice = 0; // from a machine's death to the report of its jobs
  std::vector<Fault> Faults;
};

class Cluster {
public:
  struct Input {
    uint32_t Content; // equal numbers: equal bytes
    uint64_t Bytes;
  };
  struct Job {
    uint64_t Id;
    std::vector<Input> Inputs;
    Time Cpu;
    uint64_t ObjectBytes;
  };
  /// The state of a job. Done, Lost and Cancelled are final.
  struct Report {
    enum KindTy { Sending, Running, Receiving, Done, Lost, Cancelled } Kind;
    uint64_t Id;
    uint32_t Machine;
    Time At;
  };
  struct Load {
    uint32_t Slots, Free, Queued, Machines;
  };
  struct Totals {
    uint64_t Done = 0, Lost = 0, Cancelled = 0, Busy = 0;
    uint64_t Deaths = 0;
    uint64_t BytesSent = 0;   // all inputs
    uint64_t BytesUseful = 0; // inputs of completed jobs
    uint64_t BytesBack = 0;   // objects
    Time SlotTime = 0;        // slots taken by running jobs
    Time UsefulTime = 0;      // the part for completed jobs
    Time Sending = 0;         // the linker's link was busy
  };

  explicit Cluster(const ClusterSettings &S);

  /// Takes a job. Returns false if no machine has room.
  bool submit(Time Now, Job J);
  /// Frees the job's slot or place at once. A message that is being sent is
  /// sent to its end. Unknown ids are ignored.
  void cancel(Time Now, uint64_t Id);
  /// Processes everything that is due. Times never go back.
  void advance(Time Now);
  /// The time of the next event.
  Time next() const { return Events.empty() ? Never : Events.top().At; }
  /// Returns the reports since the last call, in order.
  std::vector<Report> takeReports();
  /// Whether, since the last call, there is room after a submit() that found
  /// none, a machine has come or gone, the first slot became idle, or the last
  /// was taken.
  bool takeLoadChanged();
  /// Whether takeReports() or takeLoadChanged() has something to return.
  bool hasUpdates() const { return !Reports.empty() || LoadChanged; }
  /// The jobs that have not ended, in no order.
  std::vector<uint64_t> jobs() const;

  Load load() const;
  const Totals &totals() const { return Sums; }

private:
  struct Event {
    enum KindTy { UplinkIdle, Arrived, RunEnd, Done, Lost, FaultDue } Kind;
    Time At;
    uint64_t Order;
    uint64_t Id;                           // the job's, or the fault's index
    bool operator<(const Event &O) const { // the earliest is on top
      return At != O.At ? At > O.At : Order > O.Order;
    }
  };
  enum class Stage { Queued, Sending, Waiting, Running, Receiving, Dead };
  struct JobState {
    Job J;
    uint32_t Machine;
    Stage At = Stage::Queued;
    Time Started = 0, RunTime = 0;
    uint64_t Sent = 0; // bytes
  };
  struct Machine {
    bool IsAlive = true;
    double Slow = 1;
    uint32_t NumTaken = 0; // jobs from their assignment to the end of their run
    uint32_t Running = 0;
    uint64_t NumBegun = 0;
    std::deque<uint64_t> Waiting; // have their inputs; may be gone
    Time InIdle = 0, OutIdle = 0; // when the link becomes idle
  };

  void push(Event::KindTy Kind, Time At, uint64_t Id);
  void handle(const Event &E);
  void report(Report::KindTy Kind, uint64_t Id, uint32_t Machine, Time At);
  uint32_t chooseMachine(const Job &J) const;
  uint64_t missing(const Job &J, uint32_t Machine) const;
  bool has(uint32_t Content, uint32_t Machine) const;
  void pump(Time Now);
  void startWaiting(uint32_t Machine, Time Now);
  void stopRunning(JobState &S, Time Now);
  void freePlace(JobState &S, Time Now);
  void onRunEnd(JobState &S, Time Now);
  void apply(const Fault &F, Time Now);
  void updateLoad();

  const ClusterSettings S;
  std::vector<Machine> Machines;
  std::unordered_map<uint64_t, JobState> Jobs;
  // The machines that have each content: a bit for each machine.
  std::vector<std::vector<uint64_t>> Contents;
  std::priority_queue<Event> Events;
  uint64_t NextOrder = 0;
  std::deque<uint64_t> Urgent, Early; // to send; may be gone
  bool UplinkBusy = false;
  Time DownIdle = 0;
  std::vector<Report> Reports;
  bool ReturnedBusy = false, LoadChanged = false, HadFreeSlot = true;
  Totals Sums;
};

} // namespace replay
} // namespace dtlto

#endif // DTLTO_SIM_CLUSTER_H
