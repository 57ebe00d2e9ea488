//===- SdkHost.h - A host for sessions of the SDK ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_SDK_SDKHOST_H
#define DTLTO_UNITTESTS_SDK_SDKHOST_H

#include "dtlto/PluginAPI.h"
#include "gtest/gtest.h"
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace dtlto::test {

/// Opens a session of the test program's plugin. Records the plugin's calls; a
/// call after close() fails the test.
class SdkHostTest : public testing::Test {
protected:
  static SdkHostTest &from(dtlto_host_context *C) {
    return *reinterpret_cast<SdkHostTest *>(C);
  }

  void SetUp() override {
    Host.size = sizeof(Host);
    Host.context = reinterpret_cast<dtlto_host_context *>(this);
    Host.log = [](dtlto_host_context *C, uint32_t, const char *Text) {
      from(C).note([&] { from(C).LastMessage = Text; });
    };
    Host.job_state = [](dtlto_host_context *C, uint64_t, uint32_t,
                        const char *) { from(C).note([] {}); };
    Host.job_done = [](dtlto_host_context *C, uint64_t Id,
                       const dtlto_result *R) {
      SdkHostTest &T = from(C);
      T.note([&] {
        ++T.NumDone;
        ++T.Ends[Id];
        T.Status = R->status;
        T.Message = R->message ? R->message : "";
        T.Worker.reset();
        if (R->worker)
          T.Worker = R->worker;
        if (R->object.size)
          T.Object.assign(static_cast<const char *>(R->object.data),
                          R->object.size);
        T.IsRoomReported = false;
      });
      if (R->object.release)
        R->object.release(R->object.owner, R->object.data, R->object.size);
    };
    Host.load_changed = [](dtlto_host_context *C) {
      SdkHostTest &T = from(C);
      T.note([&] {
        ++T.NumRoomReports;
        T.IsRoomReported = true;
      });
      if (T.OnRoom)
        T.OnRoom();
    };
    Host.extension = [](dtlto_host_context *C, const char *Id) -> const void * {
      auto I = from(C).Extensions.find(Id);
      return I == from(C).Extensions.end() ? nullptr : I->second;
    };
    dtlto_session_params Params = {};
    Params.size = sizeof(Params);
    ASSERT_EQ(ThePlugin.open(&Host, &Params, &Session), DTLTO_OK);
  }
  void TearDown() override {
    if (Session)
      close();
  }
  void close() {
    note([&] { MayRun = true; });
    ThePlugin.close(Session);
    note([&] { Closed = true; });
    Session = nullptr;
  }

  template <typename F> void note(F Fn) {
    std::lock_guard<std::mutex> Lock(Mutex);
    EXPECT_FALSE(Closed) << "a call after close()";
    Fn();
    Changed.notify_all();
  }
  /// Waits for \p Until, which is called with the lock held.
  template <typename F> void waitFor(F Until) {
    std::unique_lock<std::mutex> Lock(Mutex);
    ASSERT_TRUE(Changed.wait_for(Lock, std::chrono::seconds(60), Until));
  }
  unsigned numRoomReports() {
    std::lock_guard<std::mutex> Lock(Mutex);
    return NumRoomReports;
  }

  int32_t submit(dtlto_job &Job) {
    Job = {};
    Job.size = sizeof(Job);
    Job.id = ++LastId;
    Job.name = "module.o";
    Job.output = "module.native.o";
    return ThePlugin.submit(Session, &Job);
  }
  /// Offers a new job, which lives as long as the test.
  int32_t submit() { return submit(Jobs.emplace_back()); }

  const dtlto_plugin &ThePlugin = dtlto_plugin_entry;
  dtlto_host Host = {};
  std::map<std::string, const void *> Extensions; // extensions of the host
  std::function<void()> OnRoom;                   // inside load_changed()
  dtlto_session *Session = nullptr;
  std::list<dtlto_job> Jobs;
  uint64_t LastId = 0;

  std::mutex Mutex; // guards the members below
  std::condition_variable Changed;
  bool Runs = false, MayRun = false, Closed = false;
  unsigned NumDone = 0, NumRoomReports = 0;
  std::map<uint64_t, unsigned> Ends; // by job
  bool IsRoomReported = false;       // load_changed() came last
  std::string LastMessage;           // the last message
  // The result of the last job.
  int32_t Status = DTLTO_OK;
  std::string Message, Object;
  std::optional<std::string> Worker;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_SDK_SDKHOST_H
