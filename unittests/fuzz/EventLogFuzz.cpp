//===- EventLogFuzz.cpp - Event logs of any bytes -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: an event log, or the part of one after its header.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "LogReader.h"
#include <cstdlib>

using namespace dtlto::plan;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  EventLog Log;
  std::vector<std::string> Seeds = {print(Log)};
  Log.Jobs = {{1.5, true}, {0.1, false}};
  for (size_t I = 0; I <= NumEventKinds; ++I) {
    Step S;
    S.Now = Time(I * 1000);
    if (I != 0)
      S.Cause = Event{static_cast<Event::Kind>(I - 1), 1, 7, 2};
    for (size_t K = 0; K != NumActionKinds; ++K)
      S.Actions.push_back({static_cast<Action::Kind>(K), 1, 7,
                           AttemptKind::Duplicate, Cause::Straggler, 2, true});
    Log.Steps.push_back(S);
  }
  Seeds.push_back(print(Log));

  // Short logs, so that more changes hit the fields of events and actions: the
  // start and one event, each with one action.
  const size_t HeaderSize = print(EventLog()).size();
  for (size_t I = 0; I <= NumEventKinds; ++I)
    for (size_t K = I % 4; K < NumActionKinds; K += 4) {
      EventLog Short;
      Short.Jobs = Log.Jobs;
      Short.Steps.push_back(Log.Steps[0]);
      if (I != 0)
        Short.Steps.push_back(Log.Steps[I]);
      for (Step &S : Short.Steps)
        S.Actions = {Log.Steps[I].Actions[K]};
      Seeds.push_back(print(Short).substr(HeaderSize));
    }
  return Seeds;
}

static void check(bool Condition) {
  if (!Condition)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static const std::string Header = print(EventLog());
  std::string Input(reinterpret_cast<const char *>(Data), Size);
  if (Input.compare(0, 6, Header, 0, 6) != 0 && Input[0] != '#')
    Input.insert(0, Header);
  EventLog Log, Again;
  std::string Error;
  if (!parse(Input, Log, Error)) {
    check(!Error.empty());
    return 0;
  }
  for (const Step &S : Log.Steps)
    for (const Action &A : S.Actions)
      check(A.Job == 0 || A.Job < Log.Jobs.size());
  // The log can be written, and is then read as the same.
  std::string Text = print(Log);
  check(parse(Text, Again, Error));
  check(print(Again) == Text);
  return 0;
}
