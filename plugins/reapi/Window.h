//===- Window.h - How many are in flight ------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_WINDOW_H
#define DTLTO_REAPI_WINDOW_H

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace dtlto::reapi {

/// How many executions a server is asked for at the same time. It shrinks
/// with each that the server has no room for, and grows again with each that
/// ends well. Any thread.
class Window {
public:
  explicit Window(unsigned Max) : Max(Max), Size(Max) {}

  /// Waits for a place. False if \p IsStopped() says so; wake() has it look.
  template <typename F> bool enter(F IsStopped) {
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(Lock, [&] { return Used < Size || IsStopped(); });
    if (IsStopped())
      return false;
    ++Used;
    return true;
  }
  void leave() {
    std::lock_guard<std::mutex> Lock(Mutex);
    --Used;
    Changed.notify_all();
  }
  void wake() {
    std::lock_guard<std::mutex> Lock(Mutex);
    Changed.notify_all();
  }
  /// One of those in flight ended well.
  void grow() {
    std::lock_guard<std::mutex> Lock(Mutex);
    Size = std::min(Max, Size + 1);
    Changed.notify_all();
  }
  /// The server has no room for one of those in flight. Several that were in
  /// flight together say so one after the other, and each leaves: so it ends
  /// below what the server had room for, and not at one.
  void shrink() {
    std::lock_guard<std::mutex> Lock(Mutex);
    Size = std::max(1u, std::min(Size, Used) - 1);
  }
  unsigned size() const {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Size;
  }
  unsigned used() const {
    std::lock_guard<std::mutex> Lock(Mutex);
    return Used;
  }

private:
  const unsigned Max;
  mutable std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  unsigned Size, Used = 0;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_WINDOW_H
