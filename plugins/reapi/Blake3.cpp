//===- Blake3.cpp - BLAKE3 ------------------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is cut into chunks of 1024 bytes, and these into blocks of 64. Each
// chunk is compressed, block by block, to a chaining value of eight words; two
// of these are compressed to their parent's, in a binary tree whose left half
// is always full; the root's is the digest.
//
//===----------------------------------------------------------------------===//

#include "Digest.h"
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace {
using Words = std::array<uint32_t, 8>;
using Block = std::array<uint32_t, 16>;
enum : uint32_t { ChunkStart = 1, ChunkEnd = 2, Parent = 4, Root = 8 };
} // namespace

static constexpr size_t BlockSize = 64, ChunkSize = 1024;
static constexpr Words Iv = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                             0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
static constexpr uint8_t Order[16] = {2, 6,  3,  10, 7, 0,  4,  13,
                                      1, 11, 12, 5,  9, 14, 15, 8};

static uint32_t rotate(uint32_t X, unsigned N) {
  return X >> N | X << (32 - N);
}

static void mix(uint32_t *S, unsigned A, unsigned B, unsigned C, unsigned D,
                uint32_t X, uint32_t Y) {
  S[A] = S[A] + S[B] + X;
  S[D] = rotate(S[D] ^ S[A], 16);
  S[C] = S[C] + S[D];
  S[B] = rotate(S[B] ^ S[C], 12);
  S[A] = S[A] + S[B] + Y;
  S[D] = rotate(S[D] ^ S[A], 8);
  S[C] = S[C] + S[D];
  S[B] = rotate(S[B] ^ S[C], 7);
}

static Words compress(const Words &Chain, Block M, uint64_t Counter,
                      uint32_t Size, uint32_t Flags) {
  uint32_t S[16];
  std::copy(Chain.begin(), Chain.end(), S);
  std::copy(Iv.begin(), Iv.begin() + 4, S + 8);
  S[12] = uint32_t(Counter);
  S[13] = uint32_t(Counter >> 32);
  S[14] = Size;
  S[15] = Flags;
  for (unsigned Round = 0; Round != 7; ++Round) {
    mix(S, 0, 4, 8, 12, M[0], M[1]);
    mix(S, 1, 5, 9, 13, M[2], M[3]);
    mix(S, 2, 6, 10, 14, M[4], M[5]);
    mix(S, 3, 7, 11, 15, M[6], M[7]);
    mix(S, 0, 5, 10, 15, M[8], M[9]);
    mix(S, 1, 6, 11, 12, M[10], M[11]);
    mix(S, 2, 7, 8, 13, M[12], M[13]);
    mix(S, 3, 4, 9, 14, M[14], M[15]);
    Block Next;
    for (unsigned I = 0; I != 16; ++I)
      Next[I] = M[Order[I]];
    M = Next;
  }
  Words Out;
  for (unsigned I = 0; I != 8; ++I)
    Out[I] = S[I] ^ S[I + 8];
  return Out;
}

static Block load(const char *Bytes, size_t Size) {
  uint8_t Full[BlockSize] = {};
  if (Size)
    std::memcpy(Full, Bytes, Size);
  Block M;
  for (unsigned I = 0; I != 16; ++I)
    M[I] = uint32_t(Full[4 * I]) | uint32_t(Full[4 * I + 1]) << 8 |
           uint32_t(Full[4 * I + 2]) << 16 | uint32_t(Full[4 * I + 3]) << 24;
  return M;
}

static Words compressChunk(std::string_view Chunk, uint64_t Number,
                           uint32_t LastFlags) {
  Words Chain = Iv;
  uint32_t Flags = ChunkStart;
  while (Chunk.size() > BlockSize) {
    Chain = compress(Chain, load(Chunk.data(), BlockSize), Number, BlockSize,
                     Flags);
    Chunk.remove_prefix(BlockSize);
    Flags = 0;
  }
  return compress(Chain, load(Chunk.data(), Chunk.size()), Number,
                  uint32_t(Chunk.size()), Flags | ChunkEnd | LastFlags);
}

static Words join(const Words &Left, const Words &Right, uint32_t LastFlags) {
  Block M;
  std::copy(Left.begin(), Left.end(), M.begin());
  std::copy(Right.begin(), Right.end(), M.begin() + 8);
  return compress(Iv, M, 0, BlockSize, Parent | LastFlags);
}

void dtlto::reapi::blake3(std::string_view Bytes, uint8_t Out[32]) {
  std::vector<Words> Left; // subtrees that wait for their right halves
  uint64_t Number = 0;
  while (Bytes.size() > ChunkSize) {
    Words New = compressChunk(Bytes.substr(0, ChunkSize), Number++, 0);
    Bytes.remove_prefix(ChunkSize);
    for (uint64_t N = Number; (N & 1) == 0; N >>= 1) {
      New = join(Left.back(), New, 0);
      Left.pop_back();
    }
    Left.push_back(New);
  }
  Words Last = compressChunk(Bytes, Number, Left.empty() ? Root : 0);
  while (!Left.empty()) {
    Last = join(Left.back(), Last, Left.size() == 1 ? Root : 0);
    Left.pop_back();
  }
  for (unsigned I = 0; I != 8; ++I)
    for (unsigned K = 0; K != 4; ++K)
      Out[4 * I + K] = uint8_t(Last[I] >> (8 * K));
}
