//===- SlimUses.cpp - What the bodies of a slim module refer to -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimUses.h"
#include "Bitcode/BitstreamCopy.h"
#include "Bitcode/MetadataRefs.h"
#include "LLVM/Module.h"
#include "LLVM/Version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBufferRef.h"

using namespace llvm;
using namespace dtlto;

namespace {

/// All strings that metadata leads to.
class StringCollector {
public:
  StringSet<> Strings;

  /// \p Debug: only debug info.
  void add(const GlobalObject &GO, bool Debug = false) {
    SmallVector<std::pair<unsigned, MDNode *>, 4> MDs;
    GO.getAllMetadata(MDs);
    for (const auto &[Kind, MD] : MDs)
      if (!Debug || Kind == LLVMContext::MD_dbg)
        add(MD);
  }
  void add(const Instruction &I) {
    SmallVector<std::pair<unsigned, MDNode *>, 4> MDs;
    I.getAllMetadata(MDs);
    for (const auto &[Kind, MD] : MDs)
      add(MD);
    for (const Value *Op : I.operands())
      if (const auto *MD = dyn_cast_or_null<MetadataAsValue>(Op))
        add(MD->getMetadata());
    for (const DbgRecord &Record : I.getDbgRecordRange())
      add(Record);
  }
  void add(const Metadata *MD) {
    SmallVector<const Metadata *, 16> Worklist = {MD};
    while (!Worklist.empty()) {
      const Metadata *Next = Worklist.pop_back_val();
      if (const auto *String = dyn_cast_or_null<MDString>(Next))
        Strings.insert(String->getString());
      const auto *Node = dyn_cast_or_null<MDNode>(Next);
      if (!Node || !Seen.insert(Node).second)
        continue;
      Worklist.append(Node->op_begin(), Node->op_end());
    }
  }

private:
  void add(const DbgRecord &Record) {
    add(Record.getDebugLoc().get());
    if (const auto *Label = dyn_cast<DbgLabelRecord>(&Record))
      return add(Label->getLabel());
    const auto &Variable = cast<DbgVariableRecord>(Record);
    add(Variable.getRawLocation());
    add(Variable.getRawVariable());
    add(Variable.getRawExpression());
    if (!Variable.isDbgAssign())
      return;
    add(Variable.getRawAssignID());
    add(Variable.getRawAddress());
    add(Variable.getRawAddressExpression());
  }

  SmallPtrSet<const MDNode *, 32> Seen;
};

/// What an importer comes to from the functions and variables it imports.
class ConstantWalk {
public:
  /// \p Imported: the variables that may be.
  ConstantWalk(const Module &M, const GUIDSet &Imported);

  bool reaches(const Constant *C) const {
    return Seen.contains(C) || C->isUsedByMetadata();
  }
  /// Adds to \p Unread the number \p ID of \p C, and of what it consists of, as
  /// far as that isn't reached.
  void addUnread(uint64_t ID, const Constant *C, const SlimConstants &Constants,
                 DenseSet<uint64_t> &Unread) const;

private:
  void add(const Value *V);

  DenseSet<const Constant *> Seen;
};

ConstantWalk::ConstantWalk(const Module &M, const GUIDSet &Imported) {
  for (const GlobalVariable &GV : M.globals()) {
    if (!GV.hasInitializer())
      continue;
    if (GV.getName().starts_with("llvm.") || GV.hasAppendingLinkage() ||
        Imported.contains(guidOf(GV))) {
      add(&GV);
      add(GV.getInitializer());
    }
  }
  for (const GlobalAlias &GA : M.aliases())
    add(GA.getAliasee());
  for (const Function &F : M) {
    for (const Use &Op : F.operands())
      add(Op.get());
    for (const Instruction &I : instructions(F))
      for (const Use &Op : I.operands())
        add(Op.get());
  }
}

void ConstantWalk::add(const Value *V) {
  SmallVector<const Value *, 16> Worklist = {V};
  while (!Worklist.empty()) {
    const auto *C = dyn_cast<Constant>(Worklist.pop_back_val());
    if (!C || !Seen.insert(C).second || isa<GlobalValue>(C))
      continue;
    for (const Use &Op : C->operands())
      Worklist.push_back(Op.get());
  }
}

void ConstantWalk::addUnread(uint64_t ID, const Constant *C,
                             const SlimConstants &Constants,
                             DenseSet<uint64_t> &Unread) const {
  auto Parts = Constants.Parts.find(ID);
  if (!C || Parts == Constants.Parts.end() || reaches(C) ||
      !Unread.insert(ID).second)
    return;
  for (size_t I = 0; I != Parts->second.size(); ++I)
    addUnread(Parts->second[I], C->getAggregateElement(I), Constants, Unread);
}

} // namespace

static bool isDefault(StringRef Name) {
  cl::Option *Option = findOption(Name);
  return Option && Option->getNumOccurrences() == 0;
}

/// Whether readers skip metadata that nobody asks for, as they do by default.
static bool readsOnDemand() {
  return isDefault("disable-ondemand-mds-loading");
}

bool dtlto::readsLittleMetadata() {
  return readsOnDemand() && isDefault("import-full-type-definitions");
}

/// Whether \p MD is debug info, or a tuple that has some.
static bool hasDebugInfo(const Metadata *MD) {
  const auto *Node = dyn_cast<MDNode>(MD);
  if (!Node)
    return false;
  // An empty one may be anybody's.
  return !isa<MDTuple>(Node) || Node->getNumOperands() == 0 ||
         any_of(Node->operands(), [](const MDOperand &Op) {
           return isa_and_nonnull<MDNode>(Op.get()) && !isa<MDTuple>(Op.get());
         });
}

Expected<SlimUses> dtlto::findUses(BitcodeModule Module,
                                   ArrayRef<StringRef> Bodies,
                                   const GUIDSet &Imported,
                                   const SlimConstants &Constants) {
  // As in a worker, but for the merging of types of equal names: that needs
  // other modules.
  LLVMContext Context;
  bool Failed = false;
  Context.setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo *DI, void *Failed) {
        if (DI->getSeverity() == DS_Error)
          *static_cast<bool *>(Failed) = true;
      },
      &Failed);
  Expected<std::unique_ptr<llvm::Module>> Read =
      Module.getLazyModule(Context, /*ShouldLazyLoadMetadata=*/true,
                           /*IsImporting=*/true);
  if (!Read)
    return Read.takeError();
  llvm::Module &M = **Read;
  if (Error E = M.materializeMetadata())
    return std::move(E);
  StringCollector Collector;
  for (StringRef Name : Bodies) {
    Function *F = M.getFunction(Name);
    if (!F)
      return malformedBitcode();
    if (Error E = F->materialize())
      return std::move(E);
  }
  if (Failed)
    return malformedBitcode();

  SlimUses Uses;
  Uses.UsesVariable.assign(M.global_size(), true);
  // Assembly refers to symbols by name.
  if (M.getModuleInlineAsm().empty()) {
    ConstantWalk Walk(M, Imported);
    Uses.Functions.emplace();
    for (const Function &F : M)
      if (Walk.reaches(&F))
        Uses.Functions->insert(F.getName());
    if (M.global_size() != Constants.Initializers.size())
      return malformedBitcode();
    for (auto [I, GV] : enumerate(M.globals())) {
      Uses.UsesVariable[I] = Walk.reaches(&GV);
      if (GV.hasInitializer() && Constants.Initializers[I])
        Walk.addUnread(*Constants.Initializers[I], GV.getInitializer(),
                       Constants, Uses.Unread);
    }
  }
  for (const NamedMDNode &Named : M.named_metadata())
    for (const MDNode *Node : Named.operands())
      Collector.add(Node);
  for (auto [I, GV] : enumerate(M.globals()))
    Collector.add(GV, /*Debug=*/!Uses.UsesVariable[I]);
  for (const Function &F : M) {
    Collector.add(F);
    for (const Instruction &I : instructions(F)) {
      Collector.add(I);
      for (const Value *Op : I.operands())
        if (const auto *MD = dyn_cast_or_null<MetadataAsValue>(Op))
          Uses.HasDebugArguments |= hasDebugInfo(MD->getMetadata());
    }
  }
  // Reading a type of debug info has effects, on types of the same name. What a
  // reader skips has none, and all that it reads is reached from here.
  if (readsOnDemand())
    Uses.Strings = std::move(Collector.Strings);
  return Uses;
}

Error BodyUses::addAttachments(BitstreamCursor In) {
  if (Error E = In.EnterSubBlock(bitc::METADATA_ATTACHMENT_ID))
    return E;
  return readBlock(In, [&](unsigned, ArrayRef<uint64_t> Ops) {
    // [instruction?, n x [kind, node]]
    for (size_t I = Ops.size() % 2; I < Ops.size(); I += 2) {
      Kinds.insert(Ops[I]);
      if (I + 1 != Ops.size())
        addMetadata(Ops[I + 1]);
    }
    return Error::success();
  });
}

void BodyUses::addMetadata(uint64_t ID) {
  if (ID <= UINT32_MAX) // no reader knows more, and no set the largest
    Metadata.insert(ID);
}

Error BodyUses::addMetadata(BitstreamCursor In) {
  if (Error E = In.EnterSubBlock(bitc::METADATA_BLOCK_ID))
    return E;
  SmallVector<uint64_t, 64> Ops;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    if (Entry->Kind == BitstreamEntry::EndBlock)
      return Error::success();
    if (Entry->Kind != BitstreamEntry::Record)
      return malformedBitcode();
    Ops.clear();
    StringRef Strings; // of no interest
    Expected<unsigned> Code = In.readRecord(Entry->ID, Ops, &Strings);
    if (!Code)
      return Code.takeError();
    forEachReference(*Code, Ops, [&](uint64_t ID) { addMetadata(ID); });
  }
}

Error BodyUses::add(BitstreamCursor In) {
  if (Error E = In.EnterSubBlock(bitc::FUNCTION_BLOCK_ID))
    return E;
  auto OnInstruction = [&](unsigned Code, ArrayRef<uint64_t> Ops) {
    switch (Code) {
    case bitc::FUNC_CODE_INST_CALL:
    case bitc::FUNC_CODE_INST_INVOKE:
    case bitc::FUNC_CODE_INST_CALLBR:
      // [attributes, ...]
      if (!Ops.empty())
        Attributes.insert(Ops[0]);
      break;
    case bitc::FUNC_CODE_OPERAND_BUNDLE:
      Bundles = true;
      break;
    case bitc::FUNC_CODE_DEBUG_LOC:
      // [line, column, scope, inlined at, ...], both from 1 on
      for (size_t I = 2; I < 4 && I < Ops.size(); ++I)
        addMetadata(Ops[I] - 1);
      break;
    default:
      // Debug records came last, and later LLVMs have more of them.
      if (Code >= bitc::FUNC_CODE_DEBUG_RECORD_VALUE)
        for (uint64_t ID : Ops)
          addMetadata(ID);
      break;
    }
    return Error::success();
  };
  return readBlock(In, OnInstruction, [&](unsigned ID) -> Error {
    if (ID == bitc::METADATA_ATTACHMENT_ID)
      if (Error E = addAttachments(In))
        return E;
    if (ID == bitc::METADATA_BLOCK_ID)
      if (Error E = addMetadata(In))
        return E;
    return In.SkipBlock();
  });
}
