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

/// The digest of a bundle and its job: the digest in its manifest.
using BundleId = std::array<uint8_t, 32>;

/// A bundle in the form of the ABI's bundle extension. The inputs are borrowed
/// from the job.
struct BundleSpans {
  std::vector<dtlto_bundle_span> Spans;
  llvm::SmallVector<char, 0> TarBytes; // all bytes but the inputs'
  BundleId Id;
};

/// Makes the bundle of \p Job. The job must have DTLTO_JOB_INPUTS, _DIGESTS and
/// _CONFIG, and _ARGS if it has a command line. Fails if a worker would refuse
/// the job.
llvm::Expected<BundleSpans> makeBundleSpans(const dtlto_job &Job);

/// Returns \p Bundle as one buffer.
llvm::SmallVector<char, 0> joinBundle(const BundleSpans &Bundle);

/// Makes the bundle of \p Job as one buffer.
llvm::Expected<llvm::SmallVector<char, 0>> writeBundle(const dtlto_job &Job);

/// The contents of a bundle, or of a manifest, which has no bytes of inputs.
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
  std::string Name;              // the module's name from printable()
  std::vector<Input> Inputs;     // the primary module first; one index
  std::vector<std::string> Args; // empty: none
  std::string Output;
  std::string Config; // the text of a JSON object, for readConfig()

  const Input &primary() const { return Inputs.front(); }
  const Input &index() const;
};

/// Reads a bundle from untrusted \p Bytes. Fails with a one-line reason on
/// anything that writeBundle() doesn't write: paths that leave the folder, are
/// absolute, repeated or missing; wrong sizes or digests; another version of
/// the format, or of LLVM than \p LLVMVersion; extra bytes. Checks everything
/// but the text of the configuration. Memory use is a small multiple of the
/// size of \p Bytes.
llvm::Expected<Bundle> readBundle(llvm::StringRef Bytes,
                                  llvm::StringRef LLVMVersion);

/// Like readBundle(), for a job whose manifest and inputs are files in
/// \p Folder, named as in a bundle. Ignores other files in it.
llvm::Expected<Bundle> readBundleFolder(llvm::StringRef Folder,
                                        llvm::StringRef LLVMVersion);

} // namespace dtlto

#endif // DTLTO_BUNDLE_BUNDLE_H
