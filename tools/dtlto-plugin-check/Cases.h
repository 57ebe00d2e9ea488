//===- Cases.h - What is tried with a plugin --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_CASES_H
#define DTLTO_PLUGINCHECK_CASES_H

#include "Play.h"
#include <string>
#include <vector>

namespace dtlto::check {

/// What a case has to work with.
struct Bench {
  std::string Path; // of the plugin
  Wishes W;
  std::vector<Sample> Samples; // at least one; the largest first
  std::vector<Sample> Refused; // the compiler says no to these; may be none

  /// Loads the plugin and checks its entry. Where that fails, so has the case.
  const dtlto_plugin &plugin() const;
};

struct Case {
  const char *Name;
  const char *Promise; // what is checked, in a few words
  void (*Run)(const Bench &);
  /// If it doesn't come to its end, there is no sense in those that follow.
  bool IsBasic;
};

const std::vector<Case> &pluginCases();
const std::vector<Case> &jobCases();
const std::vector<Case> &lifeCases();
const std::vector<Case> &inputCases();
const std::vector<Case> &hostCases();

/// All of them, in the order in which they are run.
std::vector<Case> allCases();

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_CASES_H
