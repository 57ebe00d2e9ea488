//===- dtlto/sdk/Detached.hpp - Detached threads ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread of mingw-w64 that ends before it is detached damages other threads.
// The next thread reuses its record while the record is still in use, and its
// handle is closed twice; the second time, the handle may belong to another
// object.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_DETACHED_HPP
#define DTLTO_SDK_DETACHED_HPP

#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace dtlto::sdk {

/// Calls \p Work on a thread of its own, after the thread has been detached.
/// Throws std::system_error if no thread can be started.
template <typename F> void runDetached(F Work) {
  auto Detached = std::make_shared<std::promise<void>>();
  std::thread([Work = std::move(Work), Detached]() mutable {
    Detached->get_future().wait();
    Work();
  }).detach();
  Detached->set_value();
}

} // namespace dtlto::sdk

#endif // DTLTO_SDK_DETACHED_HPP
