//===- WasmRelocation.cpp - What WebAssembly's relocations need -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/WasmRelocation.h"
#include "llvm/BinaryFormat/Wasm.h"

using namespace llvm;
using namespace dtlto;

WasmRelocationKind dtlto::wasmRelocationKind(uint32_t Type) {
  constexpr unsigned Function = 1 << wasm::WASM_SYMBOL_TYPE_FUNCTION,
                     Data = 1 << wasm::WASM_SYMBOL_TYPE_DATA,
                     Global = 1 << wasm::WASM_SYMBOL_TYPE_GLOBAL,
                     Section = 1 << wasm::WASM_SYMBOL_TYPE_SECTION,
                     Tag = 1 << wasm::WASM_SYMBOL_TYPE_TAG,
                     Table = 1 << wasm::WASM_SYMBOL_TYPE_TABLE;
  switch (Type) {
  case wasm::R_WASM_FUNCTION_INDEX_LEB:
    return {5, 0, Function};
  case wasm::R_WASM_FUNCTION_INDEX_I32:
    return {4, 0, Function};
  case wasm::R_WASM_TABLE_INDEX_SLEB:
  case wasm::R_WASM_TABLE_INDEX_REL_SLEB:
    return {5, 0, Function, false, true};
  case wasm::R_WASM_TABLE_INDEX_I32:
    return {4, 0, Function, false, true};
  case wasm::R_WASM_TABLE_INDEX_SLEB64:
  case wasm::R_WASM_TABLE_INDEX_REL_SLEB64:
    return {10, 0, Function, false, true};
  case wasm::R_WASM_TABLE_INDEX_I64:
    return {8, 0, Function, false, true};
  case wasm::R_WASM_TABLE_NUMBER_LEB:
    return {5, 0, Table};
  case wasm::R_WASM_TYPE_INDEX_LEB:
    return {5, 0, 0, true};
  case wasm::R_WASM_GLOBAL_INDEX_I32:
    return {4, 0, Global};
  case wasm::R_WASM_GLOBAL_INDEX_LEB: // also of a table of addresses
    return {5, 0, Global | Data | Function};
  case wasm::R_WASM_TAG_INDEX_LEB:
    return {5, 0, Tag};
  case wasm::R_WASM_MEMORY_ADDR_I32:
  case wasm::R_WASM_MEMORY_ADDR_LOCREL_I32:
    return {4, 32, Data};
  case wasm::R_WASM_MEMORY_ADDR_LEB:
  case wasm::R_WASM_MEMORY_ADDR_SLEB:
  case wasm::R_WASM_MEMORY_ADDR_REL_SLEB:
  case wasm::R_WASM_MEMORY_ADDR_TLS_SLEB:
    return {5, 32, Data};
  case wasm::R_WASM_MEMORY_ADDR_I64:
    return {8, 64, Data};
  case wasm::R_WASM_MEMORY_ADDR_LEB64:
  case wasm::R_WASM_MEMORY_ADDR_SLEB64:
  case wasm::R_WASM_MEMORY_ADDR_REL_SLEB64:
  case wasm::R_WASM_MEMORY_ADDR_TLS_SLEB64:
    return {10, 64, Data};
  case wasm::R_WASM_FUNCTION_OFFSET_I32:
    return {4, 32, Function};
  case wasm::R_WASM_FUNCTION_OFFSET_I64:
    return {8, 64, Function};
  case wasm::R_WASM_SECTION_OFFSET_I32:
    return {4, 32, Section};
  default:
    return {};
  }
}
