//===- BundleManifest.h - The manifest.json of a bundle ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON part of a bundle. A manifest has one form: writeManifest() writes
// what readManifest() accepts byte for byte.
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

/// A longer manifest is refused.
constexpr uint64_t MaxManifestSize = 16 << 20;

/// Fails unless \p M can be a bundle's: distinct paths that stay in a folder;
/// one primary module, which is the first input; one index.
llvm::Error checkManifest(const Bundle &M);

/// Returns the text of \p M, which checkManifest() accepts.
std::string writeManifest(const Bundle &M);

/// Reads bytes that may come from anywhere, into a bundle whose inputs have no
/// bytes yet. Fails with one line on anything that writeManifest() doesn't
/// write, and on another LLVM version than \p LLVMVersion. Of \c Config, it
/// only checks that it is an object.
llvm::Expected<Bundle> readManifest(llvm::StringRef Text,
                                    llvm::StringRef LLVMVersion);

/// Returns the digest at the end of \p Text, which writeManifest() wrote.
BundleId bundleId(llvm::StringRef Text);

/// Fails unless \p Text is one JSON object that a manifest can carry.
llvm::Error checkConfigText(llvm::StringRef Text);

/// Returns the digest of \p Bytes as a manifest has it: 64 digits.
std::string bundleDigest(llvm::StringRef Bytes);

} // namespace dtlto

#endif // DTLTO_BUNDLE_BUNDLEMANIFEST_H
