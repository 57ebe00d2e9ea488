//===- Client.h - Sends jobs to hosts and returns results -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The life of a job:
//
//   Packing -> Queued -> Remote -> Judging -> (done)
//                ^  |       |         |
//                |  |       +---------+--- failed: another host, then (done)
//                |  +-> Local -> (done)
//                +--------- (up to MaxTries times)
//
// One thread, the I/O thread, owns all jobs, hosts and connections, and waits
// only in poll(). A small pool of helpers compresses and decompresses. Its
// results and the linker's requests arrive in the mailbox. The SDK counts jobs
// and answers BUSY.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_CLIENT_H
#define DTLTO_DISTCC_CLIENT_H

#include "Farm.h"
#include "StateFiles.h"
#include "Verdict.h"
#include "dtlto/sdk/Plugin.hpp"
#include <future>

namespace dtlto::distcc {

class Client : public sdk::Session {
public:
  /// Throws sdk::Error if the plugin can't work.
  Client(const dtlto_host &Host, const dtlto_session_params &Params);

  static void configure(const dtlto_session_params &Params,
                        dtlto_session_config &Config);
  static std::string probe(const dtlto_session_params &Params,
                           std::chrono::milliseconds Limit);
  static const sdk::Description &description() { return distcc::description(); }

  void begin() override;
  bool submit(std::shared_ptr<sdk::Job> J) override;
  void cancel(sdk::Job &J) override;
  void refuted(uint64_t Job, const std::string &Worker,
               int32_t Status) override;
  void load(dtlto_load &Load) override;
  std::vector<sdk::Worker> status(std::chrono::milliseconds Limit) override;
  void stop() override;

private:
  // How often a job is tried before it goes back to the linker: on different
  // hosts, if there are enough.
  static constexpr unsigned MaxTries = 3;
  // How often MaxRunning is raised again after a shortage of descriptors.
  static constexpr std::chrono::seconds RaisePeriod{1};
  // How often a job's state file is rewritten, long before monitors consider it
  // stale.
  static constexpr std::chrono::seconds NotePeriod{20};

  struct Job {
    explicit Job(std::shared_ptr<sdk::Job> J)
        : Offer(std::move(J)), Name(Offer->name()), Id(Offer->id()),
          Cost(Offer->raw().cost) {}
    const std::shared_ptr<sdk::Job> Offer; // without raw() after a local run
    const std::string Name;
    const uint64_t Id, Cost;
    enum { Packing, Queued, Remote, Judging, Local } State = Packing;
    bool WasCancelled = false; // cancelled while a helper had it
    std::shared_ptr<const Request> Req;
    const void *Module = nullptr; // the contents' address: the same in each try
    std::string Avoid;            // a host that has the same job
    Farm::HostSet TriedHosts;     // other hosts are preferred
    Farm::HostSet ExcludedHosts;  // they failed for good: no retry there
    unsigned NumTries = 0;
    std::string LastError;
    Clock::time_point IgnoredSince; // no server accepts it; zero: none tried

    // At a host: Remote, Judging or Local.
    Host *Target = nullptr;
    bool HasSlot = false;             // of the host
    std::unique_ptr<Connection> Conn; // Remote
    Clock::time_point BeginTime, LastReport, LastNote;
    Clock::duration Duration{};
    int ReportedState = -1; // the connection's state last reported
    uint64_t ReportedBytes = 0;
  };

  // These run on the I/O thread.
  void run();
  void turn();
  void add(std::shared_ptr<sdk::Job> Offer);
  void onPacked(uint64_t Id, std::shared_ptr<const Request> Req,
                const std::string &Error);
  void assign();
  void start(Job &J, Host &H);
  void startRemote(Job &J);
  void startLocal(Job &J);
  void watch(Job &J);
  void onConnectionEnd(Job &J);
  void onConnectionFailure(Job &J, const Connection &C);
  void onJudged(uint64_t Id, Verdict &V);
  void ended(Job &J, bool IsGood);
  bool canContinue(Job &J);
  bool isAlive(const Host &H) const;
  unsigned numOpen(const Host &H) const;
  void requeue(Job &J);
  void retryElsewhere(Job &J, const std::string &Why, bool MayReturn);
  void onOutOfDescriptors(Job &J, const std::string &Why);
  std::unique_ptr<Connection> hangUp(Job &J);
  void freeSlot(Job &J);
  void finish(Job &J, int32_t Status, std::string Message,
              sdk::Buffer Object = {});
  void erase(Job &J);
  void answerStatus();
  void giveUpIfUnusable();
  void publish();
  void shutDown();
  Job &job(uint64_t Id);
  bool onIoThread() const { return IoId == std::this_thread::get_id(); }
  unsigned numAssigned() const;

  // Runs on a helper thread.
  std::shared_ptr<const Request> build(const sdk::Job &J, std::string &Error);

  MessageLog TheLog;
  const Settings TheSettings;
  const std::shared_ptr<Mailbox> Box = std::make_shared<Mailbox>();

  // Used by the I/O thread only.
  std::thread::id IoId;
  Reaper Children;
  Farm TheFarm;
  sdk::ResultMemory Results; // lends memory to the connections of Jobs
  std::map<uint64_t, Job> Jobs;
  std::deque<uint64_t> Queue;   // Queued jobs, the next first
  size_t NumRunning = 0;        // jobs with a connection
  size_t MaxRunning = SIZE_MAX; // lowered when descriptors run out
  Clock::time_point RaiseAt;    // when to raise it again
  bool HasReportedShortage = false;
  /// A job that went back with an error. The linker may submit it again.
  struct Failure {
    Farm::HostSet TriedHosts, ExcludedHosts;
    std::string LastError;
  };
  /// Keyed by the module's address, which its parts share, and its name, which
  /// other modules may have.
  std::map<std::pair<const void *, std::string>, Failure> Failures;
  bool HasGivenUp = false, IsClosing = false;
  double SecondsPerJob = 0; // smoothed; 0: unknown
  uint64_t BytesSent = 0, BytesReceived = 0;
  StateFiles Monitor;
  /// A pending call of status().
  struct StatusQuery {
    std::promise<std::vector<sdk::Worker>> Promise;
    std::chrono::milliseconds Limit;
    Clock::time_point End;
  };
  std::shared_ptr<StatusQuery> Query; // null: none

  ByteCache Packs;  // compressed imports
  std::mutex Mutex; // guards CurrentLoad
  dtlto_load CurrentLoad = {};

  // Last: the threads must be destroyed first.
  sdk::WorkPool Helpers, LocalPool;
  std::thread Io;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_CLIENT_H
