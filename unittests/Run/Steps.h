//===- Steps.h - Artificial steps of a link ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_RUN_STEPS_H
#define DTLTO_UNITTESTS_RUN_STEPS_H

#include "Report/Observer.h"
#include <string>

namespace dtlto::test {

/// A link with jobs j0 to j<N-1>, modules m0.o to m<N-1>.o, and workers 1 and
/// 2.
class FakeLink : public LinkFacts {
public:
  explicit FakeLink(unsigned N) {
    for (unsigned I = 0; I != N; ++I) {
      std::string Name = "m" + std::to_string(I) + ".o";
      Jobs.push_back({Name, Name, Name, I, 1000 + I, 0, 0, /*Seconds=*/1});
    }
  }

  size_t numJobs() const override { return Jobs.size(); }
  const JobFacts &facts(plan::JobId J) const override { return Jobs.at(J); }
  llvm::StringRef workerName(plan::WorkerId W) const override {
    return W == 0 ? "" : W == 1 ? "one.example" : "two.example";
  }
  plan::WorkerId workerOf(plan::AttemptId) const override { return 0; }
  bool hasFailed() const override { return HasFailed; }
  const BuiltJob *built(plan::AttemptId) const override { return Built; }
  uint64_t objectSize(plan::AttemptId) const override { return 0; }
  bool hasErrors() const override { return HasFailed; }
  llvm::ArrayRef<PluginNumber> pluginNumbers() const override { return {}; }

  bool HasFailed = false;
  const BuiltJob *Built = nullptr; // for each attempt

private:
  std::vector<JobFacts> Jobs;
};

inline plan::Action action(plan::Action::Kind What, plan::JobId J = 0,
                           plan::AttemptId A = 0,
                           plan::Cause Why = plan::Cause::None) {
  plan::Action NewAction;
  NewAction.What = What;
  NewAction.Job = J;
  NewAction.Attempt = A;
  NewAction.Why = Why;
  return NewAction;
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_RUN_STEPS_H
