//===- Objects.h - Objects of all kinds for tests ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_OBJECTS_H
#define DTLTO_UNITTESTS_TESTSUPPORT_OBJECTS_H

#include "Modules.h"
#include <vector>

namespace dtlto::test {

/// Returns IR with functions, data, mergeable constants, exceptions,
/// thread-local and weak variables, and constructors. If \p Triple supports
/// them, also comdats, call graph profiles, control flow protection, linker
/// options, and debug information in the target's format.
std::string richIR(llvm::StringRef Triple);

/// Returns targets of all formats, widths and byte orders that LLD links.
llvm::ArrayRef<const char *> linkedTargets();

/// Returns objects of richIR() with three settings: LLVM's default options; a
/// section for each function and variable, and a table of significant
/// addresses; compressed debug information, if the target supports it.
std::vector<Bytes> richObjects(llvm::StringRef Triple);

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_OBJECTS_H
