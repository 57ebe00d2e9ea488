//===- HttpStore.h - Stores on HTTP servers ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key's bytes are the resource URL/KEY, KEY in 64 lower-case hexadecimal
// digits: GET reads them, 404 means that there are none, and PUT replaces them.
// Compiler caches and Bazel use HTTP in this way, too.
//
// Nothing that a server sends is trusted. Its answer is limited in size and
// time, and a redirect can't leave the URL's scheme.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_STORE_HTTP_HTTPSTORE_H
#define DTLTO_STORE_HTTP_HTTPSTORE_H

#include "Pool.h"
#include "Settings.h"
#include "dtlto/sdk/Store.hpp"
#include <curl/curl.h>

namespace dtlto::http {

class HttpStore final : public sdk::Store {
public:
  explicit HttpStore(const dtlto_store_params &Params);
  static const sdk::Description &description() { return http::description(); }

  sdk::Buffer get(const uint8_t *Key, uint64_t MaxBytes,
                  std::chrono::milliseconds Limit) override;
  void put(const uint8_t *Key, std::string_view Bytes,
           std::chrono::milliseconds Limit) override;

private:
  struct Cleanup {
    void operator()(CURL *Handle) const { curl_easy_cleanup(Handle); }
  };
  using Handles = Pool<CURL, Cleanup>;
  struct Exchange;

  /// Does \p E. Throws sdk::Error if the server can't be used.
  void run(Exchange &E, const uint8_t *Key, std::chrono::milliseconds Limit);
  template <typename T>
  void set(CURL *Handle, CURLoption Option, T Value) const {
    if (curl_easy_setopt(Handle, Option, Value) != CURLE_OK)
      fail("this libcurl lacks option " + std::to_string(Option));
  }
  void configure(CURL *Handle, const Exchange &E) const;
  void authenticate(CURL *Handle) const;
  [[noreturn]] void fail(const std::string &Why) const;

  struct FreeList {
    void operator()(curl_slist *List) const { curl_slist_free_all(List); }
  };

  const Settings S;
  std::unique_ptr<curl_slist, FreeList> PutHeaders;
  Handles Idle; // with their connections
};

} // namespace dtlto::http

#endif // DTLTO_STORE_HTTP_HTTPSTORE_H
