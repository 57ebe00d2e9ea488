//===- BundleManifest.h - The manifest.json of a bundle ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON part of a bundle. A manifest has exactly one form: readManifest()
// accepts only the bytes that writeManifest() writes.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_BUNDLEMANIFEST_H
#define DTLTO_BUNDLE_BUNDLEMANIFEST_H

#include "Bundle/Bundle.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace dtlto {

/// The name of the bundle's first entry.
constexpr llvm::StringLiteral ManifestPath = "manifest.json";

/// The maximum size of a manifest in bytes.
constexpr uint64_t MaxManifestSize = 16 << 20;

/// Fails unless \p M is valid for a bundle: distinct paths that stay in a
/// folder; one primary module, which is the first input; one index.
llvm::Error checkManifest(const Bundle &M);

/// Returns the text of \p M, which must pass checkManifest().
std::string writeManifest(const Bundle &M);

/// Reads an untrusted manifest into a bundle whose inputs have no bytes yet.
/// Fails with a one-line reason on anything that writeManifest() doesn't write,
/// and on another LLVM version than \p LLVMVersion. Checks only that \c Config
/// is an object.
llvm::Expected<Bundle> readManifest(llvm::StringRef Text,
                                    llvm::StringRef LLVMVersion);

/// Returns the digest at the end of \p Text, a result of writeManifest().
BundleId bundleId(llvm::StringRef Text);

/// Fails unless \p Text is a single JSON object that a manifest can hold.
llvm::Error checkConfigText(llvm::StringRef Text);

/// Returns the digest of \p Bytes in the manifest's form: 64 digits.
std::string bundleDigest(llvm::StringRef Bytes);

} // namespace dtlto

#endif // DTLTO_BUNDLE_BUNDLEMANIFEST_H
