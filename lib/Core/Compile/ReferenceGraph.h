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

#ifndef DTLTO_COMPILE_REFERENCEGRAPH_H
#define DTLTO_COMPILE_REFERENCEGRAPH_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/GlobalAlias.h"
#include <optional>
#include <vector>

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace dtlto {

/// Whether \p V, such as llvm.used, tells LLVM something, and is in no object.
bool isForTheCompiler(const llvm::GlobalValue &V);

/// Whether the local \p V has to be renamed to have a symbol for other parts:
/// an alias can't stand for it.
bool isRenamed(const llvm::GlobalValue &V);

/// Calls \p Tell with all that the definition \p V refers to, in its order;
/// some more than once.
void forEachReference(const llvm::GlobalValue &V,
                      llvm::function_ref<void(const llvm::GlobalValue &)> Tell);

/// The object and the offset in it, in bytes, that other parts use in place of
/// \p A; null if they use a declaration of \p A. The optimizer takes two
/// declarations for two objects.
const llvm::GlobalObject *resolveAlias(const llvm::GlobalAlias &A,
                                       int64_t &Offset);

class ReferenceGraph {
public:
  using Globals = std::vector<const llvm::GlobalValue *>;

  /// Refers to \p M.
  explicit ReferenceGraph(const llvm::Module &M);

  /// The number of nodes: definitions that are emitted, in the module's order,
  /// but not constants that each part has one of its own of.
  unsigned numNodes() const { return NumNodes; }
  const llvm::GlobalValue &node(unsigned Node) const { return *Items[Node]; }
  /// What the node with that number refers to, in its order.
  const Globals &references(unsigned Node) const { return References[Node]; }
  /// The class of all that must be together with \p V; none if \p V isn't a
  /// node.
  std::optional<unsigned> classOf(const llvm::GlobalValue &V) const {
    auto It = Numbers.find(&V);
    return It == Numbers.end() || It->second >= NumNodes
               ? std::nullopt
               : std::optional(Classes[It->second]);
  }
  unsigned classOf(unsigned Node) const { return Classes[Node]; }
  /// The class of module assembly, and of all that has an order among the
  /// modules of a link. May have no node.
  unsigned classOfAssembly() const { return Classes[assembly()]; }
  unsigned numClasses() const { return Classes.getNumClasses(); }
  /// Whether a copy of the node \p V could be compiled without what \p V is
  /// together with.
  bool mayBeCopied(const llvm::GlobalValue &V) const;

private:
  unsigned assembly() const { return static_cast<unsigned>(Items.size()); }
  void addReferences();
  void addObservers(const llvm::GlobalAlias &A);
  void addModuleAssembly();
  void addAssembly(const llvm::Function &F, unsigned N);
  bool isAssemblySymbol(llvm::StringRef Name) const;
  bool joinNamed(llvm::StringRef Name, unsigned Item, bool MayDefine);
  void join(const llvm::GlobalValue &V, unsigned Item);
  void bind(const llvm::GlobalValue &V, unsigned Item);
  void bindItem(unsigned N, unsigned Item);
  void keepName(const llvm::GlobalValue &V);

  const llvm::Module &M;
  /// Nodes, then imports: definitions that are available_externally.
  Globals Items;
  unsigned NumNodes = 0;
  llvm::DenseMap<const llvm::GlobalValue *, unsigned> Numbers;
  std::vector<Globals> References; // by item
  /// The items that refer to each.
  llvm::DenseMap<const llvm::GlobalValue *, std::vector<unsigned>> Users;
  /// By names that assembly puts together, with AnyText in them.
  llvm::StringMap<Globals> MatchingNames;
  /// Functions with assembly that isn't empty.
  std::vector<unsigned> WithAssembly;
  /// What module assembly names, sorted.
  std::vector<std::string> AssemblySymbols;
  /// Whether a function's assembly may define symbols that IR doesn't know of;
  /// whether module assembly has macros.
  bool DefinesNames = false, HasMacros = false;
  /// Whether assembly may do anything: one part has everything.
  bool IsWhole = false;
  /// What has no symbol for other parts, and items that refer to such.
  llvm::DenseSet<const llvm::GlobalValue *> Bound, BoundItems;
  // Of items. The last one is module assembly's.
  llvm::IntEqClasses Classes;
};

} // namespace dtlto

#endif
