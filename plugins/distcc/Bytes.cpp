//===- Bytes.cpp - Owned and borrowed bytes -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"
#include "System.h"

using namespace dtlto::distcc;

Pages Pages::reserve(size_t Size) {
  Pages Result;
  if (void *P = os::reserve(Size)) {
    Result.Data = static_cast<uint8_t *>(P);
    Result.Size = Size;
  }
  return Result;
}

void Pages::shrink(size_t NewSize) {
  if (NewSize >= Size)
    return;
  os::shrink(Data, Size, NewSize);
  Size = NewSize;
  if (NewSize == 0)
    Data = nullptr;
}

Pages::~Pages() {
  if (Data)
    os::shrink(Data, Size, 0);
}
