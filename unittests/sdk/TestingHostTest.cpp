//===- TestingHostTest.cpp - The host of vendors' unit tests --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtlto/testing/Host.hpp"
#include "gtest/gtest.h"

using dtlto::testing::Host;
using namespace std::chrono_literals;

namespace {

const dtlto_host *TheHost;
std::function<int32_t(const dtlto_job *)> OnSubmit;
std::function<void(uint64_t)> OnCancel;
std::function<void()> OnClose;
std::vector<std::string> Args;

int32_t openSession(const dtlto_host *H, const dtlto_session_params *Params,
                    dtlto_session **Out) {
  TheHost = H;
  Args.assign(Params->args, Params->args + Params->num_args);
  if (!Args.empty() && Args[0] == "wrong") {
    H->log(H->context, DTLTO_LOG_ERROR, "wrong argument");
    return DTLTO_ERROR_CALLER;
  }
  *Out = reinterpret_cast<dtlto_session *>(&TheHost);
  return DTLTO_OK;
}

/// A plugin whose steps the tests replace.
const dtlto_plugin ThePlugin = {
    sizeof(dtlto_plugin),
    DTLTO_ABI_MAJOR,
    DTLTO_ABI_MINOR,
    0,
    "steps",
    "1.0",
    [](const dtlto_session_params *, dtlto_session_config *Config) {
      Config->needs = DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS;
    },
    openSession,
    [](dtlto_session *, const dtlto_job *J) { return OnSubmit(J); },
    [](dtlto_session *, uint64_t Id) { OnCancel(Id); },
    [](dtlto_session *, dtlto_load *Load) -> int32_t {
      Load->slots = 7;
      return DTLTO_OK;
    },
    [](dtlto_session *) {
      if (OnClose)
        OnClose();
    },
    [](const char *) -> const void * { return nullptr; }};

class TestingHostTest : public testing::Test {
protected:
  TestingHostTest() {
    OnClose = {};
    OnCancel = [](uint64_t) {};
    OnSubmit = [](const dtlto_job *) { return DTLTO_OK; };
  }
  static void done(uint64_t Id, int32_t Status, const char *Object,
                   const char *Message) {
    dtlto_result R = {};
    R.size = sizeof(R);
    R.status = Status;
    R.message = Message;
    R.object = {Object, strlen(Object), nullptr, nullptr};
    TheHost->job_done(TheHost->context, Id, &R);
  }
  uint64_t submit() {
    return H.submit({{"a/in", "bytes", DTLTO_ROLE_PRIMARY}}, {"clang", "-c"},
                    "out.o");
  }

  Host H{ThePlugin, 30s};
};

TEST_F(TestingHostTest, AJob) {
  ASSERT_EQ(H.open({"one", "two"}, "22.1.8"), DTLTO_OK);
  EXPECT_EQ(Args, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(H.needs(), uint32_t(DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS));
  EXPECT_EQ(H.load().slots, 7u);
  EXPECT_EQ(H.load().free, UINT32_MAX);
  std::thread Worker;
  unsigned NumReleased = 0;
  OnSubmit = [&](const dtlto_job *J) {
    EXPECT_EQ(J->num_inputs, 1u);
    EXPECT_STREQ(J->inputs[0]->path, "a/in");
    EXPECT_EQ(J->inputs[0]->bytes.size, 5u);
    EXPECT_STREQ(J->args[1], "-c");
    EXPECT_EQ(J->args[2], nullptr);
    EXPECT_STREQ(J->output, "out.o");
    Worker = std::thread([&, Id = J->id] {
      TheHost->job_state(TheHost->context, Id, DTLTO_STATE_RUNNING, "node7");
      dtlto_result R = {};
      R.size = sizeof(R);
      R.message = "warning: w\n  note";
      R.worker = "node7";
      R.object = {"object", 6, &NumReleased,
                  [](void *N, const void *, uint64_t) {
                    ++*static_cast<unsigned *>(N);
                  }};
      TheHost->job_done(TheHost->context, Id, &R);
    });
    return DTLTO_OK;
  };
  uint64_t Id = submit();
  H.waitForState(Id, DTLTO_STATE_RUNNING);
  dtlto::testing::Result R = H.wait(Id);
  Worker.join();
  EXPECT_EQ(R.Status, DTLTO_OK);
  EXPECT_EQ(R.Object, "object");
  EXPECT_EQ(R.Message, "warning: w\n  note");
  EXPECT_EQ(R.Worker, "node7");
  EXPECT_EQ(NumReleased, 1u);
  H.close();
  EXPECT_EQ(H.problems(), std::vector<std::string>());
}

TEST_F(TestingHostTest, OpenFails) {
  EXPECT_EQ(H.open({"wrong"}, "22.1.8"), DTLTO_ERROR_CALLER);
  EXPECT_EQ(H.messages(), std::vector<std::string>{"wrong argument"});
  H.close(); // nothing is open
}

TEST_F(TestingHostTest, ABusyPluginIsAskedAgain) {
  ASSERT_EQ(H.open({}, "22.1.8"), DTLTO_OK);
  unsigned NumCalls = 0;
  std::thread Worker;
  OnSubmit = [&](const dtlto_job *) {
    if (++NumCalls == 2)
      return DTLTO_OK;
    Worker = std::thread([] { TheHost->load_changed(TheHost->context); });
    return DTLTO_BUSY;
  };
  submit();
  Worker.join();
  EXPECT_EQ(NumCalls, 2u);
}

TEST_F(TestingHostTest, EachWaitHasAnEnd) {
  Host Hasty(ThePlugin, 20ms);
  ASSERT_EQ(Hasty.open({}, "22.1.8"), DTLTO_OK);
  uint64_t Id = Hasty.submit({}, {}, "o");
  EXPECT_THROW(Hasty.wait(Id), std::runtime_error);
  EXPECT_THROW(Hasty.waitForState(Id, DTLTO_STATE_RUNNING), std::runtime_error);
  OnSubmit = [](const dtlto_job *) { return DTLTO_BUSY; };
  EXPECT_THROW(Hasty.submit({}, {}, "o"), std::runtime_error);
  OnSubmit = [](const dtlto_job *) { return DTLTO_ERROR_CALLER; };
  EXPECT_THROW(Hasty.submit({}, {}, "o"), std::runtime_error);
}

TEST_F(TestingHostTest, ExtensionsAndChecks) {
  int Extension = 0;
  H.Extensions["vendor.test/1"] = &Extension;
  H.Check = [](const std::string &Object) {
    return Object == "good" ? "" : "it is bad";
  };
  ASSERT_EQ(H.open({}, "22.1.8"), DTLTO_OK);
  EXPECT_EQ(TheHost->extension(TheHost->context, "vendor.test/1"), &Extension);
  EXPECT_EQ(TheHost->extension(TheHost->context, "other/1"), nullptr);
  uint64_t Id = submit();
  char Why[6] = "";
  EXPECT_EQ(TheHost->check_result(TheHost->context, Id, {"good", 4}, Why, 6),
            DTLTO_OK);
  EXPECT_EQ(TheHost->check_result(TheHost->context, Id, {"xx", 2}, Why, 6),
            DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_STREQ(Why, "it is");
}

TEST_F(TestingHostTest, CancelledJobs) {
  ASSERT_EQ(H.open({}, "22.1.8"), DTLTO_OK);
  OnCancel = [](uint64_t Id) { done(Id, DTLTO_CANCELLED, "", nullptr); };
  uint64_t One = submit(), Two = submit();
  H.cancel(One);
  EXPECT_EQ(H.wait(One).Status, DTLTO_CANCELLED);
  OnClose = [&] { done(Two, DTLTO_CANCELLED, "", nullptr); };
  H.close();
  EXPECT_EQ(H.problems(), std::vector<std::string>());
}

TEST_F(TestingHostTest, AJobHasTheFieldsThatAreNeeded) {
  ASSERT_EQ(H.open({}, "22.1.8"), DTLTO_OK);
  OnSubmit = [](const dtlto_job *J) {
    EXPECT_STREQ(J->name, "lib.a(m.o)");
    EXPECT_STREQ(J->avoid, "node7");
    EXPECT_EQ(J->cost, 7u);
    EXPECT_NE(J->args, nullptr);
    EXPECT_EQ(J->config, nullptr); // not needed
    TheHost->job_state(TheHost->context, J->id, DTLTO_STATE_QUEUED, nullptr);
    return DTLTO_BUSY;
  };
  dtlto::testing::JobSpec Spec;
  Spec.Config = "{}";
  Spec.Name = "lib.a(m.o)";
  Spec.Avoid = "node7";
  Spec.Cost = 7;
  uint64_t Id;
  EXPECT_EQ(H.tryToSubmit(Spec, Id), DTLTO_BUSY);
  EXPECT_EQ(H.states(), (std::vector<std::pair<uint64_t, uint32_t>>{
                            {Id, DTLTO_STATE_QUEUED}}));
}

TEST_F(TestingHostTest, SeveralSessions) {
  for (int I = 0; I != 2; ++I) {
    ASSERT_EQ(H.open({}, "22.1.8"), DTLTO_OK);
    TheHost->log(TheHost->context, DTLTO_LOG_NOTE, "a note");
    H.close();
  }
  Host Other(ThePlugin);
  EXPECT_EQ(Other.open({"wrong"}, "22.1.8"), DTLTO_ERROR_CALLER);
  EXPECT_EQ(Other.openErrors(), "wrong argument");
  ASSERT_EQ(Other.open({}, "22.1.8"), DTLTO_OK);
  EXPECT_FALSE(Other.hasGivenUp());
  ASSERT_EQ(H.open({}, "22.1.8"), DTLTO_OK); // at the same time
  TheHost->log(TheHost->context, DTLTO_LOG_ERROR, "no farm");
  EXPECT_TRUE(H.hasGivenUp());
  EXPECT_EQ(H.messages(DTLTO_LOG_NOTE),
            (std::vector<std::string>{"a note", "a note"}));
  EXPECT_EQ(H.problems(), std::vector<std::string>());
}

TEST_F(TestingHostTest, BrokenRules) {
  ASSERT_EQ(H.open({}, "22.1.8"), DTLTO_OK);
  std::vector<std::string> Expected;
  auto Breaks = [&](auto Fn, const std::string &Problem) {
    uint64_t Id = submit();
    Fn(Id);
    Expected.push_back("job " + std::to_string(Id) + Problem);
  };
  Breaks([](uint64_t Id) { done(Id, DTLTO_OK, "", nullptr); },
         " is DTLTO_OK, with no object");
  Breaks([](uint64_t Id) { done(Id, DTLTO_ERROR_COMPILER, "x", "e"); },
         " failed, and has an object");
  Breaks([](uint64_t Id) { done(Id, DTLTO_ERROR_COMPILER, "", nullptr); },
         " failed without a message");
  Breaks([](uint64_t Id) { done(Id, DTLTO_CANCELLED, "", nullptr); },
         " was cancelled without a request from the host");
  Breaks([](uint64_t Id) { done(Id, 99, "", "e"); },
         " ended with the status 99");
  Breaks(
      [&](uint64_t Id) {
        done(Id, DTLTO_OK, "x", nullptr);
        done(Id, DTLTO_OK, "x", nullptr);
      },
      "");
  Expected.back() = "a second result of " + Expected.back();
  Breaks([&](uint64_t Id) { done(Id, DTLTO_ERROR_INFRASTRUCTURE, "", "a\nb"); },
         " is not one line");
  Expected.back() = "the message of " + Expected.back();
  EXPECT_EQ(H.problems(), Expected);

  // Without a job.
  done(5, DTLTO_OK, "x", nullptr);
  TheHost->job_state(TheHost->context, 6, DTLTO_STATE_RUNNING, nullptr);
  TheHost->check_result(TheHost->context, 7, {"x", 1}, nullptr, 0);
  TheHost->log(TheHost->context, DTLTO_LOG_NOTE, "a\nb");
  OnSubmit = [](const dtlto_job *J) {
    done(J->id, DTLTO_OK, "x", nullptr);
    return DTLTO_OK;
  };
  submit();
  OnSubmit = [](const dtlto_job *) { return DTLTO_OK; };
  std::string Kept = "job " + std::to_string(submit());
  H.close();
  TheHost->load_changed(TheHost->context);
  for (const std::string &Problem :
       {std::string("a result of job 5, which the plugin does not have"),
        std::string("a state of job 6, which the plugin does not have"),
        std::string("check_result() was called for job 7, which the plugin "
                    "does not have"),
        std::string("a message is not one line"),
        std::string("job_done() was called from inside of submit()"),
        "close() returned before " + Kept + " had its job_done()",
        std::string("load_changed() was called after close() had returned")})
    Expected.push_back(Problem);
  EXPECT_EQ(H.problems(), Expected);
}

TEST(TestingHostLoadTest, NoPlugin) {
  EXPECT_THROW(dtlto::testing::loadPlugin("/nowhere/libx.so"),
               std::runtime_error);
  EXPECT_THROW(dtlto::testing::loadPlugin("libm.so.6"), std::runtime_error);
}

} // namespace
