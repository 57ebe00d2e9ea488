//===- Digest.h - Names of blobs --------------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A blob's name is the digest of its bytes and their number. The server
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

/// The API's values of DigestFunction.
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
  /// HASH/SIZE, as in the API's resource names.
  std::string path() const { return Hash + "/" + std::to_string(Size); }
};

struct BlobNameHash {
  size_t operator()(const BlobName &N) const {
    return std::hash<std::string>()(N.Hash);
  }
};

/// Hashes \p Bytes.
BlobName nameBlob(DigestKind Kind, std::string_view Bytes);
/// Whether \p Hash has the form of one of these functions' digests.
bool isHash(std::string_view Hash);

/// BLAKE3 with 256 bits, on one thread. The linker has hashed the modules, and
/// everything else but the worker is small.
void blake3(std::string_view Bytes, uint8_t Out[32]);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_DIGEST_H
