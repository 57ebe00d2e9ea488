//===- Sandbox.h - Limits what a worker may open ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A worker compiles untrusted jobs. Whatever a job makes LLVM attempt, the
// worker reads no file of the machine and writes only the files of the job.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_COMPILE_SANDBOX_H
#define DTLTO_COMPILE_SANDBOX_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace dtlto {

/// Prevents this process from opening descriptors, and so files, libraries and
/// sockets. Open descriptors stay open.
class NoDescriptors {
public:
  ~NoDescriptors() { lift(); }

  /// Fails if the system refuses the limit.
  llvm::Error set();
  void lift();

private:
  std::optional<rlimit> OldLimit;
};

/// Temporary files, which LLVM opens by name. They are removed with this
/// object, or when a signal or a fatal error of LLVM ends the process.
class TemporaryFiles {
public:
  ~TemporaryFiles();

  bool empty() const { return Paths.empty(); }

  /// Call it again after LLVM has written the files: LLVM unregisters them
  /// then.
  void removeOnSignal() const;

  /// Creates a file with \p Bytes; returns its path, which ends with \p Kind.
  llvm::Expected<std::string> create(llvm::StringRef Kind,
                                     llvm::StringRef Bytes = "");

  /// Also removes \p Path at the end.
  void add(std::string Path);

private:
  std::vector<std::string> Paths;
};

} // namespace dtlto

#endif // DTLTO_COMPILE_SANDBOX_H
