//===- PluginLinkTest.h - A fixture for links through a plugin --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_PLUGINLINKTEST_H
#define DTLTO_UNITTESTS_TESTSUPPORT_PLUGINLINKTEST_H

#include "FakePlugin.h"
#include "TestLink.h"
#include "gtest/gtest.h"

namespace dtlto::test {

/// Links a program through a plugin. TearDown() checks what must hold after
/// each test.
class PluginLinkTest : public testing::Test {
protected:
  /// Adds a program of \p N modules, and links it in-process.
  void makeProgram(unsigned N) {
    TheLink.addProgram(N);
    linkInProcess();
  }
  void linkInProcess() {
    ExpectedResult = TheLink.inProcess();
    ASSERT_EQ(ExpectedResult.Error, "");
    ASSERT_FALSE(ExpectedResult.Objects.empty());
  }

  void link() { ActualResult = TheLink.withPlugin(Plugin.entry()); }

  /// Links, and expects the objects of the in-process link.
  void linkSame() {
    link();
    EXPECT_EQ(ActualResult.Error, "");
    expectSameObjects();
  }
  void expectSameObjects() {
    ASSERT_EQ(ActualResult.Objects.size(), ExpectedResult.Objects.size());
    for (const auto &[Name, Object] : ExpectedResult.Objects)
      EXPECT_TRUE(ActualResult.Objects[Name] == Object) << Name;
  }

  /// Returns a result as a remote worker would send it.
  dtlto_result remote(const FakePlugin::Job &J) {
    return Plugin.object(ExpectedResult.Objects[J.Name]);
  }

  bool warned(llvm::ArrayRef<llvm::StringRef> Parts) {
    return TheLink.Msg.has(MessageLevel::Warning, Parts);
  }

  /// Sets the time limit in seconds, and what happens to jobs that the plugin
  /// can't run.
  void setTimeout(unsigned Seconds) {
    TheLink.TheLinker.Opts.TimeoutSeconds = Seconds;
  }
  void setFallback(FallbackKind Kind) {
    TheLink.TheLinker.Opts.Fallback = Kind;
  }

  void TearDown() override {
    TheGate.open();
    Plugin.waitForEnd();
    EXPECT_EQ(Plugin.complaints(), std::vector<std::string>());
    EXPECT_EQ(Plugin.numObjectsAlive(), 0u);
  }

  Gate TheGate; // opened at the end, for calls that hang
  FakePlugin Plugin;
  TestLink TheLink;
  TestLink::Result ExpectedResult, ActualResult;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_PLUGINLINKTEST_H
