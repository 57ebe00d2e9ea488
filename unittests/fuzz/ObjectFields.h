//===- ObjectFields.h - The numbers in an object ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A random bit is nearly always in code or data, which a linker just copies.
// Changes of headers, relocations and symbols affect the linker.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_FUZZ_OBJECTFIELDS_H
#define DTLTO_UNITTESTS_FUZZ_OBJECTFIELDS_H

#include "llvm/ADT/StringRef.h"
#include <random>
#include <vector>

namespace dtlto::test {

/// A number in a file, or a byte that a linker interprets.
struct Field {
  size_t Offset;
  unsigned Size;  // in bytes: 1, 2, 4 or 8
  unsigned Group; // equal for the fields of a table
};

/// Returns the fields of an ELF, COFF, Mach-O or WebAssembly file; empty if the
/// file's header is incomplete.
std::vector<Field> fieldsOf(llvm::StringRef Object);

/// Changes up to four fields of \p Object, and sometimes any byte.
void changeFields(std::string &Object, std::mt19937 &Random);

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_FUZZ_OBJECTFIELDS_H
