//===- Bytes.h - Owned and borrowed bytes -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_BYTES_H
#define DTLTO_DISTCC_BYTES_H

#include <cstddef>
#include <cstdint>
#include <utility>

namespace dtlto::distcc {

/// Borrowed bytes.
struct ByteView {
  const uint8_t *Data = nullptr;
  size_t Size = 0;
};

/// Anonymous memory of the size that was reserved, of which only the pages that
/// are written to take up memory. Can be handed over to C.
class Pages {
public:
  Pages() = default;
  Pages(Pages &&O) noexcept { *this = std::move(O); }
  Pages &operator=(Pages &&O) noexcept {
    std::swap(Data, O.Data);
    std::swap(Size, O.Size);
    return *this;
  }
  ~Pages();

  /// Empty if there is no such address space. \p Size is not 0.
  static Pages reserve(size_t Size);
  /// Gives back what lies behind the first \p NewSize bytes.
  void shrink(size_t NewSize);

  uint8_t *data() { return Data; }
  const uint8_t *data() const { return Data; }
  size_t size() const { return Size; }
  ByteView view() const { return {Data, Size}; }

private:
  uint8_t *Data = nullptr;
  size_t Size = 0;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_BYTES_H
