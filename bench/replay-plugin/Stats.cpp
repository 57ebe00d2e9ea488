//===- Stats.cpp - The statistics of a replay -----------------------------===//
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

void Stats::noteOpen() {
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

void Stats::noteSubmit(const RecordedJob &J) {
  if (!FirstSubmitAt)
    FirstSubmitAt = clockSeconds(CLOCK_MONOTONIC);
  Tries &T = TriesByJob[&J];
  if (T.Active || T.Done)
    ++NumDuplicated;
  else if (T.All)
    ++NumMoved;
  ++T.Active;
  ++T.All;
}

void Stats::note(const Cluster::Report &R, const RecordedJob &J) {
  if (R.Kind < Cluster::Report::Done)
    return;
  Tries &T = TriesByJob[&J];
  --T.Active;
  if (R.Kind == Cluster::Report::Done) {
    NumFinished += !T.Done;
    T.Done = true;
  }
}

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
  // A flat JSON object of numbers.
  std::string Text;
  auto Add = [&](const char *Key, auto Value) {
    Text += (Text.empty() ? "{\n  \"" : ",\n  \"") + std::string(Key) +
            "\": " + std::to_string(Value);
  };
  Add("open", OpenAt);
  Add("first_submit", FirstSubmitAt);
  Add("close", CloseAt);
  Add("cpu_at_open", CpuAtOpen);
  Add("cpu_at_close", CpuAtClose);
  Add("plugin_cpu", ThreadCpu + SubmitCpu);
  Add("recorded", uint64_t(R.Jobs.size()));
  Add("finished", NumFinished);
  Add("moved", NumMoved);
  Add("duplicated", NumDuplicated);
  Add("lost", T.Lost);
  Add("cancelled", T.Cancelled);
  Add("busy", T.Busy);
  Add("bytes_sent", T.BytesSent);
  Add("bytes_useful", T.BytesUseful);
  Add("bytes_distinct", BytesDistinct);
  Add("bytes_back", T.BytesBack);
  Add("slot_seconds", seconds(T.SlotTime));
  Add("sending_seconds", seconds(T.Sending));
  Add("work", Work);
  Add("longest", Longest);
  Add("capacity", double(S.Cluster.Machines) * S.Cluster.Slots);
  Add("bytes_a_second", S.Cluster.Rate * 1e9);
  if (S.Stats.empty() || writeFile(S.Stats, Text + "\n}\n"))
    return true;
  Error = "cannot write '" + S.Stats + "': " + std::strerror(errno);
  return false;
}
