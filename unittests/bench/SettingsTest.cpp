//===- SettingsTest.cpp - The arguments of the replay plugin --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "dtlto/sdk/Result.hpp"
#include <gtest/gtest.h>

using namespace dtlto::replay;

namespace {

Settings parse(std::vector<const char *> Args) {
  Args.insert(Args.begin(), "recording=r");
  return readSettings(Args.data(), uint32_t(Args.size()));
}

TEST(SettingsTest, Defaults) {
  Settings S = parse({});
  EXPECT_EQ(S.Recording, "r");
  EXPECT_DOUBLE_EQ(S.Cluster.Rate, 0.125);
  EXPECT_DOUBLE_EQ(S.Cluster.MachineRate, 0.125);
  EXPECT_EQ(S.Cluster.Latency, 200000);
  EXPECT_EQ(S.Cluster.Notice, 1000000000);
}

TEST(SettingsTest, ScaleAppliesToAllTimes) {
  Settings S = parse({"scale=10", "gbps=2", "machine-gbps=1", "latency-us=50",
                      "notice-ms=10", "machines=3", "die=2@1.5", "slow=1:4@2",
                      "die=0@7jobs", "die=0@2begun"});
  EXPECT_DOUBLE_EQ(S.Cluster.Rate, 2.5);
  EXPECT_DOUBLE_EQ(S.Cluster.MachineRate, 1.25);
  EXPECT_EQ(S.Cluster.Latency, 5000);
  EXPECT_EQ(S.Cluster.Notice, 1000000);
  ASSERT_EQ(S.Cluster.Faults.size(), 4u);
  EXPECT_EQ(S.Cluster.Faults[0].Kind, Fault::Dies);
  EXPECT_EQ(S.Cluster.Faults[0].Machine, 2u);
  EXPECT_EQ(S.Cluster.Faults[0].At, 150000000);
  EXPECT_EQ(S.Cluster.Faults[1].Kind, Fault::Slow);
  EXPECT_DOUBLE_EQ(S.Cluster.Faults[1].Factor, 4);
  EXPECT_EQ(S.Cluster.Faults[1].At, 200000000);
  EXPECT_EQ(S.Cluster.Faults[2].At, Never);
  EXPECT_EQ(S.Cluster.Faults[2].AfterJobs, 7u);
  EXPECT_EQ(S.Cluster.Faults[3].AtBegin, 2u);
}

TEST(SettingsTest, Wrong) {
  for (const char *Arg : {"machines=0",  "machines=5000",
                          "slots=x",     "gbps=0",
                          "gbps=-1",     "gbps=nan",
                          "gbps=1e3",    "held=yes",
                          "cache=2",     "scale=0",
                          "ahead=",      "die=1",
                          "die=@3",      "die=0@",
                          "die=0@jobs",  "die=0@0begun",
                          "die=0@begun", "die=0@-1",
                          "slow=0@1",    "slow=0:@1",
                          "slow=0:0@1",  "nonsense",
                          "nonsense=1",  "stats=",
                          "=",           ""})
    EXPECT_THROW(parse({Arg}), dtlto::sdk::Error) << Arg;
  EXPECT_THROW(parse({"machines=2", "die=2@1"}), dtlto::sdk::Error);
  EXPECT_THROW(readSettings(nullptr, 0), dtlto::sdk::Error);
}

} // namespace
