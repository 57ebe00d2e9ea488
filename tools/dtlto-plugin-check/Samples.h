//===- Samples.h - Real jobs with their objects -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cases give the plugin real jobs of a link, whose objects are known: they were
// compiled in the linker, as a link without a plugin does. KeepPlugin.cpp
// writes them as bundles (docs/BUNDLE.md), each with its object. Jobs that fail
// to compile have no object, and are in the subfolder `refused`; those that
// take very long are in `long`.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_SAMPLES_H
#define DTLTO_PLUGINCHECK_SAMPLES_H

#include "dtlto/PluginAPI.h"
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace dtlto::check {

/// One job. Without an object, it can't be compiled.
struct Sample {
  struct Input {
    std::string Path;
    uint32_t Role;
    std::string Bytes;
    /// For an import: its module's bytes as the primary of its own job, for a
    /// plugin that needs DTLTO_JOB_WHOLE_IMPORTS. Empty: as Bytes.
    std::string Whole = {};
    /// The role to tell the plugin instead, if not 0: one of a later ABI.
    uint32_t LaterRole = 0;
  };
  std::string Name, Triple, Output, Config;
  std::vector<std::string> Args;
  std::vector<Input> Inputs;
  std::string Object;
  bool IsLong = false; // of Samples::Long

  /// The first input of that role.
  std::vector<Input>::iterator input(uint32_t Role) {
    return std::find_if(Inputs.begin(), Inputs.end(),
                        [&](const Input &In) { return In.Role == Role; });
  }
};

struct Samples {
  std::vector<Sample> Good;    // the largest object first
  std::vector<Sample> Refused; // fail to compile; may be none
  std::vector<Sample> Long;    // take about a minute; may be none
};

/// What the compiler's error about a refused job contains.
constexpr char RefusedWord[] = "no_such_instruction";

/// Reads the jobs of \p Folder. If there are no good ones, \p Error says why.
Samples readSamples(const std::string &Folder, std::string &Error);

/// Makes jobs in \p Folder: compiles a few sources with \p Clang, and links
/// them with the linker that is installed with this program. Returns an error
/// message, or nothing.
std::string makeSamples(const std::string &Folder, const std::string &Clang);

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_SAMPLES_H
