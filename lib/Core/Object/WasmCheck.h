//===- WasmCheck.h - The sections of a WebAssembly object -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's reader of WebAssembly ends the process when it comes to the end of a
// file too early, so it is no way to look at bytes that nobody has looked at
// before. This reads as much as has to be right: the sections, the parts of the
// linking section, and whether the memory is one of 64-bit addresses. See "The
// WebAssembly Binary Format", and tool-conventions/Linking.md.
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
/// reaches past the end of what it is in. Any thread; never crashes.
llvm::Expected<WasmKind> checkWasm(llvm::StringRef Object);

} // namespace dtlto

#endif // DTLTO_OBJECT_WASMCHECK_H
