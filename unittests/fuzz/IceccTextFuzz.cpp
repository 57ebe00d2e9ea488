//===- IceccTextFuzz.cpp - Answers to listcs of any bytes -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the answer of a scheduler's text port.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "SchedulerText.h"
#include <algorithm>

using namespace dtlto::icecc;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {" one (10.0.0.1:10245) [x86_64] speed=0.00 jobs=0/4 load=13\n"
          "   17 COMP sub:me on:one foo.o\n200 done\n",
          " a (b:1) [c] jobs=7/7 (10.0.0.1:1) [x86_64] jobs=2/4 load=1\r\n",
          " n (host) [x] jobs=99999999999999999999", " () [ jobs=1"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Text(reinterpret_cast<const char *>(Data), Size);
  std::vector<NodeJobs> Nodes = nodesFromText(Text);
  check(Nodes.size() <= size_t(std::count(Text.begin(), Text.end(), '\n') + 1));
  for (const NodeJobs &N : Nodes) {
    check(N.Jobs <= 100000 && N.Name.find('\n') == std::string::npos);
    check(Text.find(" " + N.Name + " (" + N.Address) != std::string::npos);
    // Nodes can be written, and are then read as the same.
    std::vector<NodeJobs> Again =
        nodesFromText(" " + N.Name + " (" + N.Address +
                      ":1) [x86_64] speed=0.00 jobs=" + std::to_string(N.Jobs) +
                      "/9 load=1\n200 done\n");
    check(Again.size() == 1 && Again[0].Name == N.Name &&
          Again[0].Address == N.Address && Again[0].Jobs == N.Jobs);
  }
  return 0;
}
