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
    llvm::StringRef Text(Bytes.data(), Bytes.size()); // stays where it is
    return keep(Text, std::move(Bytes));
  }
  static Buffer own(std::unique_ptr<llvm::MemoryBuffer> Bytes) {
    llvm::StringRef Text = Bytes->getBuffer();
    return keep(Text, std::move(Bytes));
  }

  /// Returns a buffer that shares the ownership of \p Bytes.
  static Buffer share(std::shared_ptr<const llvm::SmallVector<char, 0>> Bytes) {
    llvm::StringRef Text(Bytes->data(), Bytes->size());
    return keep(Text, std::move(Bytes));
  }

  /// Returns \p Part of the bytes of \p Whole without copying them.
  static Buffer part(Buffer &&Whole, llvm::StringRef Part) {
    return keep(Part, std::move(Whole));
  }

private:
  /// Returns a buffer of \p Bytes that releases \p Owner.
  template <typename T> static Buffer keep(llvm::StringRef Bytes, T Owner) {
    return Buffer(dtlto_buffer{Bytes.data(), Bytes.size(),
                               new T(std::move(Owner)),
                               [](void *Owner, const void *, uint64_t) {
                                 delete static_cast<T *>(Owner);
                               }});
  }

  dtlto_buffer Raw = {};
};

} // namespace dtlto

#endif // DTLTO_SUPPORT_BUFFER_H
