//===- Objects.h - Objects with all that code generation writes -*- C++ -*-===//
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

/// Text of IR with functions, data, constants that linkers merge, exceptions,
/// thread-local and weak variables, constructors and, where \p Triple has them,
/// comdats, call graph profiles, control flow protection, linker options, and
/// debug information in the form of the target.
std::string richIR(llvm::StringRef Triple);

/// Targets of all formats, widths and byte orders that LLD links.
llvm::ArrayRef<const char *> linkedTargets();

/// Objects of richIR(): with LLVM's default options; with a section for each
/// function and variable and a table of significant addresses; with compressed
/// debug information where there is such a thing.
std::vector<Bytes> richObjects(llvm::StringRef Triple);

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_OBJECTS_H
