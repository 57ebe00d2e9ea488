//===- Samples.cpp - Reads and writes jobs --------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only file of this program that includes LLVM, since bundles are
// lib/Core's.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "Bundle/Bundle.h"
#include "Bundle/BundleManifest.h"
#include "Bundle/ObjectFrame.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace dtlto::check;

std::string dtlto::check::llvmVersion() { return LLVM_VERSION_STRING; }

std::string dtlto::check::readFile(const std::string &Path) {
  std::ostringstream Bytes;
  Bytes << std::ifstream(Path, std::ios::binary).rdbuf();
  return Bytes.str();
}

void dtlto::check::digestOf(const std::string &Bytes, uint8_t *Digest) {
  std::string Raw = llvm::fromHex(dtlto::bundleDigest(Bytes));
  std::memcpy(Digest, Raw.data(), 32);
}

void Sample::digest() {
  for (Input &In : Inputs)
    digestOf(In.Bytes, In.Digest.data());
}

std::vector<Sample> dtlto::check::readSamples(const std::string &Folder,
                                              std::string &Error,
                                              bool HaveObjects) {
  std::vector<Sample> All;
  std::vector<std::string> Names;
  std::error_code EC;
  for (auto &Entry : std::filesystem::directory_iterator(Folder, EC))
    if (Entry.path().extension() == ".tar")
      Names.push_back(Entry.path().string());
  std::sort(Names.begin(), Names.end());
  for (const std::string &Name : Names) {
    llvm::Expected<dtlto::Bundle> B =
        dtlto::readBundle(readFile(Name), llvmVersion());
    if (!B) {
      Error = "can't read '" + Name + "': " + llvm::toString(B.takeError());
      return {};
    }
    Sample S;
    S.Name = B->Name;
    S.Triple = B->Triple;
    S.Output = B->Output;
    S.Config = B->Config;
    S.Args = B->Args;
    for (const dtlto::Bundle::Input &In : B->Inputs)
      S.Inputs.push_back({In.Path,
                          In.Role,
                          std::string(In.Bytes.begin(), In.Bytes.end()),
                          {}});
    S.Object =
        readFile(std::filesystem::path(Name).replace_extension("o").string());
    if (HaveObjects && S.Object.empty()) {
      Error = "no object beside '" + Name + "'";
      return {};
    }
    S.digest();
    All.push_back(std::move(S));
  }
  if (All.empty())
    Error = "no jobs in '" + Folder + "'";
  std::map<std::string, const std::string *> Whole;
  for (const Sample &S : All)
    for (const Sample::Input &In : S.Inputs)
      if (In.Role == DTLTO_ROLE_PRIMARY)
        Whole[In.Path] = &In.Bytes;
  for (Sample &S : All)
    for (Sample::Input &In : S.Inputs)
      if (In.Role == DTLTO_ROLE_IMPORT && Whole.count(In.Path))
        In.Whole = *Whole[In.Path];
  return All;
}

std::string dtlto::check::refusedJobs(const std::string &Folder) {
  return Folder + "/refused";
}

/// Calls \p Fn with \p S as a linker has it, and returns what that makes.
template <typename F> static auto withJob(const Sample &S, F Fn) {
  std::vector<dtlto_input> Inputs;
  for (const Sample::Input &In : S.Inputs) {
    dtlto_input Raw = {};
    Raw.size = sizeof(Raw);
    Raw.role = In.Role; // the host knows its own roles
    Raw.path = In.Path.c_str();
    Raw.bytes = {In.Bytes.data(), In.Bytes.size()};
    std::copy(In.Digest.begin(), In.Digest.end(), Raw.digest);
    Inputs.push_back(Raw);
  }
  std::vector<const dtlto_input *> Pointers;
  for (const dtlto_input &In : Inputs)
    Pointers.push_back(&In);
  dtlto_job Job = {};
  Job.size = sizeof(Job);
  Job.fields = DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG;
  Job.name = S.Name.c_str();
  Job.triple = S.Triple.c_str();
  Job.inputs = Pointers.data();
  Job.num_inputs = static_cast<uint32_t>(Pointers.size());
  Job.config = S.Config.c_str();
  auto Made = Fn(Job);
  if (!Made)
    llvm::consumeError(Made.takeError());
  return Made ? std::move(*Made) : std::decay_t<decltype(*Made)>();
}

std::string dtlto::check::makeBundle(const Sample &S) {
  auto Bytes = withJob(S, dtlto::writeBundle);
  return std::string(Bytes.begin(), Bytes.end());
}

std::vector<dtlto_bundle_span>
dtlto::check::makeBundleSpans(const Sample &S, const dtlto_job &Lent,
                              std::string &Own) {
  dtlto::BundleSpans Made = withJob(S, dtlto::makeBundleSpans);
  Own.assign(Made.Own.begin(), Made.Own.end());
  const char *NextOwn = Own.data();
  uint32_t NextInput = 0;
  for (dtlto_bundle_span &Span : Made.Spans)
    if (Span.input) {
      // An empty one has no span.
      while (Lent.inputs[NextInput]->bytes.size == 0)
        ++NextInput;
      Span.input = Lent.inputs[NextInput++];
      Span.bytes = Span.input->bytes;
    } else {
      Span.bytes.data = NextOwn;
      NextOwn += Span.bytes.size;
    }
  return Made.Spans;
}

std::string dtlto::check::takeFromFrame(const Sample &S, std::string &Object) {
  auto Result = dtlto::readFrame(Object, withJob(S, dtlto::makeBundleSpans).Id);
  if (!Result)
    return llvm::toString(Result.takeError());
  Object = Result->str();
  return {};
}
