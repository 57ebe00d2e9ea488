//===- TraceEvents.cpp - A link's record in a time trace ------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/TraceEvents.h"
#include "Report/TimelineSummary.h"
#include "Support/Failure.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"
#include <map>

using namespace llvm;
using namespace dtlto;

// The text around the events in the profiler's file. Our events come last,
// since readers may look only at the first ones.
static constexpr StringLiteral Prefix = "{\"traceEvents\":[{";
static constexpr StringLiteral Suffix = "}],\"beginningOfTime\":";
// The first number of our tracks, beyond all thread ids.
static constexpr int64_t FirstTrack = 1 << 30;

namespace {

class EventsWriter {
public:
  EventsWriter(raw_ostream &OS, const TraceStart &Start)
      : OS(OS), Start(Start), Pid(sys::Process::getProcessId()) {}

  void write(const Timeline &T);

private:
  void writeQueues(const Timeline &T);
  void span(const Timeline &T, const JobRecord &J, StringRef What, double Begin,
            double End, int64_t Track, const AttemptRecord *A = nullptr);
  void nameTrack(int64_t Track, const Twine &Name);
  template <typename Fn> void event(Fn Attributes) {
    if (!IsFirst)
      OS << ',';
    IsFirst = false;
    json::OStream J(OS);
    J.object([&] {
      J.attribute("pid", Pid);
      Attributes(J);
    });
  }

  raw_ostream &OS;
  const TraceStart &Start;
  const int64_t Pid;
  int64_t NextTrack = FirstTrack;
  bool IsFirst = true;
};

} // namespace

void EventsWriter::nameTrack(int64_t Track, const Twine &Name) {
  event([&](json::OStream &J) {
    J.attribute("cat", "");
    J.attribute("tid", Track);
    J.attribute("ts", 0);
    J.attribute("ph", "M");
    J.attribute("name", "thread_name");
    J.attributeObject("args",
                      [&] { J.attribute("name", json::fixUTF8(Name.str())); });
  });
}

void EventsWriter::span(const Timeline &T, const JobRecord &Job, StringRef What,
                        double Begin, double End, int64_t Track,
                        const AttemptRecord *A) {
  if (Begin == NoTime || End == NoTime)
    return;
  // Round like the profiler, so that spans don't overlap.
  auto Microseconds = [&](double Time) {
    double Shift =
        std::chrono::duration<double>(T.zero() - Start.Begin).count();
    return std::max<int64_t>(0, static_cast<int64_t>((Shift + Time) * 1e6));
  };
  int64_t From = Microseconds(Begin), To = Microseconds(End);
  if (To - From < int64_t(Start.Granularity))
    return;
  event([&](json::OStream &J) {
    J.attribute("tid", Track);
    J.attribute("ts", From);
    J.attribute("ph", "X");
    J.attribute("dur", To - From);
    J.attribute("cat", "dtlto");
    J.attribute("name", json::fixUTF8((What + " " + Job.Name).str()));
    J.attributeObject("args", [&] {
      if (!A)
        return;
      if (!A->Worker.empty())
        J.attribute("detail", json::fixUTF8(A->Worker));
      J.attribute("job", int64_t(A->Id));
      if (A->TheOutcome != AttemptRecord::Outcome::Ok && !A->Message.empty())
        J.attribute("error", json::fixUTF8(A->Message));
    });
  });
}

/// Queued jobs have no slot, so they get lanes of their own.
void EventsWriter::writeQueues(const Timeline &T) {
  std::vector<LaneItem> Items;
  std::vector<std::pair<const JobRecord *, const AttemptRecord *>> Owners;
  for (const JobRecord &J : T.jobs())
    for (const AttemptRecord &A : J.Attempts)
      for (const Span &S : spans(A))
        if (S.What == Phase::Queue) {
          Items.push_back({S.Begin, S.End, Items.size()});
          Owners.push_back({&J, &A});
        }
  unsigned NumLanes = assignLanes(Items);
  for (const LaneItem &I : Items) {
    auto [J, A] = Owners[I.Index];
    span(T, *J, name(Phase::Queue), I.Begin, I.End, NextTrack + I.Lane, A);
  }
  for (unsigned Lane = 0; Lane != NumLanes; ++Lane)
    nameTrack(NextTrack++, "dtlto: queue");
}

void EventsWriter::write(const Timeline &T) {
  // Viewers require that spans of a track are nested or disjoint.
  Summary S = summarize(T, LaneRule::Spans);
  std::vector<int64_t> FirstTracks; // by host
  for (const HostSummary &H : S.Hosts) {
    FirstTracks.push_back(NextTrack);
    if (H.TheKind == HostSummary::Kind::Local)
      continue;
    for (unsigned Lane = 0; Lane != H.Lanes; ++Lane)
      nameTrack(NextTrack++, "dtlto: " + H.Name + " #" + Twine(Lane + 1));
  }
  auto Track = [&](const Place &P) { return FirstTracks[P.Host] + P.Lane; };
  for (size_t I = 0; I != T.jobs().size(); ++I) {
    const JobRecord &J = T.jobs()[I];
    const Summary::JobPlaces &Places = S.Places[I];
    if (Places.Prepare.Host != Place::None)
      span(T, J, name(Phase::Prepare), J.Preparing, J.Prepared,
           Track(Places.Prepare));
    if (Places.Deliver.Host != Place::None)
      span(T, J, name(Phase::Deliver), J.Delivering, J.Ended,
           Track(Places.Deliver));
    for (size_t K = 0; K != J.Attempts.size(); ++K) {
      const AttemptRecord &A = J.Attempts[K];
      if (A.RanLocally || Places.Attempts[K].Host == Place::None)
        continue;
      for (const Span &Sp : spans(A))
        if (Sp.What != Phase::Queue)
          span(T, J, name(Sp.What), Sp.Begin, Sp.End, Track(Places.Attempts[K]),
               &A);
    }
  }
  writeQueues(T);
}

Error dtlto::addTraceEvents(std::string &Trace, ArrayRef<Timeline> Timelines,
                            const TraceStart &Start) {
  // The suffix can't be in a text of the profiler: quotes are escaped there.
  size_t End = Trace.rfind(Suffix);
  if (!StringRef(Trace).starts_with(Prefix) || End == std::string::npos)
    return failure("the time trace has an unknown form; the jobs were not "
                   "added to it");
  std::string NewEvents;
  raw_string_ostream OS(NewEvents);
  EventsWriter W(OS, Start);
  for (const Timeline &T : Timelines)
    W.write(T);
  OS.flush();
  if (!NewEvents.empty())
    Trace.insert(End + 1, "," + NewEvents);
  return Error::success();
}
