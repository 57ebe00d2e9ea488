//===- BundleWriter.cpp - From a job to one stream ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/Bundle.h"
#include "Bundle/BundleManifest.h"
#include "Bundle/BundleTar.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace dtlto;

static StringRef bytesOf(const dtlto_input &In) {
  return {static_cast<const char *>(In.bytes.data),
          static_cast<size_t>(In.bytes.size)};
}

static Expected<Manifest> manifestOf(const dtlto_job &Job) {
  Manifest M;
  M.LLVMVersion = LLVM_VERSION_STRING;
  M.Triple = Job.triple;
  M.Name = printable(Job.name);
  M.Output = Job.fields & DTLTO_JOB_ARGS ? Job.output : "out.o";
  if (Job.fields & DTLTO_JOB_ARGS)
    M.Args.assign(Job.args, Job.args + Job.num_args);
  for (const dtlto_input *In : ArrayRef(Job.inputs, Job.num_inputs)) {
    std::string Digest =
        Job.fields & DTLTO_JOB_DIGESTS
            ? toHex(ArrayRef<uint8_t>(In->digest), /*LowerCase=*/true)
            : bundleDigest(bytesOf(*In));
    M.Inputs.push_back({In->path, In->role, In->bytes.size, Digest});
  }
  if (!(Job.fields & DTLTO_JOB_CONFIG) || !Job.config)
    return failure("a job without a configuration has no bundle");
  M.Config = Job.config;
  if (Error E = checkConfigText(M.Config))
    return failure("the configuration of the bundle: " +
                   toString(std::move(E)));
  if (Error E = checkManifest(M))
    return std::move(E);
  return M;
}

Expected<BundleSpans> dtlto::makeBundleSpans(const dtlto_job &Job) {
  Expected<Manifest> M = manifestOf(Job);
  if (!M)
    return M.takeError();
  std::string Text = writeManifest(*M);
  if (Text.size() > MaxManifestSize)
    return failure("the manifest of the bundle is too long");

  BundleSpans Out;
  Out.Id = bundleId(Text);
  auto Own = [&](StringRef Bytes) {
    if (Bytes.empty())
      return;
    if (Out.Spans.empty() || Out.Spans.back().input)
      Out.Spans.push_back({{nullptr, 0}, nullptr});
    Out.Spans.back().bytes.size += Bytes.size();
    Out.Own.append(Bytes.begin(), Bytes.end());
  };
  auto Pad = [&](uint64_t Size) {
    Own(std::string(alignTo(Size, TarBlockSize) - Size, '\0'));
  };
  Own(tarHeader(ManifestPath, Text.size()));
  Own(Text);
  Pad(Text.size());
  for (const dtlto_input *In : ArrayRef(Job.inputs, Job.num_inputs)) {
    Own(tarHeader(In->path, In->bytes.size));
    if (In->bytes.size)
      Out.Spans.push_back({In->bytes, In});
    Pad(In->bytes.size);
  }
  Own(std::string(TarEndSize, '\0'));

  const char *Next = Out.Own.data(); // which doesn't grow any more
  for (dtlto_bundle_span &S : Out.Spans)
    if (!S.input) {
      S.bytes.data = Next;
      Next += S.bytes.size;
    }
  return Out;
}

SmallVector<char, 0> dtlto::joinBundle(const BundleSpans &Made) {
  SmallVector<char, 0> Out;
  uint64_t Size = 0;
  for (const dtlto_bundle_span &S : Made.Spans)
    Size += S.bytes.size;
  Out.reserve(Size);
  for (const dtlto_bundle_span &S : Made.Spans) {
    auto *Bytes = static_cast<const char *>(S.bytes.data);
    Out.append(Bytes, Bytes + S.bytes.size);
  }
  return Out;
}

Expected<SmallVector<char, 0>> dtlto::writeBundle(const dtlto_job &Job) {
  Expected<BundleSpans> Made = makeBundleSpans(Job);
  if (!Made)
    return Made.takeError();
  return joinBundle(*Made);
}
