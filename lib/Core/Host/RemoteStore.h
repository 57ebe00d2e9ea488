//===- RemoteStore.h - A store that machines share --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses dtlto.store/1 of a plugin. A server may not answer, and a plugin may
// hang: no function here waits longer than its limit for either.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_REMOTESTORE_H
#define DTLTO_HOST_REMOTESTORE_H

#include "Support/Buffer.h"
#include "Support/Messages.h"
#include "dtlto/ext/store.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace dtlto {

/// A store of bytes under keys. Thread-safe.
class RemoteStore : public std::enable_shared_from_this<RemoteStore> {
public:
  using Key = std::array<uint8_t, 32>;
  /// The number of calls at a time, which hides the time to reach the server.
  static constexpr unsigned MaxCalls = 32;
  /// How long the end of a link waits until its results are stored.
  static constexpr std::chrono::milliseconds MaxFinish{1000};

  /// Opens the store of \p Plugin for \p URL; see dtlto_store_params for the
  /// parameters. \p Msg outlives finish(). Fails with one line.
  static llvm::Expected<std::shared_ptr<RemoteStore>>
  open(const dtlto_plugin &Plugin, const std::string &URL,
       llvm::ArrayRef<std::string> Args, bool MayWrite, Messages &Msg);
  ~RemoteStore();
  RemoteStore(const RemoteStore &) = delete;

  /// For messages.
  const std::string &name() const { return Name; }
  /// Whether get() may succeed; false after an error.
  bool mayGet() const { return !HasGetFailed; }
  /// Whether put() may succeed; false after an error, and if the user allows
  /// only reading.
  bool mayPut() const { return MayWrite && !HasPutFailed; }

  /// Calls the plugin on this thread, which a hanging plugin keeps. Returns
  /// what is under \p K: nothing if there is none, if it is larger than
  /// \p MaxBytes, or if the store has failed, which is reported once.
  Buffer get(const Key &K, uint64_t MaxBytes);
  /// Like get(), but returns at the latest after the limit of a call.
  Buffer getWithin(const Key &K, uint64_t MaxBytes);

  /// Stores what \p Make returns soon, on another thread, which calls \p Make.
  /// \p Size is the memory that \p Make has. Returns false if it is certain
  /// that nothing will be stored.
  bool put(const Key &K, uint64_t Size, std::function<std::string()> Make);
  /// Waits up to \p Limit until all bytes are stored, and gives up the others.
  /// Afterwards, nothing is stored or reported.
  void finish(std::chrono::milliseconds Limit = MaxFinish);

private:
  struct Put {
    Key K;
    uint64_t Size;
    std::function<std::string()> Make;
  };

  RemoteStore(const dtlto_store &Calls, std::string Title, std::string Name,
              bool MayWrite, Messages &Msg)
      : Calls(Calls), Title(std::move(Title)), Name(std::move(Name)),
        MayWrite(MayWrite), Msg(Msg) {}

  void runPuts();
  void report(std::atomic<bool> &Failed, llvm::StringRef What,
              llvm::StringRef Why);

  const dtlto_store &Calls;
  const std::string Title, Name; // without and with the URL
  const bool MayWrite;
  Messages &Msg;
  dtlto_store_client *Client = nullptr;
  std::atomic<bool> HasGetFailed{false}, HasPutFailed{false};

  std::mutex Mutex; // guards the following members, and the use of Msg
  std::condition_variable Changed;
  std::deque<Put> Puts;    // that have not begun
  uint64_t PutBytes = 0;   // of all puts that have not ended
  unsigned NumPutters = 0; // threads
  size_t NumStored = 0, NumLost = 0;
  bool IsFinished = false;
};

/// Returns the name of the plugin that has the store of \p URL: for
/// `https://HOST`, `store_http`. Fails if it is no URL, or has a password.
llvm::Expected<std::string> storePlugin(llvm::StringRef URL);

} // namespace dtlto

#endif // DTLTO_HOST_REMOTESTORE_H
