//===- KeptModules.h - What modules were optimised to -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Optimised modules, in a folder or in the farm's store (ModuleStore.h). A
// later link in which only what code generation depends on is another (sections
// of basic blocks, a layout by a profile) generates code of these, and doesn't
// optimise again.
//
// A module's key has in it all that its optimisation depends on: the module
// and what it imports, what the index says of them, and the configuration
// without what only code generation reads (ConfigFields.h). Entries that other
// machines made have keys of their own, and nothing that is compiled here is
// made of them. A store that others write to has no entries but these.
//
// An entry is a frame (Bundle/ObjectFrame.h) whose job is the key, and bitcode.
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

/// Any thread.
class KeptModules : public OptimizedModules {
public:
  /// \p IsVerified: what is compiled here is to be compared, and so is compiled
  /// whole.
  KeptModules(const LinkContext &Ctx, std::unique_ptr<ModuleStore> Store,
              bool IsVerified);

  /// Why this link keeps and uses nothing, in one line; empty: it does.
  llvm::StringRef reason() const { return Reason; }

  ModuleFile *forPlugin(const Task &T) override;
  std::optional<llvm::StringRef> forHere(const Task &T) override;
  bool wants(const Task &T, bool IsHere) override;
  void keep(const Task &T, llvm::StringRef Optimized, bool IsHere,
            llvm::SmallVector<char, 0> = {}) override;
  /// These remove what is kept.
  void dropHere(const Task &T, llvm::StringRef Why) override;
  std::string dropForPlugin(const Task &T) override;
  const llvm::lto::Config &codegenConfig() const override { return Conf; }
  /// Removes what wasn't used for long, too, as LLVM's cache does.
  std::string finish(size_t NumJobs) override;

private:
  struct Entry {
    BundleId Key;
    std::mutex Reading;            // guards what follows
    bool IsRead = false;           // it is known whether there is something
    Buffer Bytes;                  // the frame
    ModuleFile Module;             // in it
    std::atomic<bool> Has = false; // there is a module, for all threads
    std::atomic<bool> IsUsed{false};
    std::atomic<bool> IsKept{false}; // by this link, maybe twice
  };
  struct State {
    std::once_flag Once;
    std::string WhyNot; // the module can't be kept; empty: it can
    Entry Here, Elsewhere;
  };

  llvm::Error readConfiguration();
  bool hasHash(llvm::StringRef Name) const;
  State &stateOf(const Task &T);
  void look(const Task &T, State &S);
  void read(const Task &T, Entry &E);

  const LinkContext &Ctx;
  const std::unique_ptr<ModuleStore> Store;
  const bool IsVerified;
  std::string Reason;
  std::string Common; // of all keys: the configuration
  llvm::lto::Config Conf;
  const CfiFunctions Cfi;
  std::mutex Mutex; // guards the map, not its values
  std::map<unsigned, std::unique_ptr<State>> States; // by task
};

/// As the options of \p TheLink say; null: none are to be kept.
std::shared_ptr<KeptModules> openKeptModules(Link &TheLink);

} // namespace dtlto

#endif // DTLTO_LTO_KEPTMODULES_H
