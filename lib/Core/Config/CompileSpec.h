//===- CompileSpec.h - How a module is compiled -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_COMPILESPEC_H
#define DTLTO_CONFIG_COMPILESPEC_H

#include <cstdint>
#include <string>
#include <utility>

namespace dtlto {

/// One of the parts in which a module is compiled.
struct PartNumber {
  unsigned Index = 0, Count = 1; // the index counts from 0

  bool isWhole() const { return Count == 1; }
};

/// The most parts of a module.
constexpr unsigned MaxParts = 64;

/// Raise it with each change to the assignment of definitions to parts
/// (Compile/Partition.h). All parts of a module, from workers and caches, must
/// be of one version.
constexpr unsigned PartitionVersion = 9;

/// How a job compiles its module. It travels with the link's configuration, and
/// both the linker's threads and workers follow it.
struct CompileSpec {
  PartNumber Part = {};
  /// In a link with two rounds of code generation, the first returns what it
  /// learns of the module (Bundle/CodegenData.h), and the second an object. 0:
  /// one round.
  unsigned Round = 0;
  /// The module is optimised already, so that the job only generates code. A
  /// configuration's text has CodeGenOnly for it; readConfig() doesn't set it.
  bool IsOptimized = false;
  /// The job also returns the optimised module.
  bool ReturnsOptimized = false;

  /// Whether the job makes an object of the whole module, as most do.
  bool isPlain() const {
    return Part.isWhole() && Round == 0 && !IsOptimized && !ReturnsOptimized;
  }

  /// Returns \p Module with the part, for display: foo.o [2/8].
  std::string title(std::string Module) const {
    if (Part.isWhole())
      return Module;
    return std::move(Module) + " [" + std::to_string(Part.Index + 1) + "/" +
           std::to_string(Part.Count) + "]";
  }

  /// Returns the suffix of names of the job's files and costs. Empty if the
  /// module has one job.
  std::string suffix() const {
    return partSuffix() + (Round == 0 ? "" : ".round" + std::to_string(Round));
  }

  /// The same for all rounds.
  std::string partSuffix() const {
    if (Part.isWhole())
      return "";
    return "-" + std::to_string(Part.Index + 1) + "-of-" +
           std::to_string(Part.Count);
  }

  /// Returns \p Name with the part, for files and LLD: 2-of-8-foo.o,
  /// a.a(2-of-8-foo.o at 64). It ends like the module's name, so that linker
  /// scripts match it, as in *foo.o(.text).
  std::string partFile(std::string Name) const {
    if (Part.isWhole())
      return Name;
    size_t Before = Name.find_last_of("/\\(");
    return Name.insert(Before == std::string::npos ? 0 : Before + 1,
                       partSuffix().substr(1) + "-");
  }
};

} // namespace dtlto

#endif // DTLTO_CONFIG_COMPILESPEC_H
