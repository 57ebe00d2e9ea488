//===- Lzo.h - LZO1X, the compression of distcc's protocol ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// liblzo2 is under the GPL, version 2 or later, and so is each binary that
// contains this file: see README.md.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_LZO_H
#define DTLTO_DISTCC_LZO_H

#include "dtlto/sdk/Result.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::distcc {

inline std::string_view view(const std::vector<uint8_t> &Bytes) {
  return {reinterpret_cast<const char *>(Bytes.data()), Bytes.size()};
}

/// Compresses with LZO1X-1. Returns an empty result for empty input, as the
/// protocol requires. Throws std::bad_alloc.
std::vector<uint8_t> lzoCompress(std::string_view In);

/// The beginning of errors that this process causes.
inline constexpr std::string_view NoAddressSpace = "no address space for";

/// Decompresses all of \p In into at most \p MaxSize bytes. The stream doesn't
/// contain its decompressed size; \p Out takes no more pages than it needs.
/// Returns false with one line in \p Error if \p In is damaged, has trailing
/// bytes, or exceeds the limit. The line begins with NoAddressSpace if this
/// process lacks address space for the result.
bool lzoDecompress(std::string_view In, size_t MaxSize, sdk::Buffer &Out,
                   std::string &Error);

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_LZO_H
