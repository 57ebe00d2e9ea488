//===- Cluster.h - A cluster that exists only as arithmetic -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Machines with slots behind a network, as a discrete simulation. It has no
// clock and no thread: the caller says what time it is, asks when the next
// thing happens, and takes what has happened. So its arithmetic can be tested,
// and a caller that wakes up late doesn't make the cluster slower: what follows
// from an event begins at the event's own time.
//
// The network
//   The linker's machine sends one message at a time, at the whole bandwidth
//   (a FIFO queue, no fair shares: what a client does that wants its first
//   workers to start early). Messages to machines that have an idle slot go
//   before messages that are sent ahead. Each machine's own link is a queue of
//   its own; a message is on both at the same time. Objects come back the same
//   way, in the order in which jobs end; the two directions don't disturb each
//   other. Each message arrives one latency after its last byte was sent.
//
// The client (what a good plugin would do)
//   A job is assigned to a machine when it is accepted: the one with the most
//   idle slots, then the fastest, then the one that lacks the fewest bytes.
//   Machines may take jobs ahead while all slots are taken, so that inputs are
//   there when a slot becomes idle; but then a job waits for its machine while
//   others are idle. Inputs are sent once
//   to each machine and content, unless machines keep nothing. A job never
//   moves to another machine; that is the host's business.
//
// A machine that dies loses all of its jobs. They are reported as lost after
// a delay, as a client needs time to notice.
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

/// Something that goes wrong with a machine: at a time, once a number of jobs
/// have ended on the cluster, or when the machine begins its so-many-th job.
struct Fault {
  enum KindTy { Dies, Slow } Kind = Dies;
  uint32_t Machine = 0;
  Time At = Never;
  uint64_t AfterJobs = 0; // if At is Never
  uint64_t AtBegin = 0;   // if not 0: neither of the two
  double Factor = 1;      // Slow: how many times longer jobs take from then on
};

struct ClusterSettings {
  uint32_t Machines = 1;
  uint32_t Slots = 6;         // of each machine
  uint32_t Ahead = 0;         // jobs that each machine takes in addition
  double Rate = 0.125;        // of the linker's link, bytes a nanosecond
  double MachineRate = 0.125; // of each machine's link
  Time Latency = 0;           // of one message
  bool Cache = true;          // machines keep what they were sent
  double Spread = 0; // speeds lie evenly between 1 - Spread and 1 + Spread
  uint64_t Seed = 1; // of the speeds
  Time Notice = 0;   // from a machine's death until its jobs are lost
  std::vector<Fault> Faults;
};

class Cluster {
public:
  struct Input {
    uint32_t Content; // the same number: the same bytes
    uint64_t Bytes;
  };
  struct Job {
    uint64_t Id;
    std::vector<Input> Inputs;
    Time Cpu; // on a machine of speed 1
    uint64_t ObjectBytes;
  };
  /// What has become of a job. Done, Lost and Cancelled are its last.
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
    uint64_t BytesSent = 0;   // inputs, all
    uint64_t BytesUseful = 0; // inputs of jobs that were done
    uint64_t BytesBack = 0;   // objects
    Time SlotTime = 0;        // slots were taken by a running job
    Time UsefulTime = 0;      // of that, by jobs that were done
    Time Sending = 0;         // the linker's link was sending
  };

  explicit Cluster(const ClusterSettings &S);

  /// Takes a job, or returns false: no machine has room.
  bool submit(Time Now, Job J);
  /// The job's slot or place is idle at once; what of it is being sent is sent
  /// to its end. Ids that aren't known are ignored.
  void cancel(Time Now, uint64_t Id);
  /// Lets happen what is due. Times never go back.
  void advance(Time Now);
  /// When something happens next.
  Time next() const { return Events.empty() ? Never : Events.top().At; }
  /// What has happened since the last call, in order.
  std::vector<Report> takeReports();
  /// Since the last call: there is room after a submit() that found none, or
  /// a machine has come or gone, or the first slot is idle or the last taken.
  bool takeLoadChanged();
  /// One of the two has something.
  bool hasNews() const { return !Reports.empty() || LoadChanged; }
  /// Jobs that have not ended, in no order.
  std::vector<uint64_t> jobs() const;

  Load load() const;
  const Totals &totals() const { return T; }
  /// Slots times speed of all machines as they are before any fault.
  double capacity() const { return Capacity; }
  double fastest() const { return Fastest; }

private:
  struct Event {
    enum KindTy { UplinkIdle, Arrived, RunEnd, Done, Lost, FaultDue } Kind;
    Time At;
    uint64_t Order;
    uint64_t Id;                           // of the job, or the fault's index
    bool operator<(const Event &O) const { // the earliest is on top
      return At != O.At ? At > O.At : Order > O.Order;
    }
  };
  enum class Stage { Queued, Sending, Waiting, Running, Receiving, Dead };
  struct JobState {
    Job J;
    uint32_t Machine;
    Stage At = Stage::Queued;
    Time Started = 0, Ran = 0;
    uint64_t Sent = 0; // bytes
  };
  struct Machine {
    bool Alive = true;
    double Speed = 1;
    double Slow = 1;
    uint32_t Taken = 0; // jobs from their assignment until they have run
    uint32_t Running = 0;
    uint64_t Begun = 0;
    std::deque<uint64_t> Waiting; // with their inputs; may be gone
    Time InIdle = 0, OutIdle = 0; // when the link has sent what it has
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
  void leavePlace(JobState &S, Time Now);
  void runEnded(JobState &S, Time Now);
  void apply(const Fault &F, Time Now);
  void noteLoad();

  const ClusterSettings S;
  std::vector<Machine> Machines;
  double Capacity = 0, Fastest = 0;
  std::unordered_map<uint64_t, JobState> Jobs;
  // Which machines have a content: a bit for each machine.
  std::vector<std::vector<uint64_t>> Contents;
  std::priority_queue<Event> Events;
  uint64_t NextOrder = 0;
  std::deque<uint64_t> Urgent, Early; // to be sent; may be gone
  bool UplinkBusy = false;
  Time DownIdle = 0;
  std::vector<Report> Reports;
  bool SaidBusy = false, LoadChanged = false, HadFree = true;
  Totals T;
};

} // namespace replay
} // namespace dtlto

#endif // DTLTO_SIM_CLUSTER_H
