//===- BuiltJob.cpp - A job of the ABI and its memory ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/BuiltJob.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include <algorithm>

using namespace llvm;
using namespace dtlto;

const uint8_t *ModuleFile::digest() {
  std::call_once(HashOnce, [&] {
    auto Hash = BLAKE3::hash(arrayRefFromStringRef(Bytes));
    std::copy(Hash.begin(), Hash.end(), Digest);
  });
  return Digest;
}

dtlto_input dtlto::makeInput(uint32_t Role, const char *Path, StringRef Bytes) {
  dtlto_input Input = {};
  Input.size = sizeof(dtlto_input);
  Input.role = Role;
  Input.path = Path;
  Input.bytes = {Bytes.data(), Bytes.size()};
  return Input;
}

void dtlto::setInputs(BuiltJob &Built) {
  Built.InputPointers.clear();
  for (const dtlto_input &Input : Built.Inputs)
    Built.InputPointers.push_back(&Input);
  Built.Job.inputs = Built.InputPointers.data();
  Built.Job.num_inputs = Built.InputPointers.size();
}

dtlto_job dtlto::asBundled(const dtlto_job &Job) {
  dtlto_job Bundled = Job;
  if (Job.num_inputs != 0)
    Bundled.name = Job.inputs[0]->path;
  return Bundled;
}

std::string dtlto::inUsersNames(std::string Said, const BuiltJob &Built) {
  if (Said.empty())
    return Said;
  for (size_t I = 0; I != Built.Inputs.size(); ++I) {
    StringRef Name;
    if (I == 0)
      Name = Built.Name;
    else if (const ModuleFile *File = Built.Files[I])
      Name = File->Name;
    if (!Name.empty())
      Said = withName(Said, Built.Inputs[I].path, printable(Name));
  }
  return Said;
}

void dtlto::addDigests(BuiltJob &Built) {
  for (size_t I = 0; I != Built.Inputs.size(); ++I) {
    dtlto_input &Input = Built.Inputs[I];
    if (Built.Files[I]) {
      const uint8_t *Digest = Built.Files[I]->digest();
      std::copy(Digest, Digest + sizeof(Input.digest), Input.digest);
      continue;
    }
    auto Hash =
        BLAKE3::hash(ArrayRef(static_cast<const uint8_t *>(Input.bytes.data),
                              static_cast<size_t>(Input.bytes.size)));
    std::copy(Hash.begin(), Hash.end(), Input.digest);
  }
  Built.Job.parts |= DTLTO_PART_DIGESTS;
}

void dtlto::setAvoid(BuiltJob &Built, StringRef Avoid) {
  Built.Avoid = Avoid.str();
  Built.Job.avoid = Avoid.empty() ? nullptr : Built.Avoid.c_str();
}

void dtlto::setArgs(BuiltJob &Built, const char *Output) {
  Built.ArgPointers.clear();
  for (const std::string &Arg : Built.Args)
    Built.ArgPointers.push_back(Arg.c_str());
  Built.ArgPointers.push_back(nullptr);
  Built.Job.args = Built.ArgPointers.data();
  Built.Job.num_args = Built.Args.size();
  Built.Job.output = Output;
  Built.Job.parts |= DTLTO_PART_ARGS;
}
