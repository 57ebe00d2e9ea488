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

/// Returns the job of \p S that the plugin gets.
dtlto::testing::JobSpec Session::specOf(const Sample &S, const char *Avoid) {
  testing::JobSpec Spec = {
      {},     S.Args,   S.Output,           S.Config,
      S.Name, S.Triple, Avoid ? Avoid : "", 1000000 - Jobs.size()};
  for (const Sample::Input &In : S.Inputs) {
    const bool IsWhole = needs() & DTLTO_JOB_WHOLE_IMPORTS && !In.Whole.empty();
    testing::Input &Input = Spec.Inputs.emplace_back();
    Input = {In.Path, IsWhole ? In.Whole : In.Bytes,
             In.LaterRole ? In.LaterRole : In.Role};
    if (needs() & DTLTO_JOB_DIGESTS)
      copy(fromHex(dtlto::bundleDigest(Input.Bytes)), Input.Digest.begin());
  }
  return Spec;
}

/// Makes the bundle of \p L, in which inputs have their usual roles.
void Session::makeBundle(JobRecord &R, const LentJob &L) {
  auto SetRoles = [&](uint32_t Sample::Input::*Role) {
    for (size_t I = 0; I != L.Inputs.size(); ++I)
      if (R.S->Inputs[I].LaterRole)
        L.Inputs[I]->role = R.S->Inputs[I].*Role;
  };
  SetRoles(&Sample::Input::Role);
  dtlto_job Bundled = *L.Job;
  Bundled.fields &= ~DTLTO_JOB_ARGS;
  if (auto Spans = dtlto::makeBundleSpans(Bundled))
    R.Bundle = std::move(*Spans);
  else
    R.BundleError = toString(Spans.takeError());
  SetRoles(&Sample::Input::LaterRole);
  // In the manifest, which comes first. Both texts have the same length.
  const StringRef Real = LLVM_VERSION_STRING;
  auto &Bytes = R.Bundle.TarBytes;
  if (size_t At = StringRef(Bytes.data(), Bytes.size()).find(Real);
      LLVMVersion != Real && At != StringRef::npos)
    copy(LLVMVersion, Bytes.begin() + At);
}

/// Lends a module until close(), at the same address in all jobs.
const void *Session::addModule(dtlto_span Bytes) {
  auto [I, IsNew] = Modules.try_emplace(
      std::string(static_cast<const char *>(Bytes.data), Bytes.size));
  auto &[Lent, Address] = I->second;
  if (IsNew) {
    Lent = new Loan(
        "the bytes of a module",
        "read a module only until close() returns: stop all readers before",
        Loan::room(Bytes.size));
    Address = Lent->addBytes(Bytes.data, Bytes.size);
    Lent->seal();
  }
  return Address;
}

int32_t Session::offer(const Sample &S, const char *Avoid) {
  JobRecord &R = add(specOf(S, Avoid));
  R.S = &S;
  for (dtlto_input &In : R.Inputs)
    if (In.role == DTLTO_ROLE_PRIMARY || In.role == DTLTO_ROLE_IMPORT)
      In.bytes.data = addModule(In.bytes);
  const LentJob L = lendJob(R.Raw, nameOf(R.Raw.id), UINT64_MAX, More);
  if (R.Raw.fields & DTLTO_JOB_CONFIG)
    makeBundle(R, L);
  if (More)
    L.Job->fields |= 1u << 20; // a field of a later minor
  L.Memory->seal();
  R.Lent = L.Memory;
  R.Given = L.Job;
  R.freeMemory();
  R.Spec = {};
  return Host::offer(R);
}

uint64_t Session::submit(const Sample &S, const char *Avoid) {
  const auto End = Clock::now() + Opts.jobLimit();
  while (true) {
    const uint64_t Before = locked([&] { return NumRoom + NumDone; });
    int32_t Status = offer(S, Avoid);
    if (Status != DTLTO_BUSY)
      return Status == DTLTO_OK ? LastId : 0;
    completeBatch();
    std::unique_lock<std::mutex> Lock(Mutex);
    // The end of a job also makes room; another case checks whether
    // load_changed() comes.
    if (!waitFor(Lock, std::chrono::ceil<Milliseconds>(End - Clock::now()),
                 [&] { return NumRoom + NumDone != Before || GaveUp; }))
      failAndExit("DTLTO_BUSY",
                  "submit() returned DTLTO_BUSY, and neither load_changed() "
                  "nor a job_done() was called within " +
                      seconds(Opts.jobLimit()),
                  "call load_changed() as soon as there is room again");
    if (GaveUp)
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

/// Answers what callbacks ask of the link's thread.
bool Session::serve(std::unique_lock<std::mutex> &Lock) {
  assert(isLinkThread() && Lock.owns_lock());
  if (LoadAnswered == LoadWanted)
    return false;
  const uint64_t Answering = LoadWanted;
  Lock.unlock();
  load();
  Lock.lock();
  LoadAnswered = Answering;
  Changed.notify_all();
  return true;
}

void Session::waitForAll() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  // Each job that ends restarts the time limit of the others.
  while (!allDone()) {
    const uint64_t Before = NumDone;
    if (waitFor(Lock, Opts.jobLimit(), [&] { return NumDone != Before; }))
      continue;
    for (auto &[Id, R] : Jobs)
      if (!R.Done)
        failAndExit(
            "dtlto_host.job_done",
            nameOf(Id) + " was accepted and had no job_done() within " +
                seconds(Opts.jobLimit()),
            "each accepted job has exactly one job_done(), cancelled ones "
            "included (use --timeout=S if your jobs take that long)");
  }
}

bool Session::waitFor(uint64_t Id, Milliseconds Limit) {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  return waitFor(Lock, Limit, [&] { return find(Id)->Done; });
}

void Session::waitForSign() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  // Plugins need not report states.
  waitFor(Lock, std::min<Milliseconds>(2s, Opts.jobLimit()),
          [&] { return !States.empty() || NumDone || NumLocal; });
}

bool Session::waitForRoom(uint64_t Before) {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  auto HasRoom = [&] { return NumRoom != Before; };
  // load_changed() may follow the end of the last job.
  return waitFor(Lock, Opts.jobLimit(),
                 [&] { return HasRoom() || allDone(); }) &&
         waitFor(Lock, Opts.callLimit(), HasRoom);
}

bool Session::hasRoomWithin(uint64_t Before, Milliseconds Limit) {
  std::unique_lock<std::mutex> Lock(Mutex);
  return waitFor(Lock, Limit, [&] { return NumRoom != Before; });
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
