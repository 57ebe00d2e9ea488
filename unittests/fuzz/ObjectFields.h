//===- ObjectFields.h - Where an object has its numbers ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A flipped bit is nearly always one of code or data, which a linker copies. A
// change of a header, relocation or symbol is one that it follows.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_FUZZ_OBJECTFIELDS_H
#define DTLTO_UNITTESTS_FUZZ_OBJECTFIELDS_H

#include "llvm/ADT/StringRef.h"
#include <random>
#include <vector>

namespace dtlto::test {

/// A number in a file, or a byte that a linker reads.
struct Field {
  size_t Offset;
  unsigned Size;  // in bytes: 1, 2, 4 or 8
  unsigned Group; // those of one table have the same
};

/// Of ELF, COFF, Mach-O and WebAssembly, whose own headers are whole; empty if
/// they aren't.
std::vector<Field> fieldsOf(llvm::StringRef Object);

/// Changes up to four fields of \p Object, and with some luck a byte anywhere.
void changeFields(std::string &Object, std::mt19937 &Random);

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_FUZZ_OBJECTFIELDS_H
