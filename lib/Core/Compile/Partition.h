//===- Partition.h - Which part of a module has what ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A long module is compiled in parts. Each definition that others may refer to
// is in one of them; what must stay together (ReferenceGraph.h) does. Module
// assembly and constructors are in the first part, which takes the module's
// place in the link.
//
// Callers stay near callees: parts are pieces, of about as many instructions
// each, of one walk through the calls. What a part may inline from another it
// has a copy of, as ThinLTO has of what it imports.
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
  /// Of \p M, after functions were imported, into \p NumParts parts, at least
  /// one. Some may be empty. Depends on nothing else, so it is the same
  /// wherever the module is compiled. Refers to \p M.
  Partition(const llvm::Module &M, unsigned NumParts);

  unsigned numParts() const { return static_cast<unsigned>(Copies.size()); }
  /// What \p V, which M defines for others, is a member of.
  bool isIn(const llvm::GlobalValue &V, unsigned Part) const {
    auto It = Parts.find(&V);
    return It != Parts.end() && It->second == Part;
  }
  /// Whether \p V is in one of the parts: it has a symbol.
  bool isMember(const llvm::GlobalValue &V) const { return Parts.count(&V); }
  /// Whether a part that \p V isn't in refers to it.
  bool isShared(const llvm::GlobalValue &V) const { return Shared.count(&V); }
  /// Whether a part has a definition of \p V to look at, or, if it is a
  /// constant without an address, one of its own.
  bool isCopied(const llvm::GlobalValue &V, unsigned Part) const {
    return Copies[Part].count(&V);
  }

  /// The object and the offset in it, in bytes, that parts without the alias
  /// \p V use in its place; a null object if they use a declaration of \p V.
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

} // namespace dtlto

#endif // DTLTO_COMPILE_PARTITION_H
