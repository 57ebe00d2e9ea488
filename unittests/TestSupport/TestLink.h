//===- TestLink.h - A ThinLTO link in memory --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does what LLD does with bitcode: adds modules and their symbol resolutions to
// an lto::LTO, and runs a backend, which makes objects.
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

/// Records the core's messages to the user. May be used on any thread.
class RecordingMessages : public Messages {
public:
  void emit(MessageLevel Level, const llvm::Twine &Text) override;
  void progress(llvm::StringRef Line) override;
  std::optional<unsigned> columns() const override { return Columns; }
  bool verbose() const override { return Verbose; }

  /// Returns the messages of one level, in order.
  std::vector<std::string> all(MessageLevel Level) const;
  std::vector<std::string> warnings() const {
    return all(MessageLevel::Warning);
  }
  /// Returns whether a message of \p Level contains all \p Parts.
  bool has(MessageLevel Level, llvm::ArrayRef<llvm::StringRef> Parts) const;
  std::vector<std::string> progressLines() const;
  void clear();

  bool Verbose = false;
  std::optional<unsigned> Columns; // of the terminal, if any

private:
  mutable std::mutex Mutex;
  std::vector<std::pair<MessageLevel, std::string>> Texts;
  std::vector<std::string> Lines;
};

/// A cache like that of `--thinlto-cache-dir`, but in memory.
struct MemoryCache {
  std::mutex Mutex;                           // guards the members below
  std::map<std::string, std::string> Objects; // by key
  unsigned NumHits = 0;
  unsigned NumMisses = 0;
  bool IsFull = false; // storing fails
};

class TestLink {
public:
  TestLink();

  /// Adds a module. \p Name is its path in the linker.
  void add(llvm::StringRef Name, llvm::StringRef IR);
  void addBitcode(llvm::StringRef Name, Bytes Bitcode);

  /// Adds a program of \p N modules, m0.o to m<N-1>.o. Each calls two functions
  /// of the next one: one worth importing, one not. Their sizes differ, and are
  /// out of order.
  void addProgram(unsigned N);

  struct Result {
    std::map<std::string, std::string> Objects; // by module name
    std::string Error;                          // empty: success
    unsigned NumDiagnostics = 0;                // errors and others
  };

  /// Links in-process.
  Result inProcess();
  /// Links with this project's backend and \p Plugin.
  Result withPlugin(const dtlto_plugin &Plugin);
  /// Runs a link, but calls \p Look instead of the backend's jobs. The link
  /// gets no objects except those that \p Look makes.
  using LookFn = llvm::function_ref<void(const Link &, std::vector<Task> &)>;
  Result look(const dtlto_plugin *Plugin, LookFn Look);

  // Settings that may be changed before a link.
  Linker TheLinker;
  RecordingMessages Msg;
  llvm::StringSet<> Visible;  // symbols referred to by a native object
  bool ProgramIsWhole = true; // no symbol can be preempted
  bool RegisterInputs = true; // as the linker's hook does
  unsigned Parallelism = 4;   // --thinlto-jobs
  bool EmitIndexFiles = false;
  bool EmitImportsFiles = false;
  std::function<void(llvm::lto::Config &)> Configure;
  std::function<void(llvm::StringRef Name)> OnObject; // called on any thread
  std::function<void(plan::Options &)> Adjust;        // sets thresholds
  MemoryCache *Cache = nullptr;

  std::vector<std::string> Written; // what the last link passed to OnWrite

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
