//===- WasmFile.cpp - Reads WebAssembly files -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/WasmFile.h"
#include "Support/Failure.h"
#include "LLVM/Version.h"
#include "llvm/BinaryFormat/Wasm.h"
#include "llvm/Support/DataExtractor.h"

using namespace llvm;
using namespace dtlto;

static void skipString(DataExtractor &D, DataExtractor::Cursor &C) {
  uint64_t Length = D.getULEB128(C);
  D.getBytes(C, Length);
}

Expected<std::vector<WasmSection>> dtlto::wasmSections(StringRef File) {
  constexpr size_t HeaderSize = 8;
  if (!File.starts_with(StringRef("\0asm\1\0\0\0", HeaderSize)))
    return failure("no WebAssembly header");
  std::vector<WasmSection> Sections;
  DataExtractor D = dataExtractor(File, /*IsLittleEndian=*/true);
  DataExtractor::Cursor C(HeaderSize);
  while (C && !D.eof(C)) {
    uint8_t Id = D.getU8(C);
    uint64_t Size = D.getULEB128(C), Begin = C.tell();
    StringRef Contents = D.getBytes(C, Size), Name;
    if (C && Id == wasm::WASM_SEC_CUSTOM) {
      DataExtractor::Cursor At(Begin);
      uint64_t Length = D.getULEB128(At);
      Name = D.getBytes(At, Length);
      if (At && At.tell() > Begin + Size)
        Name = {};
      Contents = Contents.drop_front(std::min(At.tell() - Begin, Size));
      consumeError(At.takeError());
    }
    Sections.push_back({Id, Name, Contents});
  }
  if (Error E = C.takeError())
    return std::move(E);
  return Sections;
}

/// LLVM writes only functions before the memory.
bool dtlto::has64BitMemory(StringRef Imports) {
  DataExtractor D = dataExtractor(Imports, /*IsLittleEndian=*/true);
  DataExtractor::Cursor C(0);
  unsigned Kind = wasm::WASM_EXTERNAL_FUNCTION, Flags = 0;
  for (uint64_t Count = D.getULEB128(C);
       C && Count != 0 && Kind == wasm::WASM_EXTERNAL_FUNCTION; --Count) {
    skipString(D, C);
    skipString(D, C);
    Kind = D.getU8(C);
    Flags = D.getULEB128(C);
  }
  consumeError(C.takeError());
  return Kind == wasm::WASM_EXTERNAL_MEMORY &&
         Flags & wasm::WASM_LIMITS_FLAG_IS_64;
}

static void walkSymbols(DataExtractor &D, DataExtractor::Cursor &C) {
  for (uint64_t Count = D.getULEB128(C); C && Count != 0; --Count) {
    unsigned Kind = D.getU8(C);
    uint64_t Flags = D.getULEB128(C);
    bool IsDefined = !(Flags & wasm::WASM_SYMBOL_UNDEFINED);
    bool IsData = Kind == wasm::WASM_SYMBOL_TYPE_DATA;
    if (!IsData)
      D.getULEB128(C); // index
    if (Kind != wasm::WASM_SYMBOL_TYPE_SECTION &&
        (IsData || IsDefined || Flags & wasm::WASM_SYMBOL_EXPLICIT_NAME))
      skipString(D, C);
    for (int Numbers = 0; IsData && IsDefined && Numbers != 3; ++Numbers)
      D.getULEB128(C); // segment, offset and size
  }
}

static void walkRelocations(DataExtractor &D, DataExtractor::Cursor &C) {
  D.getULEB128(C); // section
  for (uint64_t Count = D.getULEB128(C); C && Count != 0; --Count) {
    uint8_t Type = D.getU8(C);
    D.getULEB128(C); // offset
    D.getULEB128(C); // index
    if (wasm::relocTypeHasAddend(Type))
      D.getSLEB128(C);
  }
}

Error dtlto::walkWasm(const WasmSection &S) {
  DataExtractor D = dataExtractor(S.Contents, /*IsLittleEndian=*/true);
  DataExtractor::Cursor C(0);
  if (S.Name.starts_with("reloc."))
    walkRelocations(D, C);
  if (S.Name == "linking")
    D.getULEB128(C); // version
  while (S.Name == "linking" && C && !D.eof(C)) {
    unsigned Type = D.getU8(C);
    if (uint64_t Size = D.getULEB128(C); Type != wasm::WASM_SYMBOL_TABLE)
      D.getBytes(C, Size);
    else
      walkSymbols(D, C);
  }
  return C.takeError();
}
