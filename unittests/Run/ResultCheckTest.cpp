//===- ResultCheckTest.cpp - Results that are checked ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests what happens to a plugin's objects that the check accepts or refuses.
//
//===----------------------------------------------------------------------===//

#include "FakePlugin.h"
#include "Run/LinkRun.h"
#include "TestLink.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

/// Jobs m0.o, m1.o, ... whose objects may be any text.
class TextJobs : public JobSource {
public:
  explicit TextJobs(size_t N) : N(N) {}

  size_t numJobs() const override { return N; }
  JobFacts facts(size_t J) const override {
    std::string Name = "m" + std::to_string(J) + ".o";
    return {Name, Name, Name, unsigned(J), 1000 - J, 0, 0};
  }
  bool mustStayLocal(size_t) override { return false; }
  bool needsThread(const plan::Action &) const override { return false; }
  Event prepare(const plan::Action &A, size_t J, uint64_t Cost,
                StringRef) override {
    Event E{Event::Prepared};
    E.Job = A.Attempt;
    E.setEnded(Clock::now());
    if (!A.ForPlugin)
      return E;
    E.Built = std::make_unique<BuiltJob>();
    E.Built->Name = facts(J).Name;
    dtlto_job &Job = E.Built->Job;
    Job.size = sizeof(Job);
    Job.id = A.Attempt;
    Job.name = E.Built->Name.c_str();
    Job.triple = "x86_64-unknown-linux-gnu";
    Job.cost = Cost;
    return E;
  }
  std::optional<ResultKey> resultKey(size_t) override { return std::nullopt; }
  CodegenResult compileLocally(size_t, const std::atomic<bool> *) override {
    CodegenResult R;
    R.HasObject = true;
    R.Object.assign(Local.begin(), Local.end());
    return R;
  }
  SideFiles sideFiles(size_t) const override { return {}; }
  Error check(size_t J, StringRef, bool IsAsWritten) const override {
    std::string Why = OnCheck ? OnCheck(J, IsAsWritten) : "";
    return Why.empty() ? Error::success()
                       : createStringError(inconvertibleErrorCode(), Why);
  }
  Error compare(size_t, const RemoteResult &, StringRef) override {
    return Error::success();
  }
  Error deliver(size_t J, const JobResult &R, const SideFiles &,
                const AddStreamFn &) override {
    Objects[J] = R.Object.bytes().str();
    return Error::success();
  }
  bool deliversToMemory() const override { return true; }
  bool mayHit() const override { return false; }

  const std::string Local = "made in the linker";
  std::map<size_t, std::string> Objects; // delivered objects
  std::function<std::string(size_t J, bool IsAsWritten)> OnCheck;

private:
  const size_t N;
};

class ResultCheckTest : public testing::Test {
protected:
  void use(size_t N) { Jobs = std::make_shared<TextJobs>(N); }
  void link() {
    Opts.Costs = "";
    HostContext Host{&Plugin.entry(), Msg, Opts, /*LLVMVersion=*/""};
    Host.Parallelism = 2;
    RunContext Context{Host, Opts};
    Context.StartTime = Clock::now();
    Result = toString(LinkRun(Context, Jobs, [&](plan::Options &O) {
                        // Only the plugin runs jobs.
                        O.LocalJobs = 0;
                        O.DuplicatePercent = 0;
                      }).run());
  }
  dtlto_result remote(const char *Worker = nullptr) {
    dtlto_result R = Plugin.object(Remote);
    R.worker = Worker;
    return R;
  }
  void TearDown() override {
    Plugin.waitForEnd();
    EXPECT_EQ(Plugin.complaints(), std::vector<std::string>());
    EXPECT_EQ(Plugin.numObjectsAlive(), 0u);
  }

  const std::string Remote = "made remotely";
  FakePlugin Plugin;
  RecordingMessages Msg;
  Options Opts;
  std::shared_ptr<TextJobs> Jobs;
  std::string Result; // the link's error
};

TEST_F(ResultCheckTest, AnInvalidObject) {
  use(2);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote("one"));
  };
  Jobs->OnCheck = [&](size_t J, bool) { return J == 0 ? "damaged" : ""; };
  link();
  EXPECT_EQ(Result, "");
  EXPECT_EQ(Jobs->Objects[0], Jobs->Local);
  EXPECT_TRUE(Jobs->Objects[1] == Remote);
  EXPECT_TRUE(Msg.has(MessageLevel::Warning,
                      {"'m0.o'", "invalid object from one: damaged"}));
}

TEST_F(ResultCheckTest, TwoWorkersMakeTheSame) {
  use(1);
  Opts.Fallback = FallbackKind::None;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, remote(J.Attempt == 1 ? "one" : "two"));
  };
  Jobs->OnCheck = [&](size_t, bool IsAsWritten) {
    return IsAsWritten ? "" : "odd";
  };
  link();
  EXPECT_EQ(Result, "");
  EXPECT_EQ(Plugin.submitted().size(), 2u);
  EXPECT_TRUE(Jobs->Objects[0] == Remote);
}

} // namespace
