//===- Digest.h - The names of contents -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A blob is named by the digest of its bytes and by their number. The server
// determines the function (DigestFunction of the API).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_DIGEST_H
#define DTLTO_REAPI_DIGEST_H

#include "Text.h"
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace dtlto::reapi {

using dtlto::hexDigits;

/// With the API's own numbers.
enum class DigestKind { Sha256 = 1, Blake3 = 9 };

/// "SHA-256" or "BLAKE3".
const char *nameOf(DigestKind Kind);

struct BlobName {
  std::string Hash;  // 64 hexadecimal digits
  uint64_t Size = 0; // in bytes

  bool operator==(const BlobName &O) const {
    return Size == O.Size && Hash == O.Hash;
  }
  bool operator!=(const BlobName &O) const { return !(*this == O); }
  /// HASH/SIZE, as the API's resource names have it.
  std::string path() const { return Hash + "/" + std::to_string(Size); }
};

struct BlobNameHash {
  size_t operator()(const BlobName &N) const {
    return std::hash<std::string>()(N.Hash);
  }
};

/// Hashes \p Bytes.
BlobName nameBlob(DigestKind Kind, std::string_view Bytes);
/// Whether \p Hash looks like one of these functions'.
bool isHash(std::string_view Hash);

/// BLAKE3 with 256 bits, on one thread: the linker has hashed the modules, and
/// all else is small but for the worker.
void blake3(std::string_view Bytes, uint8_t Out[32]);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_DIGEST_H
