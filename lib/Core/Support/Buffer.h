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

/// A dtlto_buffer that releases itself once, on whichever thread that is.
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

  /// Gives the buffer away: the caller owns it.
  dtlto_buffer take() { return std::exchange(Raw, dtlto_buffer{}); }

  void reset() {
    dtlto_buffer Old = take();
    if (Old.release)
      Old.release(Old.owner, Old.data, Old.size);
  }

  /// A buffer of the host's own.
  static Buffer own(llvm::SmallVector<char, 0> &&Bytes) {
    auto *Owner = new llvm::SmallVector<char, 0>(std::move(Bytes));
    return Buffer(
        dtlto_buffer{Owner->data(), Owner->size(), Owner,
                     [](void *Owner, const void *, uint64_t) {
                       delete static_cast<llvm::SmallVector<char, 0> *>(Owner);
                     }});
  }

  /// One that others own as well.
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

  /// \p Part of the bytes of \p Whole, which stay where they are.
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
