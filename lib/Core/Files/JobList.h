//===- JobList.h - Backend compiles as files --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON that a linker of LLVM 21 or later writes for --thinlto-distributor=
// (llvm/docs/DTLTO.rst):
//
//   common
//   linker_output   the link's output file
//   args            the compiler, and arguments of all jobs
//     inputs          files that all jobs read
//   jobs              for each:
//     args            its own arguments
//     inputs          the module, its index shard, and what it imports from
//   outputs         the object, and other files that the job writes
//
// Later linkers may add keys. The reader ignores unknown keys and returns their
// names: they can't change a job's command or files.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_FILES_JOBLIST_H
#define DTLTO_FILES_JOBLIST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace dtlto {

/// A backend compile. Its command is the common arguments followed by its own.
struct FileJob {
  std::vector<std::string> Args;
  std::vector<std::string> Inputs;  // module, shard, imports
  std::vector<std::string> Outputs; // the object, and others

  const std::string &module() const { return Inputs[0]; }
  const std::string &shard() const { return Inputs[1]; }
  const std::string &object() const { return Outputs[0]; }
};

struct JobList {
  std::string LinkerOutput;      // for display
  std::vector<std::string> Args; // the compiler first
  std::vector<std::string> Inputs;
  std::vector<FileJob> Jobs;
  /// Ignored keys, each once, such as `jobs[].note`; at most MaxUnknownKeys.
  std::vector<std::string> UnknownKeys;
};

inline constexpr size_t MaxUnknownKeys = 8;

/// Parses \p Text, the JSON in the file \p File. Fails with a one-line reason
/// that names the file and the place in it, for instance if something is
/// missing or has the wrong type, or if the result fails checkJobList().
llvm::Expected<JobList> parseJobList(llvm::StringRef Text,
                                     llvm::StringRef File);

/// Fails with a reason unless the arguments of each job name its object, shard
/// and module, and each output is written by one job and read by none.
llvm::Error checkJobList(const JobList &List);

/// Returns the offset at which the compiler argument \p Arg names the file
/// \p Path: at its start, after a `=`, or after `-o`. Otherwise npos.
size_t findPath(llvm::StringRef Arg, llvm::StringRef Path);

/// Returns \p Args with the files in \p Paths renamed.
std::vector<std::string> renamePaths(llvm::ArrayRef<std::string> Args,
                                     const llvm::StringMap<std::string> &Paths);

/// Fails if one of \p Args may name a file that isn't in \p Paths; the reason
/// names the argument. A compiler on another machine would open its own file of
/// that name.
llvm::Error checkPortable(llvm::ArrayRef<std::string> Args,
                          const llvm::StringMap<std::string> &Paths);

/// Returns the bytes of the file \p Path. Fails with a one-line reason: the
/// file, \p ErrorPrefix, and the system's reason.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openFile(llvm::StringRef Path,
         llvm::StringRef ErrorPrefix = " cannot be read: ");

} // namespace dtlto

#endif // DTLTO_FILES_JOBLIST_H
