//===- Buffer.h - Owns a buffer of the ABI ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_BUFFER_H
#define DTLTO_SUPPORT_BUFFER_H

#include "dtlto/PluginAPI.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <utility>

namespace dtlto {

/// A dtlto_buffer that is released once, on any thread.
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(const dtlto_buffer &Raw) : Raw(Raw) {}
  Buffer(Buffer &&Other) : Raw(Other.take()) {}
  Buffer &operator=(Buffer &&Other) {
    if (this != &Other) {
      reset();
      Raw = Other.take();
    }
    return *this;
  }
  ~Buffer() { reset(); }

  llvm::StringRef bytes() const {
    return llvm::StringRef(static_cast<const char *>(Raw.data),
                           Raw.data ? Raw.size : 0);
  }

  /// Passes the ownership of the buffer to the caller.
  dtlto_buffer take() { return std::exchange(Raw, dtlto_buffer{}); }

  void reset() {
    dtlto_buffer Old = take();
    if (Old.release)
      Old.release(Old.owner, Old.data, Old.size);
  }

  /// Returns a buffer of the host that owns \p Bytes.
  static Buffer own(llvm::SmallVector<char, 0> &&Bytes) {
    auto *Owner = new llvm::SmallVector<char, 0>(std::move(Bytes));
    return Buffer(
        dtlto_buffer{Owner->data(), Owner->size(), Owner,
                     [](void *Owner, const void *, uint64_t) {
                       delete static_cast<llvm::SmallVector<char, 0> *>(Owner);
                     }});
  }

  /// Returns a buffer that shares the ownership of \p Bytes.
  static Buffer share(std::shared_ptr<const llvm::SmallVector<char, 0>> Bytes) {
    using Owned = decltype(Bytes);
    return Buffer(dtlto_buffer{Bytes->data(), Bytes->size(),
                               new Owned(std::move(Bytes)),
                               [](void *Owner, const void *, uint64_t) {
                                 delete static_cast<Owned *>(Owner);
                               }});
  }

  static Buffer own(std::unique_ptr<llvm::MemoryBuffer> Bytes) {
    llvm::MemoryBuffer *Owner = Bytes.release();
    return Buffer(dtlto_buffer{Owner->getBufferStart(), Owner->getBufferSize(),
                               Owner, [](void *Owner, const void *, uint64_t) {
                                 delete static_cast<llvm::MemoryBuffer *>(
                                     Owner);
                               }});
  }

  /// Returns \p Part of the bytes of \p Whole without copying them.
  static Buffer part(Buffer &&Whole, llvm::StringRef Part) {
    auto *Owner = new Buffer(std::move(Whole));
    return Buffer(dtlto_buffer{Part.data(), Part.size(), Owner,
                               [](void *Owner, const void *, uint64_t) {
                                 delete static_cast<Buffer *>(Owner);
                               }});
  }

private:
  dtlto_buffer Raw = {};
};

} // namespace dtlto

#endif // DTLTO_SUPPORT_BUFFER_H
