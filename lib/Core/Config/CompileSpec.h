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

/// One of the parts that a module is compiled in. Counted from 0.
struct PartNumber {
  unsigned Index = 0, Count = 1;

  bool isWhole() const { return Count == 1; }
};

/// A module is compiled in no more parts.
constexpr unsigned MaxParts = 64;

/// To be raised by each change to what is in which part (Compile/Partition.h):
/// parts of one module are compiled by workers, and found in caches, of one
/// version.
constexpr unsigned PartitionVersion = 9;

/// How a job compiles its module, beside the link's configuration, with which
/// it travels. The linker's own threads and workers compile by it alone.
struct CompileSpec {
  /// What of the module is compiled.
  PartNumber Part = {};
  /// Of two rounds of code generation: the first makes what code generation
  /// learns of the module (Bundle/CodegenData.h), the second an object. 0:
  /// there is one round.
  unsigned Round = 0;
  /// The module is optimised already, and only code is generated. The text of a
  /// configuration says CodeGenOnly then; reading it leaves this alone.
  bool IsOptimized = false;
  /// The optimised module is a result, too.
  bool ReturnsOptimized = false;

  /// The job makes an object of all of the module, as most do.
  bool isPlain() const {
    return Part.isWhole() && Round == 0 && !IsOptimized && !ReturnsOptimized;
  }

  /// \p Module with the part, for people: foo.o [2/8].
  std::string title(std::string Module) const {
    if (Part.isWhole())
      return Module;
    return std::move(Module) + " [" + std::to_string(Part.Index + 1) + "/" +
           std::to_string(Part.Count) + "]";
  }

  /// What names of the job's files and of its costs end with. Empty: the module
  /// has one job.
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

  /// \p Name with the part, for files and LLD. It ends as the module's does,
  /// for linker scripts that name files, as in *foo.o(.text): 2-of-8-foo.o,
  /// a.a(2-of-8-foo.o at 64).
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
