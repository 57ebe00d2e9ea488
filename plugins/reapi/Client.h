//===- Client.h - Jobs, from the linker to the server and back --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The life of a job, each on a thread of its own, from the SDK's pool:
//
//   becomes an action                  -> its digest
//   is asked for in the action cache   -> the object, or nothing
//   its blobs go up                    -> those that are missing
//   is executed                        -> queued, running, the object
//
// What the server says before any of that (GetCapabilities) is asked for while
// the linker prepares its first jobs.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_CLIENT_H
#define DTLTO_REAPI_CLIENT_H

#include "Action.h"
#include "Execution.h"
#include "Window.h"
#include "dtlto/sdk/Plugin.hpp"
#include <optional>
#include <set>
#include <unordered_map>

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

/// What the server says of the jobs that it has.
struct ServerLoad {
  /// One of them.
  struct Job {
    bool IsThere = false, IsRunning = false, IsQueued = false;
  };
  void change(Job &Old, Job New);

  // All that are there, those that run, and those that are in its queue.
  unsigned NumThere = 0, NumRunning = 0, MostRunning = 0;
  unsigned NumQueued = 0, MostQueued = 0;
  bool HasQueued = false; // it let a job wait while others ran
  /// Since when none has begun, though some could.
  std::chrono::steady_clock::time_point WaitingSince;
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
  /// Throws sdk::Error where the plugin can't work.
  static Settings openSettings(const dtlto_host &Host,
                               const dtlto_session_params &Params);
  Client(const dtlto_host &Host, const dtlto_session_params &Params,
         Settings S);

  struct Job {
    explicit Job(const sdk::Job &Offer) : Offer(Offer) {}
    const sdk::Job &Offer;
    Stop Cancelled;
    /// What the action cache has of the job is no good, or not wanted.
    bool SkipsCache = false;
  };

  /// Asks what the server can do, and has the worker hashed.
  void prepare();
  /// Waits for that. Throws sdk::Error.
  void waitUntilReady(Job &J);
  /// Calls \p Fn with a stop that is raised after \p Limit, or when there is no
  /// use in going on.
  void within(std::chrono::milliseconds Limit,
              const std::function<void(Stop &)> &Fn);
  /// The same with a server that is ready. Throws sdk::Error of the fault that
  /// it returns.
  void inStore(std::chrono::milliseconds Limit,
               const std::function<Fault(Stop &)> &Fn);
  /// Looks after the server until the session ends.
  void watch();
  /// Why jobs only wait, to be told once; empty if they don't. With the lock.
  std::string whyWaiting();
  /// Why a link has had nothing of the server; empty if it has, or if the user
  /// knows.
  std::string whyNothing();
  /// Whoever waits looks whether its job was cancelled.
  void wake();
  /// Has the server execute something, for its status.
  void probe(const Abilities &Found, Stop &Ending, sdk::Worker &W);
  /// Takes out of the action cache what the linker has found to be wrong.
  void repairCache();
  Fault repair(const BlobName &Action, Stop &Ending);
  /// There is no use in going on; said once.
  void giveUp(const std::string &Why);
  void refused(const Fault &F);

  /// Whether the linker has refuted a result of the action; remembers it as the
  /// job's.
  bool wasRefuted(const Job &J, const Action &A);
  sdk::Result runReady(Job &J);
  /// What the first job that needs it finds out; the others wait for that.
  struct Question {
    enum { Unknown, Asked, Known } State = Unknown;
    std::string WhyNot; // not empty: what all are told
  };
  /// \p Ask throws if it finds out nothing, or that there is no use in going on
  /// with the job. Throws sdk::Error.
  void findOut(Job &J, Question &Q, const std::function<void()> &Ask);
  /// The same for a target that the worker may not have. Throws sdk::Error.
  sdk::Result runForeign(Job &J, const std::string &Target);
  std::optional<sdk::Result> fromCache(Job &J, const Action &A);
  /// A clang of the workers' must be of exactly the linker's version, as one of
  /// them says. Throws sdk::Error.
  void proveCompiler(Job &J);
  std::string askCompiler(Job &J);
  sdk::Result execute(Job &J, const Action &A);
  /// Has \p O.Action executed, however often it takes, within the limits of
  /// README.md. \p A has its blobs. The fault is the last one.
  Outcome tryToExecute(Job &J, const Action &A, ExecuteOptions &O);
  /// Has \p O count the tries of its action, and refuse one too many.
  void limitTries(ExecuteOptions &O);
  /// After a try. Returns how many in a row the server has refused.
  unsigned leaveWindow(uint64_t Round, const Fault &F, bool IsRefusal);
  /// What a try has come to.
  void countTry(const BlobName &Action, const Fault &F, bool IsRefusal);
  /// Before \p A is executed again, since that may help against \p F.
  void prepareAgain(Job &J, const Action &A, const Fault &F, unsigned Try);
  /// The server refuses executions for the \p InRow time, with \p F.
  void onRefusal(const Fault &F, unsigned InRow);
  void uploadAll(Job &J, const Action &A);
  /// What \p R means for the job; \p By is named with it.
  sdk::Result conclude(Job &J, const Action &A, re::ActionResult &R,
                       const std::string &By);
  std::string standardError(Job &J, re::ActionResult &R);
  /// A text of a program's; empty if it is too long, or can't be got.
  std::string read(Job &J, const re::Digest &D);
  /// Whether \p F says that the server takes no action of this link's.
  bool isRejected(const Fault &F);
  /// Throws why there is no use in going on with \p J, which was stopped.
  [[noreturn]] void stopped(const Job &J);
  /// Throws what \p F is for a job.
  [[noreturn]] void fail(Job &J, const Fault &F, const std::string &Doing);
  /// Of an action that was executed for \p J.
  void count(const Job &J, const re::ExecutedActionMetadata &M);
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
  Stop Stopping; // raised: the session ends

  // Set before Ready.
  Abilities Can;
  std::unique_ptr<Cas> Contents;
  std::unique_ptr<ActionMaker> Actions;

  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  bool Ready = false;
  bool HasGivenUp = false; // and has begun to tell it
  std::string TheEnd;      // not empty: why there is no use in going on
  Question Compiler;       // of the workers: is it the linker's?
  std::map<std::string, Question> Targets; // processors that aren't x86
  std::set<std::string> Workers;
  ServerLoad AtServer;
  unsigned NumWrong = 0;    // results of the cache that were no good
  unsigned NumRejected = 0; // in a row: actions that the server takes for none
  /// What became of an action, as long as that wasn't good.
  struct Tries {
    unsigned Begun = 0, Failed = 0;
    std::string Why; // the last word
  };
  std::map<std::string, Tries> TriesOf; // by the action's digest
  std::set<Job *> Jobs;                 // that run
  bool ToldWaiting = false;
  std::string LastRefusal; // what the server said, if it has done nothing since
  struct {
    std::unordered_map<uint64_t, BlobName> OfJob; // all, by the job's id
    std::set<std::string> Refuted;                // by digest
    /// Those of them whose wrong results may still be in the action cache.
    std::map<std::string, BlobName> ToRepair;
  } ActionsOfLink;

  std::thread Preparer, Watcher;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_CLIENT_H
