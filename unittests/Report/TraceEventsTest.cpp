//===- TraceEventsTest.cpp - A link's timeline in a time trace ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/TraceEvents.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/TimeProfiler.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

namespace {

JobRecord job(StringRef Name, bool RanLocally = false) {
  JobRecord J;
  J.Name = Name.str();
  J.From = JobRecord::Source::Worker;
  J.Preparing = 0;
  J.Prepared = 1;
  J.Delivering = 7;
  J.Ended = 8;
  AttemptRecord A;
  A.Id = 1;
  A.Worker = "node1";
  A.RanLocally = RanLocally;
  A.TheOutcome = AttemptRecord::Outcome::Ok;
  A.Offered = A.Accepted = 1;
  A.Sending = 2;
  A.Running = 3;
  A.Receiving = 5;
  A.Done = 7;
  J.Attempts = {A};
  return J;
}

/// Returns the profiler's own output.
std::string traceOfProfiler() {
  timeTraceProfilerInitialize(0, "test");
  timeTraceProfilerBegin("ours", StringRef("its detail"));
  timeTraceProfilerEnd();
  SmallString<0> Text;
  raw_svector_ostream OS(Text);
  timeTraceProfilerWrite(OS);
  timeTraceProfilerCleanup();
  return Text.str().str();
}

json::Array eventsOf(StringRef Text) {
  Expected<json::Value> V = json::parse(Text);
  if (!V) {
    ADD_FAILURE() << toString(V.takeError());
    return {};
  }
  return *V->getAsObject()->getArray("traceEvents");
}

/// Returns name and detail of the spans of category dtlto. Checks that spans of
/// a track don't overlap.
std::vector<std::string> spansOf(const json::Array &Events) {
  std::vector<std::string> Spans;
  std::map<int64_t, std::map<int64_t, int64_t>> Tracks;
  for (const json::Value &V : Events) {
    const json::Object &E = *V.getAsObject();
    if (E.getString("cat") != "dtlto")
      continue;
    EXPECT_EQ(E.getString("ph"), "X");
    auto Detail = E.getObject("args")->getString("detail");
    Spans.push_back(E.getString("name")->str() +
                    (Detail ? " on " + Detail->str() : ""));
    Tracks[*E.getInteger("tid")][*E.getInteger("ts")] = *E.getInteger("dur");
  }
  size_t N = 0;
  for (const auto &[Track, Times] : Tracks) {
    int64_t Last = 0;
    for (auto [Begin, Length] : Times) {
      EXPECT_GE(Begin, Last);
      Last = Begin + Length;
      ++N;
    }
  }
  EXPECT_EQ(N, Spans.size());
  llvm::sort(Spans);
  return Spans;
}

std::vector<Timeline> oneOf(std::vector<JobRecord> Jobs) {
  std::vector<Timeline> All;
  All.emplace_back(std::move(Jobs), std::vector<LoadRecord>(), 0, 9);
  return All;
}

TEST(TraceEvents, EachPhaseIsThere) {
  std::string Trace = traceOfProfiler();
  size_t Before = eventsOf(Trace).size();
  ASSERT_FALSE(addTraceEvents(Trace, oneOf({job("m.o")}), {}));
  json::Array Events = eventsOf(Trace);
  EXPECT_GT(Events.size(), Before);
  EXPECT_EQ(spansOf(Events), (std::vector<std::string>{
                                 "deliver m.o", "prepare m.o",
                                 "queue m.o on node1", "receive m.o on node1",
                                 "run m.o on node1", "send m.o on node1"}));
  EXPECT_NE(Trace.find("its detail"), std::string::npos);
  EXPECT_NE(Trace.find("\"dtlto: node1 #1\""), std::string::npos);
}

TEST(TraceEvents, TheProfilersOwnStayFirst) {
  std::string Trace = traceOfProfiler();
  json::Array Before = eventsOf(Trace);
  ASSERT_FALSE(addTraceEvents(Trace, oneOf({job("m.o")}), {}));
  json::Array After = eventsOf(Trace);
  ASSERT_GT(After.size(), Before.size());
  for (size_t I = 0; I != Before.size(); ++I)
    EXPECT_EQ(After[I], Before[I]);
}

TEST(TraceEvents, TimesAreThoseOfTheProfiler) {
  std::string Trace = traceOfProfiler();
  TraceStart Start;
  Start.Begin = Timeline::TimePoint() - std::chrono::seconds(10);
  ASSERT_FALSE(addTraceEvents(Trace, oneOf({job("m.o")}), Start));
  for (const json::Value &V : eventsOf(Trace)) {
    const json::Object &E = *V.getAsObject();
    if (E.getString("name") != "run m.o")
      continue;
    EXPECT_EQ(E.getInteger("ts"), 13000000);
    EXPECT_EQ(E.getInteger("dur"), 2000000);
  }
}

TEST(TraceEvents, JobsAtTheSameTimeAreOnTheirOwnTracks) {
  std::string Trace = traceOfProfiler();
  ASSERT_FALSE(
      addTraceEvents(Trace, oneOf({job("a.o"), job("b.o"), job("c.o")}), {}));
  EXPECT_EQ(spansOf(eventsOf(Trace)).size(), 18u);
}

TEST(TraceEvents, CodeGenerationInTheLinkerHasLLVMsOwn) {
  std::string Trace = traceOfProfiler();
  ASSERT_FALSE(addTraceEvents(Trace, oneOf({job("m.o", true)}), {}));
  EXPECT_EQ(spansOf(eventsOf(Trace)),
            (std::vector<std::string>{"deliver m.o", "prepare m.o",
                                      "queue m.o on node1"}));
}

TEST(TraceEvents, ShortSpansAreLeftOut) {
  std::string Trace = traceOfProfiler();
  TraceStart Start;
  Start.Granularity = 1500000;
  ASSERT_FALSE(addTraceEvents(Trace, oneOf({job("m.o")}), Start));
  EXPECT_EQ(
      spansOf(eventsOf(Trace)),
      (std::vector<std::string>{"receive m.o on node1", "run m.o on node1"}));
}

TEST(TraceEvents, NamesMayBeAnything) {
  std::string Trace = traceOfProfiler();
  ASSERT_FALSE(addTraceEvents(Trace, oneOf({job("\"},\n\xff{")}), {}));
  EXPECT_EQ(spansOf(eventsOf(Trace)).size(), 6u);
}

TEST(TraceEvents, AnotherFileStaysAsItIs) {
  for (StringRef Text : {"", "[]", "{\"traceEvents\":[],\"beginningOfTime\":1}",
                         "{ \"traceEvents\": [{}],\"beginningOfTime\":1}",
                         "{\"traceEvents\":[{}]}"}) {
    std::string Trace = Text.str();
    EXPECT_NE(toString(addTraceEvents(Trace, oneOf({job("m.o")}), {})), "");
    EXPECT_EQ(Trace, Text);
  }
}

} // namespace
