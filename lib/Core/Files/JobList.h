//===- JobList.h - Backend compiles as files --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a linker of LLVM 21 or later writes for its --thinlto-distributor=, as
// JSON (llvm/docs/DTLTO.rst):
//
//   common
//     linker_output   the file that is linked
//     args            the compiler, and arguments of all jobs
//     inputs          files that all jobs read
//   jobs              for each:
//     args            its own arguments
//     inputs          the module, its index shard, and what it imports from
//     outputs         the object, and other files that it makes
//
// A later linker may add keys. They are left out, and named: a job is its
// command and its files, which these can't change.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_FILES_JOBLIST_H
#define DTLTO_FILES_JOBLIST_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace dtlto {

/// A backend compile. Its command is the common arguments, then its own.
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
  /// Keys that were left out, each once, such as `jobs[].note`; at most
  /// MaxUnknownKeys.
  std::vector<std::string> UnknownKeys;
};

inline constexpr size_t MaxUnknownKeys = 8;

/// Reads \p Text, the JSON in the file \p File. Fails with one line that names
/// the file and the place in it: also if something is missing or of another
/// type, and where a job has no argument that names
/// its object, makes a file that it reads, or one that another job makes.
llvm::Expected<JobList> parseJobList(llvm::StringRef Text,
                                     llvm::StringRef File);

/// The way back. Texts have to be UTF-8.
void printJobList(const JobList &List, llvm::raw_ostream &OS);

/// What all job lists have to keep, wherever they are from. Fails with a
/// reason.
llvm::Error checkJobList(const JobList &List);

} // namespace dtlto

#endif // DTLTO_FILES_JOBLIST_H
