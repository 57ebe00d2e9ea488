//===- dtlto/testing/Job.hpp - The jobs of a test host ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For Host.hpp.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_TESTING_JOB_HPP
#define DTLTO_TESTING_JOB_HPP

#include "../PluginAPI.h"
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace dtlto::testing {

/// An input of a job.
struct Input {
  std::string Path, Bytes;
  uint32_t Role = DTLTO_ROLE_OTHER;
  std::array<uint8_t, 32> Digest = {};
};

/// A job to submit.
struct JobSpec {
  std::vector<Input> Inputs = {};
  std::vector<std::string> Args = {};
  std::string Output = {}, Config = {};
  std::string Name = Output, Triple = "x86_64-unknown-linux-gnu", Avoid = {};
  uint64_t Cost = 1;
};

/// What job_done() reported.
struct Result {
  int32_t Status = DTLTO_OK;
  std::string Object, Message, Worker;
};

/// Returns pointers to \p Texts, and a null pointer.
inline std::vector<const char *>
pointersTo(const std::vector<std::string> &Texts) {
  std::vector<const char *> All;
  for (const std::string &Text : Texts)
    All.push_back(Text.c_str());
  All.push_back(nullptr);
  return All;
}

/// A job of a session.
struct Job : Result {
  JobSpec Spec;
  dtlto_job Raw = {};               // points to the members below, and to Spec
  const dtlto_job *Given = nullptr; // what the plugin gets
  std::vector<dtlto_input> Inputs;
  std::vector<const dtlto_input *> InputPointers;
  std::vector<const char *> ArgPointers;
  bool Cancelled = false, Done = false;
  dtlto_buffer Buffer = {}; // of the object, until it is released

  /// Fills in the fields that the plugin \p Needs.
  void fill(uint64_t Id, JobSpec TheSpec, uint32_t Needs) {
    Spec = std::move(TheSpec);
    Raw.size = sizeof(Raw);
    Raw.fields = Needs & (2 * DTLTO_JOB_WHOLE_IMPORTS - 1);
    if (Raw.fields & (DTLTO_JOB_ARGS | DTLTO_JOB_CONFIG))
      Raw.fields |= DTLTO_JOB_INPUTS;
    Raw.id = Id;
    Raw.name = Spec.Name.c_str();
    Raw.triple = Spec.Triple.c_str();
    Raw.cost = Spec.Cost;
    if (!Spec.Avoid.empty())
      Raw.avoid = Spec.Avoid.c_str();
    if (Raw.fields & DTLTO_JOB_INPUTS)
      pointAtInputs();
    if (Raw.fields & DTLTO_JOB_ARGS) {
      ArgPointers = pointersTo(Spec.Args);
      Raw.args = ArgPointers.data();
      Raw.num_args = static_cast<uint32_t>(Spec.Args.size());
      Raw.output = Spec.Output.c_str();
    }
    if (Raw.fields & DTLTO_JOB_CONFIG)
      Raw.config = Spec.Config.c_str();
    Given = &Raw;
  }
  /// Frees the memory, except for modules, which the plugin may read until
  /// close() returns.
  void freeMemory() {
    std::vector<Input> Files = std::move(Spec.Inputs);
    for (Input &In : Files) {
      std::string().swap(In.Path);
      if (In.Role != DTLTO_ROLE_PRIMARY && In.Role != DTLTO_ROLE_IMPORT)
        std::string().swap(In.Bytes);
    }
    Spec = JobSpec();
    Spec.Inputs = std::move(Files);
    std::vector<dtlto_input>().swap(Inputs);
    std::vector<const dtlto_input *>().swap(InputPointers);
    std::vector<const char *>().swap(ArgPointers);
  }

private:
  void pointAtInputs() {
    for (const Input &In : Spec.Inputs) {
      dtlto_input &R = Inputs.emplace_back();
      R.size = sizeof(R);
      R.role = In.Role;
      R.path = In.Path.c_str();
      R.bytes = {In.Bytes.data(), In.Bytes.size()};
      std::copy(In.Digest.begin(), In.Digest.end(), R.digest);
    }
    for (const dtlto_input &R : Inputs)
      InputPointers.push_back(&R);
    Raw.inputs = InputPointers.data();
    Raw.num_inputs = static_cast<uint32_t>(InputPointers.size());
  }
};

inline std::string nameOf(uint64_t Job) { return "job " + std::to_string(Job); }

} // namespace dtlto::testing

#endif // DTLTO_TESTING_JOB_HPP
