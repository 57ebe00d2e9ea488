//===- SplitPlan.h - Which modules are compiled in parts --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts depend only on the inputs and options of the link, so equal links
// have equal parts. Compile/Partition.h defines what is in a part.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_SPLITPLAN_H
#define DTLTO_LTO_SPLITPLAN_H

#include "LTO/Linker.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SaveAndRestore.h"
#include <deque>
#include <optional>
#include <set>

namespace dtlto {

/// The instructions of a part with --thinlto-dist-split=auto in a link of
/// \p LinkSize instructions. Each part loads what its module imports, and
/// optimizes copies of the module's small functions: in a large link, parts as
/// fine as those of a small one would mostly repeat work. Parts of a thousandth
/// of the link keep a thousand slots busy. Parts stop growing at about four
/// seconds of work, where finer ones cost little.
constexpr unsigned autoPartSize(uint64_t LinkSize) {
  unsigned Size = MinAutoPart;
  while (Size < 4 * MinAutoPart && LinkSize / Size > 1000)
    Size *= 2;
  return Size;
}

/// The most tasks that parts may add to a link with \p Inputs. LLD makes room
/// for them before their number is known.
unsigned maxPartTasks(const InputBuffers &Inputs, unsigned PartSize);

class SplitPlan {
public:
  /// \p TheLink and what it refers to outlive this object.
  explicit SplitPlan(Link &TheLink) : TheLink(TheLink) {}

  /// Replaces the tasks of long modules by tasks of parts, and makes LLVM
  /// reduce the modules to parts.
  std::vector<Task> apply(std::vector<Task> Tasks);

private:
  /// For each module, the number of instructions of each live function.
  using FunctionSizes = llvm::StringMap<std::vector<unsigned>>;

  std::string reasonForNoSplit() const;
  FunctionSizes functionSizes() const;
  bool callsByName(const llvm::FunctionSummary &F) const;
  unsigned numParts(const Task &T, llvm::ArrayRef<unsigned> Sizes,
                    unsigned PartSize, unsigned Next);
  void installHooks();

  Link &TheLink;
  llvm::DenseMap<unsigned, CompileSpec> Specs; // by task number
  std::set<llvm::ModuleHash> Hashes;           // of split modules
  // Of the configuration; both may have the same hook, so the order matters.
  using HookChange = llvm::SaveAndRestore<llvm::lto::Config::ModuleHookFn>;
  std::deque<HookChange> NamingHooks;
  std::optional<HookChange> PartHook;
};

} // namespace dtlto

#endif // DTLTO_LTO_SPLITPLAN_H
