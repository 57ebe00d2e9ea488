//===- FakePlugin.h - A plugin inside of a test -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A correct plugin with one worker thread. A test can replace each step. The
// plugin records the host's calls, and complains of violations:
//
//   - a call after close(), on a second thread, or during another call;
//   - a second open() or close();
//   - an object that is not released, or twice;
//   - a job whose memory changed while the plugin may read it.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_FAKEPLUGIN_H
#define DTLTO_UNITTESTS_TESTSUPPORT_FAKEPLUGIN_H

#include "Modules.h"
#include "dtlto/PluginAPI.h"
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace dtlto::test {

/// Blocks threads until it is opened.
class Gate {
public:
  void open() {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsOpen = true;
    Changed.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(Lock, [&] { return IsOpen; });
  }

private:
  std::mutex Mutex;
  std::condition_variable Changed;
  bool IsOpen = false;
};

class FakePlugin {
public:
  /// Only one plugin may exist at a time, because open() gets no pointer to it.
  FakePlugin();
  ~FakePlugin();

  /// Waits until the host makes no more calls: until close() has returned, or
  /// an open() that failed. Needed because a host may abandon a session.
  void waitForEnd();

  const dtlto_plugin &entry() const { return Entry; }
  /// Sets what configure() requests.
  void setNeeds(uint32_t New) { Needs = New; }
  void setNoFallback(std::string Why) { NoFallback = std::move(Why); }

  /// An offered job. \c Raw is the host's memory.
  struct Job {
    uint64_t Id;
    std::string Name;
    uint64_t Cost;
    unsigned Attempt; // 1 for the first job with this name
    const dtlto_job *Raw;
  };

  //===--------------------------------------------------------------------===//
  // Hooks that a test may set before the link
  //===--------------------------------------------------------------------===//

  /// Called in configure().
  std::function<void(const dtlto_session_params &)> OnConfigure;
  /// Called in open(), and returns its result.
  std::function<int32_t(const dtlto_session_params &)> OnOpen;
  /// Called in submit(), which returns the result unless it is DTLTO_OK.
  std::function<int32_t(const Job &)> OnSubmit;
  /// Called on the worker thread for each accepted job; must report the result.
  /// Default: codegen() and done().
  std::function<void(const Job &)> OnRun;
  /// Called in cancel(). Default: reports the job as cancelled unless it has
  /// run.
  std::function<void(uint64_t)> OnCancel;
  /// Called in load(). Default: one slot, and nothing else is known.
  std::function<int32_t(dtlto_load &)> OnLoad;
  /// Called by dtlto.refuted/1, which exists if this is set.
  std::function<void(uint64_t Id, const char *Worker, int32_t Status)>
      OnRefuted;
  /// Called in close(), after the end of the worker thread.
  std::function<void()> OnClose;

  //===--------------------------------------------------------------------===//
  // Functions for hooks
  //===--------------------------------------------------------------------===//

  /// Compiles the job in the linker. Pass the result to done().
  dtlto_result codegen(uint64_t Id);
  /// Returns a good result with a copy of \p Object, and checks its release.
  dtlto_result object(llvm::StringRef Object);
  dtlto_result failure(int32_t Status, const char *Message = nullptr,
                       const char *Worker = nullptr);
  void done(uint64_t Id, const dtlto_result &Result);
  /// Passes a result that the host must not take over. Releases its object.
  void doneTooOften(uint64_t Id, const dtlto_result &Result);
  void log(uint32_t Level, const char *Message);
  void state(uint64_t Id, uint32_t State, const char *Worker = nullptr);
  void loadChanged();
  const dtlto_host &host() const { return *Host; }

  //===--------------------------------------------------------------------===//
  // The host's calls
  //===--------------------------------------------------------------------===//

  /// All jobs offered to submit(), in order, whatever it returned.
  std::vector<Job> submitted() const;
  std::vector<uint64_t> cancelled() const;
  unsigned numSubmitted(llvm::StringRef Name) const;
  unsigned numOpened() const;
  bool isClosed() const;
  /// Violations of the ABI by the host.
  std::vector<std::string> complaints() const;
  /// Objects from object() that have not been released.
  size_t numObjectsAlive() const;
  size_t numObjectsCreated() const;

private:
  struct Call; // checks a call of the host while it lasts
  struct Owned;

  static FakePlugin *Instance;
  void complain(const std::string &What);
  void work();
  void close();
  uint64_t digestOf(const dtlto_job &Job) const;

  dtlto_plugin Entry = {};
  uint32_t Needs = 0;
  std::string NoFallback;
  std::atomic<int> NumConfiguring{0}; // calls may be abandoned
  const dtlto_host *Host = nullptr;

  mutable std::mutex Mutex; // guards the members below
  std::condition_variable Changed;
  std::vector<Job> Submitted;
  struct AcceptedJob {
    const dtlto_job *Raw;
    uint64_t Digest;
  };
  std::map<uint64_t, AcceptedJob> Accepted;
  std::set<uint64_t> Done;
  std::vector<uint64_t> Cancelled;
  std::deque<Job> Queue;
  std::vector<std::string> Complaints;
  std::vector<std::unique_ptr<Owned>> Objects;
  unsigned NumOpened = 0;
  bool IsOpened = false, IsClosing = false, IsClosed = false;
  bool IsInCall = false;
  std::thread::id LinkThread;
  std::thread Worker;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_FAKEPLUGIN_H
