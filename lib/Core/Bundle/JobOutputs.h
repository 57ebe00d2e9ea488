//===- JobOutputs.h - All that a backend compile makes ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most jobs make an object and nothing else. With split DWARF or optimization
// remarks there are files beside it, and some links want what a module was
// optimised to. A worker puts all into one stream, so that a plugin carries it
// as it carries an object:
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

/// What a job makes beside its object: files, by their names in the linker.
struct SideFiles {
  std::string Dwo;     // empty: none
  std::string Remarks; // likewise
  /// It also returns the optimised module, which is no file.
  bool Optimized = false;

  /// Whether there are no files.
  bool empty() const { return Dwo.empty() && Remarks.empty(); }
};

/// The files that in-process ThinLTO makes of the module with number \p Task.
SideFiles sideFiles(const llvm::lto::Config &Conf, unsigned Task);

/// Whether \p Bytes begin as packOutputs() has it, which no object does.
bool arePackedOutputs(llvm::StringRef Bytes);

/// One stream of all outputs.
llvm::SmallVector<char, 0> packOutputs(const JobOutputs &Outputs);

/// The way back, for bytes that may come from anywhere; they are borrowed.
/// Fails with one line unless there is an object and exactly the files of \p
/// Files.
llvm::Expected<JobOutputs> unpackOutputs(llvm::StringRef Bytes,
                                         const SideFiles &Files);

/// Writes the side files of \p Outputs to where \p Files says, with the folder
/// of the .dwo file, as in-process ThinLTO does. The error names the file.
llvm::Error writeSideFiles(const JobOutputs &Outputs, const SideFiles &Files);

} // namespace dtlto

#endif // DTLTO_BUNDLE_JOBOUTPUTS_H
