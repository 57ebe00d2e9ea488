//===- FakeHost.cpp - A linker in a test ----------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeHost.h"
#include "dtlto/ext/refuted.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtlto::test;

JobSpec dtlto::test::smallJob(const std::string &Output) {
  JobSpec Spec;
  Spec.Primary = std::make_shared<Module>(
      Module{"m/" + Output + ".bc", "the bitcode of " + Output});
  Spec.Output = Output;
  return Spec;
}

JobSpec dtlto::test::largeJob(const std::string &Output, size_t Size) {
  std::string Bytes(Size, '\0');
  std::minstd_rand Random;
  for (char &C : Bytes)
    C = static_cast<char>(Random() >> 8);
  JobSpec Spec;
  Spec.Primary =
      std::make_shared<Module>(Module{"m/" + Output + ".bc", std::move(Bytes)});
  Spec.Output = Output;
  return Spec;
}

FakeHost::FakeHost()
    : Host(dtlto_plugin_entry, MaxWait),
      Codegen{sizeof(Codegen), 8,
              dtlto::sdk::Callback<BasicHost, &FakeHost::run>::call} {
  Extensions[DTLTO_EXT_LOCAL_CODEGEN] = &Codegen;
  Check = [](const std::string &Object) {
    return Object.rfind(Damaged, 0) == 0 ? "the linker refuses it" : "";
  };
}

int32_t FakeHost::open(const std::vector<std::string> &Args) {
  return Host::open(Args, "19.1.7", NumJobs);
}

int32_t FakeHost::tryToSubmit(const JobSpec &Spec, uint64_t &Id) {
  const std::string &Path = Spec.Primary->Path;
  dtlto::testing::JobSpec Job = {{}, {"clang", "-c"}, Spec.Output};
  Job.Args.insert(Job.Args.end(), Spec.Args.begin(), Spec.Args.end());
  Job.Args.insert(Job.Args.end(), {"-o", Spec.Output});
  Job.Name = "lib.a(" + Spec.Output + ")";
  Job.Triple = "x86_64-pc-linux-gnu";
  Job.Avoid = Spec.Avoid;
  Job.Cost = Spec.Cost ? Spec.Cost : Spec.Primary->Bytes.size();
  auto Files = Spec.Imports;
  for (auto &M : Files)
    Job.Inputs.push_back({M->Path, "", DTLTO_ROLE_IMPORT});
  Files.push_back(Spec.Primary);
  Job.Inputs.push_back({Path, "", DTLTO_ROLE_PRIMARY});
  Job.Inputs.push_back({Path + ".thinlto.bc", Spec.Index, DTLTO_ROLE_INDEX});
  dtlto::testing::Job &J = add(std::move(Job));
  // A module has one address in all jobs.
  for (size_t I = 0; I != Files.size(); ++I)
    J.Inputs[I].bytes = {Files[I]->Bytes.data(), Files[I]->Bytes.size()};
  Modules.insert(Modules.end(), Files.begin(), Files.end());
  Id = J.Raw.id;
  return offer(J);
}

uint64_t FakeHost::submit(const JobSpec &Spec) {
  while (true) {
    const uint64_t Before = numRoomReports();
    uint64_t Id;
    const int32_t Status = tryToSubmit(Spec, Id);
    if (Status == DTLTO_OK)
      return Id;
    EXPECT_EQ(Status, DTLTO_BUSY);
    if (Status != DTLTO_BUSY)
      return 0;
    waitUntil("load_changed()", [&] { return NumRoom != Before; });
  }
}

int32_t FakeHost::run(uint64_t Id, dtlto_result *Result) {
  std::unique_lock<std::mutex> Lock(Mutex);
  dtlto::testing::Job *J = findRunning(Id);
  EXPECT_TRUE(J) << "run() of a job that isn't there";
  if (!J)
    return Result->status = DTLTO_ERROR_CALLER;
  const std::string &Object =
      LocalObjects.emplace_back("local " + J->Spec.Output);
  MostLocal = std::max(MostLocal, ++NumLocal);
  Changed.notify_all();
  Lock.unlock();
  if (OnLocal)
    OnLocal(Id);
  Lock.lock();
  --NumLocal;
  Result->object.data = Object.data();
  Result->object.size = Object.size();
  return Result->status = DTLTO_OK;
}

void FakeHost::refute(uint64_t Id) {
  auto *Refuted = static_cast<const dtlto_refuted *>(
      dtlto_plugin_entry.extension(DTLTO_EXT_REFUTED));
  const Completion D = wait(Id);
  Refuted->result(Handle, Id, D.Worker.c_str(), D.Status);
}

void FakeHost::close() {
  Host::close();
  std::vector<std::string> New;
  locked([&] { New.swap(TheRules.Problems); });
  for (const std::string &Problem : New)
    ADD_FAILURE() << Problem;
}

void FakeHost::waitForAll() {
  waitUntil("end of all jobs", [&] { return allDone(); });
}

void FakeHost::waitForLog(const std::string &Text) {
  waitUntil("message '" + Text + "'", [&] {
    return std::any_of(Messages.begin(), Messages.end(), [&](const auto &M) {
      return M.second.find(Text) != std::string::npos;
    });
  });
}

void FakeHost::waitForLocal(unsigned NumRunning) {
  waitUntil("local job", [&] { return NumLocal == NumRunning; });
}

std::vector<uint32_t> FakeHost::states(uint64_t Id) {
  std::vector<uint32_t> OfJob;
  for (auto &[I, State] : states())
    if (I == Id)
      OfJob.push_back(State);
  return OfJob;
}

//===----------------------------------------------------------------------===//
// Setup and checks of each test
//===----------------------------------------------------------------------===//

static size_t numEntries(const char *Dir) {
  size_t N = 0;
  for (auto &Entry : std::filesystem::directory_iterator(Dir)) {
    (void)Entry;
    ++N;
  }
  return N;
}

size_t dtlto::test::numOpenFiles() { return numEntries("/proc/self/fd"); }
size_t dtlto::test::numThreads() { return numEntries("/proc/self/task"); }

void PluginTest::SetUp() {
  std::string Name = ::testing::TempDir() + "dtlto-distcc-XXXXXX";
  ASSERT_NE(mkdtemp(Name.data()), nullptr);
  Folder = Name;
  for (const char *Variable :
       {"DISTCC_HOSTS", "DISTCC_IO_TIMEOUT", "DISTCC_BACKOFF_PERIOD",
        "DISTCC_FALLBACK", "DISTCC_VERBOSE", "DISTCC_LOG", "DISTCC_SSH"})
    unsetenv(Variable);
  setenv("DISTCC_DIR", Folder.c_str(), 1);
  // A sanitizer starts its own thread along with the first one.
  std::thread([] {}).join();
  NumFiles = numOpenFiles();
  NumThreads = numThreads();
}

void PluginTest::TearDown() {
  TheNetworkLimits = NetworkLimits();
  // No code waits for threads that look up names. They hold the mailbox until
  // they have the answer.
  auto End = std::chrono::steady_clock::now() + MaxWait;
  while (numThreads() > NumThreads && std::chrono::steady_clock::now() < End)
    std::this_thread::yield();
  EXPECT_LE(numThreads(), NumThreads) << "threads are left";
  EXPECT_EQ(numOpenFiles(), NumFiles) << "files or sockets are left open";
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a process is left";
  EXPECT_EQ(errno, ECHILD);
  std::error_code Error;
  EXPECT_TRUE(!std::filesystem::exists(Folder + "/state", Error) ||
              std::filesystem::is_empty(Folder + "/state", Error))
      << "state files are left";
  std::filesystem::remove_all(Folder, Error);
}

std::string dtlto::test::hosts(std::initializer_list<const MockDistccd *> Mocks,
                               const std::string &Options) {
  std::string List = "hosts=";
  for (const MockDistccd *M : Mocks)
    List += M->name() + Options + " ";
  return List;
}
