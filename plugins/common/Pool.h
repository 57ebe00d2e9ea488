//===- Pool.h - Connections between calls -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_POOL_H
#define DTLTO_PLUGINS_POOL_H

#include <memory>
#include <mutex>
#include <vector>

namespace dtlto {

/// Objects that no call uses at the moment. Any thread.
template <typename T, typename Delete = std::default_delete<T>> class Pool {
public:
  using Entry = std::unique_ptr<T, Delete>;

  /// Keeps at most \p Max objects.
  explicit Pool(size_t Max) : Max(Max) {}

  /// Returns the object that was used last, or null.
  Entry take() {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Idle.empty())
      return nullptr;
    Entry Last = std::move(Idle.back());
    Idle.pop_back();
    return Last;
  }
  void give(Entry E) {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Idle.size() < Max)
      Idle.push_back(std::move(E));
  }

private:
  const size_t Max;
  std::mutex Mutex; // guards Idle
  std::vector<Entry> Idle;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_POOL_H
