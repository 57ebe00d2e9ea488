//===- dtlto/sdk/Store.hpp - Stores in C++ ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For dtlto/ext/store.h: a class that derives from Store becomes a library that
// is only a store with
//
//   DTLTO_STORE_PLUGIN(MyStore, "name", "1.0")
//
// or, in a plugin that also runs jobs, the extension storeExtension<MyStore>().
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_STORE_HPP
#define DTLTO_SDK_STORE_HPP

#include "../ext/store.h"
#include "Arguments.hpp"
#include "Job.hpp"
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace dtlto::sdk {

/// A store of bytes under keys of 32 bytes. The constructor takes `const
/// dtlto_store_params &`, contacts no server, and throws Error for a wrong
/// argument. All functions may be called on any thread, also concurrently. They
/// return within \p Limit, and throw Error if the store is unusable. A static
/// function `const Description &description()` (Arguments.hpp) describes the
/// library.
class Store {
public:
  virtual ~Store() = default;
  /// Returns what any client last put under \p Key; empty if there is nothing,
  /// or more than \p MaxBytes.
  virtual Buffer get(const uint8_t *Key, uint64_t MaxBytes,
                     std::chrono::milliseconds Limit) = 0;
  virtual void put(const uint8_t *Key, std::string_view Bytes,
                   std::chrono::milliseconds Limit) = 0;
};

namespace detail {

template <typename S> struct StoreEntry {
  static Store *from(dtlto_store_client *Raw) {
    return reinterpret_cast<Store *>(Raw);
  }

  /// Calls \p Fn; writes its exception to \p Text as one line.
  template <typename F>
  static int32_t call(char *Text, uint64_t TextSize, F Fn) noexcept {
    std::string Why;
    int32_t Status = guard(Why, Fn);
    if (Status != DTLTO_OK && Text && TextSize)
      std::snprintf(Text, size_t(TextSize), "%s", oneLine(Why).c_str());
    return Status;
  }

  static int32_t open(const dtlto_store_params *Params,
                      dtlto_store_client **Client, char *Why,
                      uint64_t WhySize) noexcept {
    return call(Why, WhySize, [&] {
      Store *New = std::make_unique<S>(*Params).release();
      *Client = reinterpret_cast<dtlto_store_client *>(New);
    });
  }
  static int32_t get(dtlto_store_client *Client, const uint8_t *Key,
                     uint64_t MaxBytes, uint32_t TimeoutMs, dtlto_buffer *Bytes,
                     char *Why, uint64_t WhySize) noexcept {
    *Bytes = {};
    return call(Why, WhySize, [&] {
      *Bytes = from(Client)
                   ->get(Key, MaxBytes, std::chrono::milliseconds(TimeoutMs))
                   .take();
    });
  }
  static int32_t put(dtlto_store_client *Client, const uint8_t *Key,
                     dtlto_span Bytes, uint32_t TimeoutMs, char *Why,
                     uint64_t WhySize) noexcept {
    return call(Why, WhySize, [&] {
      from(Client)->put(
          Key, {static_cast<const char *>(Bytes.data), size_t(Bytes.size)},
          std::chrono::milliseconds(TimeoutMs));
    });
  }
  static void close(dtlto_store_client *Client) noexcept {
    call(nullptr, 0, [&] { delete from(Client); });
  }
};

/// The other functions of a plugin that is only a store.
template <typename S> struct NoSession {
  static void configure(const dtlto_session_params *,
                        dtlto_session_config *) noexcept {}
  static int32_t open(const dtlto_host *Host, const dtlto_session_params *,
                      dtlto_session **) noexcept {
    Host->log(Host->context, DTLTO_LOG_ERROR,
              "this is a store (--thinlto-dist-remote-cache), which runs no "
              "jobs");
    return DTLTO_ERROR_CALLER;
  }
  static int32_t submit(dtlto_session *, const dtlto_job *) noexcept {
    return DTLTO_ERROR_CALLER;
  }
  static void cancel(dtlto_session *, uint64_t) noexcept {}
  static int32_t load(dtlto_session *, dtlto_load *) noexcept {
    return DTLTO_OK;
  }
  static void close(dtlto_session *) noexcept {}
  static const void *extension(const char *Id) noexcept;
};

} // namespace detail

/// The functions of the class \p S, which derives from Store.
template <typename S> const dtlto_store *storeExtension() noexcept {
  using Entry = detail::StoreEntry<S>;
  static const dtlto_store Functions = {sizeof(dtlto_store), 0,
                                        Entry::open,         Entry::get,
                                        Entry::put,          Entry::close};
  return &Functions;
}

template <typename S>
const void *detail::NoSession<S>::extension(const char *Id) noexcept {
  if (std::strcmp(Id, DTLTO_EXT_STORE) == 0)
    return storeExtension<S>();
  return std::strcmp(Id, DTLTO_EXT_DESCRIBE) == 0 ? rawDescription<S>(0)
                                                  : nullptr;
}

} // namespace dtlto::sdk

/// Defines the one symbol that a plugin exports, for a plugin that is only a
/// store. Use it once, outside of namespaces.
#define DTLTO_STORE_PLUGIN(STORE, NAME, VERSION)                               \
  DTLTO_SDK_PLUGIN(NoSession<STORE>, configure, NAME, VERSION)

#endif // DTLTO_SDK_STORE_HPP
