//===- Bytes.cpp - Owned and borrowed bytes -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace dtlto::distcc;

static size_t roundToPages(size_t Size) {
  static const size_t PageSize = size_t(sysconf(_SC_PAGESIZE));
  return (Size + PageSize - 1) / PageSize * PageSize;
}

Pages Pages::reserve(size_t Size) {
  Pages Result;
  void *P = mmap(nullptr, Size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (P != MAP_FAILED) {
    Result.Data = static_cast<uint8_t *>(P);
    Result.Size = Size;
  }
  return Result;
}

void Pages::shrink(size_t NewSize) {
  if (NewSize >= Size)
    return;
  size_t Keep = roundToPages(NewSize);
  size_t Have = roundToPages(Size);
  if (Keep != Have)
    munmap(Data + Keep, Have - Keep);
  Size = NewSize;
  if (NewSize == 0)
    Data = nullptr;
}

Pages::~Pages() {
  if (Data)
    munmap(Data, roundToPages(Size));
}
