//===- WasmReader.h - The numbers and texts of WebAssembly ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_WASMREADER_H
#define DTLTO_OBJECT_WASMREADER_H

#include "llvm/ADT/StringRef.h"

namespace dtlto {

/// Takes one thing after the other from the front. After the first thing that
/// isn't there, everything is empty or zero.
class WasmReader {
public:
  explicit WasmReader(llvm::StringRef Rest) : Rest(Rest) {}

  bool failed() const { return Failed; }
  bool atEnd() const { return Rest.empty(); }
  uint64_t left() const { return Rest.size(); }

  uint8_t byte() {
    llvm::StringRef B = take(1);
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

  /// A signed one.
  void signedNumber(unsigned Bits) {
    for (unsigned Shift = 0; Shift < Bits; Shift += 7) {
      uint8_t B = byte();
      if (B & 0x80)
        continue;
      // What is left of the last byte repeats the sign.
      if (Bits - Shift < 7) {
        uint8_t Rest = (B & 0x7f) >> (Bits - Shift - 1);
        if (Rest != 0 && Rest != (0x7f >> (Bits - Shift - 1)))
          break;
      }
      return;
    }
    fail();
  }

  llvm::StringRef take(uint64_t Size) {
    if (Size > Rest.size()) {
      fail();
      return {};
    }
    llvm::StringRef Taken = Rest.take_front(Size);
    Rest = Rest.drop_front(Size);
    return Taken;
  }

  llvm::StringRef string() { return take(number()); }

private:
  void fail() {
    Failed = true;
    Rest = {};
  }
  llvm::StringRef Rest;
  bool Failed = false;
};

} // namespace dtlto

#endif // DTLTO_OBJECT_WASMREADER_H
