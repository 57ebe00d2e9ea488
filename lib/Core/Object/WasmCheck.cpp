//===- WasmCheck.cpp - The sections of a WebAssembly object ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/WasmCheck.h"
#include "Support/Failure.h"
#include "llvm/BinaryFormat/Wasm.h"

using namespace llvm;
using namespace dtlto;

namespace {

/// Takes one thing after the other from the front. After the first thing that
/// isn't there, everything is empty or zero.
class Reader {
public:
  explicit Reader(StringRef Rest) : Rest(Rest) {}

  bool failed() const { return Failed; }
  bool atEnd() const { return Rest.empty(); }

  uint8_t byte() {
    StringRef B = take(1);
    return B.empty() ? 0 : static_cast<uint8_t>(B[0]);
  }

  /// An unsigned LEB128 number of at most \p Bits bits.
  uint64_t number(unsigned Bits = 32) {
    uint64_t Value = 0;
    for (unsigned Shift = 0; Shift < Bits; Shift += 7) {
      uint8_t B = byte();
      uint64_t Part = B & 0x7f;
      if (Bits - Shift < 7 && Part >> (Bits - Shift))
        break;
      Value |= Part << Shift;
      if (!(B & 0x80))
        return Value;
    }
    fail();
    return 0;
  }

  StringRef take(uint64_t Size) {
    if (Size > Rest.size()) {
      fail();
      return {};
    }
    StringRef Taken = Rest.take_front(Size);
    Rest = Rest.drop_front(Size);
    return Taken;
  }

  StringRef string() { return take(number()); }

private:
  void fail() {
    Failed = true;
    Rest = {};
  }
  StringRef Rest;
  bool Failed = false;
};

} // namespace

static unsigned readLimits(Reader &R) {
  unsigned Flags = R.number();
  R.number(64);
  if (Flags & wasm::WASM_LIMITS_FLAG_HAS_MAX)
    R.number(64);
  return Flags;
}

/// Returns false where the section is broken.
static bool readImports(Reader R, bool &Is64) {
  for (uint32_t Count = R.number(); Count != 0 && !R.failed(); --Count) {
    R.string(); // module
    R.string(); // name
    switch (R.byte()) {
    case wasm::WASM_EXTERNAL_FUNCTION:
      R.number();
      break;
    case wasm::WASM_EXTERNAL_TABLE:
      R.number();
      readLimits(R);
      break;
    case wasm::WASM_EXTERNAL_MEMORY:
      if (readLimits(R) & wasm::WASM_LIMITS_FLAG_IS_64)
        Is64 = true;
      break;
    case wasm::WASM_EXTERNAL_GLOBAL:
      R.byte();
      R.byte();
      break;
    case wasm::WASM_EXTERNAL_TAG:
      R.byte();
      R.number();
      break;
    default:
      return false;
    }
  }
  return !R.failed() && R.atEnd();
}

static bool readLinking(Reader R) {
  if (R.number() != wasm::WasmMetadataVersion)
    return false;
  while (!R.atEnd() && !R.failed()) {
    R.byte(); // what it is
    R.take(R.number());
  }
  return !R.failed();
}

Expected<WasmKind> dtlto::checkWasm(StringRef Object) {
  Reader R(Object);
  WasmKind Kind;
  bool IsLibrary = false;
  if (R.take(4) != StringRef(wasm::WasmMagic, 4))
    return failure("no magic number");
  if (R.take(4) != StringRef("\1\0\0\0", 4))
    return failure("not version 1");
  while (!R.atEnd()) {
    uint8_t Id = R.byte();
    Reader Section(R.take(R.number()));
    if (R.failed())
      return failure("a section reaches past the end");
    if (Id > wasm::WASM_SEC_LAST_KNOWN)
      return failure("unknown section " + Twine(unsigned(Id)));
    if (Id == wasm::WASM_SEC_IMPORT && !readImports(Section, Kind.Is64))
      return failure("broken imports");
    if (Id != wasm::WASM_SEC_CUSTOM)
      continue;
    StringRef Name = Section.string();
    if (Section.failed())
      return failure("a section's name reaches past its end");
    IsLibrary |= Name.starts_with("dylink");
    if (Name == "linking") {
      Kind.IsRelocatable = true;
      if (!readLinking(Section))
        return failure("broken linking section");
    }
  }
  Kind.IsRelocatable &= !IsLibrary;
  return Kind;
}
