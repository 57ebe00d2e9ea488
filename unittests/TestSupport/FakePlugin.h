//===- FakePlugin.h - A plugin inside of a test -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A correct plugin with one worker thread. A test replaces what should go
// another way. It notes all that the host does, and what the host must not do:
//
//   - a call after close(), or on a second thread, or of two at the same time;
//   - a second open() or close();
//   - an object that is not released, or twice;
//   - a job whose memory changed while the plugin may look at it.
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

/// Threads wait until somebody opens it.
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
  /// Only one at a time: the ABI gives open() nothing to tell plugins apart by.
  FakePlugin();
  ~FakePlugin();

  /// Waits until the host can't call any more: until close() has returned, or
  /// an open() that failed. A host may leave a session behind.
  void waitForEnd();

  const dtlto_plugin &entry() const { return Entry; }
  /// What configure() asks for.
  void setNeeds(uint32_t New) { Needs = New; }
  void setNoFallback(std::string Why) { NoFallback = std::move(Why); }

  /// An accepted job. \c Raw is the host's memory.
  struct Job {
    uint64_t Id;
    std::string Name;
    uint64_t Cost;
    unsigned Attempt; // 1 for the first job with this name
    const dtlto_job *Raw;
  };

  //===--------------------------------------------------------------------===//
  // What a test may replace, before the link
  //===--------------------------------------------------------------------===//

  /// In configure().
  std::function<void(const dtlto_session_params &)> OnConfigure;
  /// In open(); what it returns is what open() returns.
  std::function<int32_t(const dtlto_session_params &)> OnOpen;
  /// In submit(); anything but DTLTO_OK is what submit() returns.
  std::function<int32_t(const Job &)> OnSubmit;
  /// On the worker thread, for each accepted job: reports its result. Without
  /// it, codegen() and done().
  std::function<void(const Job &)> OnRun;
  /// In cancel(). Without it, a job that has not been run is reported as
  /// cancelled.
  std::function<void(uint64_t)> OnCancel;
  /// In load(). Without it, nothing is known but one slot.
  std::function<int32_t(dtlto_load &)> OnLoad;
  /// In the function of dtlto.refuted/1, which the plugin has if this is set.
  std::function<void(uint64_t Id, const char *Worker, int32_t Status)>
      OnRefuted;
  /// In put() of dtlto.store.draft/1, which the plugin has if this is set, on
  /// any thread. Nothing is ever there.
  std::function<int32_t(llvm::StringRef Bytes)> OnStorePut;
  /// In close(), after the worker thread has ended.
  std::function<void()> OnClose;

  //===--------------------------------------------------------------------===//
  // What those functions may call
  //===--------------------------------------------------------------------===//

  /// Compiles the job in the linker. The result is to be given to done().
  dtlto_result codegen(uint64_t Id);
  /// A good result with a copy of \p Object, whose release is watched.
  dtlto_result object(llvm::StringRef Object);
  dtlto_result failure(int32_t Status, const char *Message = nullptr,
                       const char *Worker = nullptr);
  void done(uint64_t Id, const dtlto_result &Result);
  /// A result that the host may not take over: an object() is released here.
  void doneTooOften(uint64_t Id, const dtlto_result &Result);
  void log(uint32_t Level, const char *Message);
  void state(uint64_t Id, uint32_t State, const char *Worker = nullptr);
  void loadChanged();
  const dtlto_host &host() const { return *Host; }

  //===--------------------------------------------------------------------===//
  // What the host did
  //===--------------------------------------------------------------------===//

  /// All calls of submit(), in order, whatever they returned.
  std::vector<Job> submitted() const;
  std::vector<uint64_t> cancelled() const;
  unsigned numSubmitted(llvm::StringRef Name) const;
  unsigned numOpened() const;
  bool isClosed() const;
  /// What the host did wrong.
  std::vector<std::string> complaints() const;
  /// Objects from object() that have not been released.
  size_t numObjectsAlive() const;
  size_t numObjectsMade() const;

private:
  struct Call; // one call of the host, for as long as it lasts
  struct StoreCall;
  struct Owned;

  static FakePlugin *TheOne;
  void complain(const std::string &What);
  void work();
  void close();
  uint64_t digestOf(const dtlto_job &Job) const;

  dtlto_plugin Entry = {};
  uint32_t Needs = 0;
  std::string NoFallback;
  std::atomic<int> NumConfiguring{0}; // the host may leave a call behind
  const dtlto_host *Host = nullptr;

  mutable std::mutex Mutex; // guards the rest
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
  bool Opened = false, Closing = false, Closed = false;
  bool InCall = false;
  std::thread::id LinkThread;
  std::thread Worker;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_FAKEPLUGIN_H
