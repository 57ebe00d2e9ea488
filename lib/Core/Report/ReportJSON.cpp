//===- ReportJSON.cpp - A link's report, as data --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/REPORT.md describes this format; test/report/Inputs/check.py compares
// the two.
//
//===----------------------------------------------------------------------===//

#include "Report/Report.h"
#include "Report/TimelineSummary.h"
#include "dtlto/ext/numbers.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace dtlto;

// The version of the format. Added fields don't change it.
static constexpr int Version = 1;

/// Returns the name of \p Value, an enumerator that counts from 0.
template <typename T, size_t N>
static StringRef nameIn(const StringLiteral (&Names)[N], T Value) {
  return size_t(Value) < N ? StringRef(Names[size_t(Value)]) : "";
}

// In the order of plan::AttemptKind.
static constexpr StringLiteral KindNames[] = {"first", "retry", "second start",
                                              "here", "verify"};
// In the order of AttemptRecord::Outcome.
static constexpr StringLiteral OutcomeNames[] = {
    "open",           "ok",      "cancelled", "infrastructure error",
    "compiler error", "refused", "timeout",   "plugin failed"};
// In the order of JobRecord::Source.
static constexpr StringLiteral SourceNames[] = {"none", "worker", "here",
                                                "cache", "remote cache"};
// In the order of HostSummary::Kind.
static constexpr StringLiteral HostNames[] = {"worker", "here", "linker"};

static StringRef unitName(uint32_t Unit) {
  return Unit == DTLTO_UNIT_BYTES          ? "bytes"
         : Unit == DTLTO_UNIT_MICROSECONDS ? "seconds"
                                           : "count";
}

static std::string date(std::chrono::system_clock::time_point When) {
  return formatv("{0:%Y-%m-%dT%H:%M:%SZ}",
                 sys::toUtcTime(std::chrono::system_clock::to_time_t(When)));
}

namespace {

class ReportWriter {
public:
  ReportWriter(raw_ostream &OS, const Timeline &T, const ReportFacts &Facts,
               unsigned Indent)
      : JOS(OS, Indent), T(T), S(summarize(T)), Facts(Facts) {}

  void write() {
    JOS.object([&] {
      text("format", "dtlto-report");
      JOS.attribute("version", Version);
      JOS.attributeObject("link", [&] { link(); });
      JOS.attributeObject("totals", [&] { totals(); });
      JOS.attributeObject("bound", [&] { bound(); });
      JOS.attributeArray("waits", [&] { waits(); });
      JOS.attributeArray("hosts", [&] { hosts(); });
      JOS.attributeArray("loads", [&] { loads(); });
      JOS.attributeArray("numbers", [&] { numbers(T.sessionNumbers()); });
      JOS.attributeArray("jobs", [&] {
        for (size_t I = 0; I != T.jobs().size(); ++I)
          JOS.object([&] { job(T.jobs()[I], S.Places[I]); });
      });
    });
  }

private:
  /// Writes an attribute in seconds, to the microsecond, unless it is unknown.
  void seconds(StringRef Key, double Value) {
    if (Value == NoTime)
      return;
    JOS.attributeBegin(Key);
    rawSeconds(Value);
    JOS.attributeEnd();
  }
  void rawSeconds(double Value) {
    JOS.rawValue([&](raw_ostream &OS) { OS << format("%.6f", Value); });
  }
  void text(StringRef Key, StringRef Value) {
    JOS.attribute(Key, json::fixUTF8(Value));
  }
  void textIfAny(StringRef Key, StringRef Value) {
    if (!Value.empty())
      text(Key, Value);
  }
  void number(StringRef Key, uint64_t Value) {
    JOS.attribute(Key, int64_t(std::min<uint64_t>(Value, INT64_MAX)));
  }
  void place(const Place &P) {
    if (P.Host == Place::None)
      return;
    number("host", P.Host);
    number("lane", P.Lane);
  }

  bool hasTwoRounds() const { return T.stages().size() == 2; }
  void link() {
    text("output", Facts.Output);
    text("plugin", Facts.Plugin);
    text("plugin_version", Facts.PluginVersion);
    text("dtlto", DTLTO_VERSION);
    text("llvm", LLVM_VERSION_STRING);
    text("date", date(T.date()));
    number("threads", Facts.Threads);
    seconds("thin_link", T.thinLink());
    seconds("opened", T.openedAt());
    if (hasTwoRounds()) {
      seconds("first_round_end", T.stages()[0].End);
      seconds("second_round_begin", T.stages()[1].Begin);
    }
    seconds("end", T.end());
    JOS.attribute("failed", T.hasFailed());
    textIfAny("plugin_failed", T.pluginFailure());
  }

  void totals() {
    number("jobs", T.jobs().size());
    using Source = JobRecord::Source;
    number("from_worker", S.from(Source::Worker));
    number("from_here", S.from(Source::Local));
    number("from_cache", S.from(Source::Cache));
    number("from_remote_cache", S.from(Source::RemoteCache));
    number("without_object", S.from(Source::None));
    number("retries", S.Retries);
    number("second_starts", S.Duplicates);
    number("second_starts_won", S.DuplicatesWon);
    number("failed_attempts", S.FailedAttempts);
    number("bytes_out", S.BytesOut);
    number("bytes_back", S.BytesBack);
    number("import_bytes", S.ImportBytes);
    number("whole_import_bytes", S.WholeImportBytes);
    seconds("work", S.Work);
    seconds("waste", S.Waste);
  }

  void bound() {
    seconds("seconds", S.Bound);
    seconds("longest", S.LongestRun);
    if (S.LongestJob != ~size_t(0))
      number("longest_job", S.LongestJob);
    number("slots", S.Slots);
  }

  void waits() {
    for (const WaitSummary &W : S.Waits)
      JOS.object([&] {
        text("phase", name(W.What));
        JOS.attributeBegin("begin");
        rawSeconds(W.Begin); // may be negative
        JOS.attributeEnd();
        seconds("end", W.End);
        if (W.Job != ~size_t(0))
          number("job", W.Job);
        if (W.Attempt != ~size_t(0))
          number("attempt", W.Attempt);
      });
  }

  void hosts() {
    for (const HostSummary &H : S.Hosts)
      JOS.object([&] {
        text("name", H.Name);
        text("kind", nameIn(HostNames, H.TheKind));
        number("lanes", H.Lanes);
        number("jobs", H.Jobs);
        number("attempts", H.Attempts);
        number("failed", H.Failed);
        seconds("busy", H.Busy);
      });
  }

  void loads() {
    auto IfKnown = [&](StringRef Key, uint32_t Value) {
      if (Value != UINT32_MAX)
        number(Key, Value);
    };
    for (const LoadRecord &Load : T.loads())
      JOS.object([&] {
        seconds("time", Load.Time);
        IfKnown("slots", Load.Slots);
        IfKnown("free", Load.Free);
        IfKnown("queued", Load.Queued);
        IfKnown("workers", Load.Workers);
      });
  }

  void numbers(ArrayRef<PluginNumber> List) {
    for (const PluginNumber &N : List)
      JOS.object([&] {
        text("name", N.Name);
        text("unit", unitName(N.Unit));
        if (N.Unit == DTLTO_UNIT_MICROSECONDS)
          seconds("value", double(N.Value) / 1e6);
        else
          number("value", N.Value);
      });
  }

  void step(StringRef Key, double Begin, double End, const Place &P) {
    if (Begin == NoTime || End == NoTime)
      return;
    JOS.attributeObject(Key, [&] {
      seconds("begin", Begin);
      seconds("end", End);
      place(P);
    });
  }

  void job(const JobRecord &R, const Summary::JobPlaces &Places) {
    text("name", R.Name);
    number("number", R.Number);
    if (hasTwoRounds())
      number("round",
             size_t(&R - T.jobs().data()) < T.stages()[1].FirstJob ? 1 : 2);
    seconds("cost", R.Cost);
    text("from", nameIn(SourceNames, R.From));
    textIfAny("why_here", R.LocalReason);
    JOS.attributeObject("bytes", [&] {
      number("primary", R.PrimaryBytes);
      number("imports", R.ImportBytes);
      number("whole_imports", R.WholeImportBytes);
      number("shard", R.ShardBytes);
      number("object", R.ObjectBytes);
    });
    number("busy", R.NumBusy);
    step("prepare", R.Preparing, R.Prepared, Places.Prepare);
    step("deliver", R.Delivering, R.Ended, Places.Deliver);
    seconds("end", R.Ended);
    if (const AttemptRecord *A = winner(R))
      number("winner", A - R.Attempts.data());
    JOS.attributeArray("attempts", [&] {
      for (size_t I = 0; I != R.Attempts.size(); ++I)
        JOS.object([&] { attempt(R.Attempts[I], Places.Attempts[I]); });
    });
  }

  void attempt(const AttemptRecord &A, const Place &P) {
    text("kind", nameIn(KindNames, A.TheKind));
    text("outcome", nameIn(OutcomeNames, A.TheOutcome));
    if (A.Id)
      number("id", A.Id);
    textIfAny("worker", A.Worker);
    textIfAny("message", A.Message);
    JOS.attribute("in_linker", A.RanLocally);
    place(P);
    seconds("offered", A.Offered);
    seconds("accepted", A.Accepted);
    seconds("done", A.Done);
    if (!A.Numbers.empty())
      JOS.attributeArray("numbers", [&] { numbers(A.Numbers); });
    JOS.attributeArray("phases", [&] {
      for (const Span &Sp : spans(A))
        JOS.object([&] {
          text("phase", name(Sp.What));
          seconds("begin", Sp.Begin);
          seconds("end", Sp.End);
        });
    });
  }

  json::OStream JOS;
  const Timeline &T;
  const Summary S;
  const ReportFacts &Facts;
};

} // namespace

void dtlto::writeReportJSON(raw_ostream &OS, const Timeline &T,
                            const ReportFacts &Facts, unsigned Indent) {
  ReportWriter(OS, T, Facts, Indent).write();
}
