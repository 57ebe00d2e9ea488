//===- FarmStore.h - The store of a plugin's farm ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses dtlto.store.draft/1 of the plugin while its session is open. Each call
// has a thread of its own: after a timeout the link continues, and the thread
// keeps what it borrows.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_FARMSTORE_H
#define DTLTO_HOST_FARMSTORE_H

#include "Support/Buffer.h"
#include "dtlto/ext/draft/store.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace dtlto {

/// The store of the farm of the plugin's session. Thread-safe.
class FarmStore : public std::enable_shared_from_this<FarmStore> {
public:
  using Key = std::array<uint8_t, 32>;

  /// \p Limit is the time limit of each call.
  explicit FarmStore(std::chrono::milliseconds Limit = std::chrono::seconds(10))
      : Limit(Limit) {}

  /// Announces a session; \p Fn requests that it be opened. The first get() or
  /// put() calls \p Fn, without a lock, and waits up to 2 s until the session
  /// is open.
  void setOpener(std::function<void()> Fn);
  /// Called when the session is open, before its first job. \p PluginStore may
  /// be null. Returns false if the plugin has no store, unless abandon() was
  /// called.
  bool open(const dtlto_store *PluginStore, dtlto_session *PluginSession);
  /// Makes all further calls fail. Waits until calls under way have returned
  /// from the plugin.
  void close();
  /// Like close(), but final, even if the session opens late; doesn't wait.
  void abandon();

  /// False if the plugin has no store or the session has ended. True before
  /// open().
  bool mayBeAvailable() const;

  /// Returns the entry \p K: empty if there is none, or if it is larger than
  /// \p MaxBytes. Unset if the session isn't open.
  llvm::Expected<std::optional<Buffer>> get(const Key &K, uint64_t MaxBytes);
  /// Stores \p Bytes as entry \p K. Returns false if the session isn't open.
  llvm::Expected<bool> put(const Key &K, std::string Bytes);

private:
  struct Answer {
    bool HasArrived = false;
    int32_t Status = DTLTO_OK;
    Buffer Bytes;
    std::string Why;
  };
  template <typename Fn> bool call(Answer &Out, Fn F);
  void waitForOpen(std::unique_lock<std::mutex> &Lock);

  const std::chrono::milliseconds Limit;
  mutable std::mutex Mutex; // guards the following members
  std::condition_variable Changed;
  enum { Unknown, Open, None } State = Unknown;
  bool IsAbandoned = false;
  std::function<void()> Opener; // null if it was called, or if there is none
  bool WaitsForOpen = false;    // the opener was called recently
  const dtlto_store *Calls = nullptr;
  dtlto_session *Session = nullptr;
  unsigned NumCalls = 0; // calls in the plugin
};

} // namespace dtlto

#endif // DTLTO_HOST_FARMSTORE_H
