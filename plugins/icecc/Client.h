//===- Client.h - Sends jobs to nodes and returns results -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The life of a job, which has its own thread from the SDK's pool:
//
//   asks the local iceccd for a node  -> granted, or "build it yourself"
//   at the node: environment, bundle  -> running -> the object
//   anything that breaks              -> asks again, up to MaxTries times, and
//                                        a little later if it was a node
//   a limit that is reached           -> back to the linker
//   "build it yourself"               -> local code generation
//
// A module that has reached a limit once would reach it again. So it is not
// sent out again, even if the linker offers it a second time.
//
// RemoteJob.h describes the messages to a node. The number of accepted jobs
// follows the number of slots that the scheduler reports or has granted.
//
// If jobs take less time than a trip (Batch.h), more are accepted than may ask
// for nodes. The others wait in line. A job that is granted a node takes the
// next ones along, and hands the results to their threads. If a batch fails as
// a whole, its jobs are run again one by one.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_CLIENT_H
#define DTLTO_ICECC_CLIENT_H

#include "Batch.h"
#include "Cluster.h"
#include "EnvironmentTable.h"
#include "Line.h"
#include "NodeRecord.h"
#include "dtlto/sdk/Plugin.hpp"

class UseCSMsg;

namespace dtlto::icecc {

/// Returns nothing if a local iceccd answers within about \p Limit, otherwise
/// one line that names all places that were tried.
std::string daemonProblem(const Settings &TheSettings, Clock::duration Limit);

class Client : public sdk::ThreadSession {
public:
  Client(const dtlto_host &Host, const dtlto_session_params &Params)
      : Client(Host, Params, openSettings(Host, Params)) {}

  static void configure(const dtlto_session_params &Params,
                        dtlto_session_config &Config);
  static std::string probe(const dtlto_session_params &Params,
                           std::chrono::milliseconds Limit);
  static const sdk::Description &description() { return icecc::description(); }

  void begin() override;
  sdk::Result run(const sdk::Job &Offer) override;
  void onEnd(const sdk::Job &Offer) override;
  void refuted(uint64_t Job, const std::string &Worker,
               int32_t Status) override;
  void load(dtlto_load &Load) override;
  std::vector<sdk::Worker> status(std::chrono::milliseconds Limit) override;
  void stop() override;

private:
  struct Setup {
    Settings TheSettings;
    std::unique_ptr<Log> TheLog;
    std::vector<Worker> Workers; // empty if TheSettings has Environments
  };
  /// Reads the settings and reports notable ones to the user. Throws sdk::Error
  /// if the plugin can't work.
  static Setup openSettings(const dtlto_host &Host,
                            const dtlto_session_params &Params);
  Client(const dtlto_host &Host, const dtlto_session_params &Params, Setup O);

  // These run on the job's thread.
  enum class Retry { AtOnce, Later, Never, Alone };
  /// Thrown if a try has failed: the reason, and when to try again.
  struct Failure {
    std::string Why;
    Retry Next = Retry::Never;
  };
  /// Makes one try.
  sdk::Result attempt(Job &J);
  /// Waits for this job's turn and calls attempt(), or returns the result that
  /// another job's trip has brought. Throws NoRoom if this machine has no
  /// descriptor and no other job is at work.
  sdk::Result attemptInTurn(Job &J, bool IsFirst);
  /// Records that the job has its place. Others may then ask for theirs.
  void settle(Job &J);

  // The parts of attempt() (Attempt.cpp).
  struct Attempt;
  void requestNode(Attempt &A);
  std::unique_ptr<Msg> waitForGrant(Attempt &A);
  bool isExcluded(const Msg &M);
  void formBatch(Attempt &A);
  void dissolveBatch(Attempt &A);
  RemoteResult runOnNode(Attempt &A, const UseCSMsg &Grant);
  sdk::Result handleResults(Attempt &A, RemoteResult R);
  void learnPace(const Attempt &A, const RemoteResult &R, double Seconds);
  void deliverResults(Attempt &A, RemoteResult R);
  /// Returns the result of \p J or throws Failure, depending on \p O.
  sdk::Result convertOutcome(Job &J, Outcome O, const std::string &Node);
  sdk::Result compileLocally(Job &J, Channel &Daemon, uint32_t GrantId);

  void recordTimeout(const Job &J, const std::string &Why);
  void setEndReason(const std::string &Why);

  void prepare();
  void publish();

  const dtlto_local_codegen *const Codegen; // null: no local compiles
  const Settings TheSettings;
  const std::unique_ptr<Log> TheLog;
  const std::vector<Worker> Workers;
  const std::chrono::seconds ResultLimit;
  const std::string LlvmVersion;
  std::atomic<bool> StopPacking{false};
  EnvironmentTable Environments;
  sdk::ResultMemory Results;
  ByteCache ChunkCache; // chunks of modules that many jobs import
  const std::shared_ptr<Cluster> TheCluster;
  NodeRecord Nodes;

  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  Cluster::Numbers LastReport; // in the last loadChanged()
  bool HasGivenUp = false;
  Line TheLine;                            // guards Job's fields, too
  Pace ThePace;                            // of small jobs
  unsigned JobsPerTrip = 1;                // jobs, at the last job's cost
  uint64_t LastCost = UINT64_MAX;          // of the last job that arrived
  unsigned NumShared = 0;                  // in batches, except their first
  unsigned NumGranted = 0, MaxGranted = 0; // at nodes: now, and at most
  unsigned NumLocal = 0;                   // being compiled locally
  unsigned NumCompiledLocally = 0;         // compiled locally
  bool MustCompileLocally = false; // the last answer was "build it yourself"
  Clock::time_point LastGrant;
  std::map<std::string, std::string> TimeoutReasons; // reasons, by module
  std::string EndReason; // why the session should end, or empty

  std::thread Preparer;
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_CLIENT_H
