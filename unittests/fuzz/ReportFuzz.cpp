//===- ReportFuzz.cpp - Reports with any names and messages ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: choices of texts and of a link's timeline. The scripts of the page are
// tested in a browser by test/report.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Report/Report.h"
#include "Report/TimelineSummary.h"
#include "Report/TraceEvents.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <numeric>
#include <random>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds = {
      "\x0e</script><b>x.\5<!--x", "\7\xff\xc3\\\"\n\t\x1f\xc]]> <script>",
      "\x30\\u003c/script><SCRIPT\t<!-- --> &lt; \\\\\xe2\x80\xa8"};
  // Timelines with many jobs and attempts.
  std::mt19937 Random(1);
  for (size_t Size : {100, 200, 300, 400}) {
    std::string Seed(Size, '\0');
    for (char &C : Seed)
      C = char(Random());
    Seeds.push_back(Seed);
  }
  return Seeds;
}

static std::string text(Choices &C) { return C.text(48); }

/// Returns a number: often a small one, otherwise one of any width.
static uint64_t number(Choices &C) {
  uint64_t N = C.take();
  return N < 200 ? N : ~uint64_t(0) >> (255 - N);
}

/// Advances \p Clock and returns it, or sometimes returns NoTime.
static double later(Choices &C, double &Clock) {
  unsigned T = C.take();
  return T == 255 ? NoTime : Clock += T / 200.0;
}

static AttemptRecord attempt(Choices &C, double &Clock) {
  AttemptRecord A;
  A.TheKind = AttemptRecord::Kind(C.below(5));
  A.TheOutcome = AttemptRecord::Outcome(C.below(8));
  A.RanLocally = C.below(2) != 0;
  A.Id = C.take();
  A.Offered = later(C, Clock);
  A.Accepted = later(C, Clock);
  // A plugin may report states in any order.
  double *States[] = {&A.Sending, &A.Running, &A.Receiving};
  std::rotate(States, States + C.below(3), States + 3);
  for (double *State : States)
    *State = later(C, Clock);
  A.Done = later(C, Clock);
  A.Worker = text(C);
  A.Message = text(C);
  A.Numbers = {{text(C), C.below(5), number(C)}};
  return A;
}

/// The times of a job are in order. Its attempts may overlap.
static JobRecord job(Choices &C) {
  JobRecord J;
  J.Name = text(C);
  J.LocalReason = text(C);
  J.Number = C.take();
  J.From = JobRecord::Source(C.below(4));
  for (uint64_t *Bytes : {&J.PrimaryBytes, &J.ImportBytes, &J.WholeImportBytes,
                          &J.ShardBytes, &J.ObjectBytes})
    *Bytes = number(C);
  double Begin = C.take() / 99.0;
  if (C.below(4) != 0) {
    J.Preparing = Begin;
    J.Prepared = Begin += C.take() / 200.0;
  }
  double Last = Begin;
  for (unsigned Left = C.below(4); Left != 0; --Left) {
    double Clock = Begin + C.take() / 99.0;
    J.Attempts.push_back(attempt(C, Clock));
    Last = std::max(Last, Clock);
  }
  J.Delivering = later(C, Last);
  J.Ended = later(C, Last);
  return J;
}

static Timeline oneRound(Choices &C, const PluginNumber &Told) {
  std::vector<JobRecord> Jobs(C.below(4));
  std::vector<LoadRecord> Loads(C.below(3));
  double End = 0;
  for (JobRecord &J : Jobs) {
    J = job(C);
    End = std::max({End, J.Prepared, J.Delivering, J.Ended});
    for (const AttemptRecord &A : J.Attempts)
      End = std::max({End, A.Offered, A.Accepted, A.Sending, A.Running,
                      A.Receiving, A.Done});
  }
  double At = 0;
  for (LoadRecord &L : Loads) {
    At += C.take() / 99.0;
    L = {At, uint32_t(number(C)), uint32_t(number(C)), uint32_t(number(C)),
         uint32_t(number(C))};
  }
  return {std::move(Jobs), std::move(Loads), C.take() / 60.0, End, {Told}};
}

static Timeline record(Choices &C, const PluginNumber &Told) {
  Timeline T = oneRound(C, Told);
  if (C.below(4) == 1) {
    Timeline Second = oneRound(C, Told);
    double Began = T.end() + C.take() / 99.0;
    Second.addEarlierStage(std::move(T), Began);
    T = std::move(Second);
  }
  return T;
}

static void checkSummary(const Timeline &T, LaneRule Rule) {
  Summary S = summarize(T, Rule);
  // Waits have no gaps, and only the thin link comes before time 0.
  double Last = -T.thinLink();
  for (const WaitSummary &W : S.Waits) {
    check(W.Begin == Last && W.Begin < W.End);
    check(W.What == Phase::ThinLink ? W.End <= 0 : W.Begin >= 0);
    Last = W.End;
  }
  check(Last == T.end());

  ArrayRef<JobRecord> Jobs = T.jobs();
  check(std::accumulate(S.From.begin(), S.From.end(), size_t(0)) ==
        Jobs.size());
  auto IsThere = [&](const Place &P) {
    return P.Host == Place::None ||
           (P.Host < S.Hosts.size() && P.Lane < S.Hosts[P.Host].Lanes);
  };
  check(S.Places.size() == Jobs.size());
  for (size_t I = 0; I != Jobs.size(); ++I) {
    check(IsThere(S.Places[I].Prepare) && IsThere(S.Places[I].Deliver));
    check(S.Places[I].Attempts.size() == Jobs[I].Attempts.size());
    check(all_of(S.Places[I].Attempts, IsThere));
  }
}

static void checkSpans(const AttemptRecord &A) {
  SmallVector<Span, 4> All = spans(A);
  for (size_t I = 0; I != All.size(); ++I) {
    check(0 <= All[I].Begin && All[I].Begin < All[I].End);
    check(I == 0 ||
          (All[I].Begin == All[I - 1].End && All[I].What > All[I - 1].What));
  }
  check(All.empty() || All.back().End == A.Done);
}

/// Returns the data of a report, and checks that names are unchanged.
static json::Value checkJSON(const Timeline &T, const ReportFacts &Facts) {
  std::string Text;
  raw_string_ostream OS(Text);
  writeReportJSON(OS, T, Facts, /*Indent=*/0);
  Expected<json::Value> Report = json::parse(OS.str());
  check(bool(Report));
  const json::Object &Top = *Report->getAsObject();
  const json::Array *Written = Top.getArray("jobs");
  check(Written && Written->size() == T.jobs().size());
  for (size_t I = 0; I != Written->size(); ++I)
    check(*(*Written)[I].getAsObject()->getString("name") ==
          json::fixUTF8(T.jobs()[I].Name));
  const json::Object &Number = *Top.getArray("numbers")->front().getAsObject();
  check(*Number.getString("name") ==
        json::fixUTF8(T.sessionNumbers().front().Name));
  check(Number.get("value")->getAsNumber().has_value());
  return std::move(*Report);
}

static std::string page(const Timeline &T, const ReportFacts &Facts) {
  std::string Text;
  raw_string_ostream OS(Text);
  writeReportHTML(OS, T, Facts);
  return OS.str();
}

/// Checks that texts can't add markup: the page around the data is always the
/// same, and the data has no markup.
static void checkPage(const Timeline &T, const ReportFacts &Facts,
                      const json::Value &Report) {
  static const std::string Plain = page(Timeline({}, {}, 0, 2), {});
  static const StringRef Mark =
      "<script type=\"application/json\" id=\"data\">";
  static const size_t Begin = Plain.find(Mark.str()) + Mark.size();
  static const StringRef Head = StringRef(Plain).take_front(Begin);
  static const StringRef Tail =
      StringRef(Plain).drop_front(Plain.find("</script>", Begin));
  std::string Page = page(T, Facts);
  StringRef Data = Page;
  check(Data.consume_front(Head) && Data.consume_back(Tail));
  check(!Data.contains('<'));
  Expected<json::Value> Shown = json::parse(Data);
  check(bool(Shown));
  check(*Shown == Report);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Choices C(Data, Size);
  ReportFacts Facts{text(C), text(C), text(C), 1};
  PluginNumber Told{text(C), C.below(5), UINT64_MAX};
  Timeline T = record(C, Told);

  checkSummary(T, LaneRule::Slots);
  checkSummary(T, LaneRule::Spans);
  for (const JobRecord &J : T.jobs())
    for (const AttemptRecord &A : J.Attempts)
      checkSpans(A);

  std::string Trace = "{\"traceEvents\":[{\"pid\":1}],\"beginningOfTime\":1}";
  check(!errorToBool(addTraceEvents(Trace, T, {})));
  Expected<json::Value> Events = json::parse(Trace);
  check(bool(Events));

  checkPage(T, Facts, checkJSON(T, Facts));
  return 0;
}
