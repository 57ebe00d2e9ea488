//===- StoreClient.h - A host of the store in a test ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_REAPI_STORECLIENT_H
#define DTLTO_UNITTESTS_REAPI_STORECLIENT_H

#include "dtlto/ext/store.h"
#include "gtest/gtest.h"
#include <string>
#include <vector>

namespace dtlto::test {

/// Calls the plugin's store as the linker does, with keys of 32 equal bytes.
class StoreClient {
public:
  ~StoreClient() { close(); }

  /// Opens the store of \p Url. Returns why that fails; empty on success.
  std::string open(const std::string &Url,
                   const std::vector<std::string> &Args = {}) {
    close();
    std::vector<const char *> Pointers;
    for (const std::string &Arg : Args)
      Pointers.push_back(Arg.c_str());
    dtlto_store_params Params = {};
    Params.size = sizeof(Params);
    Params.url = Url.c_str();
    Params.args = Pointers.data();
    Params.num_args = uint32_t(Pointers.size());
    Params.max_calls = 16;
    char Why[500] = "";
    int32_t Status = calls().open(&Params, &Client, Why, sizeof(Why));
    EXPECT_EQ(Status == DTLTO_OK, Client != nullptr);
    return check(Status, Why);
  }

  /// Returns the bytes under \p Key, or "error: " with the reason.
  std::string get(char Key, uint64_t MaxBytes = 1 << 30,
                  uint32_t TimeoutMs = 60000) {
    dtlto_buffer Raw = {};
    char Why[500] = "";
    int32_t Status = calls().get(Client, keyOf(Key).data(), MaxBytes, TimeoutMs,
                                 &Raw, Why, sizeof(Why));
    if (std::string Text = check(Status, Why); !Text.empty())
      return "error: " + Text;
    std::string Bytes(static_cast<const char *>(Raw.data), Raw.size);
    Raw.release(Raw.owner, Raw.data, Raw.size);
    return Bytes;
  }

  /// Returns why the bytes can't be stored; empty on success.
  std::string put(char Key, const std::string &Bytes,
                  uint32_t TimeoutMs = 60000) {
    char Why[500] = "";
    return check(calls().put(Client, keyOf(Key).data(),
                             {Bytes.data(), Bytes.size()}, TimeoutMs, Why,
                             sizeof(Why)),
                 Why);
  }

  void close() {
    if (Client)
      calls().close(Client);
    Client = nullptr;
  }

private:
  static const dtlto_store &calls() {
    return *static_cast<const dtlto_store *>(
        dtlto_plugin_entry.extension(DTLTO_EXT_STORE));
  }
  static std::vector<uint8_t> keyOf(char Key) {
    return std::vector<uint8_t>(32, uint8_t(Key));
  }
  /// Returns \p Why, which is empty if and only if there is no error.
  static std::string check(int32_t Status, const char *Why) {
    EXPECT_EQ(Status == DTLTO_OK, Why[0] == 0) << Why;
    return Why;
  }

  dtlto_store_client *Client = nullptr;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_REAPI_STORECLIENT_H
