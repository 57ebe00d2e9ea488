//===- SlimUses.cpp - What the bodies of a slim module refer to -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlimUses.h"
#include "LLVMCompat.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
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

  void add(const GlobalObject &GO) {
    SmallVector<std::pair<unsigned, MDNode *>, 4> MDs;
    GO.getAllMetadata(MDs);
    for (const auto &[Kind, MD] : MDs)
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

} // namespace

/// Whether readers skip metadata that nobody asks for, as they do by default.
static bool readsOnDemand() {
  cl::Option *Option = findOption("disable-ondemand-mds-loading");
  return Option && Option->getNumOccurrences() == 0;
}

Expected<SlimUses> dtlto::findUses(StringRef File, ArrayRef<StringRef> Bodies) {
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
  Expected<std::unique_ptr<Module>> Read = getLazyBitcodeModule(
      MemoryBufferRef(File, "slim"), Context, /*ShouldLazyLoadMetadata=*/true,
      /*IsImporting=*/true);
  if (!Read)
    return Read.takeError();
  Module &M = **Read;
  if (Error E = M.materializeMetadata())
    return std::move(E);
  StringCollector Collector;
  for (StringRef Name : Bodies) {
    Function *F = M.getFunction(Name);
    if (!F)
      return createStringError(inconvertibleErrorCode(), "malformed bitcode");
    if (Error E = F->materialize())
      return std::move(E);
  }
  if (Failed)
    return createStringError(inconvertibleErrorCode(), "malformed bitcode");

  SlimUses Uses;
  // Assembly refers to symbols by name.
  if (M.getModuleInlineAsm().empty()) {
    Uses.Functions.emplace();
    for (const Function &F : M)
      if (!F.use_empty() || F.isUsedByMetadata())
        Uses.Functions->insert(F.getName());
  }
  for (const NamedMDNode &Named : M.named_metadata())
    for (const MDNode *Node : Named.operands())
      Collector.add(Node);
  for (const GlobalVariable &GV : M.globals())
    Collector.add(GV);
  for (const Function &F : M) {
    Collector.add(F);
    for (const Instruction &I : instructions(F))
      Collector.add(I);
  }
  // Reading a type of debug info has effects, on types of the same name. What a
  // reader skips has none, and all that it reads is reached from here.
  if (readsOnDemand())
    Uses.Strings = std::move(Collector.Strings);
  return Uses;
}
