//===- Batch.cpp - Several small jobs as one stream -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/Batch.h"
#include "Support/Failure.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace dtlto;
using namespace llvm::support::endian;

Expected<SmallVector<StringRef, 0>> dtlto::readBatch(StringRef Bytes) {
  SmallVector<StringRef, 0> Bundles;
  do {
    if (Bundles.size() == MaxBatch)
      return failure("the batch has more than " + Twine(MaxBatch) + " bundles");
    if (Bytes.size() < 8 || Bytes.size() - 8 < read64le(Bytes.data()))
      return failure("the batch was cut off in bundle " +
                     Twine(Bundles.size() + 1));
    size_t Size = size_t(read64le(Bytes.data()));
    Bundles.push_back(Bytes.substr(8, Size));
    Bytes = Bytes.drop_front(8 + Size);
  } while (!Bytes.empty());
  return Bundles;
}

SmallString<16> dtlto::batchEntryHead(uint64_t Size, uint64_t Microseconds) {
  SmallString<16> Head;
  Head.resize(16);
  write64le(&Head[0], Size);
  write64le(&Head[8], Microseconds);
  return Head;
}
