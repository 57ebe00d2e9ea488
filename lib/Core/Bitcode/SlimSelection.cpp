//===- SlimSelection.cpp - Which parts of a module are sent ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimSelection.h"
#include "Bitcode/Assembly.h"
#include "Bitcode/BitstreamCopy.h"
#include "Support/Failure.h"
#include "LLVM/Module.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/IR/LLVMContext.h"
#include <utility>

using namespace llvm;
using namespace dtlto;

// See the reader's getDecodedLinkage().
static bool isLocal(uint64_t Linkage) {
  return Linkage == 3 /*internal*/ || Linkage == 9 /*private*/ ||
         Linkage == 13 /*linker_private*/ ||
         Linkage == 14 /*linker_private_weak*/;
}

static bool isAppending(uint64_t Linkage) { return Linkage == 2; }

Error SlimSelection::addRecord(unsigned Code, ArrayRef<uint64_t> Record) {
  Records.add(Code, Record);
  if (isGUIDList(Code)) {
    // The list precedes the values.
    if (!GUIDs.empty() || NextValueID != 0 || Record.size() % 2 != 0)
      return failure("a list of GUIDs of an unknown form");
    for (size_t I = 0; I != Record.size(); I += 2)
      GUIDs.push_back(Record[I] << 32 | Record[I + 1]);
    return Error::success();
  }
  switch (Code) {
  case bitc::MODULE_CODE_VERSION:
    HasStrtab = !Record.empty() && Record[0] >= 2;
    return Error::success();
  case bitc::MODULE_CODE_SOURCE_FILENAME:
    SourceFile.assign(Record.begin(), Record.end());
    return Error::success();
  case bitc::MODULE_CODE_COMDAT:
    Comdats.push_back(true);
    return Error::success();
  case bitc::MODULE_CODE_IFUNC:
    // Importing a local ifunc needs its resolver's body.
    return failure("the module has an ifunc");
  case bitc::MODULE_CODE_ALIAS_OLD:
    return failure("an old form of bitcode");
  case bitc::MODULE_CODE_GLOBALVAR:
  case bitc::MODULE_CODE_FUNCTION:
  case bitc::MODULE_CODE_ALIAS:
    return addValue(Code, Record);
  case bitc::MODULE_CODE_TRIPLE:
  case bitc::MODULE_CODE_DATALAYOUT:
  case bitc::MODULE_CODE_SECTIONNAME:
  case bitc::MODULE_CODE_DEPLIB:
  case bitc::MODULE_CODE_GCNAME:
  case bitc::MODULE_CODE_VSTOFFSET:
  case bitc::MODULE_CODE_HASH:
    return Error::success();
  case bitc::MODULE_CODE_ASM:
    HasAssembly |= !Record.empty();
    return Error::success();
  default:
    if (isAsmProperty(Code))
      return Error::success();
    // An unknown record may hold a name, or an entry per value, which slimming
    // would make wrong.
    return failure("a record of an unknown kind, " + Twine(Code));
  }
}

/// Handles the record of a variable, function or alias.
Error SlimSelection::addValue(unsigned Code, ArrayRef<uint64_t> Record) {
  if (!HasStrtab)
    return failure("an old form of bitcode");
  if (Record.size() < 6 || Record[0] > Strtab.size() ||
      Record[1] > Strtab.size() - Record[0])
    return malformedBitcode();
  // The largest records of all known versions.
  if (Record.size() > (Code == bitc::MODULE_CODE_FUNCTION    ? 22
                       : Code == bitc::MODULE_CODE_GLOBALVAR ? 20
                                                             : 13))
    return failure("a record with unknown fields, " + Twine(Code));
  StringRef Name = Strtab.substr(Record[0], Record[1]);
  bool IsLocal = isLocal(Record[5]);
  uint64_t ValueID = NextValueID++;
  switch (Code) {
  case bitc::MODULE_CODE_GLOBALVAR:
    // [strtab offset, strtab size, type, isconst, initial value, linkage, ...,
    //  13: comdat, 14: attributes]
    if (Record.size() > 13)
      ComdatsOfVariables.push_back(Record[13]);
    if (Record.size() > 14)
      AttributesOfVariables.push_back(Record[14]);
    Variables.push_back({ValueID, Name, IsLocal, isAppending(Record[5])});
    Constants.Initializers.emplace_back();
    if (Record[4])
      Constants.Initializers.back() = Record[4] - 1;
    break;
  case bitc::MODULE_CODE_FUNCTION:
    // [strtab offset, strtab size, type, callingconv, isproto, linkage,
    //  attributes, ..., 12: prologue, 14: comdat, 15: prefix, 16: personality]
    if (!Record[4])
      FunctionsWithBody.push_back(Functions.size());
    FunctionOf[ValueID] = Functions.size();
    for (size_t I : {12, 15, 16}) // numbers and 1, or 0
      if (I < Record.size() && Record[I])
        OperandsOfFunctions.push_back(Record[I] - 1);
    Functions.push_back({ValueID, Record[2], Name,
                         Record.size() > 14 ? Record[14] : 0,
                         Record.size() > 6 ? Record[6] : 0, IsLocal});
    break;
  case bitc::MODULE_CODE_ALIAS:
    // [strtab offset, strtab size, type, addrspace, aliasee, linkage, ...]
    AliasOf[ValueID] = Aliases.size();
    Aliases.push_back({ValueID, Record[4], Name, IsLocal});
    break;
  }
  return Error::success();
}

Error SlimSelection::addConstants(BitstreamCursor &In,
                                  std::optional<size_t> Function) {
  if (Error E = In.EnterSubBlock(bitc::CONSTANTS_BLOCK_ID))
    return E;
  if (!Function) {
    if (std::exchange(HasConstants, true))
      return failure("an old form of bitcode");
    Constants.begin(NextValueID);
  }
  return readBlock(In, [&](unsigned Code, ArrayRef<uint64_t> Record) -> Error {
    if (!Function) {
      ConstantRecords.add(Code, Record);
      Constants.add(Code, Record);
      NextValueID += Code != bitc::CST_CODE_SETTYPE;
    }
    HasInlineAssembly |= isInlineAssembly(Code);
    if (Code != bitc::CST_CODE_BLOCKADDRESS)
      return Error::success();
    // The reader reads such a function's body at once, and the bodies that take
    // the address.
    if (Record.size() < 3)
      return malformedBitcode();
    BlockAddressFunctions.push_back(Record[1]);
    if (Function)
      Functions[*Function].KeepsBody = true;
    return Error::success();
  });
}

Error SlimSelection::addAttributes(BitstreamCursor &In) {
  if (Error E = In.EnterSubBlock(bitc::PARAMATTR_BLOCK_ID))
    return E;
  return readBlock(In, [&](unsigned Code, ArrayRef<uint64_t> Record) -> Error {
    if (Code != bitc::PARAMATTR_CODE_ENTRY)
      return failure("an old form of bitcode");
    AttributeLists.emplace_back(Record.begin(), Record.end());
    return Error::success();
  });
}

Error SlimSelection::addBody(BitstreamCursor &In) {
  if (NumReadBodies == FunctionsWithBody.size())
    return malformedBitcode();
  size_t Function = FunctionsWithBody[NumReadBodies++];
  return readConstantsOfBody(In, [&] { return addConstants(In, Function); });
}

bool SlimSelection::isImported(uint64_t ValueID, StringRef Name,
                               bool IsLocal) const {
  if (Name.empty())
    return false; // the importer looks up names first
  // A renamed function keeps the GUID of its old name.
  if (ValueID < GUIDs.size() && Imported.count(GUIDs[ValueID]))
    return true;
  return Imported.count(guidOf(GlobalValue::getGlobalIdentifier(
      Name,
      IsLocal ? GlobalValue::InternalLinkage : GlobalValue::ExternalLinkage,
      SourceFile)));
}

/// Keeps the body of a function, or of the function behind an alias.
Error SlimSelection::keepBodyOf(uint64_t ValueID) {
  // More steps than aliases mean a cycle.
  for (size_t Step = 0; Step <= Aliases.size(); ++Step) {
    if (auto It = FunctionOf.find(ValueID); It != FunctionOf.end()) {
      Functions[It->second].KeepsBody = true;
      return Error::success();
    }
    auto It = AliasOf.find(ValueID);
    if (It == AliasOf.end())
      break;
    ValueID = Aliases[It->second].Aliasee;
  }
  return failure("an alias of something other than a function");
}

Error SlimSelection::resolve() {
  assert(!IsResolved && "resolve() is called once");
  if (NumReadBodies != FunctionsWithBody.size())
    return malformedBitcode();
  IsResolved = true;
  for (Function &F : Functions)
    F.KeepsBody |= isImported(F.ValueID, F.Name, F.IsLocal);
  for (uint64_t ValueID : BlockAddressFunctions)
    if (Error E = keepBodyOf(ValueID))
      return E;
  // An alias is imported as a copy of its function.
  for (const Alias &A : Aliases)
    if (isImported(A.ValueID, A.Name, A.IsLocal))
      if (Error E = keepBodyOf(A.ValueID))
        return E;
  return Error::success();
}

/// Adds the values that importers may reach without a reference from a body.
void SlimSelection::addRoots(SlimUses &U) const {
  // Assembly refers to symbols by name.
  U.UsesAllValues |= HasAssembly;
  for (size_t I = 0; I != Variables.size(); ++I) {
    const Variable &V = Variables[I];
    const std::optional<uint64_t> &Initializer = Constants.Initializers[I];
    if (Initializer && (V.Name.starts_with("llvm.") || V.IsAppending ||
                        isImported(V.ValueID, V.Name, V.IsLocal))) {
      U.addValue(V.ValueID);
      U.addValue(*Initializer);
    }
  }
  for (const Alias &A : Aliases)
    U.addValue(A.Aliasee);
  for (uint64_t ValueID : OperandsOfFunctions)
    U.addValue(ValueID);
}

bool SlimSelection::keepsAttachment(uint64_t ValueID, uint64_t Kind) const {
  return Kind == LLVMContext::MD_dbg || FunctionOf.contains(ValueID) ||
         uses().reaches(ValueID);
}

bool SlimSelection::canDropDebugInfo() const {
  // The reader converts such intrinsics into debug records.
  return llvm::none_of(Functions, [](const Function &F) {
    return F.Name.starts_with("llvm.dbg.");
  });
}

bool SlimSelection::keepsKind(uint64_t Kind) const {
  // All LLVM versions number the first kinds in the same way.
  return uses().UsesAllKinds || Kind > LLVMContext::MD_mmra ||
         uses().Kinds.contains(Kind);
}

void SlimSelection::dropFunctions() {
  Comdats.assign(Comdats.size(), false);
  auto KeepComdat = [&](uint64_t Comdat) {
    if (Comdat && Comdat <= Comdats.size())
      Comdats[Comdat - 1] = true;
  };
  for (uint64_t Comdat : ComdatsOfVariables)
    KeepComdat(Comdat);
  for (Function &F : Functions) {
    // The names of LLVM's own functions have a meaning. Renaming a local
    // function also renames the comdat of that name.
    F.IsKept = F.KeepsBody || F.Name.starts_with("llvm.") ||
               (F.IsLocal && F.Comdat) || Uses->reaches(F.ValueID);
    if (F.IsKept)
      KeepComdat(F.Comdat);
  }
}

/// Finds the constants used only by variables that aren't imported.
void SlimSelection::dropConstants() {
  std::vector<uint64_t> Worklist;
  for (const std::optional<uint64_t> &Initializer : Constants.Initializers)
    if (Initializer)
      Worklist.push_back(*Initializer);
  while (!Worklist.empty()) {
    uint64_t ID = Worklist.back();
    Worklist.pop_back();
    if (!Constants.mayBecomeNull(ID) || Uses->reaches(ID) ||
        !UnreadConstants.insert(ID).second)
      continue;
    for (uint64_t Part : Constants.operands(ID))
      Worklist.push_back(Part);
  }
}

void SlimSelection::drop(SlimUses TheUses) {
  assert(IsResolved && !Uses && "drop() is called once, after resolve()");
  addRoots(TheUses);
  TheUses.follow(Constants);
  Uses = std::move(TheUses);
  dropFunctions();
  dropConstants();
  for (const Function &F : Functions)
    if (F.IsKept)
      Uses->Attributes.insert(F.Attributes);
  Uses->Attributes.insert(AttributesOfVariables.begin(),
                          AttributesOfVariables.end());
  for (size_t I = 0; I != AttributeLists.size(); ++I)
    if (keepsAttributes(I + 1))
      Groups.insert(AttributeLists[I].begin(), AttributeLists[I].end());
}
