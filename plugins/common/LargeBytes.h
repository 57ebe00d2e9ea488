//===- LargeBytes.h - Large arrays outside of the heap ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_LARGEBYTES_H
#define DTLTO_PLUGINS_LARGEBYTES_H

#include <cstddef>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace dtlto {

/// Allocates memory from the system. The heap may be that of mold 1.x, whose
/// mimalloc 2.0.9 ends the process if one thread allocates over 16 MiB, ends,
/// and another thread frees it (github.com/microsoft/mimalloc/issues/691).
template <class T> struct SystemAllocator {
  using value_type = T;
  SystemAllocator() = default;
  template <class U> SystemAllocator(const SystemAllocator<U> &) {}

  T *allocate(size_t N) {
    void *Memory = N > SIZE_MAX / sizeof(T)
                       ? MAP_FAILED
                       : ::mmap(nullptr, N * sizeof(T), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (Memory == MAP_FAILED)
      throw std::bad_alloc();
    return static_cast<T *>(Memory);
  }
  void deallocate(T *Memory, size_t N) { ::munmap(Memory, N * sizeof(T)); }

  friend bool operator==(const SystemAllocator &, const SystemAllocator &) {
    return true;
  }
  friend bool operator!=(const SystemAllocator &, const SystemAllocator &) {
    return false;
  }
};

using LargeBytes = std::vector<unsigned char, SystemAllocator<unsigned char>>;

} // namespace dtlto

#endif // DTLTO_PLUGINS_LARGEBYTES_H
