//===- WasmCheck.h - The sections of a WebAssembly object -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's reader of WebAssembly ends the process when it comes to the end of a
// file too early, and both it and LLD follow some indexes without looking. So
// this reads all that they read before they do, without either: sections,
// indexes, the parts of the linking section, and relocations. See "The
// WebAssembly Binary Format", and tool-conventions/Linking.md.
//
// It knows what LLVM's code generation writes, and refuses the rest: a name
// section, for one, is a linker's.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_WASMCHECK_H
#define DTLTO_OBJECT_WASMCHECK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dtlto {

struct WasmKind {
  bool IsRelocatable = false; // has a linking section, and is no library
  bool Is64 = false;          // imports a memory of 64-bit addresses
};

/// Reads \p Object, which begins with the magic number. Fails where something
/// reaches past the end of what it is in, or refers to what isn't there. Any
/// thread; never crashes.
llvm::Expected<WasmKind> checkWasm(llvm::StringRef Object);

} // namespace dtlto

#endif // DTLTO_OBJECT_WASMCHECK_H
