//===- FarmStore.h - The store of a plugin's farm ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dtlto.store.draft/1 of the plugin, for as long as its session is open. Each
// call has a thread of its own: after a timeout the link continues, and the
// thread keeps what it borrows.
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

/// Any thread.
class FarmStore : public std::enable_shared_from_this<FarmStore> {
public:
  using Key = std::array<uint8_t, 32>;

  /// No call takes longer than \p Limit.
  explicit FarmStore(std::chrono::milliseconds Limit = std::chrono::seconds(10))
      : Limit(Limit) {}

  /// A session may follow; \p Fn asks for it to be opened. The first get() or
  /// put() calls it, without a lock, and waits up to 2 s until the session is
  /// open.
  void setOpener(std::function<void()> Fn);
  /// The session is open, and has jobs. \p OfPlugin may be null. False: the
  /// plugin has no store, and nobody has abandoned it.
  bool open(const dtlto_store *OfPlugin, dtlto_session *OfSession);
  /// Calls fail from now on. Waits until those under way have come back from
  /// the plugin.
  void close();
  /// The same, for good, also if the session opens late; doesn't wait.
  void abandon();

  /// False: the plugin has none, or the session has ended. Before open(): true.
  bool mayBeThere() const;

  /// What is there under \p K: empty if there is nothing, or it is over \p
  /// MaxBytes. Nothing: the session isn't open.
  llvm::Expected<std::optional<Buffer>> get(const Key &K, uint64_t MaxBytes);
  /// Puts \p Bytes there. False: the session isn't open.
  llvm::Expected<bool> put(const Key &K, std::string Bytes);

private:
  struct Answer {
    bool IsThere = false;
    int32_t Status = DTLTO_OK;
    Buffer Bytes;
    std::string Why;
  };
  template <typename Fn> bool call(Answer &Out, Fn F);
  void waitForOpen(std::unique_lock<std::mutex> &Lock);

  const std::chrono::milliseconds Limit;
  mutable std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  enum { Unknown, Open, None } State = Unknown;
  bool Abandoned = false;
  std::function<void()> Opener; // null: was called, or there is none
  bool WaitsForOpen = false;    // the opener was called, not long ago
  const dtlto_store *Calls = nullptr;
  dtlto_session *Session = nullptr;
  unsigned NumCalls = 0; // that the plugin is in
};

} // namespace dtlto

#endif // DTLTO_HOST_FARMSTORE_H
