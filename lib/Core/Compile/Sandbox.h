//===- Sandbox.h - What a worker may open -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A worker compiles what strangers send. Whatever that makes LLVM try, it reads
// no file of the machine and writes none but those that the job makes.
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

/// Keeps this process from getting new descriptors: it can open no file, no
/// library and no socket. Those that are open stay so.
class NoDescriptors {
public:
  ~NoDescriptors() { lift(); }

  /// Fails if the system doesn't let us.
  llvm::Error set();
  void lift();

private:
  std::optional<rlimit> Before;
};

/// Files on disk for as long as this lives: LLVM opens them by their names.
/// They are also gone when a signal or a fatal error of LLVM's ends the
/// process.
class TemporaryFiles {
public:
  ~TemporaryFiles();

  bool empty() const { return Paths.empty(); }

  /// Once more after LLVM has written them: it takes them off its list then.
  void removeOnSignal() const;

  /// Writes a file with \p Bytes and returns where it is.
  llvm::Expected<std::string> write(llvm::StringRef Bytes);

  /// Makes a file that LLVM may write, and returns where it is.
  llvm::Expected<std::string> makeRoom(llvm::StringRef Kind);

  /// Also removes \p Path in the end.
  void add(std::string Path);

private:
  llvm::Expected<int> create(llvm::StringRef Kind, std::string &Path);

  std::vector<std::string> Paths;
};

} // namespace dtlto

#endif // DTLTO_COMPILE_SANDBOX_H
