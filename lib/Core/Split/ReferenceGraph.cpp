//===- ReferenceGraph.cpp - What must stay together ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Split/ReferenceGraph.h"
#include "LLVM/Module.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include <map>

using namespace llvm;
using namespace dtlto;

// In bytes. Larger constants have a symbol rather than a copy in each part.
static constexpr uint64_t MaxCopiedConstant = 1024;

bool dtlto::isForTheCompiler(const GlobalValue &V) {
  return V.getName() == "llvm.used" || V.getName() == "llvm.compiler.used" ||
         V.getSection() == "llvm.metadata";
}

static bool isEmitted(const GlobalValue &V) {
  return !V.isDeclaration() && !V.hasAvailableExternallyLinkage() &&
         !isForTheCompiler(V);
}

/// Constructors and destructors, in the order that they are run in.
static bool isList(const GlobalValue &V) { return V.hasAppendingLinkage(); }

/// The same, as programs write it themselves.
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

/// Variables of one section are in the order of the source and of the link,
/// which programs rely on between __start_ and __stop_, or two of their own;
/// but for what compilers make.
static bool isInSet(const GlobalValue &V) {
  static constexpr StringLiteral Compilers[] = {
      "__llvm_",        "__sancov", "asan_globals",   "hwasan_globals",
      "memtag_globals", "xray_",    "__DATA,__llvm_", "__DATA,__sancov",
      "__DATA,__asan_", ".lprf",    ".lcovmap",       ".lcovfun",
      ".SCOV",          ".ASAN"};
  return isa<GlobalVariable>(V) && V.hasSection() &&
         none_of(Compilers, [&](StringRef Name) {
           return V.getSection().starts_with(Name);
         });
}

/// Whether the address of \p V, or of a part of it, may become a value that is
/// compared.
static bool mayEscape(const Value &V) {
  return any_of(V.uses(), [](const Use &U) {
    const User *By = U.getUser();
    if (isa<LoadInst>(By))
      return false;
    if (auto *Address = dyn_cast<GEPOperator>(By))
      return U.getOperandNo() != Address->getPointerOperandIndex() ||
             mayEscape(*Address);
    auto *Copy = dyn_cast<MemTransferInst>(By);
    return !Copy || &U != &Copy->getRawSourceUse();
  });
}

/// Text and numbers that nobody compares the address of. Of texts, linkers make
/// one again, but not of those that are aligned differently, as a part may
/// align its own.
static bool isCopiedConstant(const GlobalValue &V) {
  auto *Variable = dyn_cast<GlobalVariable>(&V);
  return Variable && V.hasLocalLinkage() && V.hasGlobalUnnamedAddr() &&
         Variable->isConstant() && !V.hasSection() && !V.hasComdat() &&
         !V.isThreadLocal() && isa<ConstantData>(Variable->getInitializer()) &&
         V.getParent()->getDataLayout().getTypeAllocSize(V.getValueType()) <=
             MaxCopiedConstant &&
         !mayEscape(V);
}

/// Calls \p Tell with each constant that \p V consists of, once.
static void forEachConstant(const GlobalValue &V,
                            function_ref<void(const Constant &)> Tell) {
  SmallPtrSet<const Constant *, 32> Seen;
  SmallVector<const Constant *, 32> Left;
  auto Add = [&](const Value *Operand) {
    auto *C = dyn_cast_or_null<Constant>(Operand);
    if (C && !isa<ConstantData>(C) && Seen.insert(C).second)
      Left.push_back(C);
  };
  auto Walk = [&] {
    while (!Left.empty()) {
      const Constant *C = Left.pop_back_val();
      Tell(*C);
      if (!isa<GlobalValue>(C))
        for (unsigned I = C->getNumOperands(); I != 0; --I)
          Add(C->getOperand(I - 1));
    }
  };
  for (const Use &Operand : V.operands()) {
    Add(Operand);
    Walk();
  }
  auto *F = dyn_cast<Function>(&V);
  if (!F)
    return;
  // That of clang 15 and 16 names a global, which it also puts into
  // llvm.compiler.used.
  if (const MDNode *Prologue = F->getMetadata(LLVMContext::MD_func_sanitize))
    for (const MDOperand &Operand : Prologue->operands()) {
      Add(mdconst::dyn_extract_or_null<Constant>(Operand));
      Walk();
    }
  for (const Instruction &I : instructions(F))
    for (const Use &Operand : I.operands()) {
      Add(Operand);
      Walk();
    }
}

void dtlto::forEachReference(const GlobalValue &V,
                             function_ref<void(const GlobalValue &)> Tell) {
  forEachConstant(V, [&](const Constant &C) {
    if (auto *To = dyn_cast<GlobalValue>(&C))
      Tell(*To);
  });
}

/// The function whose labels \p I refers to by its name; null: it doesn't.
static const Value *ofLabels(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call || (Call->getIntrinsicID() != Intrinsic::localrecover &&
                Call->getIntrinsicID() != Intrinsic::eh_recoverfp))
    return nullptr;
  return Call->getArgOperand(0)->stripPointerCasts();
}

/// Whether \p F has what only its own object can: assembly may name what is
/// private to that, labels have no symbols, and jumps to them need the table.
static bool isBoundToItsPart(const Function &F) {
  return any_of(F, [](const BasicBlock &B) { return B.hasAddressTaken(); }) ||
         any_of(instructions(F), [](const Instruction &I) {
           auto *Call = dyn_cast<CallBase>(&I);
           auto *Known = dyn_cast<IntrinsicInst>(&I);
           return isa<IndirectBrInst>(I) || ofLabels(I) ||
                  (Call && Call->isInlineAsm()) ||
                  (Known && Known->getIntrinsicID() == Intrinsic::localescape);
         });
}

/// Stands for what an operand or an argument of a macro is.
static constexpr char AnyText = '\0';

static bool isSymbolCharacter(char C) {
  return isAlnum(C) || C == '_' || C == '.' || C == '$' || C == '?' ||
         C == AnyText || static_cast<unsigned char>(C) >= 0x80;
}

/// \p Text with AnyText in place of its operands and of macros' arguments:
/// names are put together of these, too.
static std::string withAny(StringRef Text) {
  std::string Out;
  while (!Text.empty()) {
    const char C = Text.front();
    Text = Text.drop_front();
    if (C == '$' && Text.consume_front("$")) {
      Out += C;
    } else if (C == '$' && Text.starts_with("{")) {
      Text = Text.split('}').second;
      Out += AnyText;
    } else if (C == '$' && !Text.empty() && isDigit(Text.front())) {
      Text = Text.drop_while(isDigit);
      Out += AnyText;
    } else if (C == '\\') { // \name, \@, and \() between two
      Text =
          Text.consume_front("()") || Text.consume_front("@")
              ? Text
              : Text.drop_while([](char N) { return isAlnum(N) || N == '_'; });
      Out += AnyText;
    } else {
      Out += C;
    }
  }
  return Out;
}

/// Whether \p Assembly may define what other assembly of its file can name: a
/// label that isn't a number, or a macro or value. Too often rather than too
/// rarely.
static bool mayDefineNames(StringRef Assembly) {
  for (StringRef Directive : {".macro", ".set", ".equ", "="})
    if (Assembly.contains(Directive))
      return true;
  for (size_t At = Assembly.find(':'); At != StringRef::npos;
       At = Assembly.find(':', At + 1)) {
    StringRef Label = Assembly.take_front(At).rtrim(" \t");
    size_t Size = 0;
    while (Size != Label.size() &&
           isSymbolCharacter(Label[Label.size() - Size - 1]))
      ++Size;
    Label = Label.take_back(Size);
    if (Label.find_first_not_of("0123456789") != StringRef::npos)
      return true;
  }
  return false;
}

/// Calls \p Tell with what may be the name of a symbol in \p Assembly.
static void forEachWord(StringRef Assembly,
                        function_ref<void(StringRef)> Tell) {
  while (!(Assembly = Assembly.drop_until(isSymbolCharacter)).empty()) {
    StringRef Word = Assembly.take_while(isSymbolCharacter);
    Assembly = Assembly.drop_front(Word.size());
    Tell(Word);
  }
}

ReferenceGraph::ReferenceGraph(const Module &M) : M(M) {
  for (const GlobalValue &V : M.global_values())
    if (isEmitted(V) && !isCopiedConstant(V)) {
      Numbers[&V] = static_cast<unsigned>(Nodes.size());
      Nodes.push_back(&V);
    }
  unsigned Assembly = static_cast<unsigned>(Nodes.size());
  Classes.grow(Assembly + 1);

  std::map<const Comdat *, unsigned> Comdats;
  References.resize(Nodes.size());
  for (unsigned N = 0; N != Nodes.size(); ++N) {
    const GlobalValue &V = *Nodes[N];
    auto Join = [&](const Value *Other) {
      auto *Global = dyn_cast_or_null<GlobalValue>(Other);
      if (auto It = Numbers.find(Global); Global && It != Numbers.end())
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
        Join(ofLabels(I));
    forEachConstant(V, [&](const Constant &C) {
      if (auto *Label = dyn_cast<BlockAddress>(&C))
        Join(Label->getFunction());
      if (auto *To = dyn_cast<GlobalValue>(&C)) {
        References[N].push_back(To);
        Users[To].push_back(N);
        if (isList(V))
          Join(To);
      }
    });
  }

  for (unsigned N = 0; N != Nodes.size(); ++N)
    if (isList(*Nodes[N]) || isInList(*Nodes[N]) || isInSet(*Nodes[N]))
      Classes.join(N, Assembly);

  // Assembly refers by name to what has no other name elsewhere, and defines
  // symbols that nobody else sees.
  joinAssembly(moduleAsm(M), Assembly);
  std::vector<unsigned> WithAssembly;
  bool DefinesNames = !moduleAsm(M).empty();
  for (unsigned N = 0; N != Nodes.size(); ++N)
    if (auto *F = dyn_cast<Function>(Nodes[N]))
      for (const Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallBase>(&I))
          if (auto *Text = dyn_cast<InlineAsm>(Call->getCalledOperand())) {
            joinAssembly(Text->getAsmString(), N);
            WithAssembly.push_back(N);
            DefinesNames |= mayDefineNames(withAny(Text->getAsmString()));
          }
  // Only the assembler knows of names that assembly alone has.
  if (DefinesNames)
    for (unsigned N : WithAssembly)
      Classes.join(N, Assembly);

  // ThinLTO gives these no other name either.
  SmallVector<GlobalValue *, 16> Kept;
  collectUsedGlobalVariables(M, Kept, /*CompilerUsed=*/false);
  collectUsedGlobalVariables(M, Kept, /*CompilerUsed=*/true);
  for (const GlobalValue *V : Kept)
    keepName(*V);
  // A name that the assembler doesn't write has to stay, or be another.
  StringRef NoSymbol = M.getDataLayout().getPrivateGlobalPrefix();
  const bool HasPrefix = M.getDataLayout().getGlobalPrefix() != '\0';
  auto HasNoSymbol = [&](StringRef Name) {
    bool IsWhole = Name.consume_front("\1") || !HasPrefix;
    return IsWhole && !NoSymbol.empty() && Name.starts_with(NoSymbol);
  };
  for (const GlobalValue *V : Nodes)
    if (V->hasSection() || HasNoSymbol(V->getName()))
      keepName(*V);

  Classes.compress();
}

void ReferenceGraph::joinAssembly(StringRef Assembly, unsigned Node) {
  const std::string Text = withAny(Assembly);
  // Other characters are in names between quotes.
  for (auto [Quoted, Rest] = StringRef(Text).split('"').second.split('"');
       !Quoted.empty();
       std::tie(Quoted, Rest) = Rest.split('"').second.split('"'))
    joinNamed(Quoted, Node);
  forEachWord(Text, [&](StringRef Whole) {
    // AT&T's syntax has $ in front of what is a constant.
    for (StringRef Word : {Whole, Whole.ltrim('$')}) {
      joinNamed(Word, Node);
      // As Mach-O and 32-bit Windows write the names of C.
      if (Word.consume_front("_"))
        joinNamed(Word, Node);
    }
  });
}

void ReferenceGraph::joinNamed(StringRef Name, unsigned Node) {
  // What is one operand or argument has its name elsewhere.
  if (Name.find_first_not_of(AnyText) == StringRef::npos)
    return;
  if (Name.contains(AnyText)) {
    auto [Matching, IsNew] = MatchingNames.try_emplace(Name);
    const StringRef Start = Name.split(AnyText).first;
    const StringRef End = Name.substr(Name.rfind(AnyText) + 1);
    if (IsNew)
      for (const GlobalValue &V : M.global_values()) {
        StringRef Whole = GlobalValue::dropLLVMManglingEscape(V.getName());
        if (Whole.consume_front(Start) && Whole.ends_with(End))
          Matching->second.push_back(&V);
      }
    for (const GlobalValue *V : Matching->second)
      join(*V, Node);
    return;
  }
  const GlobalValue *V = M.getNamedValue(Name);
  if (!V)
    V = M.getNamedValue(("\1" + Name).str());
  if (V)
    join(*V, Node);
}

/// With \p Node, of which the assembly names \p V.
void ReferenceGraph::join(const GlobalValue &V, unsigned Node) {
  if (auto It = Numbers.find(&V); It != Numbers.end())
    Classes.join(Node, It->second);
  keepName(V);
  // Assembly may define a symbol that is a local one.
  if (V.isDeclaration()) {
    Private.insert(&V);
    for (unsigned User : Users.lookup(&V))
      Classes.join(Node, User);
  }
}

/// A local whose name stays has no symbol that another part could refer to.
void ReferenceGraph::keepName(const GlobalValue &V) {
  auto It = Numbers.find(&V);
  if (It == Numbers.end() || !V.hasLocalLinkage())
    return;
  Private.insert(&V);
  for (unsigned User : Users.lookup(&V))
    Classes.join(It->second, User);
}

bool ReferenceGraph::mayBeCopied(const GlobalValue &V) const {
  bool IsBound = false;
  forEachConstant(V, [&](const Constant &C) {
    auto *To = dyn_cast<GlobalValue>(&C);
    IsBound |= isa<BlockAddress>(C) || (To && Private.count(To));
  });
  auto *F = dyn_cast<Function>(&V);
  return !IsBound && !isList(V) && !(F && isBoundToItsPart(*F));
}
