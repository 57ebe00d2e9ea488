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
#include "llvm/Bitcode/LLVMBitCodes.h"
#include <array>
#include <initializer_list>

using namespace llvm;
using namespace dtlto;

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
      New.TypeKind = Void;
      break;
    case bitc::TYPE_CODE_METADATA:
      New.TypeKind = Metadata;
      break;
    case bitc::TYPE_CODE_FUNCTION:
      // [vararg, result, parameters...]
      if (Record.size() < 2)
        return malformedBitcode();
      New.TypeKind = Function;
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

/// Calls \p Each with the number of each value that a constant consists of. For
/// rare kinds of constants, may also pass other numbers.
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
  if (ID <= UINT32_MAX) // the readers' limit; the set can't hold the largest
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
  return readRecords(In,
                     [&](unsigned Code, ArrayRef<uint64_t> Ops, StringRef) {
                       // [type, value]
                       if (Code == bitc::METADATA_VALUE && Ops.size() > 1)
                         addValue(Ops[1]);
                       forEachReference(Code, Ops,
                                        [&](uint64_t ID) { addMetadata(ID); });
                       return true;
                     })
      .takeError();
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
  void addOperands(StringRef Form);

  // Read the operands of a record in order; return 0 after the last.
  uint64_t take() { return At < Ops.size() ? Ops[At++] : 0; }
  void skip(size_t N) { At += std::min(N, Ops.size() - At); }
  bool isAtEnd() const { return At == Ops.size(); }
  /// Reads a reference to a value, encoded as a distance.
  void value() { Uses.addValue(uint32_t(NumValues - take())); }
  /// The same, followed by a type if the value is a forward reference.
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

/// Adds a call's callee and arguments, which follow the function type at
/// \p TypeAt.
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

namespace {
/// The operands of an instruction, one letter each:
///   a  a value's number
///   m  a metadata number, from 1
///   s  anything else
///   t  a value, by typedValue()
///   v  a value, by value()
///   (  the letters after it repeat to the end
/// All further operands are skipped.
struct InstructionForm {
  const char *Operands = nullptr;
  bool HasValue = false;
};
} // namespace

using InstructionForms =
    std::array<InstructionForm, bitc::FUNC_CODE_DEBUG_RECORD_VALUE>;

/// Returns the forms by code. Unknown codes have null operands.
static InstructionForms makeForms() {
  using namespace bitc;
  InstructionForms Forms = {};
  auto Set = [&](const char *Operands, bool HasValue,
                 std::initializer_list<unsigned> Codes) {
    for (unsigned Code : Codes)
      Forms[Code] = {Operands, HasValue};
  };
  Set("", false,
      {FUNC_CODE_DECLAREBLOCKS, FUNC_CODE_INST_UNREACHABLE,
       FUNC_CODE_INST_FENCE, FUNC_CODE_DEBUG_LOC_AGAIN});
  // Instructions on tokens.
  Set("", false, {FUNC_CODE_INST_CLEANUPRET, FUNC_CODE_INST_CATCHRET});
  Set("", true, {FUNC_CODE_INST_CATCHSWITCH});
  Set("(a", false, {FUNC_CODE_BLOCKADDR_USERS});
  // [line, column, scope, inlined at, ...]
  Set("ssmm", false, {FUNC_CODE_DEBUG_LOC});
  // [tag, n x value]
  Set("s(t", false, {FUNC_CODE_OPERAND_BUNDLE});
  Set("t", false, {FUNC_CODE_INST_RET, FUNC_CODE_INST_RESUME});
  // [block, block, condition]
  Set("ssv", false, {FUNC_CODE_INST_BR});
  // [type, value, ...]
  Set("sv", false, {FUNC_CODE_INST_SWITCH, FUNC_CODE_INST_INDIRECTBR});
  // [pointer, value, ...]
  Set("tt", false, {FUNC_CODE_INST_STORE, FUNC_CODE_INST_STOREATOMIC});
  // [type, size's type, size, align]
  Set("ssa", true, {FUNC_CODE_INST_ALLOCA});
  // [type, is cleanup, number, n x [kind, value]]
  Set("sss(st", true, {FUNC_CODE_INST_LANDINGPAD});
  // [parent, number, n x value], [flags, type, n x value]
  Set("ss(t", true,
      {FUNC_CODE_INST_CATCHPAD, FUNC_CODE_INST_CLEANUPPAD, FUNC_CODE_INST_GEP});
  // [type, list, type]
  Set("sv", true, {FUNC_CODE_INST_VAARG});
  Set("t", true,
      {FUNC_CODE_INST_CAST, FUNC_CODE_INST_EXTRACTVAL, FUNC_CODE_INST_FREEZE,
       FUNC_CODE_INST_LOAD, FUNC_CODE_INST_LOADATOMIC, FUNC_CODE_INST_UNOP});
  Set("tv", true,
      {FUNC_CODE_INST_BINOP, FUNC_CODE_INST_CMP, FUNC_CODE_INST_CMP2});
  Set("tt", true,
      {FUNC_CODE_INST_ATOMICRMW, FUNC_CODE_INST_EXTRACTELT,
       FUNC_CODE_INST_INSERTVAL});
  Set("tvt", true,
      {FUNC_CODE_INST_INSERTELT, FUNC_CODE_INST_SHUFFLEVEC,
       FUNC_CODE_INST_VSELECT});
  // [pointer, compared, new, ...]
  Set("ttv", true, {FUNC_CODE_INST_CMPXCHG});
  return Forms;
}

void SlimUses::Body::addOperands(StringRef Form) {
  auto [Once, Repeated] = Form.split('(');
  for (StringRef Letters = Once; !Letters.empty() || !isAtEnd();) {
    if (Letters.empty())
      Letters = Repeated;
    if (Letters.empty())
      return;
    switch (Letters.front()) {
    case 'a':
      Uses.addValue(take());
      break;
    case 'm':
      Uses.addMetadata(take() - 1);
      break;
    case 's':
      skip(1);
      break;
    case 't':
      typedValue();
      break;
    case 'v':
      value();
      break;
    }
    Letters = Letters.drop_front();
  }
}

Error SlimUses::Body::addInstruction(unsigned Code, ArrayRef<uint64_t> Record) {
  Ops = Record;
  At = 0;
  auto IsCall = [&](size_t MinSize, unsigned ExplicitType) {
    if (Ops.size() < MinSize || !(Ops[1] >> ExplicitType & 1))
      return false;
    Uses.Attributes.insert(Ops[0]);
    return true;
  };
  switch (Code) {
  case bitc::FUNC_CODE_INST_CALL:
    // [attributes, convention, fast math?, type, ...]
    if (!IsCall(4, bitc::CALL_EXPLICIT_TYPE))
      return failure("an old form of bitcode");
    return addCall(Ops[1] >> bitc::CALL_FMF & 1 ? 3 : 2);
  case bitc::FUNC_CODE_INST_INVOKE:
    // [attributes, convention, normal block, unwind block, type, ...]
    if (!IsCall(5, 13))
      return failure("an old form of bitcode");
    return addCall(4);
  case bitc::FUNC_CODE_INST_CALLBR:
    // [attributes, convention, block, number, n x block, type, ...]
    if (!IsCall(5, bitc::CALL_EXPLICIT_TYPE) || Ops[3] >= Ops.size())
      return failure("an old form of bitcode");
    return addCall(4 + Ops[3]);
  case bitc::FUNC_CODE_INST_PHI:
    // [type, n x [value, block], flags?]; the sign is the lowest bit
    for (size_t I = 1; I + 1 < Ops.size(); I += 2) {
      uint64_t Distance = Ops[I] >> 1;
      Uses.addValue(Ops[I] & 1 ? NumValues + Distance : NumValues - Distance);
    }
    ++NumValues;
    return Error::success();
  }
  static const InstructionForms Forms = makeForms();
  if (Code < Forms.size() && Forms[Code].Operands) {
    Uses.HasBundles |= Code == bitc::FUNC_CODE_OPERAND_BUNDLE;
    addOperands(Forms[Code].Operands);
    NumValues += Forms[Code].HasValue;
    return Error::success();
  }
  // Debug records have the highest codes, and later LLVM versions add more.
  if (Code < bitc::FUNC_CODE_DEBUG_RECORD_VALUE)
    return failure("an instruction of an unknown kind, " + Twine(Code));
  for (uint64_t ID : Ops)
    Uses.addMetadata(ID);
  if (Code == bitc::FUNC_CODE_DEBUG_RECORD_VALUE_SIMPLE)
    addOperands("ssst"); // location, variable, expression, value
  return Error::success();
}
