//===- EventLogFuzz.cpp - Event logs of any bytes -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: an event log.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "LogReader.h"
#include <cstdlib>

using namespace dtlto::plan;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  EventLog L;
  std::vector<std::string> Seeds = {print(L)};
  L.Jobs = {{1.5, true}, {0.1, false}};
  for (size_t I = 0; I <= NumEventKinds; ++I) {
    Step S;
    S.Now = Time(I * 1000);
    if (I != 0)
      S.Cause = Event{static_cast<Event::Kind>(I - 1), 1, 7, 2};
    for (size_t K = 0; K != NumActionKinds; ++K)
      S.Actions.push_back({static_cast<Action::Kind>(K), 1, 7,
                           AttemptKind::Duplicate, Cause::Straggler, 2, true});
    L.Steps.push_back(S);
  }
  Seeds.push_back(print(L));
  return Seeds;
}

static void check(bool Condition) {
  if (!Condition)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  EventLog L, Again;
  std::string Error;
  if (!parse({reinterpret_cast<const char *>(Data), Size}, L, Error)) {
    check(!Error.empty());
    return 0;
  }
  for (const Step &S : L.Steps)
    for (const Action &A : S.Actions)
      check(A.Job == 0 || A.Job < L.Jobs.size());
  // What was read can be written, and is then read again as the same.
  std::string Text = print(L);
  check(parse(Text, Again, Error));
  check(print(Again) == Text);
  return 0;
}
