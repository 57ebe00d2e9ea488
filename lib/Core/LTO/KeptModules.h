//===- KeptModules.h - What modules were optimised to -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stores optimised modules in a folder or in the farm's store (ModuleStore.h).
// A later link that changes only what code generation depends on (basic block
// sections, a layout from a profile) generates code from these modules and
// skips optimisation.
//
// A module's key covers all that its optimisation depends on: the module, its
// imports, their parts of the index, and the configuration without what only
// code generation reads (ConfigFields.h). Entries from other machines have
// different keys, and local compiles don't use them. A shared store has only
// entries of the second kind.
//
// An entry is a frame (Bundle/ObjectFrame.h) of bitcode; its job id is the key.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_KEPTMODULES_H
#define DTLTO_LTO_KEPTMODULES_H

#include "Bundle/Bundle.h"
#include "LTO/Linker.h"
#include "LTO/ModuleStore.h"
#include "LTO/OptimizedModules.h"
#include "LLVM/Cache.h"
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace dtlto {

/// Keeps optimised modules between links. Thread-safe.
class KeptModules : public OptimizedModules {
public:
  /// If \p IsVerified, local compiles are for comparison, so they don't use
  /// kept modules.
  KeptModules(const LinkContext &Ctx, std::unique_ptr<ModuleStore> Store,
              bool IsVerified);

  /// For construction without a store. Call it before the first module.
  void setStore(std::unique_ptr<ModuleStore> NewStore) {
    Store = std::move(NewStore);
  }

  /// Why this link neither keeps nor uses modules, in one line; otherwise
  /// empty.
  llvm::StringRef reason() const { return Reason; }

  ModuleFile *forPlugin(const Task &T) override;
  std::optional<llvm::StringRef> forLocalCompile(const Task &T) override;
  bool wants(const Task &T, bool IsLocal) override;
  void keep(const Task &T, llvm::StringRef Optimized, bool IsLocal,
            llvm::SmallVector<char, 0> = {}) override;
  /// Both also remove the entry from the store.
  void dropForLocalCompile(const Task &T, llvm::StringRef Why) override;
  std::string dropForPlugin(const Task &T) override;
  const llvm::lto::Config &codegenConfig() const override { return Conf; }
  /// Also prunes entries that weren't used for long, as LLVM's cache does.
  std::string finish(size_t NumJobs) override;

private:
  struct Entry {
    BundleId Key;
    std::mutex ReadMutex; // guards the fields up to Module
    bool IsRead = false;  // whether the store has answered
    Buffer Bytes;         // the frame
    ModuleFile Module;    // points into Bytes
    // Whether Module is usable; for all threads.
    std::atomic<bool> HasModule = false;
    std::atomic<bool> IsUsed{false};
    std::atomic<bool> IsKept{false}; // by this link, maybe twice
  };
  struct State {
    std::once_flag Once;
    std::string WhyNot; // why the module can't be kept; otherwise empty
    Entry LocalEntry, RemoteEntry;
  };

  llvm::Error readConfiguration();
  State &getState(const Task &T);
  void computeKeys(const Task &T, State &S);
  void read(const Task &T, Entry &E);

  const LinkContext &Ctx;
  std::unique_ptr<ModuleStore> Store;
  const bool IsVerified;
  std::string Reason;
  std::string Common; // the configuration, a part of all keys
  llvm::lto::Config Conf;
  const CfiFunctions Cfi;
  std::mutex Mutex; // guards the map, not its values
  std::map<unsigned, std::unique_ptr<State>> States; // by task
};

/// Opens the store that the options of \p TheLink name; null if they name none.
std::shared_ptr<KeptModules> openKeptModules(Link &TheLink);

} // namespace dtlto

#endif // DTLTO_LTO_KEPTMODULES_H
