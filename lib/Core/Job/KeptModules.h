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

#ifndef DTLTO_JOB_KEPTMODULES_H
#define DTLTO_JOB_KEPTMODULES_H

#include "Bundle/Bundle.h"
#include "Host/BuiltJob.h"
#include "Job/LinkContext.h"
#include "Job/ModuleStore.h"
#include "LLVM/Cache.h"
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace dtlto {

/// Any thread.
class KeptModules {
public:
  /// \p IsVerified: what is compiled here is to be compared, and so is compiled
  /// whole.
  KeptModules(const LinkContext &L, std::unique_ptr<ModuleStore> Store,
              bool IsVerified);

  /// Why this link keeps and uses nothing, in one line; empty: it does.
  llvm::StringRef reason() const { return Reason; }

  /// The optimised module of \p T for a job of the plugin's; null: there is
  /// none. Lives as long as this. May take a while.
  const ModuleFile *forPlugin(const Task &T);
  /// The same for a compile here.
  const ModuleFile *forHere(const Task &T);

  /// Whether keep() should be called once \p T is optimised, here or elsewhere.
  bool wants(const Task &T, bool IsHere);
  /// Stores \p Optimized, bitcode that \p T was optimised to. \p IsHere: in
  /// this process.
  void keep(const Task &T, llvm::StringRef Optimized, bool IsHere);
  /// Code can't be generated of what is kept for \p T here: removes that. \p
  /// Why is one line.
  void dropHere(const Task &T, llvm::StringRef Why);
  /// The object that another machine made of what is kept for \p T is wrong.
  /// Removes that; returns what it was and what became of it, or nothing.
  std::string dropForPlugin(const Task &T);

  /// The link's configuration, for code generation alone.
  const llvm::lto::Config &codegenConfig() const { return Conf; }

  /// After the last job: removes what wasn't used for long, as LLVM's cache
  /// does. Returns what there is to tell.
  std::string finish(size_t NumJobs);

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

  const LinkContext &L;
  const std::unique_ptr<ModuleStore> Store;
  const bool IsVerified;
  std::string Reason;
  std::string Common; // of all keys: the configuration
  llvm::lto::Config Conf;
  const CfiFunctions Cfi;
  std::mutex Mutex; // guards the map, not its values
  std::map<unsigned, std::unique_ptr<State>> States; // by task
};

} // namespace dtlto

#endif // DTLTO_JOB_KEPTMODULES_H
