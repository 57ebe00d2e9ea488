//===- BundleManifest.h - What manifest.json of a bundle says ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The half of a bundle that is JSON; shared by its reader and its writer. A
// manifest has one form: whatever readManifest() accepts, writeManifest()
// writes again byte for byte.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_BUNDLEMANIFEST_H
#define DTLTO_BUNDLE_BUNDLEMANIFEST_H

#include "Bundle/Bundle.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// The name of the bundle's first entry.
constexpr llvm::StringLiteral ManifestPath = "manifest.json";

/// No more than this is taken for a manifest.
constexpr uint64_t MaxManifestSize = 16 << 20;

struct Manifest {
  struct Input {
    std::string Path;
    uint32_t Role; // DTLTO_ROLE_...
    uint64_t Size;
    std::string Digest; // 64 hexadecimal digits
  };
  std::string LLVMVersion;
  std::string Triple;
  std::string Name; // as printable() made it
  std::string Output;
  std::vector<std::string> Args; // empty: none
  std::vector<Input> Inputs;
  std::string Config; // the text of a JSON object
};

/// Fails unless \p M can be a bundle's: paths that stay in a folder, each once;
/// one primary module, the first; one index.
llvm::Error checkManifest(const Manifest &M);

/// Returns the text of \p M, which checkManifest() accepts.
std::string writeManifest(const Manifest &M);

/// Reads bytes that may come from anywhere. Fails with one line on anything
/// that writeManifest() doesn't write, and if they aren't for \p LLVMVersion.
/// `Config` is an object, and nothing more is known of it.
llvm::Expected<Manifest> readManifest(llvm::StringRef Text,
                                      llvm::StringRef LLVMVersion);

/// Fills in all of \p B but its inputs; \p Text is that of \p M.
void takeManifest(Manifest M, llvm::StringRef Text, Bundle &B);

/// The digest that ends \p Text, a manifest as writeManifest() writes it.
BundleId bundleId(llvm::StringRef Text);

/// Fails unless \p Text is one JSON object that a manifest can carry.
llvm::Error checkConfigText(llvm::StringRef Text);

/// Returns the 64 digits of the manifest for \p Bytes.
std::string bundleDigest(llvm::StringRef Bytes);

} // namespace dtlto

#endif // DTLTO_BUNDLE_BUNDLEMANIFEST_H
