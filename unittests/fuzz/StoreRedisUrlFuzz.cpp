//===- StoreRedisUrlFuzz.cpp - URLs of Redis stores, of any bytes ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a URL. It is also used as a password in another URL.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Settings.h"
#include "dtlto/sdk/Result.hpp"

using namespace dtlto;
using test::check;

std::vector<std::string> test::fuzzSeeds() {
  return {"redis://cache.example.com",
          "redis://localhost:6380/12",
          "redis://[::1]:1/",
          "redis://127.0.0.1/0",
          "redis://[fe80::1]",
          "redis://user:secret@host:1/2",
          "rediss://host",
          "redis://host:65536",
          "redis://a_b-c.d/1/2"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const std::string Text(reinterpret_cast<const char *>(Data), Size);
  try {
    redis::Address A = redis::readAddress(Text);
    check(!A.Host.empty() && A.Port != 0 && test::isLine(A.Host));
    // The URL in messages is the same.
    redis::Address Again = redis::readAddress(A.url());
    check(Again.Host == A.Host && Again.Port == A.Port &&
          Again.Database == A.Database);
  } catch (const sdk::Error &E) {
    check(E.status() == DTLTO_ERROR_CALLER && test::isLine(E.what()));
  }
  // A password of these bytes is in no message.
  constexpr std::string_view Secret = "Jq7x";
  const size_t Half = Size / 2;
  try {
    redis::readAddress("redis://user:" + Text.substr(0, Half) +
                       std::string(Secret) + Text.substr(Half) + "@host/1");
    abort();
  } catch (const sdk::Error &E) {
    check(std::string_view(E.what()).find(Secret) == std::string::npos);
  }
  return 0;
}
