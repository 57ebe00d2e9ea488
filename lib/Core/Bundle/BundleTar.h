//===- BundleTar.h - The one form of a bundle's tar headers -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file's name and size decide on all bytes of its header, so the reader makes
// the header that it expects and compares: what is written and what is accepted
// cannot differ.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_BUNDLETAR_H
#define DTLTO_BUNDLE_BUNDLETAR_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace dtlto {

/// Headers and files begin at multiples of this.
constexpr uint64_t TarBlockSize = 512;
/// Zeros that end an archive.
constexpr uint64_t TarEndSize = 2 * TarBlockSize;

// Fields of a header.
constexpr size_t TarNameSize = 100, TarSizeAt = 124, TarSizeDigits = 11,
                 TarTypeAt = 156, TarMagicAt = 257, TarPrefixAt = 345,
                 TarPrefixSize = 155;
constexpr llvm::StringRef TarMagic("ustar\00000", 8);

/// Returns all that stands before the \p Size bytes of the file \p Path: one
/// block of ustar, or three and more where that has no room.
std::string tarHeader(llvm::StringRef Path, uint64_t Size);

} // namespace dtlto

#endif // DTLTO_BUNDLE_BUNDLETAR_H
