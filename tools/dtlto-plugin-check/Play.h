//===- Play.h - A host that watches the plugin ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One session with the plugin, as the linker has it: all calls on one thread,
// callbacks on any. All that the ABI promises and that can be seen is checked
// on the way, in each case, and what isn't kept is reported (CaseReport.h).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_PLAY_H
#define DTLTO_PLUGINCHECK_PLAY_H

#include "Memory.h"
#include "ProcessSettings.h"
#include "Samples.h"
#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/draft/local-room.h"
#include "dtlto/ext/draft/store.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/numbers.h"
#include "dtlto/ext/refuted.h"
#include "dtlto/ext/status.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace dtlto::check {

using Clock = std::chrono::steady_clock;

/// Which host the plugin sees: a newer one has larger structs.
struct HostAge {
  uint32_t Minor = DTLTO_ABI_MINOR;
  uint32_t More = 0; // bytes after each struct

  static HostAge future() { return {99, 64}; }
};

/// What the user asked for.
struct Wishes {
  std::vector<std::string> PluginArgs;
  unsigned NumJobs = 48; // in the cases with many
  std::chrono::milliseconds CaseLimit{120000};
  bool Verbose = false;

  std::chrono::milliseconds callLimit() const;  // of a call that must not wait
  std::chrono::milliseconds closeLimit() const; // "within seconds"
  std::chrono::milliseconds jobLimit() const;   // of silence while jobs run
};

/// What became of a job.
struct Ended {
  bool Accepted = false;
  bool Done = false;
  int32_t Status = 0;
  std::string Object, Message;
  std::string Made; // Object without its frame, if it has one
};

/// One session. All functions on the thread that made it.
class Play {
public:
  Play(const dtlto_plugin &P, const Wishes &W, const HostAge &Age = {});
  ~Play(); // close()

  /// Calls open(). The result is checked but for being an error.
  int32_t open(uint64_t NumJobs);
  /// open(); where that fails, the case has failed.
  void mustOpen(uint64_t NumJobs);

  /// Offers a job once. Returns submit()'s status; \p Id is the job's.
  int32_t offer(const Sample &S, uint64_t &Id, const char *Avoid = nullptr);
  /// Offers a job until it is accepted, as the linker does. Returns its id, or
  /// 0 if it was refused.
  uint64_t submit(const Sample &S, const char *Avoid = nullptr);
  void cancel(uint64_t Id);
  dtlto_load load();
  void queryStatus(const dtlto_status &Status);
  /// The plugin has all jobs, if it wants to know (dtlto.batch/1).
  void completeBatch();
  void refute(const dtlto_refuted &Refuted, uint64_t Id, const char *Worker);
  /// Calls of dtlto.store.draft/1; \p Key has 32 bytes. Returns false on an
  /// error, with a reason in \p Out or \p Why.
  bool storeGet(const dtlto_store &Store, const std::string &Key,
                uint64_t MaxBytes, std::string &Out);
  bool storePut(const dtlto_store &Store, const std::string &Key,
                const std::string &Bytes, std::string &Why);
  void close();

  /// Waits until all accepted jobs have ended; fails after a job's limit.
  void waitForAll();
  /// Waits until \p Id has ended, or one job if it is 0.
  void waitFor(uint64_t Id);
  /// Waits for a state of any job, or the end of one.
  void waitForSign();
  /// Waits for load_changed() after the count was \p Before. Returns false if
  /// it doesn't come, though all jobs have ended.
  bool waitForRoom(uint64_t Before);
  uint64_t roomCount();

  Ended result(uint64_t Id);
  size_t numAccepted();
  std::vector<uint64_t> accepted();
  std::string openErrors();
  /// Whether the plugin said with DTLTO_LOG_ERROR that it can't go on.
  bool hasGivenUp();

  /// From now on callbacks on other threads wait until load() was answered.
  void entangle() { Entangled = true; }

  /// Whether job_done() on other threads doesn't come back, and doesn't count.
  void holdResults(bool Hold);

  /// Fails unless \p Id ended with \p S's own object.
  void expectObject(uint64_t Id, const Sample &S);

private:
  struct Record;
  struct HostBuffer;

  static Play &from(dtlto_host_context *Context);
  void makeHost();
  template <typename F>
  bool storeCall(const char *Name, const std::string &Key, std::string &Why,
                 F Fn);
  void expectNulls();
  const void *moduleBytes(const std::string &Contents);
  const dtlto_job *makeJob(Record &R, const Sample &S, const char *Avoid);

  void log(uint32_t Level, const char *Message);
  void jobState(uint64_t Job, uint32_t State, const char *Worker);
  void jobDone(uint64_t Job, const dtlto_result *Result);
  void loadChanged();
  const void *extension(const char *Id);
  int32_t runLocally(uint64_t Job, dtlto_result *Result);
  Record *recordForBundle(uint64_t Job);
  int32_t checkResult(uint64_t Job, dtlto_span Object, char *Why,
                      uint64_t WhySize);
  int32_t bundle(uint64_t Job, dtlto_bundle_spans *Out);
  int32_t enterRoom(uint64_t Job);
  void leaveRoom(uint64_t Job);
  void checkNumber(const char *Name, const uint64_t *Job);
  void configure(const dtlto_session_params &Params);
  HostBuffer &lendMemory(const char *What, uint64_t Job, std::string Bytes);
  dtlto_buffer lend(const char *What, uint64_t Job, std::string Bytes);

  bool lateCall(const char *Name);
  void holdUp(const char *Name);
  void checkText(const char *Section, const std::string &Who,
                 const std::string &Text);
  template <typename F> auto call(const char *Name, F Fn);
  void addTime(const std::string &Name, Clock::duration D);
  template <typename F>
  bool wait(std::unique_lock<std::mutex> &Lock, Clock::time_point End, F Done);
  void watch();
  void checkLoad(const dtlto_load &L);

  const dtlto_plugin &P;
  const Wishes &W;
  const HostAge Age;
  const std::thread::id LinkThread = std::this_thread::get_id();
  dtlto_session *Handle = nullptr;
  Loan HostLoan, Modules;
  const dtlto_host *Host = nullptr;
  dtlto_local_codegen LocalCodegen = {};
  dtlto_bundle BundleExtension = {};
  dtlto_local_room LocalRoom = {};
  dtlto_numbers Numbers = {};
  uint32_t Needs = 0;
  std::map<std::string, const void *> ModuleBytes; // by their contents
  bool IsOpen = false;
  unsigned ThreadsBefore = 0;
  ProcessSettings SettingsBefore;
  std::atomic<bool> Entangled{false};

  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  std::map<uint64_t, std::unique_ptr<Record>> Jobs;
  // Ids have 64 bits: nothing less holds one of these.
  static constexpr uint64_t FirstId = 10000000001;
  uint64_t NextId = FirstId;
  uint64_t RoomCount = 0, NumSigns = 0, NumEnded = 0;
  uint64_t LoadWanted = 0, LoadAnswered = 0;
  bool InOpen = false, GaveUp = false, Closing = false, Closed = false;
  bool Holding = false;      // job_done()s wait
  unsigned NumReleasing = 0; // job_done()s that are in release()
  uint64_t InRoom = 0;       // the job that this machine has room for
  std::string OpenErrors;
  std::vector<std::unique_ptr<HostBuffer>> Lent;
  const char *CallName = nullptr; // the plugin's function that runs now
  uint64_t InSubmit = 0;          // the job that it is for
  Clock::time_point CallLimit;
  struct CallTimes {
    unsigned Calls = 0, Long = 0;
  };
  std::map<std::string, CallTimes> Times; // by the function
  bool Quit = false;
  std::thread Watchdog;
};

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_PLAY_H
