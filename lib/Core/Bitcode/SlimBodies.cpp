//===- SlimBodies.cpp - What records of function bodies ask for -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimBodies.h"
#include "Bitcode/BitstreamCopy.h"
#include "llvm/Bitcode/LLVMBitCodes.h"

using namespace llvm;
using namespace dtlto;

Error BodyUses::addAttachments(BitstreamCursor In) {
  if (Error E = In.EnterSubBlock(bitc::METADATA_ATTACHMENT_ID))
    return E;
  return readBlock(In, [&](unsigned, ArrayRef<uint64_t> Ops) {
    // [instruction?, n x [kind, node]]
    for (size_t I = Ops.size() % 2; I < Ops.size(); I += 2)
      Kinds.insert(Ops[I]);
    return Error::success();
  });
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
    }
    return Error::success();
  };
  return readBlock(In, OnInstruction, [&](unsigned ID) -> Error {
    if (ID == bitc::METADATA_ATTACHMENT_ID)
      if (Error E = addAttachments(In))
        return E;
    return In.SkipBlock();
  });
}
