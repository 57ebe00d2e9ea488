//===- Samples.h - Real jobs, and what they make ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cases give the plugin real jobs of a link, whose objects are known: compiled
// in the linker, as a link without a plugin does. KeepPlugin.cpp writes them,
// as bundles (docs/BUNDLE.md) with an object beside each.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_SAMPLES_H
#define DTLTO_PLUGINCHECK_SAMPLES_H

#include "dtlto/ext/bundle.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dtlto::check {

/// One job. Without an object, it is one that can't be compiled.
struct Sample {
  struct Input {
    std::string Path;
    uint32_t Role;
    std::string Bytes;
    std::array<uint8_t, 32> Digest;
    /// The role that the plugin is told instead, if not 0: of a later ABI.
    uint32_t LaterRole = 0;
    /// An import: what its module has as the primary of its own job, for a
    /// plugin that needs DTLTO_JOB_WHOLE_IMPORTS. Empty: as Bytes.
    std::string Whole = {};
  };
  std::string Name, Triple, Output, Config;
  std::vector<std::string> Args;
  std::vector<Input> Inputs;
  std::string Object;

  /// Makes the digests those of the bytes.
  void digest();
};

/// Writes the digest of \p Bytes, 32 bytes, to \p Digest.
void digestOf(const std::string &Bytes, uint8_t *Digest);

/// The version of LLVM that bundles must have.
std::string llvmVersion();

/// Reads the jobs of \p Folder. Returns none, and \p Error says why. Those that
/// the compiler says no to are in a folder of their own (refusedJobs()), and
/// have no objects.
std::vector<Sample> readSamples(const std::string &Folder, std::string &Error,
                                bool HaveObjects = true);
std::string refusedJobs(const std::string &Folder);

/// Returns the bundle of \p S, or nothing if it can't have one.
std::string makeBundle(const Sample &S);
/// The same with the inputs of \p Lent, which was made of \p S. \p Own has the
/// bytes of the spans without an input.
std::vector<dtlto_bundle_span>
makeBundleSpans(const Sample &S, const dtlto_job &Lent, std::string &Own);

/// Takes \p Object, which a worker has made of that bundle, out of its frame.
/// Returns why it can't; empty if it can.
std::string takeFromFrame(const Sample &S, std::string &Object);

/// Makes jobs in \p Folder: compiles a few sources with \p Clang, and links
/// them with the linker that is installed with this program. Returns false, and
/// \p Error says why.
bool makeSamples(const std::string &Folder, const std::string &Clang,
                 std::string &Error);

/// Where this program is, its own name included.
std::string ownPath();

/// Runs a program. Returns whether it ended well; \p Output gets what it wrote.
bool runProgram(const std::vector<std::string> &Args, const std::string &Folder,
                std::string &Output);

std::string readFile(const std::string &Path);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_SAMPLES_H
