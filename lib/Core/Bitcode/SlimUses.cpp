//===- SlimUses.cpp - What the bodies of a slim module refer to -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimUses.h"
#include "Bitcode/BitstreamCopy.h"
#include "Bitcode/MetadataRefs.h"
#include "Support/Failure.h"
#include "LLVM/Version.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;
using namespace dtlto;

static bool isDefault(StringRef Name) {
  cl::Option *Option = findOption(Name);
  return Option && Option->getNumOccurrences() == 0;
}

bool dtlto::readsMetadataOnDemand() {
  return isDefault("disable-ondemand-mds-loading");
}

bool dtlto::readsLittleMetadata() {
  return readsMetadataOnDemand() && isDefault("import-full-type-definitions");
}

Error SlimTypes::read(BitstreamCursor &In) {
  if (Error E = In.EnterSubBlock(bitc::TYPE_BLOCK_ID_NEW))
    return E;
  return readBlock(In, [&](unsigned Code, ArrayRef<uint64_t> Record) -> Error {
    switch (Code) {
    case bitc::TYPE_CODE_NUMENTRY:
    case bitc::TYPE_CODE_STRUCT_NAME:
      return Error::success();
    }
    Entry &New = Types.emplace_back();
    switch (Code) {
    case bitc::TYPE_CODE_VOID:
      New.What = Void;
      break;
    case bitc::TYPE_CODE_METADATA:
      New.What = Metadata;
      break;
    case bitc::TYPE_CODE_FUNCTION:
      // [vararg, result, parameters...]
      if (Record.size() < 2)
        return malformedBitcode();
      New.What = Function;
      New.Parts.append(Record.begin() + 1, Record.end());
      break;
    }
    return Error::success();
  });
}

ArrayRef<uint64_t> SlimTypes::function(uint64_t Type) const {
  return is(Type, Function) ? ArrayRef<uint64_t>(Types[Type].Parts)
                            : ArrayRef<uint64_t>();
}

/// Calls \p Each with the numbers of the values that a constant consists of:
/// of rare kinds also with other numbers.
static void forEachOperand(unsigned Code, ArrayRef<uint64_t> Record,
                           function_ref<void(uint64_t)> Each) {
  switch (Code) {
  case bitc::CST_CODE_NULL:
  case bitc::CST_CODE_UNDEF:
  case bitc::CST_CODE_POISON:
  case bitc::CST_CODE_INTEGER:
  case bitc::CST_CODE_WIDE_INTEGER:
  case bitc::CST_CODE_FLOAT:
  case bitc::CST_CODE_STRING:
  case bitc::CST_CODE_CSTRING:
  case bitc::CST_CODE_DATA:
  case bitc::CST_CODE_INLINEASM:
    return;
  case bitc::CST_CODE_CE_BINOP:
    // [operation, value, value, flags]
    for (size_t I = 1; I < 3 && I < Record.size(); ++I)
      Each(Record[I]);
    return;
  case bitc::CST_CODE_CE_CAST:
    // [operation, type, value, flags]
    if (Record.size() > 2)
      Each(Record[2]);
    return;
  case bitc::CST_CODE_CE_GEP:
    // [type, flags, n x [type, value]]
    for (size_t I = 3; I < Record.size(); I += 2)
      Each(Record[I]);
    return;
  default:
    for (uint64_t Op : Record)
      Each(Op);
  }
}

void SlimConstants::add(unsigned Code, ArrayRef<uint64_t> Record) {
  if (Code == bitc::CST_CODE_SETTYPE)
    return;
  const size_t Begin = Operands.size();
  forEachOperand(Code, Record, [&](uint64_t ID) { Operands.push_back(ID); });
  Entries.push_back(
      {Begin, Operands.size(),
       Code == bitc::CST_CODE_AGGREGATE || Code == bitc::CST_CODE_STRING ||
           Code == bitc::CST_CODE_CSTRING || Code == bitc::CST_CODE_DATA});
}

ArrayRef<uint64_t> SlimConstants::operands(uint64_t ID) const {
  if (ID < First || ID - First >= Entries.size())
    return {};
  const Entry &E = Entries[ID - First];
  return ArrayRef<uint64_t>(Operands).slice(E.Begin, E.End - E.Begin);
}

bool SlimConstants::mayBecomeNull(uint64_t ID) const {
  return ID >= First && ID - First < Entries.size() &&
         Entries[ID - First].MayBecomeNull;
}

void SlimUses::addValue(uint64_t ID) {
  if (ID >= Values.size() || Values.test(ID))
    return;
  Values.set(ID);
  Worklist.push_back(ID);
}

void SlimUses::follow(const SlimConstants &Constants) {
  while (!Worklist.empty()) {
    uint64_t ID = Worklist.back();
    Worklist.pop_back();
    for (uint64_t Op : Constants.operands(ID))
      addValue(Op);
  }
}

void SlimUses::addMetadata(uint64_t ID) {
  if (ID <= UINT32_MAX) // no reader knows more, and no set the largest
    Metadata.insert(ID);
}

Error SlimUses::addAttachments(BitstreamCursor &In) {
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

Error SlimUses::addMetadata(BitstreamCursor &In) {
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
    // [type, value]
    if (*Code == bitc::METADATA_VALUE && Ops.size() > 1)
      addValue(Ops[1]);
    forEachReference(*Code, Ops, [&](uint64_t ID) { addMetadata(ID); });
  }
}

/// One function's values and instructions.
class SlimUses::Body {
public:
  Body(SlimUses &Uses, const SlimTypes &Types) : Uses(Uses), Types(Types) {}

  Error read(BitstreamCursor &In, uint64_t Type);

private:
  Error readConstants(BitstreamCursor &In);
  Error addInstruction(unsigned Code, ArrayRef<uint64_t> Ops);
  Error addCall(size_t TypeAt);

  // The operands of a record, one after the other; behind the last, 0.
  uint64_t take() { return At < Ops.size() ? Ops[At++] : 0; }
  void skip(size_t N) { At += std::min(N, Ops.size() - At); }
  bool isAtEnd() const { return At == Ops.size(); }
  /// The distance to a value.
  void value() { Uses.addValue(uint32_t(NumValues - take())); }
  /// The same with its type, where that isn't known yet: the value comes later.
  void typedValue() {
    uint32_t ID = uint32_t(NumValues - take());
    Uses.addValue(ID);
    if (ID >= NumValues)
      skip(1);
  }

  SlimUses &Uses;
  const SlimTypes &Types;
  uint64_t NumValues = 0; // so far
  ArrayRef<uint64_t> Ops;
  size_t At = 0;
};

Error SlimUses::addBody(BitstreamCursor &In, uint64_t Type,
                        const SlimTypes &Types) {
  return Body(*this, Types).read(In, Type);
}

Error SlimUses::Body::read(BitstreamCursor &In, uint64_t Type) {
  ArrayRef<uint64_t> Function = Types.function(Type);
  if (Function.empty())
    return failure("an old form of bitcode");
  NumValues = Uses.Values.size() + Function.size() - 1;
  if (Error E = In.EnterSubBlock(bitc::FUNCTION_BLOCK_ID))
    return E;
  auto OnRecord = [&](unsigned Code, ArrayRef<uint64_t> Record) {
    return addInstruction(Code, Record);
  };
  return readBlock(In, OnRecord, [&](unsigned ID) -> Error {
    switch (ID) {
    case bitc::CONSTANTS_BLOCK_ID:
      return readConstants(In);
    case bitc::METADATA_ATTACHMENT_ID:
      return Uses.addAttachments(In);
    case bitc::METADATA_BLOCK_ID:
      return Uses.addMetadata(In);
    }
    return In.SkipBlock();
  });
}

Error SlimUses::Body::readConstants(BitstreamCursor &In) {
  if (Error E = In.EnterSubBlock(bitc::CONSTANTS_BLOCK_ID))
    return E;
  return readBlock(In, [&](unsigned Code, ArrayRef<uint64_t> Record) {
    if (Code == bitc::CST_CODE_SETTYPE)
      return Error::success();
    ++NumValues;
    forEachOperand(Code, Record, [&](uint64_t ID) { Uses.addValue(ID); });
    return Error::success();
  });
}

/// A call's function type, at \p TypeAt, then what it calls, and arguments.
Error SlimUses::Body::addCall(size_t TypeAt) {
  At = std::min(TypeAt, Ops.size());
  ArrayRef<uint64_t> Function = Types.function(take());
  if (Function.empty())
    return failure("an old form of bitcode");
  typedValue();
  for (uint64_t Parameter : Function.drop_front())
    if (Types.isMetadata(Parameter))
      Uses.addMetadata(uint32_t(NumValues - take()));
    else
      value();
  while (!isAtEnd())
    typedValue();
  if (!Types.isVoid(Function[0]))
    ++NumValues;
  return Error::success();
}

Error SlimUses::Body::addInstruction(unsigned Code, ArrayRef<uint64_t> Record) {
  Ops = Record;
  At = 0;
  auto Has = [&](unsigned Bit) { return Ops[1] >> Bit & 1; };
  switch (Code) {
  // Without a value.
  case bitc::FUNC_CODE_DECLAREBLOCKS:
  case bitc::FUNC_CODE_INST_UNREACHABLE:
  case bitc::FUNC_CODE_INST_FENCE:
  case bitc::FUNC_CODE_INST_CLEANUPRET: // of tokens
  case bitc::FUNC_CODE_INST_CATCHRET:
  case bitc::FUNC_CODE_DEBUG_LOC_AGAIN:
    return Error::success();
  case bitc::FUNC_CODE_BLOCKADDR_USERS:
    while (!isAtEnd())
      Uses.addValue(take());
    return Error::success();
  case bitc::FUNC_CODE_DEBUG_LOC:
    // [line, column, scope, inlined at, ...], both from 1 on
    for (size_t I = 2; I < 4 && I < Ops.size(); ++I)
      Uses.addMetadata(Ops[I] - 1);
    return Error::success();
  case bitc::FUNC_CODE_OPERAND_BUNDLE:
    // [tag, n x value]
    Uses.Bundles = true;
    skip(1);
    while (!isAtEnd())
      typedValue();
    return Error::success();
  case bitc::FUNC_CODE_INST_RET:
  case bitc::FUNC_CODE_INST_RESUME:
    if (!isAtEnd())
      typedValue();
    return Error::success();
  case bitc::FUNC_CODE_INST_BR:
    // [block, block, condition]
    skip(2);
    if (!isAtEnd())
      value();
    return Error::success();
  case bitc::FUNC_CODE_INST_SWITCH:
  case bitc::FUNC_CODE_INST_INDIRECTBR:
    // [type, value, ...]
    skip(1);
    value();
    return Error::success();
  case bitc::FUNC_CODE_INST_STORE:
  case bitc::FUNC_CODE_INST_STOREATOMIC:
    // [pointer, value, ...]
    typedValue();
    typedValue();
    return Error::success();

  // With one if the function that is called has one.
  case bitc::FUNC_CODE_INST_CALL:
    // [attributes, convention, fast math?, type, ...]
    if (Ops.size() < 4 || !Has(bitc::CALL_EXPLICIT_TYPE))
      return failure("an old form of bitcode");
    Uses.Attributes.insert(Ops[0]);
    return addCall(Has(bitc::CALL_FMF) ? 3 : 2);
  case bitc::FUNC_CODE_INST_INVOKE:
    // [attributes, convention, normal block, unwind block, type, ...]
    if (Ops.size() < 5 || !Has(13))
      return failure("an old form of bitcode");
    Uses.Attributes.insert(Ops[0]);
    return addCall(4);
  case bitc::FUNC_CODE_INST_CALLBR:
    // [attributes, convention, block, number, n x block, type, ...]
    if (Ops.size() < 5 || !Has(bitc::CALL_EXPLICIT_TYPE) ||
        Ops[3] >= Ops.size())
      return failure("an old form of bitcode");
    Uses.Attributes.insert(Ops[0]);
    return addCall(4 + Ops[3]);

  // With a value.
  case bitc::FUNC_CODE_INST_ALLOCA:
    // [type, size's type, size, align], by number
    skip(2);
    Uses.addValue(take());
    break;
  case bitc::FUNC_CODE_INST_PHI:
    // [type, n x [value, block], flags?], with signs at the lower end
    for (size_t I = 1; I + 1 < Ops.size(); I += 2) {
      uint64_t Distance = Ops[I] >> 1;
      Uses.addValue(Ops[I] & 1 ? NumValues + Distance : NumValues - Distance);
    }
    break;
  case bitc::FUNC_CODE_INST_LANDINGPAD:
    // [type, is cleanup, number, n x [kind, value]]
    skip(3);
    while (!isAtEnd()) {
      skip(1);
      typedValue();
    }
    break;
  case bitc::FUNC_CODE_INST_CATCHPAD:
  case bitc::FUNC_CODE_INST_CLEANUPPAD:
    // [parent, number, n x value]
    skip(2);
    while (!isAtEnd())
      typedValue();
    break;
  case bitc::FUNC_CODE_INST_CATCHSWITCH: // of tokens
    break;
  case bitc::FUNC_CODE_INST_VAARG:
    // [type, list, type]
    skip(1);
    value();
    break;
  case bitc::FUNC_CODE_INST_GEP:
    // [flags, type, n x value]
    skip(2);
    while (!isAtEnd())
      typedValue();
    break;
  case bitc::FUNC_CODE_INST_CAST:
  case bitc::FUNC_CODE_INST_EXTRACTVAL:
  case bitc::FUNC_CODE_INST_FREEZE:
  case bitc::FUNC_CODE_INST_LOAD:
  case bitc::FUNC_CODE_INST_LOADATOMIC:
  case bitc::FUNC_CODE_INST_UNOP:
    typedValue();
    break;
  case bitc::FUNC_CODE_INST_BINOP:
  case bitc::FUNC_CODE_INST_CMP:
  case bitc::FUNC_CODE_INST_CMP2:
    typedValue();
    value();
    break;
  case bitc::FUNC_CODE_INST_ATOMICRMW:
  case bitc::FUNC_CODE_INST_EXTRACTELT:
  case bitc::FUNC_CODE_INST_INSERTVAL:
    typedValue();
    typedValue();
    break;
  case bitc::FUNC_CODE_INST_INSERTELT:
  case bitc::FUNC_CODE_INST_SHUFFLEVEC:
  case bitc::FUNC_CODE_INST_VSELECT:
    typedValue();
    value();
    typedValue();
    break;
  case bitc::FUNC_CODE_INST_CMPXCHG:
    // [pointer, compared, new, ...]
    typedValue();
    typedValue();
    value();
    break;

  default:
    // Debug records came last, and later LLVMs have more of them.
    if (Code < bitc::FUNC_CODE_DEBUG_RECORD_VALUE)
      return failure("an instruction of an unknown kind, " + Twine(Code));
    for (uint64_t ID : Ops)
      Uses.addMetadata(ID);
    if (Code == bitc::FUNC_CODE_DEBUG_RECORD_VALUE_SIMPLE) {
      // [location, variable, expression, value]
      skip(3);
      typedValue();
    }
    return Error::success();
  }
  ++NumValues;
  return Error::success();
}
