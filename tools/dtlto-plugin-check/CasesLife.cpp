//===- CasesLife.cpp - Jobs that nobody wants any more --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "Cases.h"

using namespace dtlto::check;

static constexpr uint64_t NoJob = 1000000;

/// The session still works.
static void expectOneMore(Play &S, const Sample &Job) {
  uint64_t Id = S.submit(Job);
  S.waitForAll();
  S.expectObject(Id, Job);
}

static void cancel(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(4);
  uint64_t Running = S.submit(B.Samples.front());
  S.waitForSign();
  S.cancel(Running);
  S.cancel(NoJob);
  S.waitForAll();
  S.cancel(Running); // it has ended
  uint64_t Waiting = S.submit(B.Samples.front());
  S.cancel(Waiting);
  S.waitForAll();
  expectOneMore(S, B.Samples.back());
  S.close();
}

static void refuted(const Bench &B) {
  const dtlto_plugin &P = B.plugin();
  auto *Refuted =
      static_cast<const dtlto_refuted *>(P.extension(DTLTO_EXT_REFUTED));
  if (!Refuted)
    return note("the plugin doesn't offer it");
  Play S(P, B.W);
  S.mustOpen(2);
  uint64_t Id = S.submit(B.Samples.back());
  S.waitForAll();
  S.refute(*Refuted, Id, nullptr);
  S.refute(*Refuted, NoJob, "no-such-worker");
  expectOneMore(S, B.Samples.back());
  S.close();
}

static void cancelStorm(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(B.W.NumJobs + 1);
  for (unsigned I = 0; I != B.W.NumJobs; ++I) {
    uint64_t Id = S.submit(B.Samples[I % B.Samples.size()]);
    S.cancel(Id);
    for (uint64_t Other : S.accepted())
      S.cancel(Other);
    S.cancel(NoJob);
  }
  S.waitForAll();
  expectOneMore(S, B.Samples.back());
  S.close();
}

/// Gives the plugin what it takes without waiting, at most \p N.
static void fill(Play &S, const Bench &B, unsigned N) {
  uint64_t Id;
  for (unsigned I = 0; I != N; ++I)
    if (S.offer(B.Samples[I % B.Samples.size()], Id) != DTLTO_OK)
      break;
}

static void closeRunning(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(32);
  S.submit(B.Samples.front()); // also where there is no room at first
  fill(S, B, 31);
  S.waitForSign();
  S.close();
}

static void closeAtOnce(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(16);
  fill(S, B, 16);
  S.close();
}

static void openAgain(const Bench &B) {
  const dtlto_plugin &P = B.plugin();
  for (int I = 0; I != 3; ++I) {
    Play S(P, B.W);
    S.mustOpen(1);
    uint64_t Id = S.submit(B.Samples.back());
    S.waitForAll();
    S.expectObject(Id, B.Samples.back());
    S.close();
  }
}

const std::vector<Case> &dtlto::check::lifeCases() {
  static const std::vector<Case> All = {
      {"open-again", "one process can have several sessions, one after another",
       openAgain, false},
      {"cancel", "cancelled jobs have a result, unknown ids are ignored",
       cancel, false},
      {"cancel-storm", "many cancels, each several times", cancelStorm, false},
      {"close-running", "close cancels jobs that run, and ends within seconds",
       closeRunning, false},
      {"refuted", "dtlto.refuted/1, if there, comes back at once", refuted,
       false},
      {"close-at-once", "close right after submit", closeAtOnce, false},
  };
  return All;
}
