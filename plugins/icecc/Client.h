//===- Client.h - Jobs, from the linker to the nodes and back - -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The life of a job, each on a thread of its own, from a pool:
//
//   asks the local iceccd for a node  -> granted, or "build it yourself"
//   at the node: environment, bundle  -> running -> the object
//   anything that breaks              -> asks again, up to MaxTries times, and
//                                        a little later if it was a node
//   a limit that is reached           -> back to the linker
//   "build it yourself"               -> local code generation
//
// What took too long once would again, so each module meets only one limit: not
// even when the linker offers it a second time is it sent out again.
//
// RemoteJob.h has what is said to a node. How many jobs are accepted follows
// the number of slots, as the scheduler tells them or as they were granted.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_CLIENT_H
#define DTLTO_ICECC_CLIENT_H

#include "Cluster.h"
#include "EnvironmentTable.h"
#include "RemoteJob.h"
#include "WorkPool.h"
#include <condition_variable>
#include <optional>
#include <set>

class UseCSMsg;

namespace dtlto::icecc {

/// Whether a local iceccd answers. If not, \p Error names all places where one
/// was looked for.
bool haveDaemon(const Settings &S, std::string &Error);

class Client {
public:
  /// \p Codegen may be null: then nothing is compiled here.
  Client(const dtlto_host &TheHost, const dtlto_session_params &Params,
         Settings S, std::unique_ptr<Log> TheLog, const dtlto_bundle &Bundler,
         const dtlto_local_codegen *Codegen);

  // The ABI's functions.
  int32_t submit(const dtlto_job &J);
  void cancel(uint64_t Id);
  void load(dtlto_load &Load);
  /// How each node is. Waits, for at most \p Limit. Nothing, with a warning, if
  /// nobody tells.
  std::optional<std::vector<sdk::Worker>>
  status(std::chrono::milliseconds Limit);
  /// To be called once, before the destructor.
  void close();

private:
  struct Job {
    explicit Job(const dtlto_job &J)
        : Offer(J), Id(J.id), Name(J.name ? J.name : "") {}
    const dtlto_job &Offer; // until its job_done()
    const uint64_t Id;
    const std::string Name; // for people
    Interrupt Stop;         // raised: the linker has no use for it
  };
  using JobPtr = std::shared_ptr<Job>;

  // On the job's thread.
  void run(Job &J);
  enum class Retry { AtOnce, Later, Never };
  /// One try. True: the job has ended. False: \p Error says why not, and
  /// \p Next when to try again.
  bool attempt(Job &J, std::string &Error, Retry &Next);

  // The parts of attempt() (Attempt.cpp).
  struct Attempt;
  bool ask(Attempt &A);
  std::unique_ptr<Msg> waitForGrant(Job &J, Channel &Daemon,
                                    std::string &Error);
  Outcome runAt(Attempt &A, const UseCSMsg &Grant);
  bool conclude(Attempt &A, const Outcome &O);
  bool compileHere(Job &J, Channel &Daemon, uint32_t GrantId,
                   std::string &Error);

  void finish(Job &J, int32_t Status, const std::string &Message,
              const std::string &Worker = "", dtlto_buffer Object = {});
  void ended(Job &J);
  void tookTooLong(const Job &J, const std::string &Why);
  void cannotGoOn(const std::string &Why);

  void prepare();
  void publish();

  const dtlto_host &TheHost;
  const dtlto_bundle &Bundler;
  const dtlto_local_codegen *const Codegen;
  const Settings S;
  const std::unique_ptr<Log> TheLog;
  const std::chrono::seconds ResultLimit;
  const std::string LlvmVersion;
  EnvironmentTable Environments;
  ByteCache Compressed; // chunks of modules that many jobs import
  const std::shared_ptr<Cluster> TheCluster;

  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  std::map<uint64_t, JobPtr> Jobs;
  unsigned Accepted = 0, Capacity = 0;
  uint32_t ToldNodes = 0, ToldSlots = 0; // by load_changed()
  bool SaidBusy = false, Closing = false, GaveUp = false;
  unsigned NumGranted = 0, MostGranted = 0; // at nodes, now and at best
  unsigned NumHere = 0;                     // in local code generation
  bool MustBuildHere = false; // the last answer was "build it yourself"
  Clock::time_point LastGrant;
  std::set<std::string> NodesSeen;
  std::map<std::string, unsigned> NumDone;        // by node
  std::map<std::string, std::string> TookTooLong; // by module: what did
  std::string TheEnd; // not empty: why there is no use in going on

  dtlto::WorkPool Pool;
  std::thread Preparer;
};

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_CLIENT_H
