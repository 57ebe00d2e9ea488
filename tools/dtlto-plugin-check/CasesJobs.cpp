//===- CasesJobs.cpp - Jobs, and many of them -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "Cases.h"

using namespace dtlto::check;

static void identity(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(B.Samples.size());
  for (const Sample &Job : B.Samples) {
    uint64_t Id = S.submit(Job);
    S.waitForAll();
    S.expectObject(Id, Job);
  }
  S.close();
}

/// The object is where the job says, not where it was in jobs before.
static void output(const Bench &B) {
  std::vector<Sample> Others = B.Samples;
  for (Sample &Job : Others) {
    // In no folder: plugins of ABI 1.0 make none for it.
    Job.Output = "object-of-this-job.o";
    for (size_t I = 1; I < Job.Args.size(); ++I)
      if (Job.Args[I - 1] == "-o")
        Job.Args[I] = Job.Output;
  }
  Play S(B.plugin(), B.W);
  S.mustOpen(Others.size());
  for (const Sample &Job : Others) {
    uint64_t Id = S.submit(Job);
    S.waitForAll();
    S.expectObject(Id, Job);
  }
  S.close();
}

/// Submits \p N jobs, round robin, and returns what each was.
static std::vector<std::pair<uint64_t, const Sample *>>
submitMany(Play &S, const Bench &B, unsigned N) {
  std::vector<std::pair<uint64_t, const Sample *>> Jobs;
  for (unsigned I = 0; I != N; ++I) {
    const Sample &Job = B.Samples[I % B.Samples.size()];
    Jobs.push_back({S.submit(Job), &Job});
  }
  return Jobs;
}

static void many(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(B.W.NumJobs);
  auto Jobs = submitMany(S, B, B.W.NumJobs);
  S.waitForAll();
  for (auto &Job : Jobs)
    S.expectObject(Job.first, *Job.second);
  S.close();
}

/// The objects are looked at, and released on another thread, after close().
static void buffers(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(B.Samples.size());
  auto Jobs = submitMany(S, B, B.Samples.size());
  S.waitForAll();
  S.close();
}

static void callbacks(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(8);
  S.entangle();
  auto Jobs = submitMany(S, B, 8);
  S.waitForAll();
  for (auto &Job : Jobs)
    S.expectObject(Job.first, *Job.second);
  S.close();
}

static void busy(const Bench &B) {
  constexpr unsigned Enough = 256;
  Play S(B.plugin(), B.W);
  S.mustOpen(Enough);
  const Sample &Job = B.Samples.back();
  for (unsigned I = 0; I != Enough; ++I) {
    uint64_t Before = S.roomCount(), Id;
    int32_t Status = S.offer(Job, Id);
    if (Status == DTLTO_OK)
      continue;
    if (Status != DTLTO_BUSY) {
      fail("dtlto_plugin.submit",
           "submit() refused a job with " + std::to_string(Status),
           "where there is no room, return DTLTO_BUSY");
    } else if (!S.waitForRoom(Before)) {
      fail("DTLTO_BUSY",
           "after " + std::to_string(S.numAccepted()) +
               " accepted jobs, submit() returned DTLTO_BUSY, and "
               "load_changed() "
               "never came, though all jobs have ended",
           "remember that you said DTLTO_BUSY, and call load_changed() when "
           "there is room");
    } else {
      Id = S.submit(Job);
      if (Id == 0)
        fail("DTLTO_BUSY", "after load_changed(), submit() refused a job",
             "return DTLTO_OK, or DTLTO_BUSY again");
    }
    break;
  }
  S.close(); // what is left is cancelled
}

/// No job ends while others are submitted: who waits for that waits for ever.
static void heldResults(const Bench &B) {
  constexpr unsigned Enough = 256;
  Play S(B.plugin(), B.W);
  S.mustOpen(Enough);
  S.holdResults(true);
  uint64_t Id;
  for (unsigned I = 0; I != Enough; ++I)
    if (S.offer(B.Samples.back(), Id) != DTLTO_OK)
      break;
  S.holdResults(false);
  S.close(); // what is left is cancelled
}

static void load(const Bench &B) {
  Play S(B.plugin(), B.W);
  S.mustOpen(8);
  S.load();
  for (unsigned I = 0; I != 8; ++I) {
    S.submit(B.Samples[I % B.Samples.size()]);
    S.load();
  }
  S.waitForSign();
  dtlto_load During = S.load();
  S.waitForAll();
  dtlto_load After = S.load();
  // The plugin's own books may lag behind its job_done().
  auto End = Clock::now() + B.W.callLimit();
  while (After.queued != 0 && After.queued != UINT32_MAX &&
         Clock::now() < End) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    After = S.load();
  }
  if (During.slots == 0 && After.slots == 0)
    fail("dtlto_load",
         "load() says that there are 0 slots, though jobs were run",
         "`slots` is how many jobs can run at the same time, or UINT32_MAX if "
         "you can't know it");
  if (After.queued != 0 && After.queued != UINT32_MAX)
    fail("dtlto_load",
         "all jobs have ended, and load() says that " +
             std::to_string(After.queued) + " don't run yet",
         "`queued` counts jobs of this session that were accepted and wait");
  S.close();
}

const std::vector<Case> &dtlto::check::jobCases() {
  static const std::vector<Case> All = {
      {"identity", "each object is the linker's own, byte for byte", identity,
       true},
      {"output", "the object is read from the path that the job names", output,
       false},
      {"many", "each of many jobs has one result, and the right one", many,
       false},
      {"buffers", "objects stay as they are, and can be released late", buffers,
       false},
      {"callbacks", "load and submit don't wait for callbacks", callbacks,
       false},
      {"busy", "BUSY is followed by load_changed", busy, false},
      {"held-results", "submit doesn't wait until another job has ended",
       heldResults, false},
      {"load", "load answers, and its numbers make sense", load, false},
  };
  return All;
}
