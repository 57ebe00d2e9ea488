//===- DeadlineTest.cpp - Plugins that keep the linker waiting ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scheduler's time limits. How long anything takes is never tested, only
// that it comes to an end, and to which.
//
//===----------------------------------------------------------------------===//

#include "PluginLinkTest.h"
#include <atomic>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {
class DeadlineTest : public PluginLinkTest {
protected:
  void SetUp() override {
    makeProgram(4);
    setTimeout(1);
  }
};
} // namespace

TEST_F(DeadlineTest, OpenDoesNotReturn) {
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    TheGate.wait();
    return DTLTO_OK;
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "open() has not returned"}));
  EXPECT_TRUE(warned({"4 of 4 modules were compiled here instead"}));
}

TEST_F(DeadlineTest, OpenDoesNotReturnWithoutFallback) {
  setFallback(FallbackKind::None);
  Plugin.OnOpen = [&](const dtlto_session_params &) {
    TheGate.wait();
    return DTLTO_OK;
  };
  link();
  EXPECT_NE(Have.Error.find("open() has not returned"), std::string::npos)
      << Have.Error;
}

TEST_F(DeadlineTest, SubmitDoesNotReturn) {
  Plugin.OnSubmit = [&](const FakePlugin::Job &J) {
    if (J.Name == "m1.o")
      TheGate.wait();
    return DTLTO_OK;
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "submit() has not returned"}));
}

TEST_F(DeadlineTest, LoadDoesNotReturn) {
  Plugin.OnLoad = [&](dtlto_load &) {
    TheGate.wait();
    return DTLTO_OK;
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "load() has not returned"}));
}

TEST_F(DeadlineTest, CloseDoesNotReturn) {
  Plugin.OnClose = [&] { TheGate.wait(); };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "close() has not returned"}));
  EXPECT_EQ(TheLink.Msg.warnings().size(), 1u);
}

TEST_F(DeadlineTest, NoResult) {
  std::atomic<bool> Late{false};
  // When all objects are there, the lost job comes back.
  std::atomic<unsigned> NumObjects{0};
  TheLink.OnObject = [&](StringRef) {
    if (++NumObjects == 4)
      TheGate.open();
  };
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    if (J.Name == "m1.o") {
      Plugin.state(J.Id, DTLTO_STATE_RUNNING, "host:1");
      TheGate.wait();
      Late = true;
    }
    Plugin.done(J.Id, remote(J));
  };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "'m1.o'", "no result within 1 s"}));
  Plugin.waitForEnd();
  EXPECT_TRUE(Late);
  // The host has no use for it any more, and has said so.
  std::vector<uint64_t> Cancelled = Plugin.cancelled();
  bool Asked = false;
  for (const FakePlugin::Job &J : Plugin.submitted())
    for (uint64_t Id : Cancelled)
      Asked |= J.Name == "m1.o" && J.Id == Id;
  EXPECT_TRUE(Asked);
}

TEST_F(DeadlineTest, NoResultWithoutFallback) {
  setFallback(FallbackKind::None);
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    if (J.Name == "m1.o")
      TheGate.wait();
    Plugin.done(J.Id, remote(J));
  };
  link();
  EXPECT_NE(Have.Error.find("plugin 'fake'"), std::string::npos) << Have.Error;
  EXPECT_NE(Have.Error.find("no result within 1 s"), std::string::npos)
      << Have.Error;
}

TEST_F(DeadlineTest, AlwaysBusy) {
  Plugin.OnSubmit = [](const FakePlugin::Job &) { return DTLTO_BUSY; };
  linkSame();
  EXPECT_TRUE(warned({"plugin 'fake'", "busy"}));
  EXPECT_TRUE(warned({"4 of 4 modules were compiled here instead"}));
}

TEST_F(DeadlineTest, AlwaysBusyWithoutFallback) {
  setFallback(FallbackKind::None);
  Plugin.OnSubmit = [](const FakePlugin::Job &) { return DTLTO_BUSY; };
  link();
  EXPECT_NE(Have.Error.find("busy"), std::string::npos) << Have.Error;
}

TEST_F(DeadlineTest, JobsThatRunHereHaveNoLimit) {
  // Code generation that takes longer than the limit is no fault of the
  // plugin's: it is the user's own machine. Nor is it that other jobs wait.
  std::atomic<bool> Slow{false};
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.PreCodeGenModuleHook = [&](unsigned, const llvm::Module &) {
      if (!Slow.exchange(true))
        std::this_thread::sleep_for(std::chrono::milliseconds(2500));
      return true;
    };
  };
  linkSame();
  EXPECT_TRUE(TheLink.Msg.warnings().empty())
      << testing::PrintToString(TheLink.Msg.warnings());
}

TEST_F(DeadlineTest, LocalCodegenOutlivesThePlugin) {
  // The plugin reports that it is done with a job in its local code generation,
  // and the link ends only when that has.
  std::atomic<bool> Inside{false}, Ended{false};
  TheLink.Configure = [&](lto::Config &Conf) {
    Conf.PreCodeGenModuleHook = [&](unsigned, const llvm::Module &) {
      if (!Inside.exchange(true)) {
        TheGate.wait();
        Ended = true;
      }
      return true;
    };
  };
  std::thread Other;
  Plugin.OnRun = [&](const FakePlugin::Job &J) {
    if (J.Name != "m1.o")
      return Plugin.done(J.Id, remote(J));
    Other = std::thread([this, Id = J.Id] {
      dtlto_result Result = Plugin.codegen(Id);
      if (Result.object.release)
        Result.object.release(Result.object.owner, Result.object.data,
                              Result.object.size);
    });
    while (!Inside)
      std::this_thread::yield();
    Plugin.done(J.Id, remote(J));
  };
  Plugin.OnClose = [&] { Other.join(); };
  std::atomic<unsigned> NumObjects{0};
  TheLink.OnObject = [&](StringRef) {
    if (++NumObjects == 4)
      TheGate.open();
  };
  linkSame();
  EXPECT_TRUE(Ended);
  EXPECT_TRUE(TheLink.Msg.warnings().empty());
}
