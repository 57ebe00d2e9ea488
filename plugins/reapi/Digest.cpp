//===- Digest.cpp - The names of contents ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Digest.h"
#include <openssl/sha.h>

using namespace dtlto::reapi;

const char *dtlto::reapi::nameOf(DigestKind Kind) {
  return Kind == DigestKind::Blake3 ? "BLAKE3" : "SHA-256";
}

bool dtlto::reapi::isHash(std::string_view Hash) {
  return Hash.size() == 64 &&
         Hash.find_first_not_of("0123456789abcdef") == Hash.npos;
}

BlobName dtlto::reapi::nameBlob(DigestKind Kind, std::string_view Bytes) {
  uint8_t Out[32];
  if (Kind == DigestKind::Blake3)
    blake3(Bytes, Out);
  else
    SHA256(reinterpret_cast<const unsigned char *>(Bytes.data()), Bytes.size(),
           Out);
  return {hexDigits(Out, sizeof(Out)), Bytes.size()};
}
