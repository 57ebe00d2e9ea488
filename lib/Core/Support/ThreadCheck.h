//===- ThreadCheck.h - Which thread something belongs to --------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_THREADCHECK_H
#define DTLTO_SUPPORT_THREADCHECK_H

#ifndef NDEBUG
#include <atomic>
#include <cassert>
#include <thread>
#endif

namespace dtlto {

/// Asserts that only one thread, the first one, uses an object. Costs nothing
/// without assertions.
class ThreadCheck {
public:
  /// Asserts that all calls are on the same thread.
  void check() const {
#ifndef NDEBUG
    std::thread::id FirstThread, This = std::this_thread::get_id();
    assert((Owner.compare_exchange_strong(FirstThread, This) ||
            FirstThread == This) &&
           "on another thread");
#endif
  }

private:
#ifndef NDEBUG
  mutable std::atomic<std::thread::id> Owner{};
#endif
};

} // namespace dtlto

#endif // DTLTO_SUPPORT_THREADCHECK_H
