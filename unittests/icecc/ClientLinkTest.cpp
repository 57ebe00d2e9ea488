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
}

ClientLinkTest::ClientLinkTest()
    : Host(dtlto_plugin_entry),
      Codegen{
          sizeof(Codegen), 2,
          dtlto::sdk::Callback<BasicHost, &ClientLinkTest::runLocally>::call},
      Bundler{
          sizeof(Bundler), 0,
          dtlto::sdk::Callback<BasicHost, &ClientLinkTest::makeBundle>::call} {
  LastId = 0;
  Params.job_timeout_s = 30;
  Extensions = {{DTLTO_EXT_LOCAL_CODEGEN, &Codegen},
                {DTLTO_EXT_BUNDLE, &Bundler}};
  Check = [](const std::string &Object) {
    return !Object.empty() && Object.front() == '<' && Object.back() == '>'
               ? ""
               : "the linker refuses it";
  };
}

int32_t ClientLinkTest::runLocally(uint64_t Job, dtlto_result *Result) {
  EXPECT_TRUE(locked([&] { return findRunning(Job); }));
  Result->object = copy("made here");
  return Result->status = DTLTO_OK;
}

int32_t ClientLinkTest::makeBundle(uint64_t Job, dtlto_bundle_spans *Out) {
  EXPECT_EQ(sizeof(*Out), Out->size);
  if (BundlesFail)
    return DTLTO_ERROR_CALLER;
  struct OwnedBundle {
    ClientLinkTest &Test;
    std::string Text;
    std::vector<dtlto_bundle_span> Spans;
  };
  auto *M = new OwnedBundle{
      *this, locked([&] { return Jobs.at(Job).Spec.Config; }), {}};
  for (const Part &P : Parts)
    M->Spans.push_back({{P.Bytes.data(), P.Bytes.size()}, P.Input});
  if (M->Spans.empty() && !M->Text.empty())
    M->Spans.push_back({{M->Text.data(), M->Text.size()}, nullptr});
  ++NumBundles;
  *Out = {sizeof(*Out), static_cast<uint32_t>(M->Spans.size()), M->Spans.data(),
          M, [](void *Owner) {
            std::unique_ptr<OwnedBundle> M(static_cast<OwnedBundle *>(Owner));
            --M->Test.NumBundles;
          }};
  return DTLTO_OK;
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

bool ClientLinkTest::tryToSubmit(const std::string &Bundle,
                                 const std::string &Name) {
  dtlto::testing::JobSpec Spec;
  Spec.Config = Bundle;
  Spec.Name =
      Name.empty() ? "lib.a(" + std::to_string(LastId + 1) + ".o)" : Name;
  NumRoomBefore = numRoomReports();
  uint64_t Id;
  const int32_t Status = Host::tryToSubmit(std::move(Spec), Id);
  EXPECT_TRUE(Status == DTLTO_OK || Status == DTLTO_BUSY) << Status;
  std::lock_guard<std::mutex> Lock(Mutex);
  const auto NumRunning = std::count_if(
      Jobs.begin(), Jobs.end(), [](const auto &J) { return !J.second.Done; });
  MostAccepted = std::max(MostAccepted, size_t(NumRunning));
  return Status == DTLTO_OK;
}

uint64_t ClientLinkTest::submit(const std::string &Bundle,
                                const std::string &Name) {
  while (!tryToSubmit(Bundle, Name))
    if (!waitForRoom()) {
      ADD_FAILURE() << "no room";
      break;
    }
  return LastId;
}

ClientLinkTest::Completion ClientLinkTest::wait(uint64_t Id) {
  Completion D = Host::wait(Id);
  if (!D.Object.empty() && D.Object.front() == '<')
    D.Object = D.Object.substr(1, D.Object.size() - 2);
  return D;
}

dtlto_load ClientLinkTest::load() {
  NumRoomBefore = numRoomReports();
  return Host::load();
}

bool ClientLinkTest::waitForRoom() {
  std::unique_lock<std::mutex> Lock(Mutex);
  return waitFor(Lock, std::chrono::seconds(30),
                 [&] { return NumRoom != NumRoomBefore; });
}

void ClientLinkTest::close() {
  Host::close();
  EXPECT_EQ(problems(), std::vector<std::string>());
  EXPECT_EQ(0u, NumBundles) << "bundles that nobody released";
}

bool ClientLinkTest::hasLogged(uint32_t Level, const std::string &Text) {
  for (const std::string &Line : messages(Level))
    if (Line.find(Text) != std::string::npos)
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
