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

/// How much is known of an object.
enum class Origin {
  Unknown,
  /// The bytes are what a compiler wrote: the worker's digest says so, or two
  /// machines made the same.
  Compiler
};

/// Checks what came from a plugin before LLVM or the linker reads it: \p Object
/// is a relocatable object file of the format, machine, width and byte order of
/// \p TheTriple. If its origin is unknown, LLVM's readers must also come to the
/// end of its sections, symbols and relocations, so an object that was cut off
/// is noticed. Never crashes on any input. Any thread.
///
/// An object that passes can still be wrong, and can still crash a linker: what
/// the tables refer to isn't followed.
llvm::Error checkObject(llvm::StringRef Object, const llvm::Triple &TheTriple,
                        Origin From = Origin::Unknown);

/// A section of a WebAssembly file, as parts of it.
struct WasmSection {
  uint8_t Id;
  llvm::StringRef Name;     // of a custom section, otherwise empty
  llvm::StringRef Contents; // without the name
};

/// All sections of \p File, which may be any bytes. Fails if it is not a
/// WebAssembly file, or a section is cut off. LLVM's own reader ends the
/// process then.
llvm::Expected<std::vector<WasmSection>> wasmSections(llvm::StringRef File);

} // namespace dtlto

#endif // DTLTO_OBJECT_OBJECTCHECK_H
