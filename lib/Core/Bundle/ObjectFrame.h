//===- ObjectFrame.h - An object whose truncation shows ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dtlto-codegen writes with --frame, where the way back may lose bytes:
//
//   "DTLTOOBJ"             8 bytes
//   version, 1             32 bits
//   flags, 0               32 bits
//   size of the object     64 bits
//   BLAKE3 of the object   32 bytes
//   the object
//
// Numbers are little-endian. Nothing follows. docs/BUNDLE.md has the same.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_OBJECTFRAME_H
#define DTLTO_BUNDLE_OBJECTFRAME_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"

namespace dtlto {

/// What goes before \p Object.
inline llvm::SmallString<56> frameHead(llvm::StringRef Object) {
  llvm::SmallString<56> Head("DTLTOOBJ");
  auto Add32 = [&](uint32_t N) {
    char Bytes[4];
    llvm::support::endian::write32le(Bytes, N);
    Head.append(Bytes, Bytes + 4);
  };
  Add32(1);
  Add32(0);
  Add32(static_cast<uint32_t>(Object.size()));
  Add32(static_cast<uint32_t>(uint64_t(Object.size()) >> 32));
  auto Hash = llvm::BLAKE3::hash(llvm::arrayRefFromStringRef(Object));
  Head.append(Hash.begin(), Hash.end());
  return Head;
}

} // namespace dtlto

#endif // DTLTO_BUNDLE_OBJECTFRAME_H
