//===- Partition.h - Divides a module into parts ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A long module is compiled in parts. Each definition that others may refer to
// is in exactly one part; definitions that must stay together
// (ReferenceGraph.h) are in the same part. Module assembly and constructors are
// in the first part, which takes the module's place in the link.
//
// Callers stay near callees: a walk through the calls is cut into parts of
// about equal numbers of instructions. A part has copies of what it may inline
// from other parts, like ThinLTO's imports.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_COMPILE_PARTITION_H
#define DTLTO_COMPILE_PARTITION_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/GlobalValue.h"
#include <utility>
#include <vector>

namespace llvm {
class Module;
}

namespace dtlto {

class ReferenceGraph;

class Partition {
public:
  /// Divides \p M, after functions were imported, into \p NumParts parts, at
  /// least one. Some may be empty. Depends only on the arguments, so the result
  /// is the same on every machine. \p M must outlive this.
  Partition(const llvm::Module &M, unsigned NumParts);

  unsigned numParts() const { return static_cast<unsigned>(Copies.size()); }
  /// Whether \p V is in \p Part. Always false for what M doesn't define for
  /// others.
  bool isIn(const llvm::GlobalValue &V, unsigned Part) const {
    auto It = Parts.find(&V);
    return It != Parts.end() && It->second == Part;
  }
  /// Whether \p V is in any part and so has a symbol.
  bool isMember(const llvm::GlobalValue &V) const { return Parts.count(&V); }
  /// Whether another part refers to \p V.
  bool isShared(const llvm::GlobalValue &V) const { return Shared.count(&V); }
  /// Whether \p Part has a copy of \p V: a definition for the optimizer only,
  /// or its own copy of a constant whose address doesn't matter.
  bool isCopied(const llvm::GlobalValue &V, unsigned Part) const {
    return Copies[Part].count(&V);
  }

  /// Returns the object, and the byte offset in it, that parts without the
  /// alias \p V use instead. The object is null if they use a declaration of
  /// \p V.
  std::pair<const llvm::GlobalObject *, int64_t>
  resolve(const llvm::GlobalValue &V) const {
    return Resolved.lookup(&V);
  }

private:
  void cut(const ReferenceGraph &G, unsigned NumParts);
  void copy(const ReferenceGraph &G);

  llvm::DenseMap<const llvm::GlobalValue *, unsigned> Parts;
  llvm::DenseSet<const llvm::GlobalValue *> Shared;
  llvm::DenseMap<const llvm::GlobalValue *,
                 std::pair<const llvm::GlobalObject *, int64_t>>
      Resolved;                                                  // aliases
  std::vector<llvm::DenseSet<const llvm::GlobalValue *>> Copies; // by part
};

/// Reduces \p M to part \p Part of \p P. Definitions of other parts become
/// declarations, or copies for the optimizer. Locals that another part refers
/// to get a hidden symbol: their name followed by \p Suffix, as in ThinLTO.
/// \p Suffix must be unique to this module in the link. If \p MayBePreempted,
/// declarations and copies with default visibility are not dso_local. \p P must
/// not be used afterwards.
void keepPart(llvm::Module &M, const Partition &P, unsigned Part,
              llvm::StringRef Suffix, bool MayBePreempted);

} // namespace dtlto

#endif // DTLTO_COMPILE_PARTITION_H
