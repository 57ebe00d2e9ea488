//===- Assembly.cpp - Assembly that reads files ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode/Assembly.h"
#include "Bitcode/BitstreamCopy.h"
#include "llvm/Bitcode/BitcodeReader.h"

using namespace llvm;
using namespace dtlto;

bool dtlto::isInlineAssembly(unsigned Code) {
  return Code == bitc::CST_CODE_INLINEASM_OLD ||
         Code == bitc::CST_CODE_INLINEASM_OLD2 ||
         Code == bitc::CST_CODE_INLINEASM_OLD3 ||
         Code == bitc::CST_CODE_INLINEASM;
}

bool dtlto::mayReadFiles(StringRef Text) {
  // LLVM accepts directives in upper case as well.
  for (StringRef Word : {".inc", ".macro", ".irp"})
    if (Text.contains_insensitive(Word))
      return true;
  return false;
}

/// Checks the text in \p Record: one character per operand; other operands
/// don't matter.
static bool mayReadFiles(ArrayRef<uint64_t> Record) {
  return mayReadFiles(std::string(Record.begin(), Record.end()));
}

/// Reads the block of constants at \p In and steps over it.
static Error addConstants(BitstreamCursor &In, bool &Reads) {
  if (Error E = In.EnterSubBlock(bitc::CONSTANTS_BLOCK_ID))
    return E;
  return readBlock(In, [&](unsigned Code, ArrayRef<uint64_t> Record) -> Error {
    if (isInlineAssembly(Code))
      Reads |= mayReadFiles(Record);
    return Error::success();
  });
}

static Error addModule(StringRef Bytes, bool &Reads) {
  // LLVM writes a wrapper header for Mach-O.
  const auto *Begin = Bytes.bytes_begin(), *End = Bytes.bytes_end();
  if (isBitcodeWrapper(Begin, End)) {
    if (SkipBitcodeWrapperHeader(Begin, End, /*VerifyBufferSize=*/true))
      return malformedBitcode();
    Bytes = StringRef(reinterpret_cast<const char *>(Begin),
                      static_cast<size_t>(End - Begin));
  }
  BitstreamCursor In(Bytes);
  if (Bytes.starts_with("BC"))
    if (Error E = In.JumpToBit(32))
      return E;
  if (Error E = enterModule(In, [&](unsigned) { return In.SkipBlock(); }))
    return E;
  std::optional<BitstreamBlockInfo> BlockInfo;
  return readBlock(
      In,
      [&](unsigned Code, ArrayRef<uint64_t> Record) {
        if (Code == bitc::MODULE_CODE_ASM)
          Reads |= mayReadFiles(Record);
        return Error::success();
      },
      [&](unsigned ID) -> Error {
        switch (ID) {
        case bitc::BLOCKINFO_BLOCK_ID:
          return readBlockInfo(In, BlockInfo);
        case bitc::FUNCTION_BLOCK_ID:
          return readConstantsOfBody(In,
                                     [&] { return addConstants(In, Reads); });
        default: // initializers have no assembly
          return In.SkipBlock();
        }
      });
}

bool dtlto::assemblyMayReadFiles(StringRef Bytes) {
  bool Reads = false;
  if (Error E = addModule(Bytes, Reads)) {
    consumeError(std::move(E));
    return true;
  }
  return Reads;
}
