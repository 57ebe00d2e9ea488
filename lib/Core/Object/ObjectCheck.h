//===- ObjectCheck.h - Checks objects from plugins --------------*- C++ -*-===//
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

namespace dtlto {

/// The known origin of an object's bytes.
enum class Origin {
  Unknown,
  /// A compiler wrote the bytes: the worker's digest is right, or two machines
  /// made the same bytes.
  Compiler
};

/// Checks an object from a plugin before LLVM or the linker reads it. \p Object
/// must be a relocatable object file with the format, machine, width and byte
/// order of \p TheTriple. If its origin is unknown, LLVM's readers must also be
/// able to read all sections, symbols and relocations, which detects truncated
/// objects. Never crashes on any input. Any thread.
///
/// An accepted object can still be wrong and can still crash a linker, because
/// references in the tables aren't followed.
llvm::Error checkObject(llvm::StringRef Object, const llvm::Triple &TheTriple,
                        Origin ObjectOrigin = Origin::Unknown);

} // namespace dtlto

#endif // DTLTO_OBJECT_OBJECTCHECK_H
