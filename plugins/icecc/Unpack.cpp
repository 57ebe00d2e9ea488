//===- Unpack.cpp - Safe unpacking for libicecc ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk contains its compressed and its unpacked size. libicecc unpacks it
// into a buffer of the latter size. For LZO it uses the function that doesn't
// check the buffer's end: with too small a size, a sender could write beyond
// the buffer in the linker. With too large a size, the rest of the buffer would
// keep its old bytes.
//
// The linker gives libicecc these functions instead of the libraries' (--wrap,
// in CMakeLists.txt). They refuse a chunk whose size is wrong. libicecc then
// returns a chunk without a buffer.
//
//===----------------------------------------------------------------------===//

#include <lzo/lzo1x.h>
#include <zstd.h>
#include <zstd_errors.h>

extern "C" {

/// \p ToSize is the buffer's size, which LZO's own function ignores.
int __wrap_lzo1x_decompress(const unsigned char *From, lzo_uint Size,
                            unsigned char *To, lzo_uint *ToSize, void *) {
  lzo_uint ClaimedSize = *ToSize;
  int Status = lzo1x_decompress_safe(From, Size, To, ToSize, nullptr);
  return Status == LZO_E_OK && *ToSize != ClaimedSize ? LZO_E_ERROR : Status;
}

size_t __real_ZSTD_decompress(void *To, size_t ToSize, const void *From,
                              size_t Size);

size_t __wrap_ZSTD_decompress(void *To, size_t ToSize, const void *From,
                              size_t Size) {
  size_t UnpackedSize = __real_ZSTD_decompress(To, ToSize, From, Size);
  return ZSTD_isError(UnpackedSize) || UnpackedSize == ToSize
             ? UnpackedSize
             : static_cast<size_t>(-ZSTD_error_corruption_detected);
}
}
