//===- Data.h - LLVM's readers of bytes, by version -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLVM_DATA_H
#define DTLTO_LLVM_DATA_H

#include "LLVM/Version.h"
#include "llvm/Support/DataExtractor.h"

namespace dtlto {

/// A reader of \p Bytes that have no addresses.
inline llvm::DataExtractor dataExtractor(llvm::StringRef Bytes,
                                         bool IsLittleEndian) {
#if LLVM_VERSION_MAJOR >= 23
  return {Bytes, IsLittleEndian};
#else
  return {Bytes, IsLittleEndian, /*AddressSize=*/0};
#endif
}

} // namespace dtlto

#endif // DTLTO_LLVM_DATA_H
