//===- ObjectCheck.h - Is this the kind of object we asked for? -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_OBJECTCHECK_H
#define DTLTO_OBJECT_OBJECTCHECK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"
#include <vector>

namespace dtlto {

/// What is known of an object's bytes.
enum class Origin {
  Unknown,
  /// A compiler wrote them: the worker's digest is right, or two machines made
  /// the same bytes.
  Compiler
};

/// Checks an object from a plugin before LLVM or the linker reads it: \p Object
/// must be a relocatable object file of the format, machine, width and byte
/// order of \p TheTriple. If its origin is unknown, LLVM's readers must also
/// reach the end of its sections, symbols and relocations, which detects an
/// object that was cut off. Never crashes on any input. Any thread.
///
/// An accepted object can still be wrong, and can still crash a linker: this
/// doesn't follow the references in the tables.
llvm::Error checkObject(llvm::StringRef Object, const llvm::Triple &TheTriple,
                        Origin From = Origin::Unknown);

/// A section of a WebAssembly file, as parts of it.
struct WasmSection {
  uint8_t Id;
  llvm::StringRef Name;     // of a custom section, otherwise empty
  llvm::StringRef Contents; // without the name
};

/// Returns all sections of \p File, which may be any bytes. Fails if it isn't a
/// WebAssembly file, or if a section is cut off; LLVM's own reader would end
/// the process.
llvm::Expected<std::vector<WasmSection>> wasmSections(llvm::StringRef File);

} // namespace dtlto

#endif // DTLTO_OBJECT_OBJECTCHECK_H
