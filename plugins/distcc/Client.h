//===- Client.h - Jobs, from the linker to the hosts and back ---*- C++ -*-===//
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
//                +--------- (up to MaxHosts hosts)
//
// One thread, the I/O thread, owns all jobs, hosts and connections and never
// waits but in poll(). What takes time (compression, decompression) is done by
// a small pool; what comes of it, and what the linker asks for, arrives in the
// mailbox.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_CLIENT_H
#define DTLTO_DISTCC_CLIENT_H

#include "Farm.h"
#include "PackCache.h"
#include "StateFiles.h"
#include "Verdict.h"
#include "WorkPool.h"
#include <deque>
#include <future>
#include <map>
#include <thread>

namespace dtlto::distcc {

class Client {
public:
  /// \p Codegen may be null: then hosts of kind Local are of no use. Throws
  /// std::system_error if the system has no thread or file descriptor left.
  Client(const dtlto_host &TheHost, const dtlto_session_params &Params,
         Settings S, std::unique_ptr<Log> TheLog,
         const dtlto_local_codegen *Codegen, const dtlto_bundle *Bundles);

  // The ABI's functions.
  int32_t submit(const dtlto_job &J);
  void cancel(uint64_t Id);
  void load(dtlto_load &Load);
  /// How each host is. Waits, for at most \p Limit.
  std::vector<sdk::Worker> status(std::chrono::milliseconds Limit);
  /// To be called once, before the destructor.
  void close();

private:
  struct Job {
    explicit Job(const dtlto_job &J)
        : J(&J), Name(J.name), Id(J.id), Cost(J.cost) {}
    const dtlto_job *J; // gone after a local run; what follows is not
    const std::string Name;
    const uint64_t Id, Cost;
    enum { Packing, Queued, Remote, Judging, Local } At = Packing;
    bool Cancelled = false;
    std::shared_ptr<const Request> Req;
    const void *Module = nullptr; // the contents' address: the same in each try
    std::string Avoid;            // the name of a host that has the same job
    Farm::HostSet Tried;
    std::string LastError;

    // At a host.
    Host *On = nullptr;
    std::unique_ptr<Connection> Conn;
    StateFile Monitor;
    Clock::time_point Began, Reported, Noted;
    Clock::duration Took{};
    int Shown = -1; // the connection's state that was told last
    uint64_t ShownBytes = 0;
  };
  using JobPtr = std::unique_ptr<Job>;

  void run();
  void turn();
  void add(const dtlto_job &J);
  std::shared_ptr<const Request> build(const dtlto_job &J, std::string &Error);
  void packed(uint64_t Id, std::shared_ptr<const Request> Req,
              const std::string &Error);
  void assign();
  void startRemote(Job &J, Host &H);
  void startLocal(Job &J, Host &H);
  void watch(Job &J);
  void connectionEnded(Job &J);
  void judged(uint64_t Id, Verdict &V);
  void ended(Job &J, const char *What);
  void tryAnother(Job &J, const std::string &Why);
  void finish(Job &J, int32_t Status, const std::string &Message,
              Pages Object = {});
  void erase(Job &J);
  void answerStatus();
  void giveUpIfHopeless();
  void publish();
  void shutDown();

  const dtlto_host &TheHost;
  const dtlto_local_codegen *const Codegen;
  const dtlto_bundle *const Bundles;
  const Settings S;
  const std::unique_ptr<Log> TheLog;
  const std::shared_ptr<Mailbox> Box = std::make_shared<Mailbox>();

  // The I/O thread's.
  Reaper Children;
  Farm TheFarm;
  std::map<uint64_t, JobPtr> Jobs;
  std::deque<uint64_t> Queue; // Queued ones, the next first
  std::vector<uint64_t> Running;
  /// Of modules whose job went back to the linker with an error: it may come
  /// again.
  struct Past {
    Farm::HostSet Tried;
    std::string LastError;
  };
  std::map<const void *, Past> Failed; // by the address of the module
  unsigned NumUnfinished = 0;          // Remote, Judging or Local
  bool GaveUp = false, Closing = false;
  double SecondsOfAJob = 0; // smoothed; 0: not known
  uint64_t BytesSent = 0, BytesReceived = 0;
  unsigned LastStateFile = 0;
  /// Somebody who waits for status().
  struct StatusAnswer {
    std::promise<std::vector<sdk::Worker>> Promise;
    std::chrono::milliseconds Limit;
    Clock::time_point End;
  };
  std::shared_ptr<StatusAnswer> Asker; // null: nobody

  PackCache Packs;
  std::mutex Mutex; // guards what follows
  unsigned Accepted = 0, Capacity = 0;
  bool SaidBusy = false;
  dtlto_load Now = {};

  // Threads last.
  WorkPool Helpers, Here;
  std::thread Io;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_CLIENT_H
