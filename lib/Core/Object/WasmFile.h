//===- WasmFile.h - Reads WebAssembly files ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "The WebAssembly Binary Format", tool-conventions/Linking.md. LLVM's own
// reader would end the process on some damaged files.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_WASMFILE_H
#define DTLTO_OBJECT_WASMFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace dtlto {

/// A section of a WebAssembly file; borrows the file.
struct WasmSection {
  uint8_t Id;
  llvm::StringRef Name;     // of a custom section, otherwise empty
  llvm::StringRef Contents; // without the name
};

/// Returns all sections of \p File, which may be any bytes. Fails if it isn't a
/// WebAssembly file or if a section is truncated.
llvm::Expected<std::vector<WasmSection>> wasmSections(llvm::StringRef File);

/// Whether \p Imports, the contents of the section of imports, have a memory
/// with 64-bit addresses.
bool has64BitMemory(llvm::StringRef Imports);

/// Reads the symbols and relocations of \p S, if it has any. Fails if they are
/// truncated.
llvm::Error walkWasm(const WasmSection &S);

} // namespace dtlto

#endif // DTLTO_OBJECT_WASMFILE_H
