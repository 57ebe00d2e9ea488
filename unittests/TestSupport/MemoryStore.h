//===- MemoryStore.h - A store of a plugin, in memory -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_TESTSUPPORT_MEMORYSTORE_H
#define DTLTO_TESTSUPPORT_MEMORYSTORE_H

#include "Host/RemoteStore.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>

namespace dtlto::test {

/// The contents of a store, and what its functions do. One at a time. Thread-
/// safe, except the hooks.
class MemoryStore {
public:
  MemoryStore() { Instance = this; }
  ~MemoryStore() { Instance = nullptr; }
  MemoryStore(const MemoryStore &) = delete;

  /// Opens a store with these contents.
  std::shared_ptr<RemoteStore> open(Messages &Msg, bool MayWrite = true) {
    auto Store =
        RemoteStore::open(plugin(), "memory://test", {}, MayWrite, Msg);
    if (!Store) {
      ADD_FAILURE() << toString(Store.takeError());
      return nullptr;
    }
    return *Store;
  }

  std::map<std::string, std::string> entries() {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Entries;
  }
  void set(std::map<std::string, std::string> New) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Entries = std::move(New);
  }

  /// Called first in each get() and put(). May wait. If it returns a text, the
  /// call fails with that.
  std::function<std::string()> OnGet, OnPut;
  std::atomic<unsigned> NumGets{0}, NumPuts{0}, NumOpen{0};

private:
  static std::string name(const uint8_t *Key) { return {Key, Key + 32}; }

  static int32_t open(const dtlto_store_params *, dtlto_store_client **Client,
                      char *, uint64_t) {
    ++Instance->NumOpen;
    *Client = reinterpret_cast<dtlto_store_client *>(Instance);
    return DTLTO_OK;
  }
  static void close(dtlto_store_client *) { --Instance->NumOpen; }

  static int32_t call(std::atomic<unsigned> &Num,
                      const std::function<std::string()> &Fn, char *Why,
                      uint64_t WhySize) {
    ++Num;
    std::string Error = Fn ? Fn() : "";
    std::snprintf(Why, WhySize, "%s", Error.c_str());
    return Error.empty() ? DTLTO_OK : DTLTO_ERROR_INFRASTRUCTURE;
  }
  static int32_t get(dtlto_store_client *, const uint8_t *Key,
                     uint64_t MaxBytes, uint32_t, dtlto_buffer *Bytes,
                     char *Why, uint64_t WhySize) {
    MemoryStore &M = *Instance;
    int32_t Status = call(M.NumGets, M.OnGet, Why, WhySize);
    std::lock_guard<std::mutex> Lock(M.Mutex);
    auto It = M.Entries.find(name(Key));
    if (Status != DTLTO_OK || It == M.Entries.end() ||
        It->second.size() > MaxBytes)
      return Status;
    *Bytes = Buffer::own(llvm::SmallVector<char, 0>(It->second.begin(),
                                                    It->second.end()))
                 .take();
    return DTLTO_OK;
  }
  static int32_t put(dtlto_store_client *, const uint8_t *Key, dtlto_span Bytes,
                     uint32_t, char *Why, uint64_t WhySize) {
    MemoryStore &M = *Instance;
    int32_t Status = call(M.NumPuts, M.OnPut, Why, WhySize);
    std::lock_guard<std::mutex> Lock(M.Mutex);
    if (Status == DTLTO_OK)
      M.Entries[name(Key)].assign(static_cast<const char *>(Bytes.data),
                                  Bytes.size);
    return Status;
  }

  static const dtlto_plugin &plugin() {
    static const dtlto_store Store = {sizeof(Store), 0, open, get, put, close};
    static const dtlto_plugin Plugin = [] {
      dtlto_plugin P = {};
      P.size = sizeof(P);
      P.abi_major = DTLTO_ABI_MAJOR;
      P.name = "memory";
      P.version = "1";
      P.extension = [](const char *Id) -> const void * {
        return llvm::StringRef(Id) == DTLTO_EXT_STORE ? &Store : nullptr;
      };
      return P;
    }();
    return Plugin;
  }

  static inline MemoryStore *Instance = nullptr;
  std::mutex Mutex; // guards Entries
  std::map<std::string, std::string> Entries;
};

} // namespace dtlto::test

#endif // DTLTO_TESTSUPPORT_MEMORYSTORE_H
