//===- WasmRelocation.h - What WebAssembly's relocations need ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_WASMRELOCATION_H
#define DTLTO_OBJECT_WASMRELOCATION_H

#include <cstdint>

namespace dtlto {

struct WasmRelocationKind {
  unsigned Size = 5;       // bytes
  unsigned AddendBits = 0; // 0: it has none
  unsigned Symbols = 0;    // a bit for each type of symbol that it can be for
  bool IsForType = false;  // of a function, and for no symbol
  bool NeedsTable = false; // of functions
};

/// Relocation \p Type. One that isn't known can be for no symbol.
WasmRelocationKind wasmRelocationKind(uint32_t Type);

} // namespace dtlto

#endif // DTLTO_OBJECT_WASMRELOCATION_H
