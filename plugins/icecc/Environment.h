//===- Environment.h - The compiler that nodes are sent ------- -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// icecream takes the compiler from a tarball, the environment, which the client
// sends to each node once; nodes keep it under its name. Ours holds one static
// program, the worker, under the names that icecream looks for:
//
//   usr/bin/clang         the worker
//   usr/bin/gcc, g++, as  symbolic links to it (hard links break on nodes)
//   bin/true              another
//
// Its name ends in the SHA-256 of its bytes, so that a node never takes one
// worker for another. It is kept in the user's cache. A cluster may have nodes
// of several platforms: each has a worker, and so an environment, of its own.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_ENVIRONMENT_H
#define DTLTO_ICECC_ENVIRONMENT_H

#include "Process.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::icecc {

using Tarball = std::shared_ptr<const std::vector<unsigned char>>;

/// One environment. Any thread may use it.
class Environment {
public:
  /// Of \p Worker, made now, or found in \p CacheFolder (empty: no cache).
  /// Null, with one line in \p Error, if there can't be one; without, once
  /// \p Stop (null: never) is set.
  static std::unique_ptr<Environment> ofWorker(const std::string &Worker,
                                               const std::string &CacheFolder,
                                               const std::string &Platform,
                                               const std::atomic<bool> *Stop,
                                               std::string &Error);
  /// One that the user has made: \p File, named as icecc names it.
  static std::unique_ptr<Environment> ofFile(const std::string &File,
                                             const std::string &Platform,
                                             std::string &Error);
  Environment(const Environment &) = delete;

  const std::string &name() const { return Name; }
  /// As `uname -m` has it.
  const std::string &platform() const { return Platform; }
  /// NODE_FEATURE_ENV_...: what a node needs to unpack it.
  unsigned features() const { return Features; }
  /// The first of its bytes, at once; not checked yet.
  std::string_view head() const { return Head; }
  /// Its bytes. Null, with one line in \p Error, if they can't be had any more.
  Tarball bytes(std::string &Error);

private:
  Environment() = default;

  std::string Name, Platform, File, Worker, Head;
  unsigned Features = 0;
  std::mutex Mutex; // guards what follows
  // The file, until it is read: a job that was granted a node doesn't have to
  // wait for a descriptor.
  Descriptor Opened;
  Tarball Bytes; // null until bytes() is called
};

/// The tarball for a worker's bytes: the same bytes each time. \p Stop as
/// above.
Tarball packWorker(const char *Worker, size_t Size,
                   const std::atomic<bool> *Stop, std::string &Error);

/// A static program that compiles jobs on nodes of one platform.
struct Worker {
  std::string File;
  std::string Platform; // as `uname -m` has it
};

/// The worker \p File, and those for other platforms beside it: \p File-aarch64
/// and so on, which must be what they are called. Empty, with one line in
/// \p Error, if one of them can't be a worker: not there, no program, or one
/// that needs libraries.
std::vector<Worker> findWorkers(const std::string &File, std::string &Error);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_ENVIRONMENT_H
