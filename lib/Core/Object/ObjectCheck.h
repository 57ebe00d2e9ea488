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

namespace dtlto {

/// Checks bytes that came from a plugin before LLVM or the linker reads them:
/// not empty, a relocatable object file of the format, machine, width and byte
/// order that \p TheTriple asks for, in which every offset and index that LLD
/// follows leads to something that is there. Any thread; never crashes on any
/// input.
///
/// It can't tell a wrong object from a right one of the same kind.
llvm::Error checkObject(llvm::StringRef Object, const llvm::Triple &TheTriple);

} // namespace dtlto

#endif // DTLTO_OBJECT_OBJECTCHECK_H
