//===- CasesJobs.cpp - Cases about jobs -----------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "dtlto/ext/refuted.h"
#include "llvm/Config/llvm-config.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto::check;

static constexpr uint64_t NoJob = 1000000;
static constexpr unsigned MoreThanFit = 256; // jobs

/// Compiles \p Jobs one after the other, in one session.
static void compileAll(const CaseContext &B, const std::vector<Sample> &Jobs,
                       uint32_t More = 0, const char *Avoid = nullptr) {
  Session S(B, Jobs.size(), More);
  for (const Sample &Job : Jobs) {
    S.compile(Job, Avoid);
    S.load();
  }
}

/// The object is written where the job says, not where earlier jobs had it.
static void output(const CaseContext &B) {
  std::vector<Sample> RenamedJobs = B.Samples;
  for (Sample &Job : RenamedJobs) {
    std::replace(Job.Args.begin(), Job.Args.end(), Job.Output,
                 std::string("object-of-this-job.o"));
    Job.Output = "object-of-this-job.o"; // in no folder
  }
  compileAll(B, RenamedJobs);
}

static void compileMany(const CaseContext &B, unsigned N) {
  Session(B, N).compile(B.Samples, N);
}

static void callbacks(const CaseContext &B) {
  Session S(B, 8);
  S.waitForLoadInCallbacks();
  S.compile(B.Samples, 8);
}

static void busy(const CaseContext &B) {
  constexpr Milliseconds Settled = 300ms;
  Session S(B, MoreThanFit);
  // While no job ends, there is no room: calls of load_changed() until then
  // don't follow from the BUSY.
  S.holdResults(true);
  int32_t Status = DTLTO_OK;
  for (unsigned I = 0; I != MoreThanFit; ++I) {
    const uint64_t Calls = S.numRoomReports();
    Status = S.offer(B.smallest());
    if (Status != DTLTO_OK &&
        (Status != DTLTO_BUSY || !S.hasRoomWithin(Calls, Settled)))
      break;
  }
  const uint64_t Before = S.numRoomReports();
  S.holdResults(false);
  if (Status == DTLTO_OK)
    return;
  if (!expect(Status == DTLTO_BUSY, "dtlto_plugin.submit",
              "submit() refused a job with " + dtlto::statusName(Status),
              "if there is no room, return DTLTO_BUSY"))
    return;
  const bool HasReported = S.waitForRoom(Before);
  S.rules().reportsRoom(HasReported, S.accepted().size());
  if (HasReported)
    expect(S.submit(B.smallest()), "DTLTO_BUSY",
           "after load_changed(), submit() refused a job",
           "return DTLTO_OK, or DTLTO_BUSY again");
} // the destructor cancels the remaining jobs

/// Offers jobs to the plugin until it returns BUSY, at most \p N.
static void fill(Session &S, const std::vector<Sample> &Jobs, unsigned N) {
  for (unsigned I = 0; I != N; ++I)
    if (S.offer(Jobs[I % Jobs.size()]) != DTLTO_OK)
      break;
}

/// No job ends while others are submitted: a submit() that waits for one would
/// hang.
static void heldResults(const CaseContext &B) {
  const std::vector<Sample> Jobs = {B.smallest()};
  Session S(B, MoreThanFit);
  S.holdResults(true);
  fill(S, Jobs, MoreThanFit);
  S.holdResults(false);
}

static void load(const CaseContext &B) {
  Session S(B, 8);
  S.load();
  for (unsigned I = 0; I != 8; ++I) {
    S.submit(B.Samples[I % B.Samples.size()]);
    S.load();
  }
  S.waitForSign();
  dtlto_load During = S.load();
  S.waitForAll();
  dtlto_load After = S.load();
  auto IsZero = [&] { return After.queued == 0 || After.queued == UINT32_MAX; };
  // The plugin's counters may lag behind its job_done().
  for (auto End = Clock::now() + B.Opts.callLimit();
       !IsZero() && Clock::now() < End; After = S.load())
    std::this_thread::sleep_for(10ms);
  expect(During.slots || After.slots, "dtlto_load",
         "load() reports 0 slots, although jobs were run",
         "`slots` is how many jobs can run at the same time, or UINT32_MAX if "
         "that is unknown");
  expect(IsZero(), "dtlto_load",
         "all jobs have ended, but load() reports that " + Twine(After.queued) +
             " do not run yet",
         "`queued` counts jobs of this session that were accepted and wait");
}

static void openAgain(const CaseContext &B) {
  for (int I = 0; I != 3; ++I)
    Session(B, 1).compile(B.smallest());
}

static void cancel(const CaseContext &B) {
  Session S(B, 4);
  uint64_t Running = S.submit(B.largest());
  S.waitForSign();
  S.cancel(Running);
  S.cancel(NoJob);
  S.waitForAll();
  S.cancel(Running); // it has ended
  S.cancel(S.submit(B.largest()));
  S.waitForAll();
  S.compile(B.smallest()); // the session still works
}

static void cancelStorm(const CaseContext &B) {
  Session S(B, B.Opts.NumJobs + 1);
  for (unsigned I = 0; I != B.Opts.NumJobs; ++I) {
    S.cancel(S.submit(B.Samples[I % B.Samples.size()]));
    for (uint64_t Other : S.accepted())
      S.cancel(Other);
    S.cancel(NoJob);
  }
  S.waitForAll();
  S.compile(B.smallest());
}

/// The job runs when it is cancelled, and would run for about a minute.
static void cancelRunning(const CaseContext &B) {
  if (B.Long.empty())
    return note("not tried: --jobs has no job that takes long");
  Session S(B, 2);
  uint64_t Id = S.submit(B.Long.front());
  if (!expect(Id, "dtlto_plugin.submit", "submit() refused a job",
              "accept each job that a worker can run"))
    return;
  S.waitForSign();
  if (S.waitFor(Id, 500ms))
    return note("not tried: a job that takes long ended early: " +
                S.job(Id)->Message);
  S.cancel(Id);
  if (!S.waitFor(Id, B.Opts.callLimit()))
    failAndExit("dtlto_plugin.cancel",
                "a job that ran had no job_done() within " +
                    seconds(B.Opts.callLimit()) + " after its cancel()",
                "stop the job's compiler and report DTLTO_CANCELLED, or report "
                "that at once and drop the later result");
  S.compile(B.smallest()); // the session still works
}

/// Objects of another version differ. Local code generation and a bundle's
/// worker check the version themselves.
static void version(const CaseContext &B) {
  std::string Other = LLVM_VERSION_STRING;
  Other.back() = Other.back() == '0' ? '1' : '0';
  Session S(B.Plugin, B.Opts);
  if (S.open(1, Other) != DTLTO_OK)
    return;
  uint64_t Id = S.submit(B.smallest());
  S.waitForAll();
  const JobRecord *R = Id ? S.job(Id) : nullptr;
  if (R && R->LocalObject)
    return note("not tried: the linker itself compiles the jobs");
  expect(!R || R->Status != DTLTO_OK, "dtlto_session_params.llvm_version",
         "for a linker of LLVM " + Other +
             ", a job ended with DTLTO_OK on a "
             "worker of another version (this clang is " LLVM_VERSION_STRING
             ")",
         "ask the workers' clang for its --version before the first job, and "
         "fail in open(), or fail each job, unless it is exactly "
         "params.llvm_version (isVersion() in dtlto/sdk/CompileResult.hpp)");
}

/// Several sessions of several jobs must not need more and more.
static void leaks(const CaseContext &B) {
  constexpr unsigned NumJobs = 8, NumSessions = 5;
  constexpr size_t MaxBytesPerJob = 2048;
  constexpr char Section[] = "Memory";
  std::vector<Resources> All;
  auto Grows = [&](size_t Resources::*Number) {
    return std::adjacent_find(
               All.begin(), All.end(),
               [=](const Resources &Left, const Resources &Next) {
                 return Left.*Number >= Next.*Number;
               }) == All.end();
  };
  auto Check = [&](size_t Resources::*Number, size_t Unit, size_t MaxGrowth,
                   const char *What, const char *Fix) {
    const size_t Growth = All.back().*Number - All.front().*Number;
    if (Grows(Number) && Growth > MaxGrowth)
      fail(Section,
           Twine(Growth / Unit) + What + " in " + Twine(All.size() - 1) +
               " sessions of " + Twine(NumJobs) + " jobs",
           Fix);
  };
  // The first session may start what later ones use again.
  Session(B, NumJobs).compile({B.smallest()}, NumJobs);
  for (unsigned I = 0; I != NumSessions - 1; ++I) {
    Session(B, NumJobs).compile({B.smallest()}, NumJobs);
    All.push_back(currentResources());
  }
  Check(&Resources::Descriptors, 1, 0, " descriptors stayed open",
        "close each file, pipe and socket that a job needs when it ends, and "
        "those of the session in close()");
  Check(&Resources::Threads, 1, 0, " threads did not end", FixOfThreads);
  Check(&Resources::Memory, 1024, (All.size() - 1) * NumJobs * MaxBytesPerJob,
        " KiB of memory were not freed",
        "free what a job needs when it ends, its object in release(), and the "
        "session in close()");
}

static void closeRunning(const CaseContext &B) {
  Session S(B, 32);
  S.submit(B.largest()); // even if there is no room at first
  fill(S, B.Samples, 31);
  S.waitForSign();
}

static void refuted(const CaseContext &B) {
  auto *Refuted =
      getExtension<dtlto_refuted>(B.Plugin, DTLTO_EXT_REFUTED, "dtlto_refuted");
  if (!Refuted)
    return note("the plugin does not offer it");
  Session S(B, 2);
  // As if another worker had compiled it.
  auto Refute = [&](uint64_t Id, const char *Worker) {
    S.call("refuted", [&] {
      Refuted->result(S.Handle, Id, Worker, DTLTO_ERROR_COMPILER);
    });
  };
  uint64_t Id = S.submit(B.smallest());
  S.waitForAll();
  Refute(Id, nullptr);
  Refute(NoJob, "no-such-worker");
  S.compile(B.smallest());
}

/// Adds an input that nothing needs, and gives imports that the compiler needs
/// an unknown role.
static void unknownRole(const CaseContext &B) {
  constexpr uint32_t LaterRole = 77;
  std::vector<Sample> Jobs = B.Samples;
  for (Sample &Job : Jobs) {
    for (Sample::Input &In : Job.Inputs)
      if (In.Role == DTLTO_ROLE_IMPORT)
        In.LaterRole = LaterRole;
    Job.Inputs.push_back(
        {"more/of-a-later-abi.bin", DTLTO_ROLE_OTHER, "bytes", "", LaterRole});
  }
  compileAll(B, Jobs, LaterBytes);
}

const std::vector<Case> dtlto::check::JobCases = {
    {"identity", "each object is identical to the linker's own, byte for byte",
     [](const CaseContext &B) { compileAll(B, B.Samples); }, true},
    {"output", "the object is read from the path that the job names", output},
    {"many", "each of many jobs has exactly one result, the correct one",
     [](const CaseContext &B) { compileMany(B, B.Opts.NumJobs); }},
    {"buffers", "objects do not change, and can be released late",
     [](const CaseContext &B) { compileMany(B, unsigned(B.Samples.size())); }},
    {"callbacks", "load and submit do not wait for callbacks", callbacks},
    {"busy", "BUSY is followed by load_changed", busy},
    {"held-results", "submit does not wait until another job has ended",
     heldResults},
    {"load", "load returns, and its numbers are consistent", load},
    {"open-again", "one process can have several sessions, one after another",
     openAgain},
    {"leaks", "sessions leave no descriptors, threads and memory", leaks},
    {"version", "workers of another LLVM version make no objects", version},
    {"cancel", "cancelled jobs have a result, unknown ids are ignored", cancel},
    {"cancel-storm", "many cancels, each several times", cancelStorm},
    {"cancel-running", "a job that runs ends soon after its cancel",
     cancelRunning},
    {"close-running", "close cancels jobs that run, and ends within seconds",
     closeRunning},
    {"refuted", "dtlto.refuted/1, if offered, returns at once", refuted},
    {"close-at-once", "close right after submit",
     [](const CaseContext &B) {
       Session S(B, 16);
       fill(S, B.Samples, 16);
     }},
    {"new-host", "a linker with ABI 1.99, whose structs are larger",
     [](const CaseContext &B) { compileAll(B, B.Samples, LaterBytes); }},
    {"unknown-role",
     "an input with a role of a later ABI is a file like any other",
     unknownRole},
    {"avoid", "a job that must avoid a worker still has its object",
     [](const CaseContext &B) { compileAll(B, B.Samples, 0, "this machine"); }},
};
