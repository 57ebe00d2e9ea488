//===- Cases.h - What is tried with a plugin --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_CASES_H
#define DTLTO_PLUGINCHECK_CASES_H

#include "Session.h"
#include <string>
#include <vector>

namespace dtlto::check {

/// What a case has to work with.
struct Bench {
  const dtlto_plugin &Plugin;
  const std::string &Path; // of the plugin
  const Options &O;
  const std::vector<Sample> &Samples; // at least one; the largest first
  const std::vector<Sample> &Refused; // by the compiler; may be none

  const Sample &largest() const { return Samples.front(); }
  const Sample &smallest() const { return Samples.back(); }
};

struct Case {
  const char *Name;
  const char *Promise; // what is checked, in a few words
  void (*Run)(const Bench &);
  /// If it doesn't come to its end, there is no sense in those that follow.
  bool IsBasic = false;
};

/// Loads the plugin and checks its entry. Where that fails, so has the case.
const dtlto_plugin &loadPlugin(const std::string &Path);

/// All cases, in the order in which they are run.
std::vector<Case> allCases();
extern const std::vector<Case> PluginCases, JobCases;

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_CASES_H
