//===- Partition.cpp - Divides a module into parts ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile/Partition.h"
#include "Compile/ReferenceGraph.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <algorithm>
#include <numeric>

using namespace llvm;
using namespace dtlto;

// ThinLTO's default limit on imports, in instructions, and its factor for what
// an import refers to.
static constexpr unsigned CopyLimit = 100;
static constexpr double CopyDecay = 0.7;

static uint64_t numInstructions(const GlobalValue &V) {
  auto *F = dyn_cast<Function>(&V);
  if (!F)
    return 0;
  uint64_t N = 0;
  for (const Instruction &I : instructions(F))
    N += !isa<DbgInfoIntrinsic>(I);
  return N;
}

Partition::Partition(const Module &M, unsigned NumParts) {
  ReferenceGraph G(M);
  for (const GlobalAlias &A : M.aliases())
    Resolved[&A] = resolveAlias(A);
  cut(G, NumParts);
  copy(G);
}

/// Returns the maximum at which costs are capped, about a part's share.
/// Costlier classes can't be cut and would otherwise leave parts empty.
static uint64_t costLimit(std::vector<uint64_t> Costs, uint64_t NumParts) {
  uint64_t Rest = std::accumulate(Costs.begin(), Costs.end(), uint64_t(0));
  std::sort(Costs.begin(), Costs.end(), std::greater<uint64_t>());
  for (uint64_t Cost : Costs) {
    if (NumParts == 1 || Cost * NumParts <= Rest)
      break;
    Rest -= Cost;
    --NumParts;
  }
  return std::max<uint64_t>(Rest / NumParts, 1);
}

/// Orders the classes by a walk through their references, and cuts this order
/// into parts.
void Partition::cut(const ReferenceGraph &G, unsigned NumParts) {
  Copies.resize(NumParts);
  unsigned NumClasses = G.numClasses();
  std::vector<std::vector<unsigned>> Members(NumClasses);
  std::vector<uint64_t> Costs(NumClasses);
  for (unsigned N = 0; N != G.numNodes(); ++N) {
    unsigned Class = G.classOf(N);
    Members[Class].push_back(N);
    // Count a variable as a little work, too.
    Costs[Class] += 1 + numInstructions(G.node(N));
  }
  const uint64_t Limit = costLimit(Costs, NumParts);
  uint64_t Total = 0;
  for (uint64_t &Cost : Costs)
    Total += Cost = std::min(Cost, Limit);

  uint64_t Before = 0;
  std::vector<bool> IsPlaced(NumClasses);
  // The nodes on the walk's path, each with its next reference.
  std::vector<std::pair<unsigned, size_t>> Stack;
  auto Place = [&](unsigned Class) {
    if (IsPlaced[Class])
      return;
    IsPlaced[Class] = true;
    // Choose the part by the middle of the class. Module assembly comes first.
    uint64_t Part = Before == 0 ? 0
                                : (Before + Costs[Class] / 2) * NumParts /
                                      std::max<uint64_t>(Total, 1);
    Before += std::max<uint64_t>(Costs[Class], 1);
    for (unsigned N : Members[Class])
      Parts[&G.node(N)] =
          static_cast<unsigned>(std::min<uint64_t>(Part, NumParts - 1));
    for (unsigned N : reverse(Members[Class]))
      Stack.push_back({N, 0});
  };
  for (unsigned I = 0; I <= G.numNodes(); ++I) {
    Place(I == 0 ? G.classOfAssembly() : G.classOf(I - 1));
    while (!Stack.empty()) {
      auto &[N, Next] = Stack.back();
      const ReferenceGraph::Globals &To = G.references(N);
      if (Next == To.size())
        Stack.pop_back();
      else if (auto Class = G.classOf(*To[Next++]))
        Place(*Class);
    }
  }
}

/// Whether another part could inline or read a copy of \p V.
static bool isWorthACopy(const ReferenceGraph &G, const GlobalValue &V,
                         unsigned Limit) {
  if (V.isInterposable())
    return false;
  if (auto *Variable = dyn_cast<GlobalVariable>(&V))
    return Variable->isConstant() && !V.isThreadLocal() && !V.hasSection() &&
           G.mayBeCopied(V);
  auto *F = dyn_cast<Function>(&V);
  return F && !F->hasFnAttribute(Attribute::NoInline) &&
         !F->hasFnAttribute(Attribute::Naked) && !F->isVarArg() &&
         numInstructions(V) <= Limit && G.mayBeCopied(V);
}

/// Finds what each part copies, by following its references.
void Partition::copy(const ReferenceGraph &G) {
  for (unsigned Part = 0; Part != numParts(); ++Part) {
    // The highest limit with which each definition was reached.
    DenseMap<const GlobalValue *, unsigned> Limits;
    std::vector<std::pair<const GlobalValue *, unsigned>> Worklist;
    auto Refer = [&](const GlobalValue &Named, unsigned Limit) {
      const GlobalObject *Object =
          isIn(Named, Part) ? nullptr : resolve(Named).first;
      const GlobalValue &To = Object ? *Object : Named;
      if (isIn(To, Part) || To.isDeclaration() || isCompilerOnly(To))
        return;
      if (isMember(To)) {
        Shared.insert(&To);
        if (!isWorthACopy(G, To, Limit))
          return;
      }
      auto [It, IsNew] = Limits.try_emplace(&To, Limit);
      if (!IsNew && It->second >= Limit)
        return;
      It->second = Limit;
      Copies[Part].insert(&To);
      Worklist.push_back({&To, Limit});
    };
    for (unsigned N = 0; N != G.numNodes(); ++N)
      if (isIn(G.node(N), Part))
        for (const GlobalValue *To : G.references(N))
          Refer(*To, CopyLimit);
    while (!Worklist.empty()) {
      auto [V, Limit] = Worklist.back();
      Worklist.pop_back();
      auto Next = static_cast<unsigned>(Limit * CopyDecay);
      forEachReference(*V, [&](const GlobalValue &To) { Refer(To, Next); });
    }
  }
}
