//===- Samples.h - Real jobs, and what they make ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cases give the plugin real jobs of a link, whose objects are known: compiled
// in the linker, as a link without a plugin does. KeepPlugin.cpp writes them,
// as bundles (docs/BUNDLE.md) with an object next to each.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_SAMPLES_H
#define DTLTO_PLUGINCHECK_SAMPLES_H

#include "dtlto/ext/bundle.h"
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dtlto::check {

/// One job. Without an object, it is one that can't be compiled.
struct Sample {
  struct Input {
    std::string Path;
    uint32_t Role;
    std::string Bytes;
    /// An import: what its module has as the primary of its own job, for a
    /// plugin that needs DTLTO_JOB_WHOLE_IMPORTS. Empty: as Bytes.
    std::string Whole = {};
    /// The role that the plugin is told instead, if not 0: of a later ABI.
    uint32_t LaterRole = 0;
  };
  std::string Name, Triple, Output, Config;
  std::vector<std::string> Args;
  std::vector<Input> Inputs;
  std::string Object;

  /// The first of that role.
  std::vector<Input>::iterator input(uint32_t Role) {
    return std::find_if(Inputs.begin(), Inputs.end(),
                        [&](const Input &In) { return In.Role == Role; });
  }
};

/// Reads the jobs of \p Folder, the largest object first. Returns none, and
/// \p Error says why. Those that the compiler refuses are in a folder of their
/// own (refusedJobs()), and have no objects.
std::vector<Sample> readSamples(const std::string &Folder, std::string &Error,
                                bool HaveObjects = true);
std::string refusedJobs(const std::string &Folder);

/// Makes jobs in \p Folder: compiles a few sources with \p Clang, and links
/// them with the linker that is installed with this program. Returns false, and
/// \p Error says why.
bool makeSamples(const std::string &Folder, const std::string &Clang,
                 std::string &Error);

/// The version of LLVM that bundles must have.
std::string llvmVersion();

/// Writes the digest of \p Bytes, 32 bytes, to \p Digest.
void digestOf(const std::string &Bytes, uint8_t *Digest);

/// The bundle of \p Job, which refers to its inputs. Without spans if the job
/// can't have one.
struct JobBundle {
  std::vector<dtlto_bundle_span> Spans;
  std::shared_ptr<void> Own; // the bytes of spans without an input
};
JobBundle makeBundle(const dtlto_job &Job);

/// Takes \p Object, which a worker has made of the bundle of \p Job, out of its
/// frame. Returns why it can't; empty if it can.
std::string takeFromFrame(const dtlto_job &Job, std::string &Object);

/// The symbols that the shared library \p Path exports for all to see; without
/// weak ones, since those that templates of C++ leave do no harm. Where it is
/// no library for this machine, \p Error says so.
std::vector<std::string> exportedSymbols(const std::string &Path,
                                         std::string &Error);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_SAMPLES_H
