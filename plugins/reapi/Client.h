//===- Client.h - Jobs, from the linker to the server and back --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The session. JobRun.h has the way of a job, ServerRecord.h what the jobs of
// the link have seen of the server. While the linker prepares its first jobs,
// the session asks the server what it can do (GetCapabilities).
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

// Names of numbers, of the session and of its jobs.
inline constexpr char QueuedName[] = "queued, by the server's clock",
                      FetchedName[] = "inputs fetched, by the worker's clock",
                      RanName[] = "run, by the worker's clock",
                      StoredName[] = "outputs stored, by the worker's clock";

/// gRPC's library, in use for as long as this lives; its threads end with it.
struct Library {
  Library();
  ~Library();
};

class Client : public sdk::ThreadSession {
public:
  Client(const dtlto_host &Host, const dtlto_session_params &Params)
      : Client(Host, Params, openSettings(Host, Params)) {}

  static void configure(const dtlto_session_params &Params,
                        dtlto_session_config &Config);

  void begin() override;
  sdk::Result run(const sdk::Job &Offer) override;
  void refuted(uint64_t Job, const std::string &Worker,
               int32_t Status) override;
  void load(dtlto_load &Load) override;
  std::vector<sdk::Worker> status(std::chrono::milliseconds Limit) override;
  sdk::Buffer storeGet(const uint8_t *Key, uint64_t MaxBytes,
                       std::chrono::milliseconds Limit) override;
  void storePut(const uint8_t *Key, std::string_view Bytes,
                std::chrono::milliseconds Limit) override;
  void stop() override;

private:
  friend class JobRun;

  /// Has giveUp() raise \p S for as long as this lives.
  class Registration {
  public:
    Registration(Client &C, Stop &S);
    ~Registration();
    Registration(const Registration &) = delete;

  private:
    Client &C;
    Stop &S;
  };

  /// Throws sdk::Error where the plugin can't work.
  static Settings openSettings(const dtlto_host &Host,
                               const dtlto_session_params &Params);
  Client(const dtlto_host &Host, const dtlto_session_params &Params,
         Settings S);

  /// Asks what the server can do, and has the worker hashed.
  void prepare();
  /// Waits until prepare() has succeeded. Returns false if \p Until is raised,
  /// which is registered.
  bool waitUntilReady(const Stop &Until);
  /// Calls \p Fn with a stop that is raised after \p Limit, or by giveUp().
  void within(std::chrono::milliseconds Limit,
              const std::function<void(Stop &)> &Fn);
  /// The same once the session is ready. Throws sdk::Error for the fault that
  /// \p Fn returns.
  void inStore(std::chrono::milliseconds Limit,
               const std::function<Fault(Stop &)> &Fn);
  /// Watches the server until the session ends.
  void watch();
  /// Describes why the link has got nothing from the server; empty if it has,
  /// or if the user knows.
  std::string whyNothing();
  /// Has all threads that wait look at their stops.
  void wake();
  /// Has the server execute something, for its status.
  void probe(const Abilities &Found, Stop &Ending, sdk::Worker &W);
  /// Replaces the results in the action cache that the linker has refuted.
  void repairCache();
  Fault repair(const BlobName &Action, Stop &Ending);
  /// Ends all jobs: the server can't be used. Reports \p Why once.
  void giveUp(const std::string &Why);
  /// The same for a server that refuses this user or these settings.
  void refused(const Fault &F);

  /// What the first job that needs it asks the server; the others wait.
  struct Question {
    enum { Unknown, Asked, Known } State = Unknown;
    std::string WhyNot; // not empty: all jobs that ask fail with it
  };
  /// Calls \p Ask unless the answer to \p Q is known. Jobs that wait for it end
  /// with \p Until, which is registered; returns false then. \p Ask throws if
  /// there is no answer. Throws sdk::Error.
  bool findOut(const Stop &Until, Question &Q,
               const std::function<void()> &Ask);
  /// Returns the question whether the worker compiles for \p Target.
  Question &questionOf(const std::string &Target);
  /// For the report.
  void tellNumbers();

  const Library TheLibrary;
  const Settings S;
  const bool OnlyStatus;
  const std::chrono::seconds ResultLimit;
  const std::string LlvmVersion;
  const std::chrono::steady_clock::time_point Opened =
      std::chrono::steady_clock::now();
  sdk::ResultMemory Results;
  WorkerFile Worker;
  Server TheServer;
  Window InFlight;
  ServerRecord Record;
  Stop Stopping;                      // raised: the session ends
  std::atomic<bool> ToldWrong{false}; // that the cache had a bad result

  // Set before Ready.
  Abilities Can;
  std::unique_ptr<Cas> Contents;
  std::unique_ptr<ActionMaker> Actions;

  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  bool Ready = false;
  bool HasGivenUp = false; // and reports it
  std::string TheEnd;      // why the server can't be used; empty: it can
  Question Compiler;       // are the workers' compilers of our version?
  std::map<std::string, Question> Targets; // other processors than x86
  std::set<Stop *> Stops;                  // registered

  std::thread Preparer, Watcher;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_CLIENT_H
