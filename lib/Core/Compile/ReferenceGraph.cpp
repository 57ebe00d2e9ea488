//===- ReferenceGraph.cpp - What must stay together ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile/ReferenceGraph.h"
#include "LLVM/Module.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include <map>

using namespace llvm;
using namespace dtlto;

// In bytes. A larger constant gets a symbol instead of a copy in each object.
static constexpr uint64_t MaxCopiedConstant = 1024;

bool dtlto::isCompilerOnly(const GlobalValue &V) {
  return V.getName() == "llvm.used" || V.getName() == "llvm.compiler.used" ||
         V.getSection() == "llvm.metadata";
}

bool dtlto::isRenamed(const GlobalValue &V) {
  // Private values have no symbol to keep. Emulated TLS has a control variable
  // for each variable, but not for aliases. A tag belongs to the symbol of a
  // variable.
  const GlobalObject *Base = V.getAliaseeObject();
  return V.hasPrivateLinkage() || V.isThreadLocal() || isa<GlobalIFunc>(V) ||
         (Base && Base->isTagged());
}

/// Whether the comdat of \p V has its name. COFF requires this symbol.
static bool isComdatKey(const GlobalValue &V) {
  return V.getComdat() && V.getComdat()->getName() == V.getName();
}

static bool isEmitted(const GlobalValue &V) {
  return !V.isDeclaration() && !V.hasAvailableExternallyLinkage() &&
         !isCompilerOnly(V);
}

/// Whether \p V lists constructors or destructors, which run in its order.
static bool isList(const GlobalValue &V) { return V.hasAppendingLinkage(); }

/// Whether \p V is an element of such a list that the program itself writes.
static bool isInList(const GlobalValue &V) {
  static constexpr StringLiteral Lists[] = {".init_array",
                                            ".fini_array",
                                            ".preinit_array",
                                            ".ctors",
                                            ".dtors",
                                            ".CRT$",
                                            "__DATA,__mod_init_func",
                                            "__DATA,__mod_term_func"};
  return any_of(
      Lists, [&](StringRef Name) { return V.getSection().starts_with(Name); });
}

/// Whether \p V is in a section that the program names. Such definitions are in
/// the order of the source and of the link. Programs rely on this order between
/// __start_ and __stop_, between two symbols of their own, or in a linker
/// script. They don't rely on it in sections that compilers name.
static bool isInNamedSection(const GlobalValue &V) {
  static constexpr StringLiteral Compilers[] = {
      "__llvm_",        "__sancov", "asan_globals",   "hwasan_globals",
      "memtag_globals", "xray_",    "__DATA,__llvm_", "__DATA,__sancov",
      "__DATA,__asan_", ".lprf",    ".lcovmap",       ".lcovfun",
      ".SCOV",          ".ASAN"};
  // Code generation uses these names, too; only a profile determines their
  // order.
  static constexpr StringLiteral Code[] = {".text.hot.", ".text.unlikely.",
                                           ".text.startup.", ".text.exit.",
                                           ".text.split."};
  auto IsAnyOf = [&](ArrayRef<StringLiteral> Names, StringRef Section) {
    return any_of(Names,
                  [&](StringRef Name) { return Section.starts_with(Name); });
  };
  if (auto *F = dyn_cast<Function>(&V))
    return F->hasFnAttribute("implicit-section-name") ||
           (F->hasSection() && !IsAnyOf(Code, (F->getSection() + ".").str()));
  auto *Variable = dyn_cast<GlobalVariable>(&V);
  return Variable && (Variable->hasImplicitSection() ||
                      (Variable->hasSection() &&
                       !IsAnyOf(Compilers, Variable->getSection())));
}

/// Whether the address of \p V, or of a part of it, may become a value that can
/// be compared.
static bool mayEscape(const Value &V) {
  return any_of(V.uses(), [](const Use &U) {
    const User *Usr = U.getUser();
    if (isa<LoadInst>(Usr))
      return false;
    if (auto *Address = dyn_cast<GEPOperator>(Usr))
      return U.getOperandNo() != Address->getPointerOperandIndex() ||
             mayEscape(*Address);
    auto *Copy = dyn_cast<MemTransferInst>(Usr);
    return !Copy || &U != &Copy->getRawSourceUse();
  });
}

/// Whether \p V is a string or number whose address is never compared. Linkers
/// merge copies of a string, but not copies with different alignments, and
/// an object may align its own copy.
static bool isCopiedConstant(const GlobalValue &V) {
  auto *Variable = dyn_cast<GlobalVariable>(&V);
  return Variable && V.hasLocalLinkage() && V.hasGlobalUnnamedAddr() &&
         Variable->isConstant() && !V.hasSection() && !V.hasComdat() &&
         !V.isThreadLocal() && isa<ConstantData>(Variable->getInitializer()) &&
         V.getParent()->getDataLayout().getTypeAllocSize(V.getValueType()) <=
             MaxCopiedConstant &&
         !mayEscape(V);
}

/// Calls \p Visit once with each constant that \p V consists of.
static void forEachConstant(const GlobalValue &V,
                            function_ref<void(const Constant &)> Visit) {
  SmallPtrSet<const Constant *, 32> Visited;
  SmallVector<const Constant *, 32> Worklist;
  auto Add = [&](const Value *Operand) {
    auto *C = dyn_cast_or_null<Constant>(Operand);
    if (C && !isa<ConstantData>(C) && Visited.insert(C).second)
      Worklist.push_back(C);
  };
  auto Walk = [&](const Value *Root) {
    Add(Root);
    while (!Worklist.empty()) {
      const Constant *C = Worklist.pop_back_val();
      Visit(*C);
      if (!isa<GlobalValue>(C))
        for (unsigned I = C->getNumOperands(); I != 0; --I)
          Add(C->getOperand(I - 1));
    }
  };
  for (const Use &Operand : V.operands())
    Walk(Operand);
  auto *F = dyn_cast<Function>(&V);
  if (!F)
    return;
  // With clang 15 and 16, this metadata names a global that is also in
  // llvm.compiler.used.
  if (const MDNode *Prologue = F->getMetadata(LLVMContext::MD_func_sanitize))
    for (const MDOperand &Operand : Prologue->operands())
      Walk(mdconst::dyn_extract_or_null<Constant>(Operand));
  for (const Instruction &I : instructions(F))
    for (const Use &Operand : I.operands())
      Walk(Operand);
}

void dtlto::forEachReference(const GlobalValue &V,
                             function_ref<void(const GlobalValue &)> Visit) {
  forEachConstant(V, [&](const Constant &C) {
    if (auto *To = dyn_cast<GlobalValue>(&C))
      Visit(*To);
  });
}

ObjectAndOffset dtlto::resolveAlias(const GlobalAlias &A) {
  const GlobalObject *O = A.getAliaseeObject();
  if (!O || O->getType() != A.getType() || A.isInterposable())
    return {};
  // COFF names a comdat after a symbol; for a vtable, the symbol is an alias.
  if (O->getComdat() && O->getComdat()->getName() == A.getName())
    return {};
  // A symbol that may be preempted can't replace one that may not.
  if (!O->hasLocalLinkage() && O->hasDefaultVisibility() &&
      !(O->isDSOLocal() && A.isDSOLocal() && A.hasDefaultVisibility()))
    return {};
  const DataLayout &DL = A.getParent()->getDataLayout();
  APInt Bytes(DL.getIndexTypeSizeInBits(A.getType()), 0);
  if (A.stripAndAccumulateConstantOffsets(DL, Bytes, true) != O ||
      (A.isThreadLocal() && !Bytes.isZero()))
    return {};
  return {O, Bytes.getSExtValue()};
}

/// Whether \p A is the only reference to its aliasee.
static bool isOnlyName(const GlobalAlias &A) {
  const Constant *C = A.getAliasee();
  while (C->hasOneUse() && isa<ConstantExpr>(C))
    C = cast<Constant>(C->getOperand(0));
  auto *O = dyn_cast<GlobalObject>(C);
  return O && O->hasLocalLinkage() && O->hasOneUse();
}

/// Returns the function whose labels \p I refers to by name, or null.
static const Value *labelFunction(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call || (Call->getIntrinsicID() != Intrinsic::localrecover &&
                Call->getIntrinsicID() != Intrinsic::eh_recoverfp))
    return nullptr;
  return Call->getArgOperand(0)->stripPointerCasts();
}

/// Whether \p F has labels or jumps to them. These must be in the object of
/// \p F: labels have no symbols, and the jumps need a table.
static bool hasLabels(const Function &F) {
  return any_of(F, [](const BasicBlock &B) { return B.hasAddressTaken(); }) ||
         any_of(instructions(F), [](const Instruction &I) {
           auto *Call = dyn_cast<IntrinsicInst>(&I);
           return isa<IndirectBrInst>(I) || labelFunction(I) ||
                  (Call && Call->getIntrinsicID() == Intrinsic::localescape);
         });
}

ReferenceGraph::ReferenceGraph(const Module &Mod) : Mod(Mod) {
  auto Add = [&](const GlobalValue &V) {
    Numbers[&V] = static_cast<unsigned>(Items.size());
    Items.push_back(&V);
  };
  for (const GlobalValue &V : Mod.global_values())
    if (isEmitted(V) && !isCopiedConstant(V))
      Add(V);
  NumNodes = static_cast<unsigned>(Items.size());
  for (const GlobalValue &V : Mod.global_values())
    if (V.hasAvailableExternallyLinkage())
      Add(V);
  const unsigned Assembly = assembly();
  Classes.grow(Assembly + 1);
  addReferences();
  for (const GlobalAlias &A : Mod.aliases())
    if (!isOnlyName(A) && !resolveAlias(A).first)
      addObservers(A);

  for (unsigned N = 0; N != NumNodes; ++N)
    if (isList(*Items[N]) || isInList(*Items[N]) || isInNamedSection(*Items[N]))
      Classes.join(N, Assembly);
  addModuleAssembly();
  // The symbols of OCaml's table are named after the module.
  IsWhole |= any_of(
      Mod, [](const Function &F) { return F.hasGC() && F.getGC() == "ocaml"; });
  for (unsigned N = 0; N != Assembly; ++N)
    if (auto *F = dyn_cast<Function>(Items[N]))
      addAssembly(*F, N);
  if (IsWhole)
    for (unsigned N = 0; N != Assembly; ++N)
      Classes.join(N, Assembly);
  // The text of inline assembly doesn't show all symbols that it defines.
  if (DefinesNames)
    for (unsigned N : WithAssembly)
      bindItem(N, Assembly);

  // These must keep their names.
  SmallVector<GlobalValue *, 16> UsedGlobals;
  collectUsedGlobalVariables(Mod, UsedGlobals, /*CompilerUsed=*/false);
  collectUsedGlobalVariables(Mod, UsedGlobals, /*CompilerUsed=*/true);
  for (const GlobalValue *V : UsedGlobals)
    keepName(*V);
  for (unsigned N = 0; N != NumNodes; ++N)
    if (Items[N]->hasSection() || isComdatKey(*Items[N]))
      keepName(*Items[N]);

  Classes.compress();
}

void ReferenceGraph::addReferences() {
  std::map<const Comdat *, unsigned> Comdats;
  References.resize(Items.size());
  for (unsigned N = 0; N != Items.size(); ++N) {
    const GlobalValue &V = *Items[N];
    forEachConstant(V, [&](const Constant &C) {
      if (auto *To = dyn_cast<GlobalValue>(&C)) {
        References[N].push_back(To);
        Users[To].push_back(N);
      }
    });
    if (N >= NumNodes)
      continue;
    auto Join = [&](const Value *Other) {
      auto *Global = dyn_cast_or_null<GlobalValue>(Other);
      if (auto It = Numbers.find(Global);
          Global && It != Numbers.end() && It->second < NumNodes)
        Classes.join(N, It->second);
    };
    if (const Comdat *C = V.getComdat())
      Classes.join(N, Comdats.try_emplace(C, N).first->second);
    if (isa<GlobalAlias>(V))
      Join(V.getAliaseeObject());
    if (auto *IFunc = dyn_cast<GlobalIFunc>(&V))
      Join(IFunc->getResolverFunction());
    if (auto *Object = dyn_cast<GlobalObject>(&V))
      if (MDNode *To = Object->getMetadata(LLVMContext::MD_associated))
        if (auto *C =
                dyn_cast_or_null<ConstantAsMetadata>(To->getOperand(0).get()))
          Join(C->getValue()->stripPointerCasts());
    if (auto *F = dyn_cast<Function>(&V))
      for (const Instruction &I : instructions(F))
        Join(labelFunction(I));
    forEachConstant(V, [&](const Constant &C) {
      if (auto *Label = dyn_cast<BlockAddress>(&C))
        Join(Label->getFunction());
      if (isList(V))
        Join(&C);
    });
  }
}

/// Joins the users of the address of \p A with it. Otherwise, the optimizer may
/// conclude that two declarations have different addresses, and that stores to
/// one don't change the other.
void ReferenceGraph::addObservers(const GlobalAlias &A) {
  std::vector<const Value *> Worklist{&A};
  while (!Worklist.empty()) {
    const Value *V = Worklist.back();
    Worklist.pop_back();
    for (const Use &U : V->uses()) {
      const User *Usr = U.getUser();
      if (auto *Call = dyn_cast<CallBase>(Usr); Call && Call->isCallee(&U))
        continue;
      const auto *Observer = dyn_cast<GlobalValue>(Usr);
      if (auto *I = dyn_cast<Instruction>(Usr))
        Observer = I->getFunction();
      if (!Observer)
        Worklist.push_back(Usr);
      else if (auto NodeIt = Numbers.find(Observer);
               NodeIt != Numbers.end() && Numbers.count(&A))
        bindItem(NodeIt->second, Numbers.lookup(&A));
    }
  }
}

/// Joins \p V with \p Item, whose assembly names \p V.
void ReferenceGraph::join(const GlobalValue &V, unsigned Item) {
  if (auto It = Numbers.find(&V); It != Numbers.end())
    Classes.join(Item, It->second);
  keepName(V);
  // Assembly may define \p V as a local symbol.
  if (V.isDeclaration())
    bind(V, Item);
}

/// Joins the users of \p V with \p Item, since \p V has no symbol for other
/// objects.
void ReferenceGraph::bind(const GlobalValue &V, unsigned Item) {
  Bound.insert(&V);
  for (unsigned User : Users.lookup(&V))
    bindItem(User, Item);
}

/// Joins \p N with \p Item because of something that other objects lack. For an
/// import, also joins its users, which may inline it.
void ReferenceGraph::bindItem(unsigned N, unsigned Item) {
  Classes.join(N, Item);
  const GlobalValue &V = *Items[N];
  if (BoundItems.insert(&V).second && N >= NumNodes)
    bind(V, N);
}

/// Joins the users of \p V if it would otherwise have to be renamed.
void ReferenceGraph::keepName(const GlobalValue &V) {
  auto It = Numbers.find(&V);
  if (It != Numbers.end() && V.hasLocalLinkage() && isRenamed(V))
    bind(V, It->second);
}

bool ReferenceGraph::mayBeCopied(const GlobalValue &V) const {
  bool IsBound = BoundItems.count(&V);
  forEachConstant(V, [&](const Constant &C) {
    auto *To = dyn_cast<GlobalValue>(&C);
    IsBound |= isa<BlockAddress>(C) || (To && Bound.count(To));
  });
  auto *F = dyn_cast<Function>(&V);
  return !IsBound && !isList(V) && !(F && hasLabels(*F));
}
