//===- SessionTest.cpp - The host's side of the ABI -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/Session.h"
#include "Bundle/ObjectFrame.h"
#include "FakePlugin.h"
#include "LTO/JobBuilder.h"
#include "LTO/LocalCodegen.h"
#include "TestLink.h"
#include "dtlto/ext/bundle.h"
#include "dtlto/ext/local-codegen.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstring>
#include <future>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

constexpr auto Long = std::chrono::seconds(60);

class SessionTest : public testing::Test {
protected:
  /// Runs \p Test with a session of the plugin, in a link of three modules.
  void withSession(function_ref<void(Session &)> Test) {
    TheLink.addProgram(3);
    TestLink::Result R = TheLink.look(
        &Plugin.entry(), [&](const Link &L, std::vector<Task> &Tasks) {
          TheTasks = &Tasks;
          TheContext = &L;
          const_cast<Link &>(L).Host.Config =
              configurePlugin(L.Host, Tasks.size());
          Builder = std::make_unique<JobBuilder>(L.Jobs, L.Host.Config.Needs);
          Events = std::make_shared<EventQueue>();
          Session S(L.Host, Events, Tasks.size());
          Test(S);
        });
    ASSERT_EQ(R.Error, "");
  }

  /// Local code generation opens \p Inside, and waits for TheGate.
  void waitInCodegen(Gate &Inside) {
    TheLink.Configure = [&](lto::Config &Conf) {
      Conf.PreCodeGenModuleHook = [&](unsigned, const llvm::Module &) {
        Inside.open();
        TheGate.wait();
        return true;
      };
    };
  }

  /// Returns the next event of \p Kind, and keeps others for later. If the
  /// session is broken, the event is \c Broken.
  Event next(Event::KindTy Kind) {
    while (true) {
      for (auto It = Pending.begin(); It != Pending.end(); ++It)
        if (It->Kind == Kind) {
          Event E = std::move(*It);
          Pending.erase(It);
          return E;
        }
      std::deque<Event> New = Events->popAll(Clock::now() + Long);
      if (New.empty())
        return Event{Event::Broken};
      std::move(New.begin(), New.end(), std::back_inserter(Pending));
    }
  }
  void expectNoEvent() {
    for (Event &E : Pending)
      ADD_FAILURE() << "event " << E.Kind;
    for (Event &E : Events->popAll(Clock::now()))
      ADD_FAILURE() << "event " << E.Kind;
  }

  void open(Session &S) {
    S.open();
    ASSERT_EQ(next(Event::Opened).Status, DTLTO_OK);
  }
  void submit(Session &S, uint64_t Id, bool Insist = false) {
    const Task &T = (*TheTasks)[(Id - 1) % TheTasks->size()];
    S.submit(must(Builder->build(T, Id, 1)),
             {T.name().str(), 0,
              [this, &T] { return runLocalCodegen(TheContext->Jobs, T); }},
             Insist);
  }
  /// Waits until all previous requests are done.
  void drain(Session &S) {
    S.queryLoad();
    ASSERT_EQ(next(Event::Loaded).Kind, Event::Loaded);
  }

  void TearDown() override {
    TheGate.open();
    Plugin.waitForEnd();
    EXPECT_EQ(Plugin.complaints(), std::vector<std::string>());
    EXPECT_EQ(Plugin.numObjectsAlive(), 0u);
  }

  Gate TheGate;
  FakePlugin Plugin;
  TestLink TheLink;
  std::vector<Task> *TheTasks = nullptr;
  const Link *TheContext = nullptr;
  std::unique_ptr<JobBuilder> Builder;
  std::shared_ptr<EventQueue> Events;
  std::deque<Event> Pending;
};

} // namespace

//===----------------------------------------------------------------------===//
// open and close
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, WhatThePluginIsTold) {
  Options &Opts = TheLink.TheLinker.Opts;
  Opts.PluginArgs = {"one=1", "two"};
  Opts.OutputFile = "dir/app";
  Opts.TimeoutSeconds = 77;
  TheLink.Msg.Verbose = true;
  TheLink.Parallelism = 3;
  Plugin.OnOpen = [&](const dtlto_session_params &P) {
    const dtlto_host &Host = Plugin.host();
    EXPECT_EQ(Host.size, sizeof(dtlto_host));
    EXPECT_EQ(Host.abi_major, uint32_t(DTLTO_ABI_MAJOR));
    EXPECT_EQ(Host.abi_minor, uint32_t(DTLTO_ABI_MINOR));
    EXPECT_EQ(Host.reserved, 0u);
    EXPECT_STREQ(Host.name, "dtlto");
    EXPECT_NE(Host.version[0], 0);

    EXPECT_EQ(P.size, sizeof(dtlto_session_params));
    EXPECT_EQ(P.num_args, 2u);
    EXPECT_STREQ(P.args[0], "one=1");
    EXPECT_STREQ(P.args[1], "two");
    EXPECT_STREQ(P.llvm_version, LLVM_VERSION_STRING);
    EXPECT_STREQ(P.output, "dir/app");
    EXPECT_EQ(P.num_jobs, 3u);
    EXPECT_EQ(P.job_timeout_s, 77u);
    EXPECT_EQ(P.verbose, 1u);

    const auto *Codegen = static_cast<const dtlto_local_codegen *>(
        Host.extension(Host.context, DTLTO_EXT_LOCAL_CODEGEN));
    EXPECT_NE(Codegen, nullptr);
    if (Codegen) {
      EXPECT_EQ(Codegen->size, sizeof(dtlto_local_codegen));
      EXPECT_EQ(Codegen->slots, 3u);
    }
    EXPECT_EQ(Host.extension(Host.context, "com.example.thing/1"), nullptr);
    EXPECT_EQ(Host.extension(Host.context, ""), nullptr);
    EXPECT_EQ(Host.extension(Host.context, nullptr), nullptr);
    return DTLTO_OK;
  };
  withSession([&](Session &S) {
    open(S);
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_TRUE(Plugin.isClosed());
}

TEST_F(SessionTest, NoOutputFile) {
  Plugin.OnOpen = [&](const dtlto_session_params &P) {
    EXPECT_STREQ(P.output, "");
    EXPECT_EQ(P.num_args, 0u);
    EXPECT_EQ(P.verbose, 0u);
    return DTLTO_OK;
  };
  withSession([&](Session &S) {
    open(S);
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, NothingIsCalledAfterAFailedOpen) {
  Plugin.OnOpen = [](const dtlto_session_params &) {
    return DTLTO_ERROR_INFRASTRUCTURE;
  };
  withSession([&](Session &S) {
    S.open();
    EXPECT_EQ(next(Event::Opened).Status, DTLTO_ERROR_INFRASTRUCTURE);
    submit(S, 1);
    EXPECT_NE(next(Event::Submitted).Status, DTLTO_OK);
    S.queryLoad();
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_TRUE(Plugin.submitted().empty());
  EXPECT_FALSE(Plugin.isClosed());
}

TEST_F(SessionTest, ErrorsOfOpenAreToldWithIt) {
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    Plugin.log(DTLTO_LOG_ERROR, "no farm today");
    return DTLTO_ERROR_INFRASTRUCTURE;
  };
  withSession([&](Session &S) {
    S.open();
    EXPECT_EQ(next(Event::Opened).Message, "no farm today");
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(SessionTest, ErrorsDuringAnOpenThatSucceedsAreToldWithIt) {
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    std::thread([&] { Plugin.log(DTLTO_LOG_ERROR, "no farm today"); }).join();
    return DTLTO_OK;
  };
  withSession([&](Session &S) {
    S.open();
    Event E = next(Event::Opened);
    EXPECT_EQ(E.Status, DTLTO_OK);
    EXPECT_EQ(E.Message, "no farm today");
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_TRUE(Plugin.isClosed());
}

TEST_F(SessionTest, CloseEndsWhatRuns) {
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, Plugin.failure(DTLTO_CANCELLED));
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    submit(S, 2);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_TRUE(Plugin.isClosed());
}

TEST_F(SessionTest, NoEventAfterClose) {
  Gate Running;
  Plugin.OnRun = [&](const FakePlugin::Job &) {
    Running.open();
    TheGate.wait();
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    Running.wait();
    // The worker blocks close(), so the host continues without the plugin.
    EXPECT_FALSE(S.close(std::chrono::milliseconds(1)));
    Events->popAll(Clock::now());
    Pending.clear();
    Plugin.loadChanged();
    Plugin.state(1, DTLTO_STATE_RUNNING);
    Plugin.done(1, Plugin.object("late")); // Must be released nevertheless.
    Plugin.log(DTLTO_LOG_WARNING, "late");
    dtlto_result Late = Plugin.codegen(1);
    EXPECT_NE(Late.status, DTLTO_OK);
    EXPECT_EQ(Late.object.data, nullptr);
    expectNoEvent();
  });
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}

TEST_F(SessionTest, CloseLeavesAHangingOpenBehind) {
  Gate InOpen;
  std::string Before, After;
  Plugin.OnOpen = [&](const dtlto_session_params &P) {
    Before = P.llvm_version;
    InOpen.open();
    TheGate.wait();
    After = P.llvm_version;
    return DTLTO_OK;
  };
  withSession([&](Session &S) {
    S.open();
    InOpen.wait();
    std::optional<Session::Call> Call = S.currentCall();
    ASSERT_TRUE(Call.has_value());
    EXPECT_STREQ(Call->Name, "open");
    EXPECT_FALSE(S.close(std::chrono::milliseconds(1)));
  });
  // Memory lent to open() outlives the link.
  TheGate.open();
  Plugin.waitForEnd();
  EXPECT_NE(Before, "");
  EXPECT_EQ(Before, After);
}

TEST_F(SessionTest, WhatAPluginWasLentStaysUntilItsCloseReturns) {
  auto Lent = std::make_shared<int>(1);
  std::weak_ptr<int> Weak = Lent;
  Plugin.OnClose = [&] { TheGate.wait(); };
  withSession([&](Session &S) {
    open(S);
    EXPECT_FALSE(S.close(std::chrono::milliseconds(1)));
    S.keepAlive(std::move(Lent));
  });
  EXPECT_FALSE(Weak.expired());
  TheGate.open();
  for (auto End = Clock::now() + Long; !Weak.expired() && Clock::now() < End;)
    std::this_thread::yield();
  EXPECT_TRUE(Weak.expired());
}

TEST_F(SessionTest, NoCallAtRest) {
  withSession([&](Session &S) {
    EXPECT_FALSE(S.currentCall().has_value());
    open(S);
    EXPECT_TRUE(S.close(Long));
    EXPECT_FALSE(S.currentCall().has_value());
  });
}

//===----------------------------------------------------------------------===//
// submit and job_done
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, AResult) {
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, "host:1");
    dtlto_result Result = Plugin.object("an object");
    // The host must have copied what the result only lends.
    std::string Message = "a warning", Worker = "host:1";
    Result.message = Message.c_str();
    Result.worker = Worker.c_str();
    Plugin.done(J.Id, Result);
    Message.assign(Message.size(), 'x');
    Worker.assign(Worker.size(), 'x');
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 7);
    Event State = next(Event::State);
    EXPECT_EQ(State.Job, 7u);
    EXPECT_EQ(State.Status, DTLTO_STATE_RUNNING);
    EXPECT_EQ(State.Worker, "host:1");
    Event Done = next(Event::Done);
    EXPECT_EQ(Done.Job, 7u);
    EXPECT_EQ(Done.Status, DTLTO_OK);
    EXPECT_EQ(Done.Object.bytes(), "an object");
    EXPECT_EQ(Done.Message, "a warning");
    EXPECT_EQ(Done.Worker, "host:1");
    EXPECT_FALSE(Done.RanLocally);
    EXPECT_EQ(Plugin.numObjectsAlive(), 1u); // Read in place.
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, RefusedJobsComeBack) {
  Plugin.OnSubmit = [](const FakePlugin::Job &) { return DTLTO_ERROR_CALLER; };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    Event E = next(Event::Submitted);
    EXPECT_EQ(E.Job, 1u);
    EXPECT_EQ(E.Status, DTLTO_ERROR_CALLER);
    EXPECT_NE(E.Built, nullptr);
    EXPECT_TRUE(S.close(Long));
    expectNoEvent();
  });
}

TEST_F(SessionTest, AfterBusyNothingIsOfferedUntilThereIsRoom) {
  std::atomic<bool> HasRoom{false};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    return HasRoom ? DTLTO_OK : DTLTO_BUSY;
  };
  withSession([&](Session &S) {
    open(S);
    for (uint64_t Id : {1, 2, 3})
      submit(S, Id);
    for (uint64_t Id : {1, 2, 3}) {
      Event E = next(Event::Submitted);
      EXPECT_EQ(E.Job, Id);
      EXPECT_EQ(E.Status, DTLTO_BUSY);
      EXPECT_NE(E.Built, nullptr);
    }
    EXPECT_EQ(Plugin.submitted().size(), 1u);

    HasRoom = true;
    submit(S, 1);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_BUSY);
    EXPECT_EQ(Plugin.submitted().size(), 1u);

    Plugin.loadChanged();
    EXPECT_EQ(next(Event::LoadChanged).Kind, Event::LoadChanged);
    submit(S, 1);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, AnEndedJobIsRoom) {
  Gate SecondIsBusy;
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    return J.Id == 2 && J.Attempt == 1 ? DTLTO_BUSY : DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    SecondIsBusy.wait();
    Plugin.done(J.Id, Plugin.object("an object"));
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    submit(S, 2);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_BUSY);
    SecondIsBusy.open();
    EXPECT_EQ(next(Event::Done).Job, 1u);
    submit(S, 2);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    EXPECT_EQ(next(Event::Done).Job, 2u);
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, InsistingAsksABusyPlugin) {
  std::atomic<bool> HasRoom{false};
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    return HasRoom ? DTLTO_OK : DTLTO_BUSY;
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_BUSY);
    submit(S, 1, /*Insist=*/true);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_BUSY);
    EXPECT_EQ(Plugin.submitted().size(), 2u);
    HasRoom = true;
    submit(S, 1, /*Insist=*/true);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, ForgottenJobsHaveNoEvents) {
  Gate Running;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Running.open();
    TheGate.wait();
    Plugin.done(J.Id, Plugin.object("late"));
  };
  Plugin.OnCancel = [&](uint64_t) { TheGate.open(); };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    Running.wait();
    S.forget(1);
    drain(S);
    EXPECT_EQ(Plugin.cancelled(), std::vector<uint64_t>{1});
    EXPECT_TRUE(S.close(Long));
    for (Event &E : Events->popAll(Clock::now()))
      EXPECT_NE(E.Job, 1u);
  });
  EXPECT_EQ(Plugin.numObjectsCreated(), 1u);
}

TEST_F(SessionTest, ForgottenBeforeItIsOffered) {
  Gate InSubmit;
  Plugin.OnSubmit = [&](const FakePlugin::Job &) {
    InSubmit.open();
    TheGate.wait();
    return DTLTO_OK;
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    InSubmit.wait();
    submit(S, 2);
    S.forget(2);
    // A job that wasn't offered doesn't count as an answer of the plugin.
    submit(S, 3);
    TheGate.open();
    EXPECT_EQ(next(Event::Done).Job, 1u);
    EXPECT_EQ(next(Event::Done).Job, 3u);
    drain(S);
    EXPECT_EQ(Plugin.submitted().size(), 2u);
    // The plugin doesn't know job 2.
    EXPECT_TRUE(Plugin.cancelled().empty());
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, ForgottenAfterItsEnd) {
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    S.forget(1);
    S.forget(4711);
    drain(S);
    EXPECT_TRUE(Plugin.cancelled().empty());
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, ResultsThatWereWrong) {
  // The plugin gets the names of its workers back unchanged.
  const char *Worker = "host\x1b:1";
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    dtlto_result R = J.Id == 1 ? Plugin.failure(DTLTO_ERROR_COMPILER, "no")
                               : Plugin.object("no object");
    R.worker = J.Id == 1 ? Worker : nullptr;
    Plugin.done(J.Id, R);
  };
  std::vector<std::string> Told;
  Plugin.OnRefuted = [&](uint64_t Id, const char *Worker, int32_t Status) {
    Told.push_back(std::to_string(Id) + " " + (Worker ? Worker : "nobody") +
                   " " + std::to_string(Status));
  };
  withSession([&](Session &S) {
    open(S);
    for (uint64_t Id : {1, 2}) {
      submit(S, Id);
      EXPECT_EQ(next(Event::Done).Job, Id);
      S.refute(Id);
    }
    drain(S);
    EXPECT_EQ(Told,
              std::vector<std::string>({"1 host\x1b:1 18", "2 nobody 0"}));
    // A plugin without this extension.
    Plugin.OnRefuted = nullptr;
    S.refute(1);
    drain(S);
    EXPECT_EQ(Told.size(), 2u);
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, Violations) {
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.doneTooOften(4711, Plugin.object("whose?"));
    dtlto_result First = Plugin.object("first");
    Plugin.done(J.Id, First);
    Plugin.done(J.Id, First);
    Plugin.doneTooOften(J.Id, Plugin.object("second"));
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    Event Unknown = next(Event::Violation);
    EXPECT_NE(Unknown.Message.find("4711"), std::string::npos);
    Event Done = next(Event::Done);
    EXPECT_EQ(Done.Object.bytes(), "first");
    Event Twice = next(Event::Violation);
    EXPECT_NE(Twice.Message.find("second result"), std::string::npos);
    EXPECT_EQ(Done.Object.bytes(), "first");
    EXPECT_TRUE(S.close(Long));
  });
}

//===----------------------------------------------------------------------===//
// Untrusted text
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, TextIsCleaned) {
  const char *Bad = "a\x1b[2Jb\nc\xff";
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.log(DTLTO_LOG_WARNING, Bad);
    Plugin.state(J.Id, DTLTO_STATE_RUNNING, Bad);
    int32_t Status[] = {DTLTO_ERROR_INFRASTRUCTURE, DTLTO_ERROR_CALLER,
                        DTLTO_ERROR_COMPILER};
    Plugin.done(J.Id, Plugin.failure(Status[J.Id - 1], Bad, Bad));
  };
  withSession([&](Session &S) {
    open(S);
    const std::string Line = "a\\x1b[2Jb c\\xff";
    for (uint64_t Id : {1, 2, 3}) {
      submit(S, Id);
      EXPECT_EQ(next(Event::State).Worker, Line);
      Event E = next(Event::Done);
      EXPECT_EQ(E.Worker, Line);
      // A compiler's messages may have several lines.
      EXPECT_EQ(E.Message, Id == 3 ? "a\\x1b[2Jb\nc\\xff" : Line);
    }
    EXPECT_TRUE(S.close(Long));
    EXPECT_EQ(TheLink.Msg.warnings(),
              std::vector<std::string>(3, "fake: " + Line));
  });
}

TEST_F(SessionTest, OverlongTextIsCut) {
  std::string Long(100000, 'x');
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_INFRASTRUCTURE, Long.c_str(),
                                     Long.c_str()));
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    Event E = next(Event::Done);
    EXPECT_EQ(E.Worker, std::string(256, 'x') + "...");
    EXPECT_EQ(E.Message, std::string(4096, 'x') + "...");
    EXPECT_TRUE(S.close(::Long));
  });
}

//===----------------------------------------------------------------------===//
// Inputs of the session's jobs
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, Configure) {
  Options &Opts = TheLink.TheLinker.Opts;
  Opts.PluginArgs = {"one=1"};
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS);
  Plugin.setNoFallback("x is\n0");
  Plugin.OnConfigure = [](const dtlto_session_params &P) {
    EXPECT_EQ(P.size, sizeof(dtlto_session_params));
    EXPECT_EQ(P.num_args, 1u);
    EXPECT_STREQ(P.args[0], "one=1");
    EXPECT_STREQ(P.llvm_version, LLVM_VERSION_STRING);
    EXPECT_EQ(P.num_jobs, 3u);
  };
  withSession([&](Session &) {
    const SessionConfig &C = TheContext->Host.Config;
    EXPECT_EQ(C.Needs, uint32_t(DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS));
    EXPECT_EQ(C.NoFallback, "x is 0");
    EXPECT_EQ(C.Problem, "");
  });
}

TEST_F(SessionTest, ConfigureHangs) {
  TheLink.TheLinker.Opts.TimeoutSeconds = 1;
  // Shared, because the thread of the call outlives the test.
  auto Ended = std::make_shared<std::promise<void>>();
  Plugin.OnConfigure = [F = Ended->get_future().share(),
                        Ended](const dtlto_session_params &) { F.wait(); };
  withSession([&](Session &S) {
    S.open();
    Event E = next(Event::Opened);
    EXPECT_EQ(E.Status, DTLTO_ERROR_INFRASTRUCTURE);
    EXPECT_EQ(E.Message, "configure() has not returned within 1 s");
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_EQ(Plugin.numOpened(), 0u);
  Ended->set_value();
}

namespace {

class SessionBundleTest : public SessionTest {
protected:
  /// Requests the bundle of job \p Id; returns the status and the bytes.
  std::pair<int32_t, std::string> bundle(uint64_t Id) {
    const dtlto_host &Host = Plugin.host();
    const auto *Bundles = static_cast<const dtlto_bundle *>(
        Host.extension(Host.context, DTLTO_EXT_BUNDLE));
    EXPECT_EQ(Bundles->size, sizeof(dtlto_bundle));
    EXPECT_EQ(Bundles->reserved, 0u);
    dtlto_bundle_spans Spans;
    std::memset(&Spans, 0xAB, sizeof(Spans));
    Spans.size = sizeof(Spans);
    int32_t Status = Bundles->make(Host.context, Id, &Spans);
    EXPECT_EQ(Spans.size, sizeof(Spans));
    if (Status != DTLTO_OK) {
      EXPECT_EQ(Spans.num_spans, 0u);
      EXPECT_EQ(Spans.release, nullptr);
      return {Status, ""};
    }
    std::string Text;
    unsigned NumInputs = 0;
    for (const dtlto_bundle_span &S : ArrayRef(Spans.spans, Spans.num_spans)) {
      Text.append(static_cast<const char *>(S.bytes.data), S.bytes.size);
      NumInputs += S.input != nullptr;
      if (S.input)
        EXPECT_EQ(S.bytes.data, S.input->bytes.data);
    }
    EXPECT_GE(NumInputs, 2u); // The module and its index.
    Spans.release(Spans.owner);
    return {Status, Text};
  }

  /// Returns dtlto-codegen's frame of \p Object for the job of \p Bundle.
  static std::string framed(StringRef Object, StringRef Bundle) {
    Expected<dtlto::Bundle> B = readBundle(Bundle, LLVM_VERSION_STRING);
    return (frameHead(Object, must(std::move(B)).Id) + Object).str();
  }

  /// Calls check_result() for \p Object; returns the status and the reason.
  std::pair<int32_t, std::string> check(uint64_t Id, StringRef Object) {
    const dtlto_host &Host = Plugin.host();
    char Why[100] = "";
    int32_t Status = Host.check_result(
        Host.context, Id, {Object.data(), Object.size()}, Why, sizeof(Why));
    // The buffer for the reason is optional.
    EXPECT_EQ(Status,
              Host.check_result(Host.context, Id,
                                {Object.data(), Object.size()}, nullptr, 0));
    return {Status, Why};
  }

  /// Runs a job whose result is \p Makes of its bundle, and returns its last
  /// event. Sets \p Checked to the answer of dtlto.check/1 for that result.
  Event run(function_ref<std::string(const std::string &Bundle)> Makes,
            std::pair<int32_t, std::string> &Checked) {
    Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG);
    Plugin.OnRun = [&](const FakePlugin::Job &J) {
      std::string Result = Makes(bundle(J.Id).second);
      Checked = check(J.Id, Result);
      Plugin.done(J.Id, Plugin.object(Result));
    };
    Event Done;
    withSession([&](Session &S) {
      open(S);
      submit(S, 1);
      Done = next(Event::Done);
      drain(S);
      EXPECT_TRUE(S.close(Long));
    });
    return Done;
  }
};

} // namespace

TEST_F(SessionBundleTest, ABundle) {
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG);
  std::string Made, Again, Right;
  int32_t InSubmit = -1, Ended = -1;
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    // The job isn't accepted yet, but the host knows it already.
    InSubmit = bundle(J.Id).first;
    return DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    auto Bytes = must(writeBundle(bundledJob(*J.Raw)));
    Right = ref(Bytes).str();
    Made = bundle(J.Id).second;
    Again = bundle(J.Id).second;
    Plugin.done(J.Id, Plugin.object(framed("an object", Right)));
    Ended = bundle(J.Id).first;
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_EQ(InSubmit, DTLTO_OK);
  EXPECT_FALSE(Made.empty());
  EXPECT_EQ(Made, Right);
  EXPECT_EQ(Made, Again);
  EXPECT_EQ(Ended, DTLTO_ERROR_CALLER);
}

TEST_F(SessionBundleTest, JobsWithoutOne) {
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS);
  int32_t InOpen = -1, Unknown = -1, WithoutConfig = -1;
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    InOpen = bundle(1).first;
    return DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Unknown = bundle(J.Id + 100).first;
    WithoutConfig = bundle(J.Id).first;
    Plugin.done(J.Id, Plugin.object("an object"));
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_EQ(InOpen, DTLTO_ERROR_CALLER);
  EXPECT_EQ(Unknown, DTLTO_ERROR_CALLER);
  EXPECT_EQ(WithoutConfig, DTLTO_ERROR_CALLER);
}

TEST_F(SessionBundleTest, WithoutDigests) {
  Plugin.setNeeds(DTLTO_JOB_CONFIG);
  std::pair<int32_t, std::string> Made;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Made = bundle(J.Id);
    Plugin.done(J.Id, Plugin.object(framed("an object", Made.second)));
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    EXPECT_TRUE(S.close(Long));
  });
  // The host computes the digests, which every bundle needs.
  EXPECT_EQ(Made.first, DTLTO_OK);
  EXPECT_EQ(toString(readBundle(Made.second, LLVM_VERSION_STRING).takeError()),
            "");
}

//===----------------------------------------------------------------------===//
// Results in frames
//===----------------------------------------------------------------------===//

TEST_F(SessionBundleTest, AFrame) {
  std::pair<int32_t, std::string> Checked;
  Event E = run([](const std::string &B) { return framed("it", B); }, Checked);
  EXPECT_EQ(E.Status, DTLTO_OK);
  EXPECT_EQ(E.Object.bytes(), "it");
  EXPECT_EQ(Checked, std::pair(int32_t(DTLTO_OK), std::string()));
}

TEST_F(SessionBundleTest, NoFrame) {
  std::pair<int32_t, std::string> Checked;
  Event E = run([](const std::string &) { return "an object"; }, Checked);
  EXPECT_EQ(E.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(E.Message,
            "the worker's output is not from dtlto-codegen: no frame "
            "around the object");
  EXPECT_EQ(E.Object.bytes(), "");
  EXPECT_EQ(Checked, std::pair(int32_t(DTLTO_ERROR_INFRASTRUCTURE), E.Message));
}

TEST_F(SessionBundleTest, AFlippedBit) {
  // The plugin learns this even if it hasn't called check_result().
  unsigned NumTold = 0;
  Plugin.OnRefuted = [&](uint64_t Id, const char *, int32_t Status) {
    ++NumTold;
    EXPECT_EQ(Id, 1u);
    EXPECT_EQ(Status, DTLTO_OK);
  };
  std::pair<int32_t, std::string> Checked;
  Event E = run(
      [](const std::string &B) {
        std::string Result = framed("an object", B);
        Result.back() ^= 1;
        return Result;
      },
      Checked);
  EXPECT_EQ(E.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(NumTold, 1u);
  EXPECT_EQ(E.Message,
            "the object is damaged: its BLAKE3 digest does not match");
  EXPECT_EQ(Checked, std::pair(int32_t(DTLTO_ERROR_INFRASTRUCTURE), E.Message));
}

/// The host hashes a frame once. It relies on check_result() only if the plugin
/// passes the same memory again.
TEST_F(SessionBundleTest, AFrameIsHashedOnce) {
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    dtlto_result R = Plugin.object(framed("an object", bundle(J.Id).second));
    auto *Bytes = static_cast<char *>(const_cast<void *>(R.object.data));
    EXPECT_EQ(check(J.Id, {Bytes, R.object.size}).first, DTLTO_OK);
    Bytes[R.object.size - 1] ^= 1; // "an objecu": breaks the rules.
    if (J.Id == 1)
      return Plugin.done(J.Id, R);
    Plugin.done(J.Id, Plugin.object(StringRef(Bytes, R.object.size)));
    R.object.release(R.object.owner, R.object.data, R.object.size);
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    Event Same = next(Event::Done);
    EXPECT_EQ(Same.Status, DTLTO_OK);
    EXPECT_EQ(Same.Object.bytes(), "an objecu");
    submit(S, 2);
    EXPECT_EQ(next(Event::Done).Message,
              "the object is damaged: its BLAKE3 digest does not match");
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionBundleTest, AnotherJobsResult) {
  std::pair<int32_t, std::string> Checked;
  Event E = run(
      [](const std::string &) {
        return (frameHead("an object", BundleId()) + "an object").str();
      },
      Checked);
  EXPECT_EQ(E.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(E.Message, "the object is for another job");
  EXPECT_EQ(Checked, std::pair(int32_t(DTLTO_ERROR_INFRASTRUCTURE), E.Message));
}

TEST_F(SessionBundleTest, MadeHereAfterAll) {
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    EXPECT_EQ(bundle(J.Id).first, DTLTO_OK);
    Plugin.done(J.Id, Plugin.codegen(J.Id));
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    Event E = next(Event::Done);
    EXPECT_EQ(E.Status, DTLTO_OK);
    EXPECT_EQ(E.Object.bytes().substr(1, 3), "ELF");
    EXPECT_TRUE(S.close(Long));
  });
}

/// A plugin that compiles a job locally, and then passes a worker's result.
TEST_F(SessionBundleTest, MadeHereToo) {
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    std::string Bundle = bundle(J.Id).second;
    dtlto_result LocalResult = Plugin.codegen(J.Id);
    ASSERT_EQ(LocalResult.status, DTLTO_OK);
    if (J.Id == 1)
      Plugin.done(J.Id, Plugin.object(framed("an object", Bundle)));
    else if (J.Id == 2)
      Plugin.done(J.Id, Plugin.object("an object"));
    else
      Plugin.done(J.Id, Plugin.failure(DTLTO_ERROR_COMPILER, "no"));
    LocalResult.object.release(LocalResult.object.owner,
                               LocalResult.object.data,
                               LocalResult.object.size);
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    Event Framed = next(Event::Done);
    EXPECT_EQ(Framed.Status, DTLTO_OK);
    EXPECT_EQ(Framed.Object.bytes(), "an object");
    submit(S, 2);
    Event Bare = next(Event::Done);
    EXPECT_EQ(Bare.Status, DTLTO_ERROR_INFRASTRUCTURE);
    submit(S, 3);
    Event Failed = next(Event::Done);
    EXPECT_EQ(Failed.Status, DTLTO_ERROR_COMPILER);
    for (const Event *E : {&Framed, &Failed}) {
      EXPECT_FALSE(E->RanLocally);
      EXPECT_FALSE(E->IsFromLinker);
    }
    EXPECT_TRUE(S.close(Long));
  });
}

/// One thread of the plugin reports a result while another makes bundles.
TEST_F(SessionBundleTest, WhileTheJobEnds) {
  Plugin.setNeeds(DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG);
  constexpr unsigned NumJobs = 50;
  unsigned NumMade = 0;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    std::string Right = bundle(J.Id).second;
    Gate Begun;
    std::thread Other([&] {
      // The job's inputs may be gone when a bundle is complete.
      while (true) {
        dtlto_bundle_spans Spans = {sizeof(Spans), 0, nullptr, nullptr,
                                    nullptr};
        const dtlto_host &Host = Plugin.host();
        const auto *Bundles = static_cast<const dtlto_bundle *>(
            Host.extension(Host.context, DTLTO_EXT_BUNDLE));
        if (Bundles->make(Host.context, J.Id, &Spans) != DTLTO_OK)
          break;
        EXPECT_GE(Spans.num_spans, 2u);
        Spans.release(Spans.owner);
        ++NumMade;
        Begun.open();
      }
    });
    Begun.wait();
    Plugin.done(J.Id, Plugin.object(framed("an object", Right)));
    Other.join();
  };
  withSession([&](Session &S) {
    open(S);
    for (unsigned I = 1; I <= NumJobs; ++I) {
      submit(S, I);
      EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    }
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_GE(NumMade, NumJobs);
}

TEST_F(SessionBundleTest, ChecksOfOtherJobs) {
  std::pair<int32_t, std::string> Unknown, Ended;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Unknown = check(J.Id + 100, "an object");
    Plugin.done(J.Id, Plugin.object("an object"));
    Ended = check(J.Id, "an object");
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    EXPECT_TRUE(S.close(Long));
  });
  const std::pair<int32_t, std::string> None(DTLTO_ERROR_CALLER, "no such job");
  EXPECT_EQ(Unknown, None);
  EXPECT_EQ(Ended, None);
}

//===----------------------------------------------------------------------===//
// Functions of the host
//===----------------------------------------------------------------------===//

TEST_F(SessionTest, LocalCodegen) {
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    Event Done = next(Event::Done);
    EXPECT_EQ(Done.Status, DTLTO_OK);
    EXPECT_TRUE(Done.RanLocally);
    EXPECT_FALSE(Done.NoObject);
    EXPECT_EQ(Done.Object.bytes().substr(1, 3), "ELF");
    EXPECT_TRUE(S.close(Long));
  });
}

/// After a failed local compile, an empty result of the plugin doesn't count.
TEST_F(SessionTest, AnEmptyResultAfterLocalCodegenHasFailed) {
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    EXPECT_EQ(DTLTO_ERROR_COMPILER, Plugin.codegen(J.Id).status);
    Plugin.done(J.Id, Plugin.object(""));
  };
  withSession([&](Session &S) {
    open(S);
    const Task &T = TheTasks->front();
    S.submit(must(Builder->build(T, 1, 1)),
             {T.name().str(), 0,
              [] {
                CodegenResult Failed;
                Failed.Failed = true;
                Failed.Errors = {"no"};
                return Failed;
              }},
             /*Insist=*/false);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    Event Done = next(Event::Done);
    EXPECT_EQ(Done.Status, DTLTO_OK);
    EXPECT_FALSE(Done.NoObject);
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, LocalCodegenOfUnknownJobs) {
  int32_t StatusInOpen = -1, StatusOfEnded = -1;
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    StatusInOpen = Plugin.codegen(1).status;
    return DTLTO_OK;
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Plugin.done(J.Id, Plugin.object("an object"));
    dtlto_result Again = Plugin.codegen(J.Id);
    StatusOfEnded = Again.status;
    EXPECT_EQ(Again.object.data, nullptr);
    EXPECT_NE(Again.message, nullptr);
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_EQ(StatusInOpen, DTLTO_ERROR_CALLER);
  EXPECT_EQ(StatusOfEnded, DTLTO_ERROR_CALLER);
}

TEST_F(SessionTest, LocalCodegenOfForgottenJobs) {
  int32_t Status = -1;
  Gate Running;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    Running.open();
    TheGate.wait();
    dtlto_result Result = Plugin.codegen(J.Id);
    Status = Result.status;
    Plugin.done(J.Id, Result);
  };
  Plugin.OnCancel = [](uint64_t) {};
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    Running.wait();
    S.forget(1);
    TheGate.open();
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_EQ(Status, DTLTO_CANCELLED);
}

TEST_F(SessionTest, BlocksLocalCodegen) {
  Gate Inside;
  waitInCodegen(Inside);
  withSession([&](Session &S) {
    open(S);
    EXPECT_TRUE(S.blockLocalRun(1)); // not submitted yet
    submit(S, 1);
    Inside.wait();
    EXPECT_FALSE(S.blockLocalRun(1));
    TheGate.open();
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    EXPECT_TRUE(S.blockLocalRun(1));
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, BlockedJobsDontRunHere) {
  int32_t Status = DTLTO_OK;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    TheGate.wait();
    dtlto_result Result = Plugin.codegen(J.Id);
    Status = Result.status;
    Plugin.done(J.Id, Result);
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    EXPECT_EQ(next(Event::Submitted).Status, DTLTO_OK);
    EXPECT_TRUE(S.blockLocalRun(1));
    TheGate.open();
    EXPECT_EQ(next(Event::Done).Status, DTLTO_CANCELLED);
    EXPECT_TRUE(S.close(Long));
  });
  EXPECT_EQ(Status, DTLTO_CANCELLED);
}

TEST_F(SessionTest, TellsWhatRunsHere) {
  Gate Inside;
  waitInCodegen(Inside);
  withSession([&](Session &S) {
    open(S);
    EXPECT_EQ(S.lastLocalRun(1), Clock::time_point());
    submit(S, 1);
    Inside.wait();
    // While the job runs, the time advances.
    Clock::time_point Before = Clock::now();
    EXPECT_GE(S.lastLocalRun(1), Before);
    EXPECT_EQ(S.lastLocalRun(2), Clock::time_point());
    TheGate.open();
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    // After its end, the time stays.
    Clock::time_point End = S.lastLocalRun(1);
    EXPECT_GE(End, Before);
    EXPECT_LE(End, Clock::now());
    EXPECT_EQ(S.lastLocalRun(1), End);
    EXPECT_EQ(S.lastLocalRun(2), Clock::time_point());
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, CloseWaitsForLocalCodegen) {
  Gate Inside;
  std::atomic<bool> Ended{false};
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.PreCodeGenModuleHook = [&](unsigned, const llvm::Module &) {
      Inside.open();
      TheGate.wait();
      Ended = true;
      return true;
    };
  };
  withSession([&](Session &S) {
    open(S);
    submit(S, 1);
    Inside.wait();
    std::thread Later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      TheGate.open();
    });
    // The limit applies to the plugin, not to our own compiler.
    S.close(std::chrono::milliseconds(1));
    EXPECT_TRUE(Ended);
    Later.join();
  });
}

TEST_F(SessionTest, Load) {
  Plugin.OnLoad = [](dtlto_load &Load) {
    EXPECT_EQ(Load.size, sizeof(dtlto_load));
    Load.slots = 8;
    Load.expected_wait_ms = 12;
    return DTLTO_OK;
  };
  withSession([&](Session &S) {
    open(S);
    S.queryLoad();
    dtlto_load Load = next(Event::Loaded).Load;
    EXPECT_EQ(Load.slots, 8u);
    EXPECT_EQ(Load.expected_wait_ms, 12u);
    // Fields that the plugin didn't set are unknown.
    EXPECT_EQ(Load.workers, UINT32_MAX);
    EXPECT_EQ(Load.queued, UINT32_MAX);
    EXPECT_EQ(Load.free, UINT32_MAX);
    EXPECT_TRUE(S.close(Long));
  });
}

TEST_F(SessionTest, LoadFails) {
  Plugin.OnLoad = [](dtlto_load &) { return DTLTO_ERROR_INFRASTRUCTURE; };
  withSession([&](Session &S) {
    open(S);
    S.queryLoad();
    submit(S, 1);
    // Calls are made in the order of the requests.
    EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
    for (Event &E : Pending)
      EXPECT_NE(E.Kind, Event::Loaded);
    EXPECT_TRUE(S.close(Long));
  });
}

namespace {
class SessionLogTest : public SessionTest {
protected:
  void logAll() {
    Plugin.OnRun = [&](const FakePlugin::Job &J) {
      Plugin.log(DTLTO_LOG_DEBUG, "d");
      Plugin.log(DTLTO_LOG_NOTE, "n");
      Plugin.log(DTLTO_LOG_WARNING, "w");
      Plugin.log(DTLTO_LOG_ERROR, "e");
      Plugin.log(4711, "u");
      Plugin.log(DTLTO_LOG_NOTE, nullptr);
      Plugin.done(J.Id, Plugin.object("an object"));
    };
    withSession([&](Session &S) {
      open(S);
      submit(S, 1);
      EXPECT_EQ(next(Event::Done).Status, DTLTO_OK);
      EXPECT_TRUE(S.close(Long));
    });
  }
  using Texts = std::vector<std::string>;
  Texts all(MessageLevel Level) { return TheLink.Msg.all(Level); }
};
} // namespace

TEST_F(SessionLogTest, Levels) {
  logAll();
  EXPECT_EQ(all(MessageLevel::Debug), Texts{"fake: d"});
  EXPECT_EQ(all(MessageLevel::Note), (Texts{"fake: n", "fake: u"}));
  EXPECT_EQ(all(MessageLevel::Warning), Texts{"fake: w"});
  // The scheduler decides what follows from an error.
  EXPECT_EQ(all(MessageLevel::Error), Texts());
  EXPECT_EQ(next(Event::GaveUp).Message, "e");
}
