//===- Simulate.cpp - dtlto-simulate --------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link.h"
#include "LogReader.h"
#include "Random.h"
#include "Rules.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

using namespace dtlto;
using namespace dtlto::sim;

static constexpr char Usage[] =
    R"(usage: dtlto-simulate --links N [--seed S] [--rounds R] [--threads T]
                      [--log FILE]
       dtlto-simulate --replay FILE

Runs N random links, with faults of all kinds, through the plan that decides
which job runs where and when, and checks its rules after each step. The links
use no threads, files or clocks. Link I of N has the seed S + I; equal seeds
make equal links, on any machine.

A rule that is broken is printed with the link's seed and the shortest event
log that was found to break it. --replay reads an event log, and says where
the decisions in it differ from those that are made now.

  --links N    how many links
  --seed S     the seed of the first link (default: 1)
  --rounds R   2: each link is two, one after the other on the same farm, as with
               two rounds of code generation (default: 1)
  --threads T  default: one for each core; only changes how long it takes
  --log FILE   writes the event log of the first link
  --replay FILE

Exit status: 0 if all went well, 1 if a rule was broken or decisions
differ, 2 for wrong arguments and logs that can't be read.
)";

// Limits on repeated reports: shortest logs, and lines.
static constexpr size_t MaxLogs = 3, MaxLines = 20;

/// Simulates a link of one or two rounds. With two, the result has the steps
/// and the digest of both; everything else is of the last round.
static LinkResult simulateLink(uint64_t Seed, const Limits &L, bool IsTwice,
                               bool WantsLog = false,
                               TwoRounds *Rounds = nullptr) {
  if (!IsTwice)
    return simulate(drawScenario(Seed, L), WantsLog);
  TwoRounds Link = simulateTwice(Seed, L, WantsLog);
  LinkResult R = Link.Second ? *Link.Second : Link.First;
  if (Link.Second) {
    R.NumSteps += Link.First.NumSteps;
    R.Digest = mix(R.Digest ^ Link.First.Digest);
  }
  R.Violation = Link.violation();
  if (Rounds)
    *Rounds = std::move(Link);
  return R;
}

/// Prints a link that broke a rule, reduced as far as possible.
static void printViolation(uint64_t Seed, const LinkResult &R, bool IsTwice,
                           bool WantsLog) {
  std::printf("violation: seed %" PRIu64 ": %s\n", Seed, R.Violation.c_str());
  if (!WantsLog)
    return;
  Limits Best;
  uint64_t Budget = 3000000; // limits the number of steps
  auto Try = [&](const Limits &L) {
    if (Budget == 0)
      return false;
    LinkResult R = simulateLink(Seed, L, IsTwice);
    Budget -= std::min(Budget, R.NumSteps);
    if (!R.Violation.empty())
      Best = L;
    return !R.Violation.empty();
  };
  auto TryFewerJobs = [&](unsigned Share) {
    Limits L = Best;
    L.MaxJobs = std::min(L.MaxJobs, static_cast<unsigned>(R.NumJobs));
    do
      L.MaxJobs -= std::max(1u, L.MaxJobs / Share);
    while (L.MaxJobs != 0 && Try(L));
  };
  // Fewer jobs first, to make the rest faster.
  TryFewerJobs(4);
  for (unsigned F = 0; F != NumFeatures; ++F) {
    Limits L = Best;
    L.Without |= uint64_t(1) << F;
    Try(L);
  }
  TryFewerJobs(UINT_MAX);
  Scenario S = drawScenario(Seed, Best);
  LinkResult Small = simulateLink(Seed, Best, IsTwice, /*WantsLog=*/true);
  std::printf("the shortest log, of %zu jobs", Small.NumJobs);
  for (unsigned F = 0; F != NumFeatures; ++F)
    if (S.has(Feature(F)))
      std::printf(", %s", std::string(nameOf(Feature(F))).c_str());
  std::printf(": %s\n%s", Small.Violation.c_str(), Small.Log.c_str());
}

static int fail(const char *What, const char *Path) {
  std::fprintf(stderr, "dtlto-simulate: can't %s '%s': %s\n", What, Path,
               std::strerror(errno));
  return 2;
}

static int runLinks(uint64_t NumLinks, uint64_t FirstSeed, bool IsTwice,
                    unsigned NumThreads, const char *LogPath) {
  if (LogPath) {
    std::ofstream Out(LogPath, std::ios::binary);
    Out << simulateLink(FirstSeed, {}, IsTwice, /*WantsLog=*/true).Log;
    Out.close();
    if (!Out)
      return fail("write", LogPath);
  }
  std::vector<LinkResult> Results(NumLinks);
  std::vector<TwoRounds> Rounds(IsTwice ? NumLinks : 0);
  std::atomic<uint64_t> Next{0};
  auto Work = [&] {
    for (uint64_t I; (I = Next++) < NumLinks;)
      Results[I] = simulateLink(FirstSeed + I, {}, IsTwice, /*WantsLog=*/false,
                                IsTwice ? &Rounds[I] : nullptr);
  };
  std::vector<std::thread> Threads;
  for (unsigned I = 1; I < NumThreads; ++I)
    Threads.emplace_back(Work);
  Work();
  for (std::thread &T : Threads)
    T.join();

  uint64_t NumJobs = 0, NumViolations = 0, Digest = 0;
  for (uint64_t I = 0; I != NumLinks; ++I) {
    const LinkResult &R = Results[I];
    NumJobs += R.NumJobs;
    Digest = mix(Digest ^ R.Digest);
    if (R.Violation.empty())
      continue;
    ++NumViolations;
    if (NumViolations <= MaxLines)
      printViolation(FirstSeed + I, R, IsTwice, NumViolations <= MaxLogs);
  }
  if (IsTwice)
    printRounds(Rounds);
  std::printf("simulated: %" PRIu64 " links, %" PRIu64 " jobs, %" PRIu64
              " violations, digest %016" PRIx64 "\n",
              NumLinks, NumJobs, NumViolations, Digest);
  return NumViolations != 0;
}

static int replayLog(const char *Path) {
  std::ifstream In(Path, std::ios::binary);
  std::string Text;
  try {
    Text.assign(std::istreambuf_iterator<char>(In), {});
  } catch (const std::ios::failure &) { // for example, of a folder
    return fail("read", Path);
  }
  if (!In)
    return fail("read", Path);
  plan::EventLog L;
  std::string Error;
  if (!plan::parse(Text, L, Error)) {
    std::fprintf(stderr, "dtlto-simulate: '%s' is no event log: %s\n", Path,
                 Error.c_str());
    return 2;
  }
  if (std::string Difference = plan::replay(L); !Difference.empty()) {
    std::printf("%s: %s\n", Path, Difference.c_str());
    return 1;
  }
  // Equal decisions may still be wrong.
  Rules R(L.Jobs, L.O);
  size_t NumEvents = 0, NumActions = 0;
  for (const plan::Step &S : L.Steps) {
    NumEvents += S.Cause.has_value();
    NumActions += S.Actions.size();
    std::string Broken =
        R.onStep(S.Now, S.Cause ? &*S.Cause : nullptr, S.Actions);
    if (!Broken.empty()) {
      std::printf("%s: line %zu: the decisions are the same, but a rule is "
                  "broken: %s\n",
                  Path, S.Line, Broken.c_str());
      return 1;
    }
  }
  std::printf("replayed: %zu events, %zu actions, the same\n", NumEvents,
              NumActions);
  return 0;
}

namespace {
struct CommandLine {
  uint64_t NumLinks = 0, Seed = 1, NumRounds = 1;
  uint64_t NumThreads = std::max(1u, std::thread::hardware_concurrency());
  const char *Replay = nullptr, *Log = nullptr;
};

/// An option with a value: a path, or a number from \p Min to \p Max.
struct Option {
  std::string_view Name;
  const char *CommandLine::*Path;
  uint64_t CommandLine::*Number;
  uint64_t Min, Max;
};
} // namespace

static constexpr Option Known[] = {
    {"--links", nullptr, &CommandLine::NumLinks, 1, 100000000},
    {"--seed", nullptr, &CommandLine::Seed, 0, UINT64_MAX},
    {"--rounds", nullptr, &CommandLine::NumRounds, 1, 2},
    {"--threads", nullptr, &CommandLine::NumThreads, 1, 1024},
    {"--replay", &CommandLine::Replay, nullptr, 0, 0},
    {"--log", &CommandLine::Log, nullptr, 0, 0}};

static int refuse(const char *What, const char *Which) {
  std::fprintf(stderr, "dtlto-simulate: %s '%s'\n%s", What, Which, Usage);
  return 2;
}

static bool readNumber(std::string_view Text, const Option &O, uint64_t &N) {
  auto [End, Error] =
      std::from_chars(Text.data(), Text.data() + Text.size(), N);
  return Error == std::errc() && End == Text.data() + Text.size() &&
         N >= O.Min && N <= O.Max;
}

int main(int Argc, char **Argv) {
  CommandLine C;
  for (int I = 1; I < Argc; ++I) {
    std::string_view Name = Argv[I];
    if (Name == "--help") {
      std::fputs(Usage, stdout);
      return 0;
    }
    const Option *O =
        std::find_if(std::begin(Known), std::end(Known),
                     [&](const Option &O) { return O.Name == Name; });
    if (O == std::end(Known))
      return refuse("unknown argument", Argv[I]);
    if (++I == Argc)
      return refuse("nothing follows", Argv[I - 1]);
    if (O->Path)
      C.*O->Path = Argv[I];
    else if (!readNumber(Argv[I], *O, C.*O->Number))
      return refuse("bad number", Argv[I]);
  }
  if ((C.Replay != nullptr) == (C.NumLinks != 0) || (C.Replay && C.Log))
    return refuse("either links or a log to replay, not",
                  C.Replay ? "both" : "neither");
  int Code = C.Replay ? replayLog(C.Replay)
                      : runLinks(C.NumLinks, C.Seed, C.NumRounds == 2,
                                 static_cast<unsigned>(C.NumThreads), C.Log);
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return Code;
  std::fputs("dtlto-simulate: standard output can't be written\n", stderr);
  return 2;
}
