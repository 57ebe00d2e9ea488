//===- Stats.cpp - What happened in a replay ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stats.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

using namespace dtlto::replay;

static double clockSeconds(clockid_t Clock) {
  struct timespec T;
  ::clock_gettime(Clock, &T);
  return double(T.tv_sec) + 1e-9 * double(T.tv_nsec);
}

void Stats::noteOpen(bool WithTimeline) {
  this->WithTimeline = WithTimeline;
  OpenAt = clockSeconds(CLOCK_MONOTONIC);
  CpuAtOpen = clockSeconds(CLOCK_PROCESS_CPUTIME_ID);
}

void Stats::noteClose() {
  CloseAt = clockSeconds(CLOCK_MONOTONIC);
  CpuAtClose = clockSeconds(CLOCK_PROCESS_CPUTIME_ID);
}

double dtlto::replay::threadCpu() {
  return clockSeconds(CLOCK_THREAD_CPUTIME_ID);
}

void Stats::noteThread() { ThreadCpu = threadCpu(); }

void Stats::noteSubmit(Time Now, uint64_t Id, const RecordedJob &J) {
  if (!FirstSubmitAt)
    FirstSubmitAt = clockSeconds(CLOCK_MONOTONIC);
  Tries &T = TriesOf[&J];
  if (T.Active || T.Done)
    ++Duplicated;
  else if (T.All)
    ++Moved;
  ++T.Active;
  ++T.All;
  if (!WithTimeline)
    return;
  Line &L = Timeline[Id];
  L.J = &J;
  L.Submit = Now;
}

void Stats::note(const Cluster::Report &R, const RecordedJob &J) {
  if (R.Kind >= Cluster::Report::Done) {
    Tries &T = TriesOf[&J];
    --T.Active;
    if (R.Kind == Cluster::Report::Done) {
      Finished += !T.Done;
      T.Done = true;
      LastDoneAt = clockSeconds(CLOCK_MONOTONIC);
    }
  }
  if (!WithTimeline)
    return;
  Line &L = Timeline[R.Id];
  L.Machine = R.Machine;
  switch (R.Kind) {
  case Cluster::Report::Sending:
    L.Sending = R.At;
    return;
  case Cluster::Report::Running:
    L.Running = R.At;
    return;
  case Cluster::Report::Receiving:
    L.Receiving = R.At;
    return;
  case Cluster::Report::Done:
    L.Outcome = "done";
    break;
  case Cluster::Report::Lost:
    L.Outcome = "lost";
    break;
  case Cluster::Report::Cancelled:
    L.Outcome = "cancelled";
    break;
  }
  L.End = R.At;
}

namespace {
/// A flat JSON object of numbers.
class Object {
public:
  void add(const char *Key, double Value) {
    char Number[64];
    std::snprintf(Number, sizeof(Number), "%.9f", Value);
    Text += (Text.empty() ? "{\n  \"" : ",\n  \"") + std::string(Key) +
            "\": " + Number;
  }
  void add(const char *Key, uint64_t Value) {
    Text += (Text.empty() ? "{\n  \"" : ",\n  \"") + std::string(Key) +
            "\": " + std::to_string(Value);
  }
  std::string finish() const { return Text + "\n}\n"; }

private:
  std::string Text;
};
} // namespace

static double seconds(Time T) { return double(T) * 1e-9; }

bool Stats::write(const Settings &S, const Recording &R, const Cluster &C,
                  std::string &Error) const {
  double Work = 0, Longest = 0;
  for (const RecordedJob &J : R.Jobs) {
    double Cpu = double(J.CpuNs) * 1e-9 / S.Scale;
    Work += Cpu;
    Longest = std::max(Longest, Cpu);
  }
  const Cluster::Totals &T = C.totals();
  Object O;
  O.add("open", OpenAt);
  O.add("first_submit", FirstSubmitAt);
  O.add("last_done", LastDoneAt);
  O.add("close", CloseAt);
  O.add("cpu_at_open", CpuAtOpen);
  O.add("cpu_at_close", CpuAtClose);
  O.add("plugin_cpu", ThreadCpu + SubmitCpu);
  O.add("recorded", uint64_t(R.Jobs.size()));
  O.add("finished", Finished);
  O.add("moved", Moved);
  O.add("duplicated", Duplicated);
  O.add("lost", T.Lost);
  O.add("cancelled", T.Cancelled);
  O.add("busy", T.Busy);
  O.add("deaths", T.Deaths);
  O.add("bytes_sent", T.BytesSent);
  O.add("bytes_useful", T.BytesUseful);
  O.add("bytes_distinct", BytesDistinct);
  O.add("bytes_back", T.BytesBack);
  O.add("slot_seconds", seconds(T.SlotTime));
  O.add("useful_seconds", seconds(T.UsefulTime));
  O.add("sending_seconds", seconds(T.Sending));
  O.add("work", Work);
  O.add("longest", Longest);
  O.add("capacity", C.capacity());
  O.add("fastest", C.fastest());
  O.add("bytes_a_second", S.Cluster.Rate * 1e9);
  if (!S.Stats.empty() && !writeFile(S.Stats, O.finish())) {
    Error = "can't write '" + S.Stats + "': " + std::strerror(errno);
    return false;
  }
  if (S.Timeline.empty())
    return true;

  std::string Text =
      "# submit sending running receiving end (s) machine outcome name\n";
  for (const auto &[Id, L] : Timeline) {
    for (Time At : {L.Submit, L.Sending, L.Running, L.Receiving, L.End}) {
      char Number[32];
      std::snprintf(Number, sizeof(Number), At < 0 ? "- " : "%.6f ",
                    seconds(At));
      Text += Number;
    }
    Text += (L.Machine == UINT32_MAX ? "-" : std::to_string(L.Machine)) + " " +
            L.Outcome + " " + L.J->Name + "\n";
  }
  if (writeFile(S.Timeline, Text))
    return true;
  Error = "can't write '" + S.Timeline + "': " + std::strerror(errno);
  return false;
}
