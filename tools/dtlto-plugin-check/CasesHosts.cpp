//===- CasesHosts.cpp - Linkers of other ages -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "Cases.h"

using namespace dtlto::check;

static void run(Play &S, const Bench &B, const char *Avoid = nullptr) {
  for (const Sample &Job : B.Samples) {
    uint64_t Id = S.submit(Job, Avoid);
    S.waitForAll();
    S.expectObject(Id, Job);
    S.load();
  }
  S.close();
}

static void newHost(const Bench &B) {
  Play S(B.plugin(), B.W, HostAge::future());
  S.mustOpen(B.Samples.size());
  run(S, B);
}

/// A file that nothing needs, and imports that the compiler can't do without.
static void unknownRole(const Bench &B) {
  constexpr uint32_t LaterRole = 77;
  Bench More = B;
  for (Sample &Job : More.Samples) {
    for (Sample::Input &In : Job.Inputs)
      if (In.Role == DTLTO_ROLE_IMPORT)
        In.LaterRole = LaterRole;
    Job.Inputs.push_back(
        {"more/of-a-later-abi.bin", DTLTO_ROLE_OTHER, "bytes", {}, LaterRole});
    Job.digest();
  }
  Play S(B.plugin(), B.W, HostAge::future());
  S.mustOpen(B.Samples.size());
  run(S, More);
}

static void avoid(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(B.Samples.size());
  run(S, B, "this machine");
}

const std::vector<Case> &dtlto::check::hostCases() {
  static const std::vector<Case> All = {
      {"new-host", "a linker with ABI 1.99, whose structs are larger", newHost,
       false},
      {"unknown-role",
       "an input with a role of a later ABI is a file like others", unknownRole,
       false},
      {"avoid", "a job that is to avoid a worker has its object all the same",
       avoid, false},
  };
  return All;
}

std::vector<Case> dtlto::check::allCases() {
  std::vector<Case> All;
  for (auto *Some :
       {&pluginCases(), &jobCases(), &lifeCases(), &inputCases(), &hostCases()})
    All.insert(All.end(), Some->begin(), Some->end());
  return All;
}
