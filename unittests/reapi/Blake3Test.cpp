//===- Blake3Test.cpp - BLAKE3 digests ------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/BLAKE3.h"
#include "Digest.h"
#include "gtest/gtest.h"

using namespace dtlto::reapi;

/// Compares with LLVM's implementation.
TEST(Blake3Test, Sizes) {
  std::string Text;
  for (unsigned I = 0; I != 40000; ++I)
    Text += char(I * I >> 3);
  for (size_t Size : {0, 1, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049,
                      3072, 3073, 4096, 4097, 8192, 16385, 40000}) {
    llvm::BLAKE3 B;
    B.update(llvm::StringRef(Text.data(), Size));
    llvm::BLAKE3Result<32> Want = B.final<32>();
    EXPECT_EQ(hexDigits(Want.data(), 32),
              nameBlob(DigestKind::Blake3, {Text.data(), Size}).Hash)
        << Size;
  }
}
