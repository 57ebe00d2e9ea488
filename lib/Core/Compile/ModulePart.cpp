//===- ModulePart.cpp - Reduces a module to one part ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile/BackendCompile.h"
#include "Compile/Partition.h"
#include "Compile/ReferenceGraph.h"
#include "LLVM/Module.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/LTO/Config.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace dtlto;

/// Returns the definitions in the module's order. Unlike the module's lists,
/// the result doesn't change with the definitions.
static std::vector<GlobalValue *> definitions(Module &M) {
  std::vector<GlobalValue *> All;
  for (GlobalValue &V : M.global_values())
    if (!V.isDeclaration())
      All.push_back(&V);
  return All;
}

/// Returns the name of the local \p V in other parts. The name is unique in the
/// link: it ends in \p Suffix, like names that ThinLTO promotes.
static std::string sharedName(const GlobalValue &V, StringRef Suffix,
                              unsigned &NumUnnamed) {
  std::string Name = V.hasName() ? V.getName().str()
                                 : "__unnamed_" + std::to_string(++NumUnnamed);
  // A name with the assembler's prefix for private labels gets no symbol.
  StringRef Plain = GlobalValue::dropLLVMManglingEscape(Name);
  if (StringRef(".$").contains(Plain.take_front()) ||
      (Plain != Name && StringRef("Ll").contains(Plain.take_front())))
    Name = ("__local" + Plain).str();
  return Name + ".llvm." + Suffix.str();
}

/// Gives permanent symbols to the definitions that other parts refer to:
/// linkonce ones become weak, and locals get a hidden symbol. In its own part,
/// a local keeps its name and linkage, and the hidden symbol is an alias. So
/// symbol tables, order files and assembly find the same names as in the whole
/// module. Returns these locals; they must not be replaced by their alias.
static SmallVector<GlobalValue *, 0> share(ArrayRef<GlobalValue *> Definitions,
                                           const Partition &P, unsigned Part,
                                           StringRef Suffix) {
  SmallVector<GlobalValue *, 0> Aliased;
  unsigned NumUnnamed = 0;
  for (GlobalValue *V : Definitions) {
    if (!P.isShared(*V))
      continue;
    if (V->hasLinkOnceLinkage())
      V->setLinkage(GlobalValue::getWeakLinkage(V->hasLinkOnceODRLinkage()));
    if (!V->hasLocalLinkage())
      continue;
    std::string Name = sharedName(*V, Suffix, NumUnnamed);
    GlobalValue *Symbol = V;
    if (!isRenamed(*V) && P.isIn(*V, Part)) {
      auto *Alias = dyn_cast<GlobalAlias>(V);
      Symbol = GlobalAlias::create(
          V->getValueType(), V->getAddressSpace(), GlobalValue::ExternalLinkage,
          "", Alias ? Alias->getAliasee() : V, V->getParent());
      Symbol->setUnnamedAddr(V->getUnnamedAddr());
      Aliased.push_back(V);
    }
    Symbol->setName(Name);
    Symbol->setLinkage(GlobalValue::ExternalLinkage);
    Symbol->setVisibility(GlobalValue::HiddenVisibility);
    Symbol->setDSOLocal(true);
  }
  return Aliased;
}

/// Replaces the alias \p V by the address of \p Object plus \p Offset bytes.
static void replaceAlias(GlobalValue &V, GlobalObject &Object, int64_t Offset) {
  Constant *Address = &Object;
  if (Offset != 0)
    Address = ConstantExpr::getGetElementPtr(
        Type::getInt8Ty(V.getContext()), Address,
        ConstantInt::get(Type::getInt64Ty(V.getContext()), Offset));
  V.replaceAllUsesWith(Address);
  V.eraseFromParent();
}

/// Turns \p V into a declaration. An alias becomes a function or a variable, by
/// its type.
static void declare(GlobalValue &V) {
  if (auto *F = dyn_cast<Function>(&V)) {
    F->deleteBody();
    F->setComdat(nullptr);
    return;
  }
  if (auto *Variable = dyn_cast<GlobalVariable>(&V)) {
    Variable->setInitializer(nullptr);
    Variable->setLinkage(GlobalValue::ExternalLinkage);
    Variable->setComdat(nullptr);
    Variable->clearMetadata();
    return;
  }
  GlobalValue *New;
  if (auto *Type = dyn_cast<FunctionType>(V.getValueType())) {
    New = Function::Create(Type, GlobalValue::ExternalLinkage,
                           V.getAddressSpace(), "", V.getParent());
  } else {
    auto *Variable = new GlobalVariable(
        *V.getParent(), V.getValueType(), false, GlobalValue::ExternalLinkage,
        nullptr, "", nullptr, V.getThreadLocalMode(), V.getAddressSpace());
    // An alias may point anywhere into its aliasee. Set alignment 1, or LLVM
    // assumes the type's ABI alignment.
    Variable->setAlignment(Align(1));
    if (auto *Named = dyn_cast_or_null<GlobalVariable>(V.getAliaseeObject()))
      if (auto Model = Named->getCodeModel())
        Variable->setCodeModel(*Model);
    New = Variable;
  }
  New->takeName(&V);
  New->setVisibility(V.getVisibility());
  New->setDSOLocal(V.isDSOLocal());
  New->setDLLStorageClass(V.getDLLStorageClass());
  V.replaceAllUsesWith(New);
  V.eraseFromParent();
}

/// Keeps the debug info of a variable in the part of its definition. The first
/// part keeps what belongs to no definition.
static void keepDebugInfo(Module &M, const Partition &P, unsigned Part) {
  DenseSet<const DIGlobalVariableExpression *> InPart, Attached;
  for (const GlobalVariable &V : M.globals()) {
    SmallVector<DIGlobalVariableExpression *, 1> Descriptions;
    V.getDebugInfo(Descriptions);
    Attached.insert(Descriptions.begin(), Descriptions.end());
    // A constant without an address is described where it is used.
    if (P.isMember(V) ? P.isIn(V, Part) : P.isCopied(V, Part))
      InPart.insert(Descriptions.begin(), Descriptions.end());
  }
  for (DICompileUnit *Unit : M.debug_compile_units()) {
    SmallVector<Metadata *, 16> Globals;
    for (DIGlobalVariableExpression *D : Unit->getGlobalVariables())
      if (InPart.count(D) || (Part == 0 && !Attached.count(D)))
        Globals.push_back(D);
    Unit->replaceGlobalVariables(MDTuple::get(M.getContext(), Globals));
    if (Part == 0)
      continue;
    Unit->replaceEnumTypes({});
    Unit->replaceRetainedTypes({});
    Unit->replaceImportedEntities({});
    Unit->replaceMacros({});
  }
}

/// Removes a call's list of callees if the list names a function without a
/// symbol in this part: passes assume that the list is complete.
static void dropIncompleteCallees(Module &M) {
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (const MDNode *Callees = I.getMetadata(LLVMContext::MD_callees))
        if (is_contained(Callees->operands(), nullptr))
          I.setMetadata(LLVMContext::MD_callees, nullptr);
}

template <typename List>
static void eraseUnused(List &&Globals, const Partition &P) {
  for (auto &V : make_early_inc_range(Globals)) {
    V.removeDeadConstantUsers();
    if (V.use_empty() &&
        (V.isDeclaration() || (V.hasLocalLinkage() && !P.isMember(V))))
      V.eraseFromParent();
  }
}

void dtlto::keepPart(Module &M, const Partition &P, unsigned Part,
                     StringRef Suffix, bool MayBePreempted) {
  keepDebugInfo(M, P, Part);
  removeFromUsedLists(M, [&](Constant *C) {
    auto *V = cast<GlobalValue>(C->stripPointerCasts());
    return P.isMember(*V) && !P.isIn(*V, Part);
  });
  if (Part != 0)
    clearModuleAsm(M);
  // These, such as names of libraries, apply to the whole module: keep one
  // copy.
  if (Part != 0)
    for (const char *Name : {"llvm.linker.options", "llvm.dependent-libraries",
                             "wasm.custom_sections"})
      if (NamedMDNode *Node = M.getNamedMetadata(Name))
        M.eraseNamedMetadata(Node);

  std::vector<GlobalValue *> Definitions = definitions(M);
  const auto Aliased = share(Definitions, P, Part, Suffix);
  // Handle aliases before their aliasees.
  for (GlobalValue *V : reverse(Definitions)) {
    if (P.isIn(*V, Part))
      continue;
    // The symbol is defined in another object and may be preempted.
    if (MayBePreempted && !V->isImplicitDSOLocal())
      V->setDSOLocal(false);
    // A copy would export the symbol again.
    if (V->hasDLLExportStorageClass())
      V->setDLLStorageClass(GlobalValue::DefaultStorageClass);
    if (isCompilerOnly(*V)) {
      // Annotations are useless without their definition. The used lists were
      // already reduced, and functions may refer to other such variables.
      if (V->getName() == "llvm.global.annotations")
        V->eraseFromParent();
    } else if (auto [Object, Offset] = P.resolve(*V); Object) {
      replaceAlias(*V, const_cast<GlobalObject &>(*Object), Offset);
    } else if (!P.isCopied(*V, Part)) {
      if (P.isMember(*V) || !V->hasLocalLinkage())
        declare(*V);
    } else if (P.isMember(*V)) {
      V->setLinkage(GlobalValue::AvailableExternallyLinkage);
      cast<GlobalObject>(V)->setComdat(nullptr);
    }
  }
  eraseUnused(M.functions(), P);
  eraseUnused(M.globals(), P);
  // Erased constants may leave functions unused, and the other way round.
  eraseUnused(M.functions(), P);
  dropIncompleteCallees(M);
  appendToCompilerUsed(M, Aliased);
}

/// Whether code of \p M must reach a default-visibility symbol of another
/// object through the GOT or PLT, although its definition is dso_local. This is
/// the condition of ThinLTO's importer (ClearDSOLocalOnDeclarations).
static bool mayBePreempted(const Module &M, const lto::Config &Conf) {
  if (!Triple(M.getTargetTriple()).isOSBinFormatELF() ||
      M.getPIELevel() != PIELevel::Default)
    return false;
  if (Conf.RelocModel)
    return *Conf.RelocModel != Reloc::Static;
  return M.getPICLevel() != PICLevel::NotPIC;
}

void dtlto::followSpecs(lto::Config &Conf, const ModuleSummaryIndex &Index,
                        std::function<CompileSpec(unsigned)> SpecOf) {
  Conf.PostImportModuleHook = [&Conf, &Index, SpecOf = std::move(SpecOf),
                               Next = std::move(Conf.PostImportModuleHook)](
                                  unsigned Task, const Module &Imported) {
    auto &M = const_cast<Module &>(Imported);
    if (PartNumber Part = SpecOf(Task).Part; !Part.isWhole()) {
      // See ModuleSummaryIndex::getGlobalNameForLocal().
      const ModuleHash &Hash = Index.getModuleHash(M.getModuleIdentifier());
      uint64_t Suffix = uint64_t(Hash[0]) << 32 | Hash[1];
      keepPart(M, Partition(M, Part.Count), Part.Index, std::to_string(Suffix),
               mayBePreempted(M, Conf));
    }
    return !Next || Next(Task, M);
  };
}
