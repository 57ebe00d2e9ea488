//===- TestLink.h - A ThinLTO link in memory --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What LLD does with bitcode, without LLD: modules are added to an lto::LTO
// with resolutions for their symbols, and a backend makes objects.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_TESTLINK_H
#define DTLTO_UNITTESTS_TESTSUPPORT_TESTLINK_H

#include "LTO/Linker.h"
#include "Modules.h"
#include "Plan/Plan.h"
#include "llvm/ADT/StringSet.h"
#include <functional>
#include <map>
#include <mutex>

namespace dtlto::test {

/// Keeps what the core tells the user. Any thread.
class RecordingMessages : public Messages {
public:
  void emit(MessageLevel Level, const llvm::Twine &Text) override;
  void progress(llvm::StringRef Line) override;
  std::optional<unsigned> columns() const override { return Columns; }
  bool verbose() const override { return Verbose; }

  /// The messages of one level, in order.
  std::vector<std::string> all(MessageLevel Level) const;
  std::vector<std::string> warnings() const {
    return all(MessageLevel::Warning);
  }
  /// Whether a message of \p Level contains each of \p Parts.
  bool has(MessageLevel Level, llvm::ArrayRef<llvm::StringRef> Parts) const;
  std::vector<std::string> progressLines() const;
  void clear();

  bool Verbose = false;
  std::optional<unsigned> Columns; // of the terminal, if there is one

private:
  mutable std::mutex Mutex;
  std::vector<std::pair<MessageLevel, std::string>> Texts;
  std::vector<std::string> Lines;
};

/// A cache as `--thinlto-cache-dir` makes it, without a folder.
struct MemoryCache {
  std::mutex Mutex;                           // guards the rest
  std::map<std::string, std::string> Objects; // by key
  unsigned NumHits = 0;
  unsigned NumMisses = 0;
  bool IsFull = false; // no object can be stored
};

class TestLink {
public:
  TestLink();

  /// Adds a module. \p Name is its path in the linker.
  void add(llvm::StringRef Name, llvm::StringRef IR);
  void addBitcode(llvm::StringRef Name, Bytes Bitcode);

  /// Adds a program of \p N modules, m0.o to m<N-1>.o. Each calls a function of
  /// the next that is worth importing, and another that isn't. They are of
  /// different sizes, and not in the order of them.
  void addProgram(unsigned N);

  struct Result {
    std::map<std::string, std::string> Objects; // by name of module
    std::string Error;                          // empty: success
    unsigned NumDiagnostics = 0;                // errors and others
  };

  /// Links with LLVM's own backend.
  Result inProcess();
  /// Links with the backend of this project and \p Plugin.
  Result withPlugin(const dtlto_plugin &Plugin);
  /// Runs all of a link but its backend's jobs, and calls \p Look in the place
  /// of those. Any object is made by \p Look.
  using LookFn = llvm::function_ref<void(const Link &, std::vector<Task> &)>;
  Result look(const dtlto_plugin *Plugin, LookFn Look);

  // What may be changed before a link.
  Linker TheLinker;
  RecordingMessages Msg;
  llvm::StringSet<> Visible;  // symbols that a native object refers to
  bool ProgramIsWhole = true; // no symbol can be interposed
  bool RegisterInputs = true; // as the linker's hook does
  unsigned Parallelism = 4;   // --thinlto-jobs
  bool EmitIndexFiles = false;
  bool EmitImportsFiles = false;
  std::function<void(llvm::lto::Config &)> Configure;
  std::function<void(llvm::StringRef Name)> OnObject; // any thread
  std::function<void(plan::Options &)> Adjust; // thresholds, with a plugin
  MemoryCache *Cache = nullptr;

  std::vector<std::string> Written; // what the last link told OnWrite

private:
  Result run(llvm::lto::ThinBackend Backend);
  llvm::lto::IndexWriteCallback onWrite();

  struct Input {
    std::string Name;
    Bytes Bitcode;
  };
  std::vector<Input> Inputs;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_TESTLINK_H
