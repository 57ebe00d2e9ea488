//===- Job.cpp - A job as the plugin gets it ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include <algorithm>

using namespace dtlto::check;

/// What all of \p S takes in a Loan, at most.
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
      Lent(*new Loan(
          "the dtlto_job (or what it points at) of " + jobName(Id),
          "a job is yours to read until its job_done(), or until submit() has "
          "refused it: copy what you need for longer, its id too",
          roomFor(S))) {}

void Session::makeJob(JobRecord &R, const char *Avoid) {
  Loan &L = R.Lent;
  const Sample &S = R.S;
  dtlto_job &Job = *L.addStruct(dtlto_job(), Age.More);
  Job.size = static_cast<uint32_t>(sizeof(Job) + Age.More);
  Job.fields = Needs & (2 * DTLTO_JOB_WHOLE_IMPORTS - 1);
  if (Needs & (DTLTO_JOB_ARGS | DTLTO_JOB_CONFIG))
    Job.fields |= DTLTO_JOB_INPUTS;
  Job.id = R.Id;
  Job.name = L.addString(S.Name);
  Job.triple = L.addString(S.Triple);
  Job.cost = FirstJob + 1000000 - R.Id;
  if (Job.fields & DTLTO_JOB_INPUTS)
    addInputs(R, Job);
  if (Job.fields & DTLTO_JOB_ARGS) {
    std::vector<const char *> Args;
    for (const std::string &Arg : S.Args)
      Args.push_back(L.addString(Arg));
    Job.num_args = static_cast<uint32_t>(Args.size());
    Args.push_back(nullptr);
    Job.args = static_cast<const char *const *>(
        L.addBytes(Args.data(), Args.size() * sizeof(char *)));
    Job.output = L.addString(S.Output);
  }
  if (Job.fields & DTLTO_JOB_CONFIG)
    Job.config = L.addString(S.Config);
  if (Avoid)
    Job.avoid = L.addString(Avoid);
  R.Known = Job;
  R.Known.fields = DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG;
  R.Known.inputs = R.KnownPointers.data();
  if (Age.More)
    Job.fields |= 1u << 20; // a field of a later minor
  R.Raw = &Job;
  L.seal();
}

void Session::addInputs(JobRecord &R, dtlto_job &Job) {
  std::vector<const dtlto_input *> Pointers;
  for (const Sample::Input &In : R.S.Inputs) {
    bool IsWhole = Job.fields & DTLTO_JOB_WHOLE_IMPORTS && !In.Whole.empty();
    const std::string &Bytes = IsWhole ? In.Whole : In.Bytes;
    dtlto_input Raw = {};
    Raw.size = static_cast<uint32_t>(sizeof(Raw) + Age.More);
    Raw.role = In.Role;
    Raw.path = R.Lent.addString(In.Path);
    Raw.bytes.size = Bytes.size();
    if (!In.LaterRole &&
        (In.Role == DTLTO_ROLE_PRIMARY || In.Role == DTLTO_ROLE_IMPORT))
      Raw.bytes.data = lendModule(Bytes);
    else
      Raw.bytes.data = R.Lent.addBytes(Bytes.data(), Bytes.size());
    if (Job.fields & DTLTO_JOB_DIGESTS)
      digestOf(Bytes, Raw.digest);
    R.KnownInputs.push_back(Raw);
    if (In.LaterRole)
      Raw.role = In.LaterRole;
    Pointers.push_back(R.Lent.addStruct(Raw, Age.More));
  }
  for (const dtlto_input &In : R.KnownInputs)
    R.KnownPointers.push_back(&In);
  Job.num_inputs = static_cast<uint32_t>(Pointers.size());
  Job.inputs = static_cast<const dtlto_input *const *>(
      R.Lent.addBytes(Pointers.data(), Pointers.size() * sizeof(void *)));
}

/// Modules stay until close(), and each has one address for all jobs.
const void *Session::lendModule(const std::string &Bytes) {
  auto [I, IsNew] = Modules.try_emplace(Bytes);
  if (IsNew) {
    I->second.first = new Loan(
        "the bytes of a module",
        "a module is yours until close() returns: whoever reads it must have "
        "ended by then",
        Loan::room(Bytes.size()));
    I->second.second = I->second.first->addBytes(Bytes.data(), Bytes.size());
    I->second.first->seal();
  }
  return I->second.second;
}
