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
// time, and a redirect can't leave the URL's scheme. Another server than the
// URL's gets none of its credentials.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_STORE_HTTP_HTTPSTORE_H
#define DTLTO_STORE_HTTP_HTTPSTORE_H

#include "CredentialHelper.h"
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
  using Clock = CredentialHelper::Clock;

  // These throw sdk::Error if the server can't be used.
  /// Does \p E, with the headers of the credential helper.
  void run(Exchange &E, const uint8_t *Key, std::chrono::milliseconds Limit);
  /// Does \p E at \p Url, or where the server redirects it.
  void follow(Exchange &E, std::string Url, Clock::time_point End);
  /// Does \p E at \p Url. Returns where the server redirects it, or nothing.
  std::string perform(Exchange &E, const std::string &Url, bool IsRedirected,
                      Clock::time_point End);
  /// Sets the options of \p E.Handle. \p IsHome is false if the request was
  /// redirected to another server.
  void configure(const Exchange &E, const curl_slist *Lines, bool IsHome) const;
  /// Sets whom to trust, and the user's credentials.
  void authenticate(const Exchange &E, bool IsHome) const;
  void configurePut(const Exchange &E) const;
  template <typename T>
  void set(const Exchange &E, CURLoption Option, T Value) const;
  [[noreturn]] void fail(const std::string &Why) const;

  const Settings S;
  CredentialHelper Helper; // if the settings name one
  Handles Idle;            // with their connections
};

} // namespace dtlto::http

#endif // DTLTO_STORE_HTTP_HTTPSTORE_H
