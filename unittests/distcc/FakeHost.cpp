//===- FakeHost.cpp - A linker in a test ----------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeHost.h"
#include "dtlto/ext/local-codegen.h"
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

/// A job with its memory.
struct FakeHost::OwnedJob {
  explicit OwnedJob(const JobSpec &S, uint64_t Id)
      : Spec(S), Name("lib.a(" + S.Output + ")") {
    auto Add = [&](uint32_t Role, const char *Path, const std::string &Bytes) {
      dtlto_input I = {};
      I.size = sizeof(I);
      I.role = Role;
      I.path = Path;
      I.bytes = {Bytes.data(), Bytes.size()};
      Inputs.push_back(I);
    };
    Shard = Spec.Primary->Path + ".thinlto.bc";
    for (auto &M : Spec.Imports)
      Add(DTLTO_ROLE_IMPORT, M->Path.c_str(), M->Bytes);
    Add(DTLTO_ROLE_PRIMARY, Spec.Primary->Path.c_str(), Spec.Primary->Bytes);
    Add(DTLTO_ROLE_INDEX, Shard.c_str(), Spec.Index);
    for (dtlto_input &I : Inputs)
      InputPointers.push_back(&I);
    Args.push_back("clang");
    Args.push_back("-c");
    for (const std::string &Arg : Spec.Args)
      Args.push_back(Arg.c_str());
    Args.push_back("-o");
    Args.push_back(Spec.Output.c_str());
    Args.push_back(nullptr);
    Job.size = sizeof(Job);
    Job.fields = DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS;
    Job.id = Id;
    Job.name = Name.c_str();
    Job.triple = "x86_64-pc-linux-gnu";
    Job.cost = Spec.Cost ? Spec.Cost : Spec.Primary->Bytes.size();
    Job.avoid = Spec.Avoid.empty() ? nullptr : Spec.Avoid.c_str();
    Job.inputs = InputPointers.data();
    Job.args = Args.data();
    Job.num_inputs = static_cast<uint32_t>(Inputs.size());
    Job.num_args = static_cast<uint32_t>(Args.size() - 1);
    Job.output = Spec.Output.c_str();
  }
  JobSpec Spec;
  std::string Name, Shard;
  std::vector<dtlto_input> Inputs;
  std::vector<const dtlto_input *> InputPointers;
  std::vector<const char *> Args;
  dtlto_job Job = {};
};

//===----------------------------------------------------------------------===//
// Functions for the plugin
//===----------------------------------------------------------------------===//

// This extension has no context to distinguish hosts.
static const dtlto_local_codegen *codegen();

FakeHost::FakeHost() {
  Host.size = sizeof(Host);
  Host.abi_major = DTLTO_ABI_MAJOR;
  Host.abi_minor = DTLTO_ABI_MINOR;
  Host.name = "test";
  Host.version = "1";
  Host.context = reinterpret_cast<dtlto_host_context *>(this);
  Host.log = [](dtlto_host_context *C, uint32_t Level, const char *Text) {
    FakeHost &H = fromContext(C);
    std::lock_guard<std::mutex> Lock(H.Mutex);
    H.check("log");
    if (std::string(Text).find('\n') != std::string::npos)
      H.addComplaint("a message of two lines");
    H.Logs.emplace_back(Level, Text);
    H.Changed.notify_all();
  };
  Host.job_state = [](dtlto_host_context *C, uint64_t Id, uint32_t State,
                      const char *) {
    FakeHost &H = fromContext(C);
    std::lock_guard<std::mutex> Lock(H.Mutex);
    H.check("job_state");
    if (!H.Jobs.count(Id))
      H.addComplaint("job_state() of a job that isn't there");
    H.States.emplace_back(Id, State);
    H.Changed.notify_all();
  };
  Host.job_done = [](dtlto_host_context *C, uint64_t Id,
                     const dtlto_result *Result) {
    fromContext(C).onJobDone(Id, *Result);
  };
  Host.load_changed = [](dtlto_host_context *C) {
    FakeHost &H = fromContext(C);
    std::lock_guard<std::mutex> Lock(H.Mutex);
    H.check("load_changed");
    ++H.LoadChanges;
    H.Changed.notify_all();
  };
  Host.check_result = [](dtlto_host_context *, uint64_t, dtlto_span Object,
                         char *Why, uint64_t WhySize) {
    std::string_view Is(static_cast<const char *>(Object.data), Object.size);
    if (Is.substr(0, strlen(Damaged)) != Damaged)
      return int32_t(DTLTO_OK);
    std::snprintf(Why, WhySize, "the linker refuses it");
    return int32_t(DTLTO_ERROR_INFRASTRUCTURE);
  };
  Host.extension = [](dtlto_host_context *C, const char *Id) -> const void * {
    if (std::string(Id) == DTLTO_EXT_LOCAL_CODEGEN)
      return fromContext(C).OffersCodegen ? codegen() : nullptr;
    return nullptr;
  };
}

static const dtlto_local_codegen *codegen() {
  static const dtlto_local_codegen Codegen = {
      sizeof(Codegen), 8,
      [](dtlto_host_context *C, uint64_t Id, dtlto_result *Result) {
        return FakeHost::fromContext(C).run(Id, *Result);
      }};
  return &Codegen;
}

void FakeHost::addComplaint(std::string Text) {
  Complaints.push_back(std::move(Text));
}

void FakeHost::check(const char *Call) {
  if (IsClosed)
    addComplaint(std::string(Call) + "() after close()");
}

void FakeHost::onJobDone(uint64_t Id, const dtlto_result &Result) {
  std::lock_guard<std::mutex> Lock(Mutex);
  check("job_done");
  if (SubmittingThread == std::this_thread::get_id())
    addComplaint("job_done() from inside of submit()");
  auto It = Jobs.find(Id);
  if (It == Jobs.end())
    addComplaint(Results.count(Id) ? "a second job_done()"
                                   : "job_done() for a job that isn't there");
  else
    Jobs.erase(It); // the plugin must not read it any more
  Completion D;
  D.Status = Result.status;
  if (Result.message)
    D.Message = Result.message;
  if (Result.worker)
    D.Worker = Result.worker;
  const dtlto_buffer &O = Result.object;
  if (O.size)
    D.Object.assign(static_cast<const char *>(O.data), O.size);
  if (O.release)
    O.release(O.owner, O.data, O.size);
  switch (D.Status) {
  case DTLTO_OK:
    if (D.Object.empty())
      addComplaint("no object");
    break;
  case DTLTO_CANCELLED:
  case DTLTO_ERROR_CALLER:
  case DTLTO_ERROR_INFRASTRUCTURE:
  case DTLTO_ERROR_COMPILER:
    if (O.size)
      addComplaint("an object of a job that failed");
    break;
  default:
    addComplaint("job_done() with status " + std::to_string(D.Status));
  }
  if (D.Status >= DTLTO_ERROR_CALLER && D.Message.empty())
    addComplaint("an error without a message");
  Results[Id] = std::move(D);
  Changed.notify_all();
}

int32_t FakeHost::run(uint64_t Id, dtlto_result &Result) {
  std::unique_lock<std::mutex> Lock(Mutex);
  check("run");
  auto It = Jobs.find(Id);
  if (It == Jobs.end()) {
    addComplaint("run() of a job that isn't there");
    return Result.status = DTLTO_ERROR_CALLER;
  }
  LocalObjects.push_back("local " + It->second->Spec.Output);
  const std::string &Object = LocalObjects.back();
  MostLocal = std::max(MostLocal, ++NumLocal);
  Changed.notify_all();
  Lock.unlock();
  if (OnLocal)
    OnLocal(Id);
  Lock.lock();
  --NumLocal;
  Result.object.data = Object.data();
  Result.object.size = Object.size();
  return Result.status = DTLTO_OK;
}

//===----------------------------------------------------------------------===//
// Functions for tests
//===----------------------------------------------------------------------===//

FakeHost::~FakeHost() { close(); }

int32_t FakeHost::open(std::vector<std::string> Args) {
  std::vector<const char *> Pointers;
  for (const std::string &A : Args)
    Pointers.push_back(A.c_str());
  dtlto_session_params Params = {};
  Params.size = sizeof(Params);
  Params.num_args = static_cast<uint32_t>(Args.size());
  Params.args = Pointers.data();
  Params.llvm_version = "19.1.7";
  Params.output = "a.out";
  Params.num_jobs = NumJobs;
  Params.job_timeout_s = 600;
  Params.linker = Linker;
  Config.size = sizeof(Config);
  dtlto_plugin_entry.configure(&Params, &Config);
  return dtlto_plugin_entry.open(&Host, &Params, &Session);
}

int32_t FakeHost::tryToSubmit(const JobSpec &Spec, uint64_t &Id) {
  const dtlto_job *Job;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Id = ++LastId;
    auto &Owned = Jobs[Id] = std::make_unique<OwnedJob>(Spec, Id);
    Job = &Owned->Job;
    Modules.push_back(Spec.Primary);
    Modules.insert(Modules.end(), Spec.Imports.begin(), Spec.Imports.end());
    SubmittingThread = std::this_thread::get_id();
  }
  int32_t Status = dtlto_plugin_entry.submit(Session, Job);
  std::lock_guard<std::mutex> Lock(Mutex);
  SubmittingThread = {};
  if (Status == DTLTO_OK)
    Accepted.insert(Id);
  else
    Jobs.erase(Id);
  return Status;
}

uint64_t FakeHost::submit(const JobSpec &Spec) {
  while (true) {
    unsigned Before = numLoadChanged();
    uint64_t Id;
    int32_t Status = tryToSubmit(Spec, Id);
    if (Status == DTLTO_OK)
      return Id;
    EXPECT_EQ(Status, DTLTO_BUSY);
    if (Status != DTLTO_BUSY || !waitFor([&] { return LoadChanges != Before; }))
      return 0;
  }
}

void FakeHost::cancel(uint64_t Id) { dtlto_plugin_entry.cancel(Session, Id); }

void FakeHost::refute(uint64_t Id) {
  auto *Refuted = static_cast<const dtlto_refuted *>(
      dtlto_plugin_entry.extension(DTLTO_EXT_REFUTED));
  Completion D = wait(Id);
  Refuted->result(Session, Id, D.Worker.c_str(), D.Status);
}

dtlto_load FakeHost::load() {
  dtlto_load Load = {};
  Load.size = sizeof(Load);
  EXPECT_EQ(dtlto_plugin_entry.load(Session, &Load), DTLTO_OK);
  return Load;
}

void FakeHost::close() {
  if (!Session)
    return;
  dtlto_plugin_entry.close(Session);
  Session = nullptr;
  std::lock_guard<std::mutex> Lock(Mutex);
  IsClosed = true;
  for (uint64_t Id : Accepted)
    EXPECT_EQ(Results.count(Id), 1u) << "job " << Id << " never ended";
  EXPECT_EQ(Results.size(), Accepted.size());
  for (const std::string &Text : Complaints)
    ADD_FAILURE() << Text;
}

FakeHost::Completion FakeHost::wait(uint64_t Id) {
  EXPECT_TRUE(waitFor([&] { return Results.count(Id) != 0; }))
      << "job " << Id << " doesn't end";
  std::lock_guard<std::mutex> Lock(Mutex);
  return Results[Id];
}

void FakeHost::waitForAll() {
  EXPECT_TRUE(waitFor([&] { return Jobs.empty(); })) << "jobs don't end";
}

void FakeHost::waitForState(uint64_t Id, uint32_t State) {
  EXPECT_TRUE(waitFor([&] {
    return std::count(States.begin(), States.end(), std::pair(Id, State)) != 0;
  })) << "job "
      << Id << " doesn't come to state " << State;
}

void FakeHost::waitForLog(const std::string &Text) {
  EXPECT_TRUE(waitFor([&] {
    for (auto &[Level, Line] : Logs)
      if (Line.find(Text) != std::string::npos)
        return true;
    return false;
  })) << "no message '"
      << Text << "'";
}

void FakeHost::waitForLocal(unsigned NumRunning) {
  EXPECT_TRUE(waitFor([&] { return NumLocal == NumRunning; }));
}

bool FakeHost::waitFor(std::function<bool()> What) {
  std::unique_lock<std::mutex> Lock(Mutex);
  return Changed.wait_for(Lock, MaxWait, What);
}

std::vector<std::string> FakeHost::log(uint32_t Level) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::vector<std::string> Lines;
  for (auto &[TheLevel, Line] : Logs)
    if (TheLevel == Level)
      Lines.push_back(Line);
  return Lines;
}

std::vector<uint32_t> FakeHost::states(uint64_t Id) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::vector<uint32_t> Result;
  for (auto &[I, State] : States)
    if (I == Id)
      Result.push_back(State);
  return Result;
}

std::vector<std::pair<uint64_t, uint32_t>> FakeHost::allStates() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return States;
}

unsigned FakeHost::numDone() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return static_cast<unsigned>(Results.size());
}

unsigned FakeHost::numLoadChanged() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return LoadChanges;
}

unsigned FakeHost::mostLocal() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return MostLocal;
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
  std::string Name = testing::TempDir() + "dtlto-distcc-XXXXXX";
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
