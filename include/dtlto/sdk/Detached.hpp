//===- dtlto/sdk/Detached.hpp - Threads that nobody waits for ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread of mingw-w64's that ends before it is detached damages others: what
// is known of it is given to the next one while it still uses that, and a
// handle is closed twice, which may be somebody else's by then.
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

/// Calls \p Work on a thread of its own, which it begins with once it is
/// detached. Throws std::system_error if there is no thread to be had.
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
