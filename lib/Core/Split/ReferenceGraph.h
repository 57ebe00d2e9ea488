//===- ReferenceGraph.h - What must stay together --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the definitions of a module refer to, and which of them need more than a
// symbol's name to do so: those are together in one object. Members of a
// comdat, aliases with what they name, addresses of labels with their function,
// assembly with what it names.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SPLIT_REFERENCEGRAPH_H
#define DTLTO_SPLIT_REFERENCEGRAPH_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/GlobalValue.h"
#include <optional>
#include <vector>

namespace llvm {
class Module;
}

namespace dtlto {

/// Whether \p V, such as llvm.used, tells LLVM something, and is in no object.
bool isForTheCompiler(const llvm::GlobalValue &V);

/// Calls \p Tell with all that the definition \p V refers to, in its order;
/// some more than once.
void forEachReference(const llvm::GlobalValue &V,
                      llvm::function_ref<void(const llvm::GlobalValue &)> Tell);

class ReferenceGraph {
public:
  using Globals = std::vector<const llvm::GlobalValue *>;

  /// Refers to \p M.
  explicit ReferenceGraph(const llvm::Module &M);

  /// What is emitted, in the module's order; not constants that each part has
  /// one of its own of.
  const Globals &nodes() const { return Nodes; }
  /// What the node with that number refers to, in its order.
  const Globals &references(unsigned Node) const { return References[Node]; }
  /// Of all that must be together with \p V; none if it isn't a node.
  std::optional<unsigned> classOf(const llvm::GlobalValue &V) const {
    auto It = Numbers.find(&V);
    return It == Numbers.end() ? std::nullopt
                               : std::optional(Classes[It->second]);
  }
  unsigned classOf(unsigned Node) const { return Classes[Node]; }
  /// Of module assembly, and of all that has an order among the modules of a
  /// link. May have no node.
  unsigned classOfAssembly() const { return Classes[Nodes.size()]; }
  unsigned numClasses() const { return Classes.getNumClasses(); }
  /// Whether a copy of \p V could be compiled without what \p V is together
  /// with.
  bool mayBeCopied(const llvm::GlobalValue &V) const;

private:
  void joinAssembly(llvm::StringRef Assembly, unsigned Node);
  void joinNamed(llvm::StringRef Name, unsigned Node);
  void join(const llvm::GlobalValue &V, unsigned Node);
  void keepName(const llvm::GlobalValue &V);

  const llvm::Module &M;
  Globals Nodes;
  llvm::DenseMap<const llvm::GlobalValue *, unsigned> Numbers;
  std::vector<Globals> References; // by node
  /// The nodes that refer to each.
  llvm::DenseMap<const llvm::GlobalValue *, std::vector<unsigned>> Users;
  /// By names that assembly puts together, with AnyText in them.
  llvm::StringMap<Globals> MatchingNames;
  /// Locals that keep their names, also those of assembly.
  llvm::DenseSet<const llvm::GlobalValue *> Private;
  // Of nodes. The last one is module assembly's.
  llvm::IntEqClasses Classes;
};

} // namespace dtlto

#endif
