//===- AssemblyReferences.cpp - What assembly refers to -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compile/AssemblerSymbols.h"
#include "Compile/ReferenceGraph.h"
#include "LLVM/Module.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Mangler.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace dtlto;

void ReferenceGraph::addModuleAssembly() {
  const auto Symbols = moduleAssemblySymbols(Mod);
  if (!Symbols) {
    IsWhole = true;
    return;
  }
  AssemblySymbols = *Symbols;
  HasMacros = hasMacros(moduleAsm(Mod));
  if (AssemblySymbols.empty())
    return;
  StringMap<const GlobalValue *> ValuesBySymbol;
  Mangler Mangle;
  for (const GlobalValue &V : Mod.global_values())
    if (V.hasName()) {
      SmallString<64> Name;
      Mangle.getNameWithPrefix(Name, &V, /*CannotUsePrivateLabel=*/false);
      ValuesBySymbol[Name] = &V;
    }
  for (StringRef Name : AssemblySymbols)
    if (const GlobalValue *V = ValuesBySymbol.lookup(Name))
      join(*V, assembly());
}

void ReferenceGraph::addAssembly(const Function &F, unsigned N) {
  bool IsNamed = false, HasText = false;
  for (const Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    auto *Code = Call ? dyn_cast<InlineAsm>(Call->getCalledOperand()) : nullptr;
    if (!Code)
      continue;
    // An immediate operand must be a symbol that the object may refer to
    // directly. A preemptible declaration isn't.
    for (unsigned Arg = 0; Arg != Call->arg_size(); ++Arg)
      if (auto *V = dyn_cast<GlobalValue>(
              Call->getArgOperand(Arg)->stripInBoundsOffsets()))
        if (auto It = Numbers.find(V); It != Numbers.end() &&
                                       !Call->getParamElementType(Arg) &&
                                       !V->isImplicitDSOLocal()) {
          Classes.join(N, It->second);
          IsNamed = true;
        }
    const std::string Text = withPlaceholders(Code->getAsmString());
    const AssemblyKind Kind = classifyAssembly(Text);
    IsWhole |= Kind == AssemblyKind::Unknown;
    DefinesNames |= Kind == AssemblyKind::Defines;
    forEachName(Text, [&](StringRef Word) {
      HasText = true;
      if (isAssemblySymbol(Word)) {
        Classes.join(N, assembly());
        IsNamed = true;
      }
      IsNamed |= joinNamed(Word, N, Kind == AssemblyKind::Defines);
      // Mach-O and 32-bit Windows prefix C names with an underscore.
      if (Word.consume_front("_"))
        IsNamed |= joinNamed(Word, N, Kind == AssemblyKind::Defines);
    });
  }
  // Any instruction may be the name of a macro.
  IsWhole |= HasText && HasMacros;
  if (HasText)
    WithAssembly.push_back(N);
  if (IsNamed)
    bindItem(N, N);
}

/// Whether \p Whole starts and ends like \p Name, which contains AnyText.
static bool matches(StringRef Name, StringRef Whole) {
  return Whole.consume_front(Name.split(AnyText).first) &&
         Whole.ends_with(Name.substr(Name.rfind(AnyText) + 1));
}

/// Whether module assembly has a symbol that \p Name may refer to in a
/// function's assembly.
bool ReferenceGraph::isAssemblySymbol(StringRef Name) const {
  if (Name.contains(AnyText))
    return Name.find_first_not_of(AnyText) != StringRef::npos &&
           any_of(AssemblySymbols,
                  [&](StringRef Symbol) { return matches(Name, Symbol); });
  return llvm::binary_search(AssemblySymbols, Name);
}

/// Joins \p Item with everything that \p Name may refer to in its assembly.
/// Includes declarations if the assembly \p MayDefine them. Returns whether
/// there is any.
bool ReferenceGraph::joinNamed(StringRef Name, unsigned Item, bool MayDefine) {
  // An operand by itself was handled as an operand. No global's name has the
  // number that replaces UniqueText on emission.
  if (Name.find_first_not_of(AnyText) == StringRef::npos ||
      Name.contains(UniqueText))
    return false;
  bool HasMatch = false;
  auto Join = [&](const GlobalValue &V) {
    if (V.isDeclaration() && !MayDefine)
      return;
    join(V, Item);
    HasMatch = true;
  };
  if (Name.contains(AnyText)) {
    auto [Matching, IsNew] = MatchingNames.try_emplace(Name);
    if (IsNew)
      for (const GlobalValue &V : Mod.global_values())
        if (matches(Name, GlobalValue::dropLLVMManglingEscape(V.getName())))
          Matching->second.push_back(&V);
    for (const GlobalValue *V : Matching->second)
      Join(*V);
    return HasMatch;
  }
  const GlobalValue *V = Mod.getNamedValue(Name);
  if (!V)
    V = Mod.getNamedValue(("\1" + Name).str());
  if (V)
    Join(*V);
  return HasMatch;
}
