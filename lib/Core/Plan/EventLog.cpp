//===- EventLog.cpp - The history of a plan, as text ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/EventLog.h"

using namespace dtlto;
using namespace dtlto::plan;

template <typename T> static std::string printFields(const T &Line) {
  std::string Out;
  T Default;
  // Iterate over both at once.
  std::vector<std::string> Defaults;
  forEachField(
      Default, [&](auto, auto &V) { Defaults.push_back(text(V)); }, Default);
  auto At = Defaults.begin();
  forEachField(
      Line,
      [&](std::string_view Name, const auto &V) {
        std::string Text = text(V);
        bool IsDefault = Text == *At++;
        if (IsDefault && !(Name == "job" && namesJob(Line)))
          return;
        (Out += ' ') += Name;
        if (Text != "yes")
          (Out += '=') += Text;
      },
      Line);
  return Out;
}

std::string plan::printHeader(const Options &Opts,
                              const std::vector<JobInfo> &Jobs) {
  std::string Out = std::string(Version) + "\n";
  forEachOption(Opts, [&](std::string_view Name, const auto &V) {
    ((Out += "option ") += Name) += " " + text(V) + "\n";
  });
  for (const JobInfo &J : Jobs)
    Out += "job " + text(J.Estimate) + " " + text(J.LocalBytes) +
           (J.HasSideFiles ? " side-files\n" : "\n");
  return Out;
}

std::string plan::print(const Action &A) {
  return "  " + std::string(ActionNames[A.What]) + printFields(A);
}

std::string plan::printStep(Time Now, const Event *E,
                            const std::vector<Action> &Actions) {
  std::string Out = text(Now) + " ";
  if (E)
    (Out += EventNames[E->What]) += printFields(*E);
  else
    Out += "Start";
  Out += "\n";
  for (const Action &A : Actions)
    Out += print(A) + "\n";
  return Out;
}
