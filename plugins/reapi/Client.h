//===- Client.h - A session with a server -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The session. JobRun.h has the life of a job, and ServerRecord.h what the jobs
// of the link have learned about the server. While the linker prepares its
// first jobs, the session asks the server what it can do (GetCapabilities).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_CLIENT_H
#define DTLTO_REAPI_CLIENT_H

#include "Action.h"
#include "Execution.h"
#include "ServerRecord.h"
#include "Window.h"
#include "dtlto/sdk/Plugin.hpp"

namespace dtlto::reapi {

// Names of numbers that the session and its jobs report.
inline constexpr char QueuedName[] = "queued, by the server's clock",
                      FetchedName[] = "inputs fetched, by the worker's clock",
                      RanName[] = "run, by the worker's clock",
                      StoredName[] = "outputs stored, by the worker's clock";

class Client : public sdk::ThreadSession {
public:
  Client(const dtlto_host &Host, const dtlto_session_params &Params);

  static void configure(const dtlto_session_params &Params,
                        dtlto_session_config &Config);
  static std::string probe(const dtlto_session_params &Params,
                           std::chrono::milliseconds Limit);
  static const dtlto_store *store();
  static const sdk::Description &description() { return reapi::description(); }

  void begin() override;
  sdk::Result run(const sdk::Job &LinkerJob) override;
  void refuted(uint64_t Job, const std::string &Worker,
               int32_t Status) override;
  void load(dtlto_load &Load) override;
  std::vector<sdk::Worker> status(std::chrono::milliseconds Limit) override;
  void stop() override;

private:
  friend class JobRun;

  /// Makes giveUp() raise \p S during this object's lifetime.
  class Registration {
  public:
    Registration(Client &C, Stop &S);
    ~Registration();
    Registration(const Registration &) = delete;

  private:
    Client &C;
    Stop &S;
  };

  Client(const dtlto_host &Host, const dtlto_session_params &Params,
         Settings S);

  /// Asks what the server can do, and hashes the worker.
  void prepare();
  /// Waits until prepare() has succeeded. Returns false if \p Until, which must
  /// be registered, is raised.
  bool waitUntilReady(const Stop &Until);
  /// Calls \p Fn with a stop that is raised after \p Limit or by giveUp().
  void runWithin(std::chrono::milliseconds Limit,
                 const std::function<void(Stop &)> &Fn);
  /// Watches the server until the session ends.
  void watch();
  /// Describes why the link has got nothing from the server. Returns nothing if
  /// it has, or if the user already knows.
  std::string noResultReason();
  /// Makes waiting threads check their stops.
  void wake();
  /// Makes the server execute something, for its status.
  void probe(const ServerFeatures &CurrentFeatures, Stop &Ending,
             sdk::Worker &W);
  /// Replaces the results in the action cache that the linker has refuted.
  void repairCache();
  Fault repair(const BlobName &Action, Stop &Ending);
  /// Ends all jobs, because the server can't be used. Reports \p Why once.
  void giveUp(const std::string &Why);
  /// The same for a server that rejects this user or these settings.
  void handleRefusal(const Fault &F);

  /// A question that the first job asks the server while others wait.
  struct Question {
    enum { Unknown, Pending, Known } State = Unknown;
    std::string WhyNot; // not empty: all jobs that ask fail with it
  };
  /// Calls \p Ask unless the answer to \p Q is known. Jobs that wait for it
  /// stop when \p Until, which must be registered, is raised; returns false
  /// then. \p Ask throws if there is no answer. Throws sdk::Error.
  bool answerOnce(const Stop &Until, Question &Q,
                  const std::function<void()> &Ask);
  /// Returns the question of whether the worker compiles for \p Target.
  Question &targetQuestion(const std::string &Target);
  /// Adds numbers to the report.
  void reportNumbers();

  const Settings S;
  const bool OnlyStatus;
  const std::chrono::seconds ResultLimit;
  const std::string LlvmVersion;
  const std::chrono::steady_clock::time_point OpenTime =
      std::chrono::steady_clock::now();
  sdk::ResultMemory Results;
  WorkerFile Worker;
  Server TheServer;
  Window InFlight;
  ServerRecord Record;
  Stop Stopping; // raised: the session ends
  std::atomic<bool> HasReportedBadResult{
      false}; // reported a bad result of the cache

  // Set before Ready.
  ServerFeatures Features;
  std::unique_ptr<Cas> Contents;
  std::unique_ptr<ActionMaker> Actions;

  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  bool Ready = false;
  bool HasGivenUp = false; // giveUp() was called
  std::string EndReason;   // why the server can't be used, or empty
  Question Compiler;       // are the workers' compilers of our version?
  std::map<std::string, Question> Targets; // other processors than x86
  std::set<Stop *> Stops;                  // registered

  std::thread Preparer, Watcher;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_CLIENT_H
