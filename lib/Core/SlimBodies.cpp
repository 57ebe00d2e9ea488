//===- SlimBodies.cpp - What records of function bodies ask for -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlimBodies.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Bitcode/LLVMBitCodes.h"

using namespace llvm;
using namespace dtlto;

static Error malformed() {
  return createStringError(inconvertibleErrorCode(), "malformed bitcode");
}

/// Calls \p OnRecord for the records of the block \p ID that \p In stands
/// before, and \p OnBlock where it stands before a block in it.
static Error
forEach(BitstreamCursor In, unsigned ID,
        function_ref<void(unsigned Code, ArrayRef<uint64_t> Ops)> OnRecord,
        function_ref<Error(BitstreamCursor &In, unsigned ID)> OnBlock) {
  if (Error E = In.EnterSubBlock(ID))
    return E;
  SmallVector<uint64_t, 64> Ops;
  while (true) {
    Expected<BitstreamEntry> Entry = In.advance();
    if (!Entry)
      return Entry.takeError();
    switch (Entry->Kind) {
    case BitstreamEntry::Error:
      return malformed();
    case BitstreamEntry::EndBlock:
      return Error::success();
    case BitstreamEntry::SubBlock:
      if (Error E = OnBlock(In, Entry->ID))
        return E;
      if (Error E = In.SkipBlock())
        return E;
      break;
    case BitstreamEntry::Record: {
      Ops.clear();
      Expected<unsigned> Code = In.readRecord(Entry->ID, Ops);
      if (!Code)
        return Code.takeError();
      OnRecord(*Code, Ops);
      break;
    }
    }
  }
}

Error BodyUses::add(BitstreamCursor In) {
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
    }
  };
  auto OnAttachment = [&](unsigned, ArrayRef<uint64_t> Ops) {
    // [instruction?, n x [kind, node]]
    for (size_t I = Ops.size() % 2; I < Ops.size(); I += 2)
      Kinds.insert(Ops[I]);
  };
  auto Skip = [](BitstreamCursor &, unsigned) { return Error::success(); };
  return forEach(In, bitc::FUNCTION_BLOCK_ID, OnInstruction,
                 [&](BitstreamCursor &Block, unsigned ID) -> Error {
                   if (ID != bitc::METADATA_ATTACHMENT_ID)
                     return Error::success();
                   return forEach(Block, ID, OnAttachment, Skip);
                 });
}
