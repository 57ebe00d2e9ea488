//===- Jobs.cpp - Offers jobs and waits for them --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/BundleManifest.h"
#include "Session.h"
#include "dtlto/ext/batch.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"

using namespace llvm;
using namespace dtlto::check;

/// The most that all of \p S takes in a Loan.
static size_t roomFor(const Sample &S) {
  size_t Size = 4096 + S.Config.size();
  for (const Sample::Input &In : S.Inputs)
    Size += std::max(In.Bytes.size(), In.Whole.size()) + In.Path.size() + 512;
  for (const std::string &Arg : S.Args)
    Size += Arg.size() + 64;
  return Size;
}

JobRecord::JobRecord(uint64_t Id, const Sample &S)
    : Id(Id), S(S),
      Lent(*new Loan("the dtlto_job (or what it points at) of " + jobName(Id),
                     FixOfJob, roomFor(S))) {}

void Session::makeJob(JobRecord &R, const char *Avoid) {
  Loan &Memory = R.Lent;
  const Sample &S = R.S;
  dtlto_job &Job = *Memory.addStruct(dtlto_job(), More);
  Job.size = static_cast<uint32_t>(sizeof(Job) + More);
  Job.fields = Needs & (2 * DTLTO_JOB_WHOLE_IMPORTS - 1);
  if (Needs & (DTLTO_JOB_ARGS | DTLTO_JOB_CONFIG))
    Job.fields |= DTLTO_JOB_INPUTS;
  Job.id = R.Id;
  Job.name = Memory.addString(S.Name);
  Job.triple = Memory.addString(S.Triple);
  Job.cost = FirstJob + 1000000 - R.Id;
  if (Job.fields & DTLTO_JOB_ARGS) {
    Job.num_args = static_cast<uint32_t>(S.Args.size());
    Job.args = Memory.addStrings(S.Args);
    Job.output = Memory.addString(S.Output);
  }
  if (Job.fields & DTLTO_JOB_CONFIG)
    Job.config = Memory.addString(S.Config);
  if (Avoid)
    Job.avoid = Memory.addString(Avoid);
  if (Job.fields & DTLTO_JOB_INPUTS)
    addInputs(R, Job);
  if (More)
    Job.fields |= 1u << 20; // a field of a later minor
  R.Raw = &Job;
  Memory.seal();
}

/// Adds the inputs of \p Job, and makes its bundle, in which inputs have their
/// usual roles.
void Session::addInputs(JobRecord &R, dtlto_job &Job) {
  std::vector<dtlto_input *> Inputs;
  for (const Sample::Input &In : R.S.Inputs) {
    bool IsWhole = Job.fields & DTLTO_JOB_WHOLE_IMPORTS && !In.Whole.empty();
    const std::string &Bytes = IsWhole ? In.Whole : In.Bytes;
    bool IsModule =
        In.Role == DTLTO_ROLE_PRIMARY || In.Role == DTLTO_ROLE_IMPORT;
    dtlto_input Raw = {};
    Raw.size = static_cast<uint32_t>(sizeof(Raw) + More);
    Raw.role = In.Role;
    Raw.path = R.Lent.addString(In.Path);
    Raw.bytes.size = Bytes.size();
    Raw.bytes.data = IsModule && !In.LaterRole
                         ? addModule(Bytes)
                         : R.Lent.addBytes(Bytes.data(), Bytes.size());
    if (Job.fields & DTLTO_JOB_DIGESTS)
      copy(fromHex(dtlto::bundleDigest(Bytes)), Raw.digest);
    Inputs.push_back(R.Lent.addStruct(Raw, More));
  }
  Job.num_inputs = static_cast<uint32_t>(Inputs.size());
  Job.inputs = R.Lent.addArray(Inputs);
  if (Job.fields & DTLTO_JOB_CONFIG) {
    dtlto_job Bundled = Job;
    Bundled.fields &= ~DTLTO_JOB_ARGS;
    if (auto Spans = dtlto::makeBundleSpans(Bundled))
      R.Bundle = std::move(*Spans);
    else
      R.BundleError = toString(Spans.takeError());
    // In the manifest, which comes first. Both texts have the same length.
    const StringRef Real = LLVM_VERSION_STRING;
    auto &Bytes = R.Bundle.TarBytes;
    if (size_t At = StringRef(Bytes.data(), Bytes.size()).find(Real);
        LLVMVersion != Real && At != StringRef::npos)
      copy(LLVMVersion, Bytes.begin() + At);
  }
  for (size_t I = 0; I != Inputs.size(); ++I)
    if (uint32_t Later = R.S.Inputs[I].LaterRole)
      Inputs[I]->role = Later;
}

/// Lends a module until close(), at the same address in all jobs.
const void *Session::addModule(const std::string &Bytes) {
  auto [I, IsNew] = Modules.try_emplace(Bytes);
  auto &[Lent, Address] = I->second;
  if (IsNew) {
    Lent = new Loan(
        "the bytes of a module",
        "read a module only until close() returns: stop all readers before",
        Loan::room(Bytes.size()));
    Address = Lent->addBytes(Bytes.data(), Bytes.size());
    Lent->seal();
  }
  return Address;
}

int32_t Session::offer(const Sample &S, const char *Avoid) {
  std::unique_lock<std::mutex> Lock(Mutex);
  const uint64_t Id = FirstJob + Jobs.size();
  JobRecord &R = Jobs.try_emplace(Id, Id, S).first->second;
  InSubmit = true;
  Lock.unlock();
  makeJob(R, Avoid);
  int32_t Status =
      call("submit", [&] { return ThePlugin.submit(Handle, R.Raw); });
  Lock.lock();
  InSubmit = false;
  R.Accepted = Status == DTLTO_OK;
  R.Refused = !R.Accepted;
  if (R.Accepted)
    return Status;
  ++NumEnded;
  R.Lent.end(Status == DTLTO_BUSY ? "submit() has returned DTLTO_BUSY"
                                  : "submit() has refused the job");
  TheRules.submitReturned(Status, R.Done);
  return Status;
}

uint64_t Session::submit(const Sample &S, const char *Avoid) {
  const auto End = Clock::now() + Opts.jobLimit();
  while (true) {
    std::unique_lock<std::mutex> Lock(Mutex);
    const uint64_t Room = RoomCount, Before = NumEnded;
    Lock.unlock();
    int32_t Status = offer(S, Avoid);
    if (Status != DTLTO_BUSY)
      return Status == DTLTO_OK ? FirstJob + Jobs.size() - 1 : 0;
    completeBatch();
    Lock.lock();
    // The end of a job also makes room; another case checks whether
    // load_changed() comes.
    if (!wait(Lock, std::chrono::ceil<Milliseconds>(End - Clock::now()), [&] {
          return RoomCount != Room || NumEnded != Before + 1 || HasGivenUp;
        }))
      failAndExit("DTLTO_BUSY",
                  "submit() returned DTLTO_BUSY, and neither load_changed() "
                  "nor a job_done() was called within " +
                      seconds(Opts.jobLimit()),
                  "call load_changed() as soon as there is room again");
    if (HasGivenUp)
      return 0;
  }
}

/// Tells the plugin that it has all jobs, if it has dtlto.batch/1.
void Session::completeBatch() {
  if (Phase != Open)
    return;
  if (auto *Batch =
          getExtension<dtlto_batch>(ThePlugin, DTLTO_EXT_BATCH, "dtlto_batch"))
    call("complete", [&] { Batch->complete(Handle); });
}

void Session::cancel(uint64_t Id) {
  locked([&] {
    if (JobRecord *R = find(Id))
      R->Cancelled = true;
  });
  call("cancel", [&] { ThePlugin.cancel(Handle, Id); });
}

/// Waits for \p Done, and meanwhile answers what callbacks ask of the link's
/// thread.
template <typename F>
bool Session::wait(std::unique_lock<std::mutex> &Lock, Milliseconds Limit,
                   F Done) {
  const Clock::time_point End = Clock::now() + Limit;
  assert(isLinkThread() && Lock.owns_lock());
  while (!Done()) {
    if (LoadAnswered != LoadWanted) {
      uint64_t Answering = LoadWanted;
      Lock.unlock();
      load();
      Lock.lock();
      LoadAnswered = Answering;
      Changed.notify_all();
    } else if (Changed.wait_until(Lock, End) == std::cv_status::timeout) {
      return Done();
    }
  }
  return true;
}

void Session::waitForAll() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  // Each job that ends restarts the time limit of the others.
  while (NumEnded != Jobs.size()) {
    const uint64_t Before = NumEnded;
    if (wait(Lock, Opts.jobLimit(), [&] { return NumEnded != Before; }))
      continue;
    for (auto &[Id, R] : Jobs)
      if (!R.Refused && !R.Done)
        failAndExit(
            "dtlto_host.job_done",
            jobName(Id) + " was accepted and had no job_done() within " +
                seconds(Opts.jobLimit()),
            "each accepted job has exactly one job_done(), cancelled ones "
            "included (use --timeout=S if your jobs take that long)");
  }
}

bool Session::waitFor(uint64_t Id, Milliseconds Limit) {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  return wait(Lock, Limit, [&] { return find(Id)->Done; });
}

void Session::waitForSign() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  // Plugins need not report states.
  wait(Lock, std::min<Milliseconds>(2s, Opts.jobLimit()),
       [&] { return NumSigns != 0; });
}

bool Session::waitForRoom(uint64_t Before) {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  auto HasRoom = [&] { return RoomCount != Before; };
  // load_changed() may follow the end of the last job.
  return wait(Lock, Opts.jobLimit(),
              [&] { return HasRoom() || NumEnded == Jobs.size(); }) &&
         wait(Lock, Opts.callLimit(), HasRoom);
}

bool Session::hasRoomWithin(uint64_t Before, Milliseconds Limit) {
  std::unique_lock<std::mutex> Lock(Mutex);
  return wait(Lock, Limit, [&] { return RoomCount != Before; });
}

void Session::compile(const std::vector<Sample> &Some, unsigned N) {
  std::vector<std::pair<uint64_t, const Sample *>> Submitted;
  for (unsigned I = 0; I != N; ++I) {
    const Sample &S = Some[I % Some.size()];
    Submitted.push_back({submit(S), &S});
  }
  waitForAll();
  for (auto [Id, S] : Submitted)
    expectObject(Id, *S);
}

void Session::compile(const Sample &S, const char *Avoid) {
  uint64_t Id = submit(S, Avoid);
  waitForAll();
  expectObject(Id, S);
}

void Session::expectObject(uint64_t Id, const Sample &S) {
  const JobRecord *R = job(Id);
  const std::string Job = "the job of '" + S.Name + "'";
  if (!expect(R, "dtlto_plugin.submit", "submit() refused " + Job,
              "accept each job that a worker can run, or return DTLTO_BUSY") ||
      !expect(R->Status == DTLTO_OK, "dtlto_result.status",
              Job + " ended with " + statusName(R->Status) + ": " +
                  (R->Message.empty() ? "(no message)" : R->Message),
              "this job compiles without an error in the linker; see the "
              "message"))
    return;
  const std::string &Bytes = R->Unframed;
  auto Difference = std::mismatch(Bytes.begin(), Bytes.end(), S.Object.begin(),
                                  S.Object.end())
                        .first;
  if (expect(Bytes == S.Object, "dtlto_result.object",
             Job + " made " + Twine(Bytes.size()) +
                 " bytes, the linker itself " + Twine(S.Object.size()) +
                 "; the first difference is at " +
                 Twine(Difference - Bytes.begin()),
             "run exactly the job's command line, with exactly "
             "params.llvm_version, on exactly its inputs under their paths, "
             "and return all of `output`"))
    expect(!hasGivenUp(), "DTLTO_LOG_ERROR",
           "the plugin has reported that it cannot continue, but " + Job +
               " had its object",
           OneJobFailed);
}
