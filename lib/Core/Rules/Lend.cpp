//===- Lend.cpp - The ABI's structs as loans ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules/Lend.h"

using namespace llvm;
using namespace dtlto;

static size_t roomFor(const char *Text) {
  return Loan::room(StringRef(Text).size() + 1);
}

static std::vector<std::string> textsOf(const char *const *Texts, uint32_t N) {
  return Texts ? std::vector<std::string>(Texts, Texts + N)
               : std::vector<std::string>();
}

static size_t roomFor(const std::vector<std::string> &Texts) {
  size_t Room = 0;
  for (const std::string &Text : Texts)
    Room += roomFor(Text.c_str()) + sizeof(char *);
  return Room;
}

const dtlto_session_params *
dtlto::lendParams(const dtlto_session_params &Params, Loan *&Memory,
                  uint32_t More) {
  constexpr const char *dtlto_session_params::*Texts[] = {
      &dtlto_session_params::llvm_version, &dtlto_session_params::linker,
      &dtlto_session_params::output};
  const auto Args = textsOf(Params.args, Params.num_args);
  size_t Room = 4096 + roomFor(Args);
  for (auto Field : Texts)
    Room += roomFor(Params.*Field);
  Memory = new Loan("the dtlto_session_params (or what they point at)",
                    FixOfParams, Room);
  dtlto_session_params *Copy = Memory->addStruct(Params, More);
  Copy->size += More;
  Copy->args = Memory->addStrings(Args);
  for (auto Field : Texts)
    if (Params.*Field)
      Copy->*Field = Memory->addString(Params.*Field);
  Memory->seal();
  return Copy;
}

LentJob dtlto::lendJob(const dtlto_job &Job, const std::string &Name,
                       uint64_t MaxCopy, uint32_t More) {
  auto IsCopied = [&](const dtlto_input &In) {
    return In.role != DTLTO_ROLE_PRIMARY && In.role != DTLTO_ROLE_IMPORT &&
           In.bytes.size <= MaxCopy;
  };
  constexpr const char *dtlto_job::*Texts[] = {
      &dtlto_job::name, &dtlto_job::triple, &dtlto_job::output,
      &dtlto_job::config, &dtlto_job::avoid};
  const auto Args = textsOf(Job.args, Job.num_args);
  const ArrayRef Inputs(Job.inputs, Job.inputs ? Job.num_inputs : 0);
  size_t Room = 4096 + roomFor(Args);
  for (auto Field : Texts)
    Room += roomFor(Job.*Field);
  for (const dtlto_input *In : Inputs)
    Room += sizeof(*In) + More + sizeof(In) + roomFor(In->path) +
            (IsCopied(*In) ? Loan::room(In->bytes.size) : 0);
  LentJob L;
  L.Memory = new Loan("the dtlto_job (or what it points at) of " + Name,
                      FixOfJob, Room);
  L.Job = L.Memory->addStruct(Job, More);
  L.Job->size += More;
  for (auto Field : Texts)
    if (Job.*Field)
      L.Job->*Field = L.Memory->addString(Job.*Field);
  if (Job.args)
    L.Job->args = L.Memory->addStrings(Args);
  for (const dtlto_input *In : Inputs) {
    dtlto_input *Copy = L.Memory->addStruct(*In, More);
    Copy->size += More;
    Copy->path = L.Memory->addString(In->path);
    if (IsCopied(*In))
      Copy->bytes.data = L.Memory->addBytes(In->bytes.data, In->bytes.size);
    L.Inputs.push_back(Copy);
  }
  if (Job.inputs)
    L.Job->inputs = L.Memory->addArray(L.Inputs);
  return L;
}
