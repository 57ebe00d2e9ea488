//===- Bitstream.h - A bitcode file, record by record -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_BITSTREAM_H
#define DTLTO_UNITTESTS_TESTSUPPORT_BITSTREAM_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace dtlto::test {

/// Returns one line for each block and record of \p Bitcode, in order.
/// Abbreviations, sizes and the module names of a combined index are left out.
/// An error is the last line.
std::vector<std::string> recordsOf(llvm::StringRef Bitcode);

/// Returns the module names of a combined index, in the order of their records.
std::vector<std::string> moduleNamesOf(llvm::StringRef Bitcode);

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_BITSTREAM_H
