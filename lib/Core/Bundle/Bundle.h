//===- Bundle.h - One job as one stream -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/BUNDLE.md specifies the format: a tar archive that begins with
// manifest.json (format, LLVM version, triple, names, the list of inputs with
// role, size and BLAKE3 digest, the command line, the configuration), followed
// by the inputs in the manifest's order. Times, owners and modes are fixed:
// equal jobs give equal bytes.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_BUNDLE_H
#define DTLTO_BUNDLE_BUNDLE_H

#include "dtlto/ext/bundle.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>
#include <vector>

namespace dtlto {

/// The digest of a bundle, and so of its job: the manifest's own.
using BundleId = std::array<uint8_t, 32>;

/// A bundle as the ABI's bundle extension has it: inputs stay where the job has
/// them.
struct BundleSpans {
  std::vector<dtlto_bundle_span> Spans;
  llvm::SmallVector<char, 0> Own; // the bytes of all that isn't an input
  BundleId Id;
};

/// Makes the bundle of \p Job, which has DTLTO_JOB_INPUTS, _DIGESTS and
/// _CONFIG, and _ARGS if it has a command line. Fails if a worker would refuse
/// the job.
llvm::Expected<BundleSpans> makeBundleSpans(const dtlto_job &Job);

/// Returns \p Bundle in one piece.
llvm::SmallVector<char, 0> joinBundle(const BundleSpans &Bundle);

/// Makes the bundle of \p Job in one piece.
llvm::Expected<llvm::SmallVector<char, 0>> writeBundle(const dtlto_job &Job);

/// What a bundle holds. A manifest is the same without the inputs' bytes.
struct Bundle {
  struct Input {
    std::string Path;
    uint32_t Role; // DTLTO_ROLE_...
    uint64_t Size;
    std::string Digest; // BLAKE3, 64 hexadecimal digits in lower case
    llvm::SmallVector<char, 0> Bytes;
  };
  BundleId Id = {}; // set by readers
  std::string LLVMVersion;
  std::string Triple;
  std::string Name;              // the module's, as printable() returned it
  std::vector<Input> Inputs;     // the primary module first; one index
  std::vector<std::string> Args; // empty: none
  std::string Output;
  std::string Config; // the text of a JSON object, for readConfig()

  const Input &primary() const { return Inputs.front(); }
  const Input &index() const;
};

/// Reads the bytes of a bundle, which may come from anywhere. Fails with one
/// line on anything that writeBundle() doesn't write: paths that leave the
/// folder, are absolute, repeated or missing; sizes and digests that don't
/// match; another version of the format or of LLVM than \p LLVMVersion; extra
/// bytes. Checks everything but the text of the configuration. Uses no more
/// memory than a small multiple of the size of \p Bytes.
llvm::Expected<Bundle> readBundle(llvm::StringRef Bytes,
                                  llvm::StringRef LLVMVersion);

/// The same for a job whose manifest and inputs are files in \p Folder, under
/// the names that they have in a bundle. Ignores other files there.
llvm::Expected<Bundle> readBundleFolder(llvm::StringRef Folder,
                                        llvm::StringRef LLVMVersion);

} // namespace dtlto

#endif // DTLTO_BUNDLE_BUNDLE_H
