//===- Lzo.h - LZO1X, the compression of distcc's protocol ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// liblzo2 is under the GPL, version 2 or later, and so is each binary that this
// becomes a part of: see README.md.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_LZO_H
#define DTLTO_DISTCC_LZO_H

#include "Bytes.h"
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::distcc {

/// Compresses with LZO1X-1. Nothing becomes nothing, as the protocol has it.
std::vector<uint8_t> lzoCompress(ByteView In);

/// How an error begins that is this process's own.
inline constexpr std::string_view NoAddressSpace = "no address space for";

/// Decompresses all of \p In into at most \p MaxSize bytes. The stream doesn't
/// say how many they will be; no more memory is touched than they take. Returns
/// false with one line in \p Error if \p In is damaged, has bytes left, or
/// becomes larger; the line begins with NoAddressSpace if it's this process
/// that has no room for so many.
bool lzoDecompress(ByteView In, size_t MaxSize, Pages &Out, std::string &Error);

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_LZO_H
