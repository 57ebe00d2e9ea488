//===- Job.cpp - A job as the plugin gets it ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"

using namespace dtlto::check;

const void *Modules::lend(const std::string &Bytes) {
  const void *&Place = Places[Bytes];
  if (!Place)
    Place = Lent.addBytes(Bytes.data(), Bytes.size());
  return Place;
}

JobRecord::JobRecord(uint64_t Id, const Sample &S, uint32_t Needs,
                     const HostAge &Age, const char *Avoid, Modules &M)
    : Id(Id), S(S),
      Lent("the dtlto_job (or what it points at) of " + jobName(Id),
           "a job is yours to read until its job_done(), or until submit() has "
           "refused it: copy what you need for longer, its id too") {
  dtlto_job Job = {};
  Job.size = static_cast<uint32_t>(sizeof(Job) + Age.More);
  Job.fields = Needs & (2 * DTLTO_JOB_WHOLE_IMPORTS - 1);
  if (Needs & (DTLTO_JOB_ARGS | DTLTO_JOB_CONFIG))
    Job.fields |= DTLTO_JOB_INPUTS;
  Job.id = Id;
  Job.name = Lent.addString(S.Name);
  Job.triple = Lent.addString(S.Triple);
  Job.cost = FirstJob + 1000000 - Id;
  if (Job.fields & DTLTO_JOB_INPUTS)
    addInputs(Job, Age, M);
  if (Job.fields & DTLTO_JOB_ARGS)
    addArgs(Job);
  if (Job.fields & DTLTO_JOB_CONFIG)
    Job.config = Lent.addString(S.Config);
  if (Avoid)
    Job.avoid = Lent.addString(Avoid);

  Known = Job;
  Known.fields = DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG;
  Known.inputs = KnownPointers.data();
  if (Age.More)
    Job.fields |= 1u << 20; // a field of a later minor
  Raw = Lent.addStruct(Job, Age.More);
  Lent.seal();
  M.Lent.seal();
}

void JobRecord::addInputs(dtlto_job &Job, const HostAge &Age, Modules &M) {
  std::vector<const dtlto_input *> Pointers;
  KnownInputs.reserve(S.Inputs.size());
  for (const Sample::Input &In : S.Inputs) {
    bool IsModule = !In.LaterRole && (In.Role == DTLTO_ROLE_PRIMARY ||
                                      In.Role == DTLTO_ROLE_IMPORT);
    const std::string &Bytes =
        Job.fields & DTLTO_JOB_WHOLE_IMPORTS && !In.Whole.empty() ? In.Whole
                                                                  : In.Bytes;
    dtlto_input Raw = {};
    Raw.size = static_cast<uint32_t>(sizeof(Raw) + Age.More);
    Raw.role = In.Role;
    Raw.path = Lent.addString(In.Path);
    Raw.bytes = {IsModule ? M.lend(Bytes)
                          : Lent.addBytes(Bytes.data(), Bytes.size()),
                 Bytes.size()};
    if (Job.fields & DTLTO_JOB_DIGESTS)
      digestOf(Bytes, Raw.digest);
    KnownInputs.push_back(Raw);
    KnownPointers.push_back(&KnownInputs.back());
    if (In.LaterRole)
      Raw.role = In.LaterRole;
    Pointers.push_back(Lent.addElement(Raw, Age.More));
  }
  Job.num_inputs = static_cast<uint32_t>(Pointers.size());
  Job.inputs = static_cast<const dtlto_input *const *>(
      Lent.addBytes(Pointers.data(), Pointers.size() * sizeof(void *)));
}

void JobRecord::addArgs(dtlto_job &Job) {
  std::vector<const char *> Args;
  for (const std::string &Arg : S.Args)
    Args.push_back(Lent.addString(Arg));
  Args.push_back(nullptr);
  Job.num_args = static_cast<uint32_t>(S.Args.size());
  Job.args = static_cast<const char *const *>(
      Lent.addBytes(Args.data(), Args.size() * sizeof(char *)));
  Job.output = Lent.addString(S.Output);
}
