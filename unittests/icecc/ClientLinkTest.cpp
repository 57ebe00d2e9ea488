//===- ClientLinkTest.cpp - A linker and a cluster in a test --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ClientLinkTest.h"
#include "Network.h"
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace dtlto::test;
namespace fs = std::filesystem;

void ClientLinkTest::SetUp() {
  std::string Name = fs::temp_directory_path() / "dtlto-test-XXXXXX";
  ASSERT_NE(nullptr, mkdtemp(Name.data()));
  Folder = Name;
  Cluster = std::make_unique<MockCluster>(Folder);
  for (const char *Variable : {"DTLTO_ICECC_VERSION", "ICECC_PREFERRED_HOST",
                               "ICECC_DEBUG", "ICECC_LOGFILE", "USE_SCHEDULER"})
    unsetenv(Variable);
  setenv("ICECC_TEST_SOCKET", Cluster->socket().c_str(), 1);
  setenv("ICECC_TEST_REMOTEBUILD", "1", 1);
  setenv("ICECC_SCHEDULER", "127.0.0.1:1", 1); // nothing listens there
  setenv("XDG_CACHE_HOME", Folder.c_str(), 1);
  // The mock's nodes don't run the worker.
  std::string Worker = Folder + "/worker.tar.gz";
  std::ofstream(Worker) << "the environment";
  setenv("DTLTO_ICECC_VERSION", Worker.c_str(), 1);

  Host.size = sizeof(Host);
  Host.abi_major = DTLTO_ABI_MAJOR;
  Host.abi_minor = DTLTO_ABI_MINOR;
  Host.context = reinterpret_cast<dtlto_host_context *>(this);
  Host.log = [](dtlto_host_context *C, uint32_t Level, const char *Text) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_FALSE(fromContext(C).IsClosed);
    fromContext(C).Logs.emplace_back(Level, Text);
  };
  Host.job_state = [](dtlto_host_context *C, uint64_t Job, uint32_t State,
                      const char *) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_FALSE(fromContext(C).IsClosed);
    EXPECT_TRUE(fromContext(C).Bundles.count(Job));
    if (State == DTLTO_STATE_RUNNING)
      fromContext(C).Running.insert(Job);
  };
  Host.job_done = [](dtlto_host_context *C, uint64_t Job,
                     const dtlto_result *Result) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_FALSE(fromContext(C).IsClosed);
    EXPECT_EQ(1u, fromContext(C).Bundles.erase(Job))
        << "done twice, or never begun";
    Completion &D = fromContext(C).Results[Job];
    D.Status = Result->status;
    D.Message = Result->message ? Result->message : "";
    D.Worker = Result->worker ? Result->worker : "";
    D.Object.assign(static_cast<const char *>(Result->object.data),
                    Result->object.size);
    if (!D.Object.empty() && D.Object.front() == '<')
      D.Object = D.Object.substr(1, D.Object.size() - 2);
    if (Result->object.release)
      Result->object.release(Result->object.owner, Result->object.data,
                             Result->object.size);
    fromContext(C).Changed.notify_all();
  };
  Host.load_changed = [](dtlto_host_context *C) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_FALSE(fromContext(C).IsClosed);
    fromContext(C).HasRoom = true;
    fromContext(C).Changed.notify_all();
  };
  Host.check_result = [](dtlto_host_context *C, uint64_t Job, dtlto_span Object,
                         char *Why, uint64_t WhySize) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_TRUE(fromContext(C).Bundles.count(Job));
    std::string_view Is(static_cast<const char *>(Object.data), Object.size);
    if (!Is.empty() && Is.front() == '<' && Is.back() == '>')
      return int32_t(DTLTO_OK);
    std::snprintf(Why, WhySize, "the linker refuses it");
    return int32_t(DTLTO_ERROR_INFRASTRUCTURE);
  };
  Host.extension = [](dtlto_host_context *C, const char *Id) -> const void * {
    if (std::strcmp(Id, DTLTO_EXT_LOCAL_CODEGEN) == 0)
      return fromContext(C).OffersCodegen ? &fromContext(C).Codegen : nullptr;
    if (std::strcmp(Id, DTLTO_EXT_BUNDLE) == 0)
      return fromContext(C).OffersBundles ? &fromContext(C).Bundler : nullptr;
    return nullptr;
  };
  Codegen.size = sizeof(Codegen);
  Codegen.slots = 2;
  Codegen.run = [](dtlto_host_context *C, uint64_t Job, dtlto_result *Result) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_TRUE(fromContext(C).Bundles.count(Job));
    Result->status = DTLTO_OK;
    Result->object = copy("made here");
    return Result->status;
  };
  Bundler.size = sizeof(Bundler);
  Bundler.make = [](dtlto_host_context *C, uint64_t Job,
                    dtlto_bundle_spans *Out) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_EQ(sizeof(*Out), Out->size);
    if (fromContext(C).BundlesFail)
      return int32_t(DTLTO_ERROR_CALLER);
    struct OwnedBundle {
      dtlto_host_context *C;
      std::string Text;
      std::vector<dtlto_bundle_span> Spans;
    };
    auto *M = new OwnedBundle{C, fromContext(C).Bundles.at(Job), {}};
    for (const Part &P : fromContext(C).Parts)
      M->Spans.push_back({{P.Bytes.data(), P.Bytes.size()}, P.Input});
    if (M->Spans.empty() && !M->Text.empty())
      M->Spans.push_back({{M->Text.data(), M->Text.size()}, nullptr});
    *Out = {sizeof(*Out), static_cast<uint32_t>(M->Spans.size()),
            M->Spans.data(), M, [](void *Owner) {
              std::unique_ptr<OwnedBundle> M(static_cast<OwnedBundle *>(Owner));
              std::lock_guard<std::mutex> Lock(fromContext(M->C).Mutex);
              --fromContext(M->C).NumBundles;
            }};
    ++fromContext(C).NumBundles;
    return int32_t(DTLTO_OK);
  };
}

dtlto_buffer ClientLinkTest::copy(const std::string &Text) {
  auto *Owned = new std::string(Text);
  return {Owned->data(), Owned->size(), Owned,
          [](void *Owner, const void *, uint64_t) {
            delete static_cast<std::string *>(Owner);
          }};
}

void ClientLinkTest::TearDown() {
  close();
  dtlto::TheNetworkLimits = {};
  // The plugin must have closed all connections.
  EXPECT_TRUE(Cluster->waitForClosed());
  Cluster.reset();
  fs::remove_all(Folder);
}

int32_t ClientLinkTest::open(std::vector<const char *> Args) {
  dtlto_session_params Params = {};
  Params.size = sizeof(Params);
  Params.args = Args.data();
  Params.num_args = static_cast<uint32_t>(Args.size());
  Params.llvm_version = "19.1.7";
  Params.output = "";
  Params.num_jobs = 1000;
  Params.job_timeout_s = Timeout;
  return dtlto_plugin_entry.open(&Host, &Params, &Session);
}

bool ClientLinkTest::tryToSubmit(const std::string &Bundle,
                                 const std::string &Name) {
  dtlto_job &Job = Jobs[++LastId];
  Job.size = sizeof(Job);
  Job.id = LastId;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Bundles[Job.id] = Bundle;
    Names[Job.id] =
        Name.empty() ? "lib.a(" + std::to_string(Job.id) + ".o)" : Name;
    Job.name = Names[Job.id].c_str();
    HasRoom = false;
  }
  int32_t Status = dtlto_plugin_entry.submit(Session, &Job);
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Status == DTLTO_OK) {
    MostAccepted = std::max(MostAccepted, Bundles.size());
    return true;
  }
  EXPECT_EQ(DTLTO_BUSY, Status);
  Bundles.erase(Job.id);
  return false;
}

uint64_t ClientLinkTest::submit(const std::string &Bundle,
                                const std::string &Name) {
  while (!tryToSubmit(Bundle, Name)) {
    std::unique_lock<std::mutex> Lock(Mutex);
    if (!Changed.wait_for(Lock, std::chrono::seconds(30),
                          [&] { return HasRoom; })) {
      ADD_FAILURE() << "no room";
      break;
    }
  }
  return LastId;
}

ClientLinkTest::Completion ClientLinkTest::wait(uint64_t Id) {
  std::unique_lock<std::mutex> Lock(Mutex);
  EXPECT_TRUE(Changed.wait_for(Lock, std::chrono::seconds(60), [&] {
    return Results.count(Id) != 0;
  })) << "a job has no end";
  return Results[Id];
}

dtlto_load ClientLinkTest::load() {
  std::lock_guard<std::mutex> Lock(Mutex);
  HasRoom = false;
  dtlto_load Load = {};
  Load.size = sizeof(Load);
  EXPECT_EQ(DTLTO_OK, dtlto_plugin_entry.load(Session, &Load));
  return Load;
}

bool ClientLinkTest::waitForRoom() {
  std::unique_lock<std::mutex> Lock(Mutex);
  return Changed.wait_for(Lock, std::chrono::seconds(30),
                          [&] { return HasRoom; });
}

void ClientLinkTest::close() {
  if (!Session)
    return;
  dtlto_plugin_entry.close(Session);
  Session = nullptr;
  std::lock_guard<std::mutex> Lock(Mutex);
  IsClosed = true;
  EXPECT_TRUE(Bundles.empty()) << "jobs without an end";
  EXPECT_EQ(0u, NumBundles) << "bundles that nobody released";
}

bool ClientLinkTest::hasLogged(uint32_t Level, const std::string &Text) {
  std::lock_guard<std::mutex> Lock(Mutex);
  for (auto &[TheLevel, Line] : Logs)
    if (TheLevel == Level && Line.find(Text) != std::string::npos)
      return true;
  return false;
}

/// Waits for a message that may come after the end of the last job.
bool ClientLinkTest::waitForLog(uint32_t Level, const std::string &Text) {
  for (int I = 0; I != 3000; ++I) {
    if (hasLogged(Level, Text))
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

unsigned ClientLinkTest::numLogged(uint32_t Level) {
  std::lock_guard<std::mutex> Lock(Mutex);
  unsigned N = 0;
  for (auto &[TheLevel, Line] : Logs)
    N += TheLevel == Level;
  return N;
}
