//===- StoreHttpUrlFuzz.cpp - URLs of HTTP stores, of any bytes -----------===//
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
  return {"https://cache.example.com/a/b/",
          "http://localhost:8080",
          "HTTP://127.0.0.1//x//",
          "https://[::1]:443/%2e%2e/x",
          "https://user:secret@host/",
          "https://host/?key=secret#part",
          "redis://host",
          "https:///host",
          "http://127.1/../.."};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  const std::string Text(reinterpret_cast<const char *>(Data), Size);
  try {
    http::Address A = http::readAddress(Text);
    check(A.Url.compare(0, A.IsTls ? 8 : 7, A.IsTls ? "https://" : "http://") ==
          0);
    check(test::isLine(A.Url) && A.Url.back() != '/');
    check(A.Url.find_first_of("@?#") == std::string::npos);
    // Requests to this server have its credentials.
    check(!A.Origin.empty() && A.Origin == http::originOf(A.Url + "/key"));
  } catch (const sdk::Error &E) {
    check(E.status() == DTLTO_ERROR_CALLER && test::isLine(E.what()));
  }
  // A password of these bytes is in no message.
  constexpr std::string_view Secret = "Jq7x";
  const size_t Half = Size / 2;
  try {
    http::readAddress("https://user:" + Text.substr(0, Half) +
                      std::string(Secret) + Text.substr(Half) + "@host/x");
    abort();
  } catch (const sdk::Error &E) {
    check(std::string_view(E.what()).find(Secret) == std::string::npos);
  }
  return 0;
}
