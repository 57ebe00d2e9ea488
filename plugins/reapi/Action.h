//===- Action.h - A job as an action ----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An action names a command and a tree of folders by their digests. Nothing in
// an action depends on the link or the machine. So equal jobs are equal
// actions, which share results. With dtlto-codegen as the worker:
//
//   dtlto-codegen            the worker itself
//   job/manifest.json        names the inputs, and has the configuration
//   job/<path>               module, imports and index, each a blob
//
//   ./dtlto-codegen --frame job -o object
//
// With the workers' own clang, the inputs are at the top, and the command is
// the job's own.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_ACTION_H
#define DTLTO_REAPI_ACTION_H

#include "Cas.h"
#include "dtlto/sdk/Job.hpp"
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace dtlto::reapi {

struct Action {
  BlobName Name;
  /// The same action with a result that is not cached, and which servers don't
  /// merge with another execution. Empty unless the settings or the job's
  /// avoided worker require it.
  BlobName UncachedName;
  /// The action, its command, folders and files. Borrowed from the job, from
  /// Own and from Bundle.
  std::vector<Blob> Blobs;
  std::string Output; // its only output file
  std::deque<std::string> Storage;
  sdk::Bundle Bundle;
};

/// The worker's file, mapped into memory.
class WorkerFile {
public:
  WorkerFile() = default;
  ~WorkerFile();
  WorkerFile(const WorkerFile &) = delete;
  /// Maps \p Path. Returns 0, or an errno with \p Error if it can't be a
  /// worker.
  int open(const std::string &Path, std::string &Error);
  std::string_view bytes() const { return {Data, Size}; }

private:
  const char *Data = nullptr;
  size_t Size = 0;
};

/// Makes actions. Any thread.
class ActionMaker {
public:
  /// \p Worker is the program that actions carry, if any, and \p Name the name
  /// of its blob. Otherwise \p LlvmVersion is that of the workers' clang.
  ActionMaker(const Settings &Config, DigestKind Kind, std::string_view Worker,
              BlobName Name, const std::string &LlvmVersion)
      : Config(Config), Kind(Kind), Worker(Worker), WorkerName(std::move(Name)),
        LlvmVersion(LlvmVersion) {}

  /// Makes the action of \p J, which must have inputs and digests, and its
  /// configuration or its arguments. Throws sdk::Error.
  Action make(const sdk::Job &J);

  /// Makes an action that writes the version of the workers' clang to standard
  /// output. If the workers need no clang, every worker can execute it.
  Action makeProbe() const;

  /// Makes an action that is never executed. A client stores a result under \p
  /// Key, which may be any bytes.
  Action makeSlot(std::string_view Key) const;

private:
  BlobName nameInput(const dtlto_input &In, std::string_view Bytes);
  void addPlatform(re::Command &Command, re::Action &Proto) const;
  /// Adds \p Proto with its inputs \p Root and \p Command to \p A's blobs.
  void finish(Action &A, re::Action &Proto, const BlobName &Root,
              const re::Command &Command) const;

  const Settings &Config;
  const DigestKind Kind;
  const std::string_view Worker;
  const BlobName WorkerName;
  const std::string LlvmVersion;
  std::mutex Mutex; // guards what follows
  /// Keyed by the linker's digest: a module's address may be reused.
  std::map<std::array<uint8_t, 32>, BlobName> Modules;
};

/// Returns the text of manifest.json in the first part of a bundle, or nothing.
std::string_view manifestOf(std::string_view FirstPart);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_ACTION_H
