//===- JobOutputs.h - The outputs of a backend compile ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most jobs make an object and nothing else. Split DWARF and optimization
// remarks add files, and some links need the optimised module. A worker puts
// all outputs into one stream, which a plugin carries like an object:
//
//   "DTLTOOUT"              8 bytes
//   version, 1              32 bits
//   number of outputs       32 bits
//   for each, in this order, those that the job's configuration asks for:
//     kind                  32 bits: 1 object, 2 .dwo file, 3 remarks,
//                           4 the optimised module, empty if it can't be kept
//     0                     32 bits
//     size                  64 bits
//   their bytes, in the same order
//
// Numbers are little-endian. Nothing follows. docs/BUNDLE.md has the same.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_JOBOUTPUTS_H
#define DTLTO_BUNDLE_JOBOUTPUTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/LTO/Config.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace dtlto {

/// The outputs of one job, borrowed.
struct JobOutputs {
  llvm::StringRef Object;
  std::optional<llvm::StringRef> Dwo;       // if the job makes one
  std::optional<llvm::StringRef> Remarks;   // likewise
  std::optional<llvm::StringRef> Optimized; // likewise: bitcode

  bool hasOnlyObject() const { return !Dwo && !Remarks && !Optimized; }
};

/// What a job makes besides its object: files, by their names in the linker.
struct SideFiles {
  std::string Dwo;     // empty: none
  std::string Remarks; // likewise
  /// It also returns the optimised module, which is no file.
  bool Optimized = false;

  /// Whether there are no files.
  bool empty() const { return Dwo.empty() && Remarks.empty(); }
};

/// Returns the files that in-process ThinLTO makes for the task \p Task.
SideFiles sideFiles(const llvm::lto::Config &Conf, unsigned Task);

/// Returns whether \p Bytes begin like packOutputs()' result; objects don't.
bool arePackedOutputs(llvm::StringRef Bytes);

/// Returns all outputs as one stream.
llvm::SmallVector<char, 0> packOutputs(const JobOutputs &Outputs);

/// Reads such a stream, which may come from anywhere; the result borrows \p
/// Bytes. Fails with one line unless there is an object and exactly the files
/// of \p Files.
llvm::Expected<JobOutputs> unpackOutputs(llvm::StringRef Bytes,
                                         const SideFiles &Files);

/// Writes the side files of \p Outputs to the paths in \p Files and creates the
/// folder of the .dwo file, as in-process ThinLTO does. The error names the
/// file.
llvm::Error writeSideFiles(const JobOutputs &Outputs, const SideFiles &Files);

} // namespace dtlto

#endif // DTLTO_BUNDLE_JOBOUTPUTS_H
