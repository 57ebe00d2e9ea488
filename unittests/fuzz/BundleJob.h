//===- BundleJob.h - A job for a bundle -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_FUZZ_BUNDLEJOB_H
#define DTLTO_UNITTESTS_FUZZ_BUNDLEJOB_H

#include "Bundle/Bundle.h"

namespace dtlto::test {

/// An artificial job.
class BundleJob {
public:
  struct File {
    std::string Path;
    uint32_t Role;
    std::string Bytes;
  };

  BundleJob(std::vector<File> TheFiles, std::string Triple, std::string Name,
            std::vector<std::string> TheArgs, std::string Output,
            std::string Config)
      : Files(std::move(TheFiles)),
        Args(std::move(TheArgs)), Texts{std::move(Triple), std::move(Name),
                                        std::move(Output), std::move(Config)} {
    for (const File &F : Files) {
      dtlto_input In = {};
      In.size = sizeof(In);
      In.role = F.Role;
      In.path = F.Path.c_str();
      In.bytes = {F.Bytes.data(), F.Bytes.size()};
      Inputs.push_back(In);
    }
    for (const dtlto_input &In : Inputs)
      InputPointers.push_back(&In);
    for (const std::string &Arg : Args)
      ArgPointers.push_back(Arg.c_str());
    Job.size = sizeof(Job);
    Job.fields = DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG;
    if (!Args.empty())
      Job.fields |= DTLTO_JOB_ARGS;
    Job.id = 1;
    Job.triple = Texts[0].c_str();
    Job.name = Texts[1].c_str();
    Job.output = Texts[2].c_str();
    Job.config = Texts[3].c_str();
    Job.inputs = InputPointers.data();
    Job.num_inputs = InputPointers.size();
    Job.args = ArgPointers.data();
    Job.num_args = ArgPointers.size();
  }
  /// Creates the job that \p B was made of.
  explicit BundleJob(const Bundle &B)
      : BundleJob(filesOf(B), B.Triple, B.Name, B.Args, B.Output, B.Config) {}
  BundleJob(const BundleJob &) = delete;

  const dtlto_job &get() const { return Job; }

  static std::vector<File> filesOf(const Bundle &B) {
    std::vector<File> Files;
    for (const Bundle::Input &In : B.Inputs)
      Files.push_back(
          {In.Path, In.Role, std::string(In.Bytes.begin(), In.Bytes.end())});
    return Files;
  }

private:
  std::vector<File> Files;
  std::vector<std::string> Args;
  std::string Texts[4]; // triple, name, output, configuration
  std::vector<dtlto_input> Inputs;
  std::vector<const dtlto_input *> InputPointers;
  std::vector<const char *> ArgPointers;
  dtlto_job Job = {};
};

/// Whether both have the same job. A job without a command line has no output.
inline bool same(const Bundle &A, const Bundle &B) {
  if (A.Triple != B.Triple || A.Name != B.Name || A.Args != B.Args ||
      A.Config != B.Config || A.Inputs.size() != B.Inputs.size() ||
      (!B.Args.empty() && A.Output != B.Output))
    return false;
  for (size_t I = 0; I != A.Inputs.size(); ++I)
    if (A.Inputs[I].Path != B.Inputs[I].Path ||
        A.Inputs[I].Role != B.Inputs[I].Role ||
        A.Inputs[I].Bytes != B.Inputs[I].Bytes)
      return false;
  return true;
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_FUZZ_BUNDLEJOB_H
