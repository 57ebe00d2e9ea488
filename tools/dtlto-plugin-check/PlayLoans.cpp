//===- PlayLoans.cpp - What the plugin is lent ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Play.h"
#include "PlayParts.h"
#include <algorithm>
#include <cstring>

using namespace dtlto::check;

Play &Play::from(dtlto_host_context *Context) {
  return *reinterpret_cast<Play *>(Context);
}

void Play::makeHost() {
  struct {
    dtlto_host Now;
    char Later[64];
  } H;
  std::memset(&H, 0x5a, sizeof(H));
  H.Now = {};
  H.Now.size = sizeof(dtlto_host) + Age.More;
  H.Now.abi_major = DTLTO_ABI_MAJOR;
  H.Now.abi_minor = Age.Minor;
  H.Now.name = HostLoan.addString("dtlto");
  H.Now.version = HostLoan.addString("plugin-check");
  H.Now.context = reinterpret_cast<dtlto_host_context *>(this);
  H.Now.log = [](dtlto_host_context *C, uint32_t Level, const char *Message) {
    from(C).log(Level, Message);
  };
  H.Now.job_state = [](dtlto_host_context *C, uint64_t Job, uint32_t State,
                       const char *Worker) {
    from(C).jobState(Job, State, Worker);
  };
  H.Now.job_done = [](dtlto_host_context *C, uint64_t Job,
                      const dtlto_result *R) { from(C).jobDone(Job, R); };
  H.Now.load_changed = [](dtlto_host_context *C) { from(C).loadChanged(); };
  H.Now.check_result = [](dtlto_host_context *C, uint64_t Job, dtlto_span O,
                          char *Why, uint64_t WhySize) {
    return from(C).checkResult(Job, O, Why, WhySize);
  };
  H.Now.extension = [](dtlto_host_context *C, const char *Id) {
    return from(C).extension(Id);
  };
  Host = static_cast<const dtlto_host *>(
      HostLoan.addStruct(&H, sizeof(dtlto_host) + Age.More));
  HostLoan.seal();

  LocalCodegen.size = sizeof(LocalCodegen);
  LocalCodegen.slots = 2;
  LocalCodegen.run = [](dtlto_host_context *C, uint64_t Job, dtlto_result *R) {
    return from(C).runLocally(Job, R);
  };
  BundleExtension.size = sizeof(BundleExtension);
  BundleExtension.make = [](dtlto_host_context *C, uint64_t Job,
                            dtlto_bundle_spans *B) {
    return from(C).bundle(Job, B);
  };
  LocalRoom.size = sizeof(LocalRoom);
  LocalRoom.enter = [](dtlto_host_context *C, uint64_t Job) {
    return from(C).enterRoom(Job);
  };
  LocalRoom.leave = [](dtlto_host_context *C, uint64_t Job, uint64_t) {
    from(C).leaveRoom(Job);
  };
  Numbers.size = sizeof(Numbers);
  Numbers.session = [](dtlto_host_context *C, const char *Name, uint32_t,
                       uint64_t) { from(C).checkNumber(Name, nullptr); };
  Numbers.job = [](dtlto_host_context *C, uint64_t Job, const char *Name,
                   uint32_t, uint64_t) { from(C).checkNumber(Name, &Job); };
}

/// Modules stay until close(), and each has one address for all jobs.
const void *Play::moduleBytes(const std::string &Contents) {
  const void *&Place = ModuleBytes[Contents];
  if (!Place)
    Place = Modules.addBytes(Contents.data(), Contents.size());
  return Place;
}

const dtlto_job *Play::makeJob(Record &R, const Sample &S, const char *Avoid) {
  R.S = &S;
  Loan &L = R.Lent;
  struct {
    dtlto_job Now;
    char Later[64];
  } Job;
  std::memset(&Job, 0x5a, sizeof(Job));
  Job.Now = {};
  Job.Now.size = static_cast<uint32_t>(sizeof(dtlto_job) + Age.More);
  Job.Now.fields =
      Needs & (DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_DIGESTS |
               DTLTO_JOB_CONFIG | DTLTO_JOB_WHOLE_IMPORTS);
  if (Needs & (DTLTO_JOB_ARGS | DTLTO_JOB_CONFIG))
    Job.Now.fields |= DTLTO_JOB_INPUTS;
  if (Age.More)
    Job.Now.fields |= 1u << 20; // a field of a later minor
  Job.Now.id = R.Id;
  Job.Now.name = L.addString(S.Name);
  Job.Now.triple = L.addString(S.Triple);
  Job.Now.cost = FirstId + 1000000 - R.Id;
  if (Job.Now.fields & DTLTO_JOB_INPUTS) {
    std::vector<const dtlto_input *> Inputs;
    for (const Sample::Input &In : S.Inputs) {
      struct {
        dtlto_input Now;
        char Later[64];
      } Raw;
      std::memset(&Raw, 0x5a, sizeof(Raw));
      Raw.Now = {};
      Raw.Now.size = sizeof(dtlto_input) + Age.More;
      Raw.Now.role = In.LaterRole ? In.LaterRole : In.Role;
      Raw.Now.path = L.addString(In.Path);
      bool IsModule = Raw.Now.role == DTLTO_ROLE_PRIMARY ||
                      Raw.Now.role == DTLTO_ROLE_IMPORT;
      bool IsWhole =
          Job.Now.fields & DTLTO_JOB_WHOLE_IMPORTS && !In.Whole.empty();
      const std::string &Bytes = IsWhole ? In.Whole : In.Bytes;
      Raw.Now.bytes = {IsModule ? moduleBytes(Bytes)
                                : L.addBytes(Bytes.data(), Bytes.size()),
                       Bytes.size()};
      if (Job.Now.fields & DTLTO_JOB_DIGESTS && IsWhole)
        digestOf(Bytes, Raw.Now.digest);
      else if (Job.Now.fields & DTLTO_JOB_DIGESTS)
        std::copy(In.Digest.begin(), In.Digest.end(), Raw.Now.digest);
      Inputs.push_back(
          static_cast<const dtlto_input *>(L.addBytes(&Raw, Raw.Now.size)));
    }
    Job.Now.num_inputs = static_cast<uint32_t>(Inputs.size());
    Job.Now.inputs = static_cast<const dtlto_input *const *>(
        L.addBytes(Inputs.data(), Inputs.size() * sizeof(void *)));
  }
  if (Job.Now.fields & DTLTO_JOB_ARGS) {
    std::vector<const char *> Args;
    for (const std::string &Arg : S.Args)
      Args.push_back(L.addString(Arg));
    Args.push_back(nullptr);
    Job.Now.num_args = static_cast<uint32_t>(S.Args.size());
    Job.Now.args = static_cast<const char *const *>(
        L.addBytes(Args.data(), Args.size() * sizeof(char *)));
    Job.Now.output = L.addString(S.Output);
  }
  if (Job.Now.fields & DTLTO_JOB_CONFIG)
    Job.Now.config = L.addString(S.Config);
  if (Avoid)
    Job.Now.avoid = L.addString(Avoid);
  R.Raw = static_cast<const dtlto_job *>(L.addStruct(&Job, Job.Now.size));
  L.seal();
  Modules.seal();
  return R.Raw;
}
