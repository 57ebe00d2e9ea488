//===- ReferenceGraph.h - What must stay together --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the definitions of a module refer to, and which definitions must be in
// the same object because a symbol's name isn't enough for the reference. These
// are members of a comdat, aliases and their aliasees, addresses of labels and
// their function, assembly and what it names.
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

/// Whether \p V, such as llvm.used, only informs LLVM and is in no object.
bool isCompilerOnly(const llvm::GlobalValue &V);

/// Whether the local \p V must be renamed to have a symbol for other objects,
/// since an alias can't serve as one.
bool isRenamed(const llvm::GlobalValue &V);

/// Calls \p Visit once with each value that the definition \p V refers to, in
/// order.
void forEachReference(
    const llvm::GlobalValue &V,
    llvm::function_ref<void(const llvm::GlobalValue &)> Visit);

/// An object and a byte offset in it.
using ObjectAndOffset = std::pair<const llvm::GlobalObject *, int64_t>;

/// Returns what other object files use in place of \p A: no object if they
/// use a declaration of \p A. The optimizer treats two declarations as two
/// objects.
ObjectAndOffset resolveAlias(const llvm::GlobalAlias &A);

class ReferenceGraph {
public:
  using Globals = std::vector<const llvm::GlobalValue *>;

  /// \p Mod must outlive this.
  explicit ReferenceGraph(const llvm::Module &Mod);

  /// The number of nodes: emitted definitions in the module's order, except
  /// constants that each object copies.
  unsigned numNodes() const { return NumNodes; }
  const llvm::GlobalValue &node(unsigned Node) const { return *Items[Node]; }
  /// What \p Node refers to, in order.
  const Globals &references(unsigned Node) const { return References[Node]; }
  /// The class of everything that must be together with \p V; none if \p V
  /// isn't a node.
  std::optional<unsigned> classOf(const llvm::GlobalValue &V) const {
    auto It = Numbers.find(&V);
    return It == Numbers.end() || It->second >= NumNodes
               ? std::nullopt
               : std::optional(Classes[It->second]);
  }
  unsigned classOf(unsigned Node) const { return Classes[Node]; }
  /// The class of module assembly and of everything with an order among the
  /// modules of a link. May have no node.
  unsigned classOfAssembly() const { return Classes[assembly()]; }
  unsigned numClasses() const { return Classes.getNumClasses(); }
  /// Whether a copy of the node \p V can be compiled without the rest of its
  /// class.
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

  const llvm::Module &Mod;
  /// Nodes, then imports: definitions that are available_externally.
  Globals Items;
  unsigned NumNodes = 0;
  llvm::DenseMap<const llvm::GlobalValue *, unsigned> Numbers;
  std::vector<Globals> References; // by item
  /// The items that refer to each value.
  llvm::DenseMap<const llvm::GlobalValue *, std::vector<unsigned>> Users;
  /// Values by the names in assembly that contain AnyText.
  llvm::StringMap<Globals> MatchingNames;
  /// Functions with non-empty assembly.
  std::vector<unsigned> WithAssembly;
  /// The symbols that module assembly names, sorted.
  std::vector<std::string> AssemblySymbols;
  /// Whether a function's assembly may define symbols that IR doesn't show;
  /// whether module assembly has macros.
  bool DefinesNames = false, HasMacros = false;
  /// Whether assembly may do anything, so that one object has everything.
  bool IsWhole = false;
  /// Values without a symbol for other objects, and items that refer to these.
  llvm::DenseSet<const llvm::GlobalValue *> Bound, BoundItems;
  // Classes of items. The last item is module assembly.
  llvm::IntEqClasses Classes;
};

} // namespace dtlto

#endif
