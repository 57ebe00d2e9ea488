//===- CompileSpec.h - How a module is compiled -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_COMPILESPEC_H
#define DTLTO_CONFIG_COMPILESPEC_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace llvm::json {
class Object;
class OStream;
} // namespace llvm::json

namespace dtlto {

/// The number of one part of a module that is compiled in parts.
struct PartNumber {
  unsigned Index = 0, Count = 1; // the index counts from 0

  bool isWhole() const { return Count == 1; }
};

/// The maximum number of parts of a module.
constexpr unsigned MaxParts = 64;

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
    return isWholeModule() && Round == 0 && !IsOptimized && !ReturnsOptimized;
  }
  /// Whether no other job compiles the same module in the same round.
  bool isWholeModule() const { return Part.isWhole(); }
  /// Whether the job is the first, or the only one, of its module.
  bool isFirst() const { return Part.Index == 0; }
  /// Of \p Bytes, the size of the module, how many the job compiles.
  uint64_t shareOf(uint64_t Bytes) const { return Bytes / Part.Count; }

  /// Returns the linker's option that the command line of a plain compiler
  /// can't express; empty if there is none.
  llvm::StringRef workerOption() const {
    return isWholeModule() ? "" : "--thinlto-dist-split";
  }

  /// Returns how code is generated from what the job optimized its module to.
  CompileSpec afterOptimization() const {
    CompileSpec Spec = *this;
    Spec.IsOptimized = true;
    Spec.Part = {}; // the module was reduced before
    return Spec;
  }

  /// Returns \p Module with the job's number for display: foo.o [2/8].
  std::string title(std::string Module) const;
  /// Returns \p Name with the job's number for files and LLD: 2-of-8-foo.o,
  /// a.a(2-of-8-foo.o at 64). It ends like the module's name, so that linker
  /// scripts match it, as in *foo.o(.text).
  std::string fileName(std::string Name) const;
  /// Returns the suffix of the names of the job's files and costs. Empty if the
  /// module has only one job.
  std::string suffix() const;

  /// Returns what distinguishes the job's object from that of the module, for
  /// keys of caches. Empty if both are the same.
  std::string objectKey() const;
  /// Calls \p Add with each text that the optimized module depends on.
  void addTo(llvm::function_ref<void(llvm::StringRef)> Add) const;

  /// Write members of a configuration's "outputs" (ConfigJSON.h): what the job
  /// compiles, and what it returns.
  void writeInput(llvm::json::OStream &OS) const;
  void writeResult(llvm::json::OStream &OS, bool OmitsCodegen) const;
  /// Reads what both write. Returns false if a member is out of its range.
  bool read(const llvm::json::Object &Members);
};

} // namespace dtlto

#endif // DTLTO_CONFIG_COMPILESPEC_H
