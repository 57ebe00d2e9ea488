//===- ReapiLinkTest.cpp - A linker and a server in a test ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReapiLinkTest.h"
#include "Digest.h"
#include "dtlto/ext/refuted.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace dtlto::test;
namespace fs = std::filesystem;

void ReapiLinkTest::SetUp() {
  std::string Name = fs::temp_directory_path() / "dtlto-test-XXXXXX";
  ASSERT_NE(nullptr, mkdtemp(Name.data()));
  Folder = Name;
  Worker = Folder + "/worker";
  std::ofstream(Worker) << "a worker that nobody runs";
  fs::permissions(Worker, fs::perms::owner_all);
  for (const char *Variable :
       {"RECC_SERVER", "RECC_INSTANCE", "RECC_CAS_SERVER", "RBE_service",
        "RECC_SKIP_CACHE", "RECC_CACHE_ONLY", "http_proxy", "https_proxy"})
    unsetenv(Variable);
  setenv("DTLTO_WORKER", Worker.c_str(), 1);

  Host.size = sizeof(Host);
  Host.abi_major = DTLTO_ABI_MAJOR;
  Host.abi_minor = DTLTO_ABI_MINOR;
  Host.context = reinterpret_cast<dtlto_host_context *>(this);
  Host.log = [](dtlto_host_context *C, uint32_t Level, const char *Text) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_FALSE(fromContext(C).Closed);
    fromContext(C).Logs.emplace_back(Level, Text);
  };
  Host.job_state = [](dtlto_host_context *C, uint64_t Job, uint32_t State,
                      const char *) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_FALSE(fromContext(C).Closed);
    fromContext(C).NumSending[Job] += State == DTLTO_STATE_SENDING;
    if (fromContext(C).States[Job].empty() ||
        fromContext(C).States[Job].back() != State)
      fromContext(C).States[Job].push_back(State);
    fromContext(C).Changed.notify_all();
  };
  Host.job_done = [](dtlto_host_context *C, uint64_t Job,
                     const dtlto_result *Result) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_FALSE(fromContext(C).Closed);
    // The plugin must not use the job's memory any more.
    EXPECT_EQ(1u, fromContext(C).Jobs.erase(Job))
        << "done twice, or never begun";
    Done &D = fromContext(C).Results[Job];
    D.Status = Result->status;
    D.Message = Result->message ? Result->message : "";
    D.Worker = Result->worker ? Result->worker : "";
    if (Result->object.size)
      D.Object.assign(static_cast<const char *>(Result->object.data),
                      Result->object.size);
    if (Result->object.release)
      Result->object.release(Result->object.owner, Result->object.data,
                             Result->object.size);
    fromContext(C).Changed.notify_all();
  };
  Host.load_changed = [](dtlto_host_context *C) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_FALSE(fromContext(C).Closed);
    fromContext(C).Changed.notify_all();
  };
  Host.check_result = [](dtlto_host_context *, uint64_t, dtlto_span Object,
                         char *Why, uint64_t WhySize) {
    std::string_view Is(static_cast<const char *>(Object.data), Object.size);
    if (!Is.empty() && Is.front() == '<' && Is.back() == '>')
      return int32_t(DTLTO_OK);
    std::snprintf(Why, WhySize, "the linker refuses it");
    return int32_t(DTLTO_ERROR_INFRASTRUCTURE);
  };
  Host.extension = [](dtlto_host_context *C, const char *Id) -> const void * {
    if (std::strcmp(Id, DTLTO_EXT_BUNDLE) == 0)
      return &fromContext(C).Bundler;
    if (std::strcmp(Id, DTLTO_EXT_NUMBERS) == 0)
      return &fromContext(C).NumberCalls;
    return nullptr;
  };
  Bundler.size = sizeof(Bundler);
  Bundler.make = [](dtlto_host_context *C, uint64_t Job,
                    dtlto_bundle_spans *Out) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    auto &Spans = fromContext(C).Jobs.at(Job)->Spans;
    Out->num_spans = uint32_t(Spans.size());
    Out->spans = Spans.data();
    Out->release = nullptr;
    return int32_t(DTLTO_OK);
  };
  NumberCalls.size = sizeof(NumberCalls);
  NumberCalls.session = [](dtlto_host_context *C, const char *Name,
                           uint32_t Unit, uint64_t Value) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_FALSE(fromContext(C).Closed);
    fromContext(C).Numbers[Name] = {Unit, Value};
  };
  NumberCalls.job = [](dtlto_host_context *C, uint64_t Job, const char *Name,
                       uint32_t Unit, uint64_t Value) {
    std::lock_guard<std::mutex> Lock(fromContext(C).Mutex);
    EXPECT_TRUE(fromContext(C).Jobs.count(Job));
    fromContext(C).JobNumbers[Job][Name] = {Unit, Value};
  };
}

void ReapiLinkTest::TearDown() {
  close();
  if (Server) {
    EXPECT_EQ(std::vector<std::string>(), Server->statistics().Problems);
    Server.reset();
  }
  std::error_code EC;
  fs::remove_all(Folder, EC);
}

MockServer &ReapiLinkTest::server() {
  if (!Server)
    Server = std::make_unique<MockServer>(ServerOptions);
  return *Server;
}

int32_t ReapiLinkTest::open(std::vector<std::string> Args) {
  Args.insert(Args.begin(), {"server=" + server().url(), "retry-delay=1"});
  std::vector<const char *> Pointers;
  for (const std::string &Arg : Args)
    Pointers.push_back(Arg.c_str());
  dtlto_session_params Params = {};
  Params.size = sizeof(Params);
  Params.args = Pointers.data();
  Params.num_args = uint32_t(Pointers.size());
  Params.llvm_version = "19.1.7";
  Params.output = "a.out";
  Params.num_jobs = 1000;
  Params.job_timeout_s = Timeout;
  Params.result_bytes = ResultBytes;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Closed = false;
  }
  dtlto_session_config Config = {sizeof(Config), 0, nullptr};
  dtlto_plugin_entry.configure(&Params, &Config);
  Parts = Config.needs;
  return dtlto_plugin_entry.open(&Host, &Params, &Session);
}

uint64_t ReapiLinkTest::submit(const std::string &Module,
                               const std::string &Import) {
  auto NewJob = std::make_unique<SubmittedJob>();
  auto Intern = [&](const std::string &Text) -> const std::string & {
    for (const std::string &Old : Modules)
      if (Old == Text)
        return Old;
    Modules.push_back(Text);
    return Modules.back();
  };
  auto SpanOf = [](const std::string &Text) {
    return dtlto_span{Text.data(), Text.size()};
  };
  NewJob->Texts = {"the index", "m.cpp-o", "lib/i.cpp-o", "index.thinlto.bc"};
  const std::string *Bytes[3] = {&Intern(Module), &Intern(Import),
                                 &NewJob->Texts[0]};
  uint32_t Roles[3] = {DTLTO_ROLE_PRIMARY, DTLTO_ROLE_IMPORT, DTLTO_ROLE_INDEX};
  for (unsigned I = 0; I != 3; ++I) {
    dtlto_input &In = NewJob->Inputs[I];
    In.size = sizeof(In);
    In.role = Roles[I];
    In.path = NewJob->Texts[I + 1].c_str();
    In.bytes = SpanOf(*Bytes[I]);
    reapi::blake3(*Bytes[I], In.digest);
    NewJob->Pointers[I] = &In;
  }
  std::string Head(512, '\0'),
      Manifest = "{\"the manifest of\":\"" + Module.substr(0, 20) + "\"}";
  std::memcpy(Head.data(), "manifest.json", 13);
  char Size[12];
  std::snprintf(Size, sizeof(Size), "%011o", unsigned(Manifest.size()));
  std::memcpy(Head.data() + 124, Size, 11);
  NewJob->Texts.push_back(Head + Manifest + std::string(700, '\0'));
  NewJob->Spans.push_back({SpanOf(NewJob->Texts.back()), nullptr});
  dtlto_job &J = NewJob->Job;
  J.size = sizeof(J);
  J.fields = Parts;
  J.id = ++LastId;
  J.name = NewJob->Texts[1].c_str();
  NewJob->Texts.push_back(Triple);
  J.triple = NewJob->Texts.back().c_str();
  NewJob->Texts.push_back(Avoid);
  J.avoid = Avoid.empty() ? nullptr : NewJob->Texts.back().c_str();
  J.cost = 1;
  J.inputs = NewJob->Pointers;
  J.num_inputs = 3;
  J.config = "{}";
  static const char *const Args[] = {"clang", "-O2", "-o", "out/m.o", nullptr};
  J.args = Args;
  J.num_args = 4;
  J.output = Args[3];
  uint64_t Id = J.id;
  const dtlto_job *Raw = &J;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Jobs[Id] = std::move(NewJob);
  }
  while (int32_t Status = dtlto_plugin_entry.submit(Session, Raw)) {
    EXPECT_EQ(DTLTO_BUSY, Status);
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait_for(Lock, std::chrono::milliseconds(20));
  }
  return Id;
}

void ReapiLinkTest::overwrite(const std::string &Old, const std::string &New) {
  ASSERT_EQ(Old.size(), New.size());
  for (std::string &Text : Modules)
    if (Text == Old)
      std::copy(New.begin(), New.end(), Text.begin());
}

ReapiLinkTest::Done ReapiLinkTest::wait(uint64_t Id) {
  std::unique_lock<std::mutex> Lock(Mutex);
  EXPECT_TRUE(Changed.wait_for(Lock, std::chrono::seconds(120), [&] {
    return Results.count(Id) != 0;
  })) << "no result";
  return Results[Id];
}

void ReapiLinkTest::refute(uint64_t Id, const std::string &Worker,
                           int32_t Status) {
  auto *Told = static_cast<const dtlto_refuted *>(
      dtlto_plugin_entry.extension(DTLTO_EXT_REFUTED));
  ASSERT_TRUE(Told);
  Told->result(Session, Id, Worker.c_str(), Status);
}

void ReapiLinkTest::close() {
  if (Session)
    dtlto_plugin_entry.close(Session);
  Session = nullptr;
  std::lock_guard<std::mutex> Lock(Mutex);
  EXPECT_TRUE(Jobs.empty()) << "jobs without a result";
  Closed = true;
}

std::string ReapiLinkTest::logText(uint32_t Level) {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::string All;
  for (const auto &[Is, Text] : Logs)
    if (Is == Level)
      All += Text + "\n";
  return All;
}

bool ReapiLinkTest::wasReported(uint64_t Id, uint32_t State) {
  std::lock_guard<std::mutex> Lock(Mutex);
  const std::vector<uint32_t> &Told = States[Id];
  return std::find(Told.begin(), Told.end(), State) != Told.end();
}

bool ReapiLinkTest::waitUntil(const std::function<bool()> &Until) {
  for (unsigned I = 0; I != 12000; ++I) {
    if (Until())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}
