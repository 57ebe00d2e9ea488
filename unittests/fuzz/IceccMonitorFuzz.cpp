//===- IceccMonitorFuzz.cpp - A scheduler's messages to monitors ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: messages, each with a byte for its kind, a byte for a node or job, and
// the rest.
//
//===----------------------------------------------------------------------===//

#include "Cluster.h"
#include "Fuzz.h"
#include <icecc/comm.h>
#include <set>

using namespace dtlto::icecc;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Node = "Name:one\nIP:10.0.0.1\nMaxJobs:4\nNoRemote:false\n"
                     "Platform:x86_64\nLoad:13\n";
  auto stats = [](char Id, const std::string &Text) {
    return std::string("\0", 1) + Id + char(Text.size()) + Text;
  };
  return {stats(1, Node) + "\1\7\1\1\x8\1\2\7",
          stats(1, Node) + stats(1, "State:Offline\n") + stats(2, Node),
          stats(3, "Name:two\nMaxJobs:0\nNoRemote:true\nPlatform:arm\n"),
          stats(4, "MaxJobs:99999999999999999999\nLoad:-1\nLoad:1001")};
}

/// Returns whether the last line with the key `State` says Offline.
static bool saysOffline(const std::string &Text) {
  std::string Lines = "\n" + Text + "\n", Offline = "\nState:Offline\n";
  size_t Last = Lines.rfind("\nState:");
  return Last != std::string::npos &&
         Lines.compare(Last, Offline.size(), Offline) == 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Choices C(Data, Size);
  auto TheCluster =
      std::make_shared<Cluster>(Settings(), std::vector<std::string>{"x86_64"});
  bool IsKnown = false;
  std::set<uint32_t> Nodes, Jobs;
  for (unsigned Left = 1000; !C.empty() && Left != 0; --Left) {
    unsigned Kind = C.below(3);
    uint32_t Id = C.take();
    if (Kind == 0) {
      std::string Text = C.bytes(C.take());
      TheCluster->handle(MonStatsMsg(int(Id), Text));
      IsKnown = true;
      if (!saysOffline(Text))
        Nodes.insert(Id);
    } else if (Kind == 1) {
      TheCluster->handle(MonJobBeginMsg(Id, 0, C.take()));
      Jobs.insert(Id);
    } else {
      TheCluster->handle(MonJobDoneMsg(JobDoneMsg(int(Id))));
      Jobs.erase(Id);
    }
    // The numbers never exceed what was reported.
    Cluster::Numbers N = TheCluster->numbers();
    check(N.IsKnown == IsKnown && N.Nodes <= Nodes.size());
    check(N.Slots >= N.Nodes && N.Slots <= 100000 * uint64_t(N.Nodes));
    check(N.Free <= N.Slots && N.Slots - N.Free <= Jobs.size());
  }

  // Whatever was reported before, a valid node counts, and so do its jobs. Its
  // ids are new, because ids in the input have one byte.
  Cluster::Numbers Before = TheCluster->numbers();
  auto CheckMore = [&](uint32_t MoreNodes, uint32_t MoreSlots,
                       uint32_t MoreFree) {
    Cluster::Numbers N = TheCluster->numbers();
    check(N.IsKnown && N.Nodes == Before.Nodes + MoreNodes &&
          N.Slots == Before.Slots + MoreSlots &&
          N.Free == Before.Free + MoreFree);
  };
  TheCluster->handle(
      MonStatsMsg(1000, "Name:new\nIP:10.9.9.9\nMaxJobs:4\nNoRemote:false\n"
                        "Platform:x86_64\nLoad:13\n"));
  CheckMore(1, 4, 4);
  TheCluster->handle(MonJobBeginMsg(2000, 0, 1000));
  CheckMore(1, 4, 3);
  TheCluster->handle(MonJobDoneMsg(JobDoneMsg(2000)));
  CheckMore(1, 4, 4);
  TheCluster->handle(MonStatsMsg(1000, "State:Offline\n"));
  CheckMore(0, 0, 0);
  return 0;
}
