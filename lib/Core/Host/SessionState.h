//===- SessionState.h - The shared state of session and host ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Session.cpp has the session's life and the thread that calls the plugin;
// HostCalls.cpp has the functions that the plugin calls, and LocalRuns.cpp those
// of them that run jobs. Only these three include this file.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_SESSIONSTATE_H
#define DTLTO_HOST_SESSIONSTATE_H

#include "Bundle/Bundle.h"
#include "Host/PluginNumbers.h"
#include "Host/Session.h"
#include "Rules/Rules.h"
#include "Support/ThreadCheck.h"
#include "dtlto/ext/batch.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/draft/local-room.h"
#include "dtlto/ext/local-codegen.h"
#include "dtlto/ext/status.h"
#include "dtlto/sdk/Callback.hpp"
#include "llvm/ADT/StringMap.h"
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace dtlto {

/// The plugin holds a pointer to this as its dtlto_host_context.
struct Session::Impl : std::enable_shared_from_this<Session::Impl> {
  class Guard;

  Impl(const HostContext &Ctx, std::shared_ptr<EventQueue> Events,
       uint64_t NumJobs, std::shared_ptr<LocalRoom> Room);
  /// Fills in the host's functions and extensions.
  void makeHost();

  //===--------------------------------------------------------------------===//
  // Jobs
  //===--------------------------------------------------------------------===//

  struct Record {
    std::unique_ptr<BuiltJob> Built; // until the plugin can't read it any more
    LocalJob Local;
    bool IsInSubmit = true; // submit() hasn't returned
    bool Done = false; // job_done() was called, or the job was not accepted
    // Events of the job are ignored. Also read without the lock: callers of
    // Room may hold it, so functions of Room must not wait for it.
    std::atomic<bool> IsForgotten = false;
    // Calls that compile the job locally, wait for that, or read Built, now.
    unsigned NumLocalRuns = 0;
    Clock::time_point LastLocalRun = {}; // end of the last such call
    bool MayRunLocally = true; // or wait for that; see blockLocalRun()
    bool IsCompiling = false;  // locally, or waits for that, or did
    bool HasRoom = false;      // the plugin compiles it on this machine
    uint64_t RoomBytes = 0;    // expected memory
    uint64_t LocalBytes = 0;   // and memory used
    bool RanLocally = false;
    // The local object, until the plugin, or whatever it passed it to, releases
    // it.
    std::weak_ptr<const llvm::SmallVector<char, 0>> LocalObject;
    bool NoObject = false;
    // Given to the plugin: a worker's result names it in its frame.
    std::optional<BundleId> Bundle;
    // The frame that check_result() found undamaged, identified by its address
    // in the plugin's memory and its head, which has the digest.
    llvm::StringRef CheckedFrame;
    std::string CheckedFrameHead;
    // Of the plugin's result.
    int32_t Status = DTLTO_OK;
    std::string Worker;
    double LocalSeconds = 0;
    std::vector<std::string> LocalErrors;
    std::vector<CompilerMessage> LocalMessages;
    std::string LocalMessage; // all of them: memory for dtlto_result::message
    Buffer ObjectWithErrors;  // what LLVM made in spite of these
    PluginNumbers Numbers{PluginNumbers::MaxPerJob};

    /// Whether \p Object is the one that was made locally: a plugin may compile
    /// locally, and then return another object.
    bool isLocalObject(llvm::StringRef Object) const {
      auto LockedObject = LocalObject.lock();
      return RanLocally &&
             (Object.empty() ||
              (LockedObject && Object.data() == LockedObject->data()));
    }
    /// Whether check_result() has hashed \p Frame for this job.
    bool isFrameChecked(llvm::StringRef Frame) const {
      return Frame.data() == CheckedFrame.data() &&
             Frame.size() == CheckedFrame.size() &&
             Frame.starts_with(CheckedFrameHead);
    }
  };

  /// Returns the record of \p Job, or null. Mutex is held.
  Record *find(uint64_t Job) {
    auto It = Jobs.find(Job);
    return It == Jobs.end() ? nullptr : &It->second;
  }
  /// Like find(), but null after the job's job_done(), too.
  Record *findRunning(uint64_t Job) {
    Record *R = find(Job);
    return R && !R->Done ? R : nullptr;
  }
  void dropIfUnused(Record &R) {
    if (R.Done && !R.IsInSubmit && R.NumLocalRuns == 0)
      R.Built.reset();
  }

  //===--------------------------------------------------------------------===//
  // The thread that calls the plugin
  //===--------------------------------------------------------------------===//

  /// With \p IsMandatory, the call is made even if the session is about to
  /// close.
  void post(std::function<void()> Call, bool IsMandatory = false);
  void callThread();
  /// Wraps \p Raw, which is the plugin's, in a buffer that the call thread
  /// releases: a release() that hangs is then a call that hangs.
  Buffer wrapBuffer(const dtlto_buffer &Raw);
  void release(const dtlto_buffer &Raw);
  void releaseAll();
  template <typename Fn> auto call(const char *Name, Fn F);
  bool isInCall() const;

  void doOpen();
  void doSubmit(uint64_t Id, bool Insist);
  /// Returns the plugin's extension \p Id, or null if it lacks \p Field, a
  /// function.
  template <typename T, typename F>
  const T *extensionWith(F T::*Field, const char *Id);
  void doCompleteBatch();
  void doCancel(uint64_t Id);
  void doRefute(uint64_t Id);
  void doLoad();
  void doStatus(uint32_t LimitMs);
  void doClose();

  //===--------------------------------------------------------------------===//
  // The host's functions, any thread
  //===--------------------------------------------------------------------===//

  template <auto Fn> using Callback = sdk::Callback<Impl, Fn>;
  void log(uint32_t Level, const char *Message);
  void jobState(uint64_t Job, uint32_t State, const char *Worker);
  void jobDone(uint64_t Job, const dtlto_result *Result);
  void takeResult(Guard &Lock, Record &R, const dtlto_result *Result, Event &E);
  void openFrame(Guard &Lock, Record &R, Event &E);
  void loadChanged();
  int32_t runLocally(uint64_t Job, dtlto_result *Result);
  int32_t enterRoom(uint64_t Job);
  void leaveRoom(uint64_t Job, uint64_t Bytes);
  /// Waits until there is room to compile \p Job locally; Room->leave() and
  /// endLocalRun() must follow. Returns null, and the reason in \p Status, if
  /// there is no such job or it isn't needed any more.
  Record *waitForRoom(uint64_t Job, int32_t &Status);
  void beginLocalRun(const Guard &Lock, Record &R);
  void endLocalRun(const Guard &Lock, Record &R);
  int32_t makeBundle(uint64_t Job, dtlto_bundle_spans *Spans);
  int32_t checkResult(uint64_t Job, dtlto_span Object, char *Why,
                      uint64_t WhySize);
  const void *extension(const char *Id);
  void sessionNumber(const char *Name, uint32_t Unit, uint64_t Value);
  void jobNumber(uint64_t Job, const char *Name, uint32_t Unit, uint64_t Value);
  void reportWorker(const dtlto_worker_status *Worker);
  void violation(const Guard &Lock, uint64_t Job, const llvm::Twine &What);
  void pushState(const Guard &Lock, uint64_t Job, uint32_t State, bool IsLocal,
                 std::string Worker = "");

  /// Holds Mutex. Wakes the scheduler only after releasing it, since the
  /// scheduler may need Mutex at once.
  class Guard {
  public:
    explicit Guard(Impl &Owner) : Owner(Owner), Lock(Owner.Mutex) {}
    ~Guard() {
      if (Lock.owns_lock())
        unlock();
    }
    Guard(const Guard &) = delete;
    void check() const { assert(Lock.owns_lock()); }
    void lock() { Lock.lock(); }
    void unlock() {
      bool Wake = std::exchange(Owner.HasPushed, false);
      Lock.unlock();
      if (Wake)
        Owner.Events->wake();
    }

  private:
    Impl &Owner;
    std::unique_lock<std::mutex> Lock;
  };

  void push(const Guard &Lock, Event E) {
    Lock.check();
    if (IsClosed)
      return;
    HasPushed |= Events->add(std::move(E));
  }

  const HostContext &Ctx; // not used once IsClosed is set
  bool HasThread = false; // from the beginning: the call thread was started
  const std::shared_ptr<LocalRoom> Room;
  Messages &Msg;
  const dtlto_plugin &Plugin;
  const std::string PluginName;
  const SessionParams Params; // lent until open() returns, also after close()
  std::shared_ptr<EventQueue> Events;
  dtlto_host Host = {};
  dtlto_local_codegen LocalCodegen = {};
  dtlto_bundle Bundle = {};
  dtlto_local_room LocalRoomCalls = {};
  dtlto_numbers NumberCalls = {};

  // The scheduler reads this after each event. Separate from Mutex, whose
  // holder may be waiting for a processor.
  mutable std::mutex CallMutex;
  std::optional<Call> Current;

  // Separate from Mutex, which the last owner of a buffer may hold when it
  // releases the buffer.
  std::mutex WorkMutex;
  std::condition_variable HasWork; // for the call thread
  struct PostedCall {
    std::function<void()> Call;
    bool IsMandatory;
  };
  std::deque<PostedCall> Work;
  std::vector<dtlto_buffer> ToRelease;
  bool HasCallThreadEnded = false; // the call thread has ended

  mutable std::mutex Mutex;        // guards all members below
  std::condition_variable Changed; // for close()
  bool HasPushed = false;          // events, without waking the scheduler yet
  std::unordered_map<uint64_t, Record> Jobs;
  // Users' names of modules by their portable names, for a stock compiler's
  // messages.
  llvm::StringMap<std::string> UserNames;
  PluginNumbers Numbers{PluginNumbers::MaxPerSession};
  unsigned NumLocalRuns = 0;
  bool Opened = false;    // open() has returned
  std::string OpenErrors; // logged before that
  bool IsClosed = false;  // the link is over: its data must not be used
  std::vector<std::shared_ptr<const void>> BorrowedData; // released with this
  bool HasQuit = false;
  std::thread::id CallThreadId;
  uint64_t RoomCount = 0;            // how often the plugin has reported room
  std::optional<uint64_t> BusySince; // RoomCount at the last BUSY

  // For the call thread only.
  ThreadCheck CallThread;
  dtlto_session *Handle = nullptr;
  bool IsOpen = false;
};

} // namespace dtlto

#endif // DTLTO_HOST_SESSIONSTATE_H
