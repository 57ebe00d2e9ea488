//===- JobOutputs.h - The outputs of a backend compile ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most jobs make only an object. Split DWARF and optimization remarks add
// files, and some links need the optimized module. A worker puts all outputs
// into one stream, which a plugin transfers like an object:
//
//   "DTLTOOUT"              8 bytes
//   version, 1              32 bits
//   number of outputs       32 bits
//   for each output that the job's configuration requests, in this order:
//     kind                  32 bits: 1 object, 2 .dwo file, 3 remarks,
//                           4 the optimized module, empty if it can't be kept
//     0                     32 bits
//     size                  64 bits
//   their bytes, in the same order
//
// Numbers are little-endian. There are no further bytes. docs/BUNDLE.md
// specifies the same.
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

/// The outputs of one job, borrowed. Optional outputs are set if the job makes
/// them.
struct JobOutputs {
  llvm::StringRef Object;
  std::optional<llvm::StringRef> Dwo;
  std::optional<llvm::StringRef> Remarks;
  std::optional<llvm::StringRef> Optimized = {}; // bitcode

  bool hasOnlyObject() const { return !Dwo && !Remarks && !Optimized; }
};

/// The outputs of a job other than its object. Files have their names in the
/// linker.
struct SideFiles {
  std::string Dwo;     // empty: no file
  std::string Remarks; // empty: no file
  /// The job also returns the optimized module, which isn't a file.
  bool Optimized = false;

  /// Whether the job writes no files.
  bool empty() const { return Dwo.empty() && Remarks.empty(); }
};

/// Returns the files that in-process ThinLTO makes for the task \p Task.
SideFiles sideFiles(const llvm::lto::Config &Conf, unsigned Task);

/// Returns whether \p Bytes begin like a result of packOutputs(). No object
/// begins like that.
bool arePackedOutputs(llvm::StringRef Bytes);

/// Packs all outputs into one stream.
llvm::SmallVector<char, 0> packOutputs(const JobOutputs &Outputs);

/// Reads an untrusted stream of outputs; the result borrows \p Bytes. Fails
/// with a one-line reason unless there is an object and exactly the files in
/// \p Files.
llvm::Expected<JobOutputs> unpackOutputs(llvm::StringRef Bytes,
                                         const SideFiles &Files);

/// Writes \p Bytes to the file \p Path; "-" is standard output. If not all can
/// be written, removes the file and fails with an error that names it.
llvm::Error writeFile(llvm::StringRef Path, llvm::StringRef Bytes);

/// Writes the side files of \p Outputs to the paths in \p Files. Creates the
/// folder of the .dwo file, like in-process ThinLTO. The error names the file.
llvm::Error writeSideFiles(const JobOutputs &Outputs, const SideFiles &Files);

} // namespace dtlto

#endif // DTLTO_BUNDLE_JOBOUTPUTS_H
