//===- SplitPlan.h - Which modules are compiled in parts --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depends on the inputs and options of the link alone: each link with the same
// has the same parts. What is in a part, Compile/Partition.h says.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_SPLITPLAN_H
#define DTLTO_LTO_SPLITPLAN_H

#include "LTO/ConfigChange.h"
#include "LTO/Linker.h"
#include "llvm/ADT/StringMap.h"
#include <set>

namespace dtlto {

/// How many instructions a part has with --thinlto-dist-split=auto in a link of
/// \p OfLink. Each part loads what its module imports, and optimizes copies of
/// the module's small functions: parts of a large link that are as fine as
/// those of a small one are mostly work done twice. Parts of a thousandth of
/// the link keep a thousand slots busy. With more than four seconds of work in
/// each, finer ones would cost little.
constexpr unsigned autoPart(uint64_t OfLink) {
  unsigned Size = MinAutoPart;
  while (Size < 4 * MinAutoPart && OfLink / Size > 1000)
    Size *= 2;
  return Size;
}

/// The most tasks that parts may add to a link with \p Inputs, for which LLD
/// makes room before anybody knows how many there will be.
unsigned maxTasksOfParts(const InputBuffers &Inputs, unsigned OfPart);

class SplitPlan {
public:
  /// \p TheLink and what it refers to outlive this.
  explicit SplitPlan(Link &TheLink)
      : TheLink(TheLink), Change(TheLink.Jobs.Conf) {}

  /// Returns the tasks of parts in the place of those of long modules, and has
  /// LLVM make parts of modules.
  std::vector<Task> apply(std::vector<Task> Tasks);

private:
  /// By module, how many instructions each live function has.
  using FunctionSizes = llvm::StringMap<std::vector<unsigned>>;

  std::string whyWhole() const;
  FunctionSizes functionSizes() const;
  bool isChangedByName(const llvm::FunctionSummary &F) const;
  unsigned numParts(const Task &T, llvm::ArrayRef<unsigned> Sizes,
                    unsigned OfPart, unsigned Next);
  void installHooks();

  Link &TheLink;
  llvm::DenseMap<unsigned, CompileSpec> Specs; // by the number of the task
  std::set<llvm::ModuleHash> Hashes;           // of those that are split
  ConfigChange Change;
};

} // namespace dtlto

#endif // DTLTO_LTO_SPLITPLAN_H
