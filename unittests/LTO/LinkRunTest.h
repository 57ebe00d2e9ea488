//===- LinkRunTest.h - Links through a plugin, with threads -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the tests of the driver. Plugins in these tests wait for events. No
// test measures how long something takes, only that it ends, and how. Time
// limits that have to expire are short.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_LINK_LINKRUNTEST_H
#define DTLTO_UNITTESTS_LINK_LINKRUNTEST_H

#include "PluginLinkTest.h"
#include <atomic>

namespace dtlto::test {

// Members are public for the tables of cases.
class LinkRunTest : public PluginLinkTest {
public:
  using PluginLinkTest::Plugin;
  using PluginLinkTest::remote;
  using PluginLinkTest::setFallback;
  using PluginLinkTest::TheGate;
  using PluginLinkTest::TheLink;

  Options &options() { return TheLink.TheLinker.Opts; }
  bool hasDebugMessage(llvm::StringRef Text) {
    return TheLink.Msg.has(MessageLevel::Debug, {Text});
  }

  /// Runs all jobs remotely, except for m1.o, which \p Run handles.
  void runM1(std::function<void(const FakePlugin::Job &)> Run) {
    Plugin.OnRun = [this, Run](const FakePlugin::Job &J) {
      if (J.Name == "m1.o")
        Run(J);
      else
        Plugin.done(J.Id, remote(J));
    };
  }
  void failM1(int32_t Status, const char *Message,
              const char *Worker = nullptr) {
    runM1([=](const FakePlugin::Job &J) {
      Plugin.done(J.Id, Plugin.failure(Status, Message, Worker));
    });
  }
  void runElsewhere() {
    Plugin.OnRun = [this](const FakePlugin::Job &J) {
      Plugin.done(J.Id, remote(J));
    };
  }
  void onOpen(const char *Error, int32_t Status) {
    Plugin.OnOpen = [=](const dtlto_session_params &) {
      if (Error)
        Plugin.log(DTLTO_LOG_ERROR, Error);
      return Status;
    };
  }

  /// Limits calls and jobs to 0.2 seconds.
  void limitTime() {
    TheLink.Adjust = [](plan::Options &O) {
      O.JobTimeout = O.CallTimeout = std::chrono::milliseconds(200);
      O.DeadlineStep = std::chrono::milliseconds(20);
    };
  }
  /// Opens the gate when \p N objects are delivered.
  void openGateAfter(unsigned N) {
    TheLink.OnObject = [this, N](llvm::StringRef) {
      if (++NumObjects == N)
        TheGate.open();
    };
  }

  std::string Alien;                   // an object for another target
  std::atomic<uint64_t> HangingJob{0}; // the id of a job
  std::atomic<unsigned> NumObjects{0};
};

/// A row of a table of tests: its name, and a step before the link.
struct Case {
  const char *Name;
  void (*SetUp)(LinkRunTest &T);
  std::vector<const char *> Parts; // of the warning or error
};
inline std::string nameOf(const testing::TestParamInfo<Case> &I) {
  return I.param.Name;
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_LINK_LINKRUNTEST_H
