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

/// The number of one part of a module that is compiled in parts.
struct PartNumber {
  unsigned Index = 0, Count = 1; // the index counts from 0

  bool isWhole() const { return Count == 1; }
};

/// The maximum number of parts of a module.
constexpr unsigned MaxParts = 64;

/// Increment with each change to the assignment of definitions to parts
/// (Compile/Partition.h). All parts of a module, from workers and caches, must
/// have the same version.
constexpr unsigned PartitionVersion = 9;

/// How a job compiles its module. Part of the configuration text; workers and
/// the linker's threads follow it alike.
struct CompileSpec {
  PartNumber Part = {};
  /// With two rounds of code generation: in round 1, the job returns what LLVM
  /// learns about the module (Bundle/CodegenData.h); in round 2, an object. 0:
  /// one round.
  unsigned Round = 0;
  /// The module is already optimized; the job only generates code. The
  /// configuration's text has CodeGenOnly instead; readConfig() doesn't set
  /// this.
  bool IsOptimized = false;
  /// The job also returns the optimized module.
  bool ReturnsOptimized = false;

  /// Whether the object contains codegen data.
  bool emitsCodegenData() const { return Round != 0; }
  /// Whether the job returns codegen data instead of the object.
  bool returnsCodegenData() const { return Round == 1; }
  /// Whether the job generates code with the merged data of all modules.
  bool usesMergedData() const { return Round == 2; }

  /// Whether the job just makes an object of the whole module, as most jobs do.
  bool isPlain() const {
    return Part.isWhole() && Round == 0 && !IsOptimized && !ReturnsOptimized;
  }

  /// Returns \p Module with the part's number for display: foo.o [2/8].
  std::string title(std::string Module) const {
    if (Part.isWhole())
      return Module;
    return std::move(Module) + " [" + std::to_string(Part.Index + 1) + "/" +
           std::to_string(Part.Count) + "]";
  }

  /// Returns the suffix of the names of the job's files and costs. Empty if the
  /// module has only one job.
  std::string suffix() const {
    return partSuffix() + (Round == 0 ? "" : ".round" + std::to_string(Round));
  }

  /// Returns the suffix of all rounds.
  std::string partSuffix() const {
    if (Part.isWhole())
      return "";
    return "-" + std::to_string(Part.Index + 1) + "-of-" +
           std::to_string(Part.Count);
  }

  /// Returns \p Name with the part's number for files and LLD: 2-of-8-foo.o,
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
