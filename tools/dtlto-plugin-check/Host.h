//===- Host.h - What the plugin may call, and what it was lent --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host of one session: the functions that the plugin calls, on any thread,
// and the jobs that it was offered. All that the ABI promises and that can be
// seen is checked on the way, in each case, and what isn't kept is reported
// (CaseReport.h). Session.h has the calls of the plugin.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_HOST_H
#define DTLTO_PLUGINCHECK_HOST_H

#include "CaseReport.h"
#include "Memory.h"
#include "Samples.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace dtlto::check {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

/// Ids have 64 bits: nothing less holds one of these.
constexpr uint64_t FirstJob = 10000000001;

std::string seconds(Milliseconds D);
std::string jobName(uint64_t Id);

/// What the user asked for.
struct Options {
  std::vector<std::string> PluginArgs;
  unsigned NumJobs = 48; // in the cases with many
  Milliseconds CaseLimit{120000};
  bool Verbose = false;

  Milliseconds callLimit() const;  // of a call that must not wait
  Milliseconds closeLimit() const; // "within seconds"
  Milliseconds jobLimit() const;   // of silence while jobs run
};

/// Which host the plugin sees: a newer one has larger structs.
struct HostAge {
  uint32_t Minor = DTLTO_ABI_MINOR;
  uint32_t More = 0; // bytes after each struct

  static HostAge future() { return {99, 64}; }
};

/// The bytes of modules, which stay until close(). Each has one address in all
/// jobs.
struct Modules {
  const void *lend(const std::string &Bytes);

  Loan Lent{"the bytes of a module",
            "a module is yours until close() returns: whoever reads it must "
            "have ended by then"};
  std::map<std::string, const void *> Places; // by their contents
};

/// A job that the plugin was offered.
struct JobRecord {
  /// \p Needs: DTLTO_JOB_...
  JobRecord(uint64_t Id, const Sample &S, uint32_t Needs, const HostAge &Age,
            const char *Avoid, Modules &M);

  const uint64_t Id;
  const Sample &S;
  Loan Lent;
  const dtlto_job *Raw = nullptr; // in `Lent`
  // As a linker has it, which knows the roles of its inputs.
  dtlto_job Known = {};
  std::vector<dtlto_input> KnownInputs;
  std::vector<const dtlto_input *> KnownPointers;

  bool Accepted = false, Refused = false, Cancelled = false;
  bool HasBundle = false;
  const void *MadeHere = nullptr; // the object of the last run()
  // Once it is Done:
  bool Done = false;
  int32_t Status = 0;
  std::string Object, Message;
  std::string Made; // Object without its frame, if it has one
  dtlto_buffer Buffer = {};

private:
  void addInputs(dtlto_job &Job, const HostAge &Age, Modules &M);
  void addArgs(dtlto_job &Job);
};

/// Memory of the host that the plugin has become the owner of.
struct HostBuffer {
  std::string What, Bytes;
  JobBundle Bundle;
  std::atomic<int> Releases{0};
  void release();
};

class Host {
public:
  Host(const dtlto_plugin &P, const Options &O, const HostAge &Age);
  const dtlto_host *raw() const { return Raw; }

  /// Reports that \p Text, which \p Who gave the host, isn't one line, or
  /// begins with the plugin's name.
  void checkText(const char *Section, const std::string &Who,
                 const std::string &Text);
  /// Reports that the plugin's function \p Call didn't return, and ends the
  /// process.
  [[noreturn]] void stuckIn(const std::string &Call, Milliseconds Limit);

private:
  friend class Session; // the same thing seen by the link's thread
  enum class Phase { Opening, Open, Closing, Closed };

  // The ABI's functions.
  template <auto Fn> struct Callback;
  void log(uint32_t Level, const char *Message);
  void jobState(uint64_t Job, uint32_t State, const char *Worker);
  void jobDone(uint64_t Job, const dtlto_result *Result);
  void loadChanged();
  int32_t checkResult(uint64_t Job, dtlto_span Object, char *Why,
                      uint64_t WhySize);
  const void *extension(const char *Id);
  int32_t runLocally(uint64_t Job, dtlto_result *Result);
  int32_t bundle(uint64_t Job, dtlto_bundle_spans *Out);
  int32_t enterRoom(uint64_t Job);
  void leaveRoom(uint64_t Job, uint64_t Bytes);
  void sessionNumber(const char *Name, uint32_t Unit, uint64_t Value);
  void jobNumber(uint64_t Job, const char *Name, uint32_t Unit, uint64_t Value);

  bool isLate(const char *Name);
  void holdUp(const char *Name);
  bool onLinkThread() const;
  // With the mutex held.
  JobRecord *find(uint64_t Job);
  JobRecord *findRunning(uint64_t Job);
  void takeResult(JobRecord &R, const dtlto_result *Result);
  HostBuffer &lendBuffer(const char *What, uint64_t Job);

  const dtlto_plugin &P;
  const Options &O;
  const std::thread::id LinkThread = std::this_thread::get_id();
  Loan Lent;
  const dtlto_host *Raw;
  uint32_t Needs = 0;
  std::atomic<bool> Entangled{false}; // callbacks wait for an answer of load()

  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  Phase Now = Phase::Opening;
  std::map<uint64_t, std::unique_ptr<JobRecord>> Jobs;
  uint64_t RoomCount = 0; // load_changed()s
  uint64_t NumSigns = 0;  // of life, of all jobs
  uint64_t NumEnded = 0;  // refused ones included
  uint64_t LoadWanted = 0, LoadAnswered = 0;
  bool InSubmit = false, GaveUp = false;
  bool Holding = false;      // job_done()s wait
  unsigned NumReleasing = 0; // job_done()s that are in release()
  uint64_t InRoom = 0;       // the job that this machine has room for
  std::string OpenErrors;
  std::vector<std::unique_ptr<HostBuffer>> Buffers;
};

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_HOST_H
