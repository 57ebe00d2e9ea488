//===- Environment.h - The compiler to send to nodes ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// icecream takes the compiler from a tarball, the environment. The client sends
// it to each node once, and nodes keep it under its name. Ours contains one
// static program, the worker, under the names that icecream expects:
//
//   usr/bin/clang         the worker
//   usr/bin/gcc, g++, as  symbolic links to it (hard links break on nodes)
//   bin/true              another
//
// The environment's name ends in the SHA-256 of its bytes, so that a node never
// confuses two workers. The user's cache keeps it. A cluster may have nodes of
// several platforms: each platform has its own worker, and so its own
// environment.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_ENVIRONMENT_H
#define DTLTO_ICECC_ENVIRONMENT_H

#include "LargeBytes.h"
#include "Process.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::icecc {

using Tarball = std::shared_ptr<const LargeBytes>;

/// One environment. Any thread may use it. Failures throw sdk::Error.
class Environment {
public:
  /// Packs \p Worker, or finds the result in \p CacheFolder (empty: no cache).
  /// Throws DTLTO_CANCELLED once \p Stop is set (null: never).
  static std::unique_ptr<Environment> ofWorker(const std::string &Worker,
                                               const std::string &CacheFolder,
                                               const std::string &Platform,
                                               const std::atomic<bool> *Stop);
  /// Opens one that the user has made: \p File, named as icecc names it.
  static std::unique_ptr<Environment> ofFile(const std::string &File,
                                             const std::string &Platform);
  Environment(const Environment &) = delete;

  const std::string &name() const { return Name; }
  /// As `uname -m` prints it.
  const std::string &platform() const { return Platform; }
  /// NODE_FEATURE_ENV_...: the features that a node needs to unpack it.
  unsigned features() const { return Features; }
  /// The first bytes, without delay. They aren't verified yet.
  std::string_view head() const { return Head; }
  Tarball bytes();

private:
  Environment() = default;

  std::string Name, Platform, File, Worker, Head;
  unsigned Features = 0;
  std::mutex Mutex; // guards what follows
  // The open file, until it is read. So a job that was granted a node doesn't
  // have to wait for a descriptor.
  Descriptor OpenFile;
  Tarball Bytes; // null until bytes() is called
};

/// Returns the tarball for a worker's bytes, always the same bytes. \p Stop as
/// above.
Tarball packWorker(const char *Worker, size_t Size,
                   const std::atomic<bool> *Stop);

/// A static program that compiles jobs on nodes of one platform.
struct Worker {
  std::string File;
  std::string Platform; // as `uname -m` has it
};

/// Finds the worker \p File, and those for other platforms next to it: \p
/// File-aarch64 and so on, which must be built for the platform in their name.
/// Throws sdk::Error if one isn't a static program.
std::vector<Worker> findWorkers(const std::string &File);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_ENVIRONMENT_H
