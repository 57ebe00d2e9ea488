//===- StatisticsFuzz.cpp - Files of statistics with any bytes ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a file. What can be read can be written and read again, also after a
// link was added.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Report/Statistics.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

/// A link with one object of a worker, after a failure on another.
static Timeline link() {
  JobRecord J;
  J.Name = "a.o";
  J.PrimaryBytes = J.ObjectBytes = 1000;
  J.From = JobRecord::Source::Worker;
  J.Attempts.resize(2);
  for (AttemptRecord &A : J.Attempts) {
    A.Offered = A.Accepted = A.Running = 1;
    A.Done = 2;
    A.Worker = "w1";
  }
  J.Attempts[0].TheOutcome = AttemptRecord::Outcome::Infrastructure;
  J.Attempts[1].TheOutcome = AttemptRecord::Outcome::Ok;
  J.Attempts[1].TheKind = AttemptRecord::Kind::Retry;
  J.Attempts[1].Worker = "w\xff\n";
  return Timeline({J}, {}, 0, 3);
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  Statistics S;
  std::string Empty = formatStatistics(S);
  addLink(S, link(), "out", "plugin");
  return {Empty, formatStatistics(S)};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Text(reinterpret_cast<const char *>(Data), Size);
  Expected<Statistics> S = parseStatistics(Text);
  if (!S) {
    check(!toString(S.takeError()).empty());
    return 0;
  }
  const std::string Again = formatStatistics(*S);
  check(formatStatistics(cantFail(parseStatistics(Again))) == Again);
  const int64_t Links = S->Links;
  addLink(*S, link(), "out", "plugin");
  check(S->Links == Links + 1 && S->Workers.size() <= MaxStatWorkers &&
        S->Slowest.size() <= MaxStatModules && S->Last.size() <= MaxStatLinks);
  check(S->Workers[0].Retries != 0 && S->Workers[1].Jobs != 0);
  return 0;
}
