//===- Digest.cpp - Names of blobs ----------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Digest.h"
#include <algorithm>
#include <array>
#include <openssl/sha.h>
#include <vector>

using namespace dtlto::reapi;

const char *dtlto::reapi::nameOf(DigestKind Kind) {
  return Kind == DigestKind::Blake3 ? "BLAKE3" : "SHA-256";
}

bool dtlto::reapi::isHash(std::string_view Hash) {
  return Hash.size() == 64 &&
         Hash.find_first_not_of("0123456789abcdef") == Hash.npos;
}

//===----------------------------------------------------------------------===//
// BLAKE3
//
// The input is cut into chunks of 1024 bytes, and these into blocks of 64. Each
// chunk is compressed, block by block, to a chaining value of eight words. Two
// such values are compressed to their parent's, in a binary tree whose left
// half is always full. The root's value is the digest.
//===----------------------------------------------------------------------===//

namespace {
using Words = std::array<uint32_t, 8>;
constexpr uint32_t ChunkStart = 1, ChunkEnd = 2, Parent = 4, Root = 8;
} // namespace

static constexpr size_t BlockSize = 64, ChunkSize = 1024;
static constexpr Words Iv = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                             0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
static constexpr uint8_t Order[16] = {2, 6,  3,  10, 7, 0,  4,  13,
                                      1, 11, 12, 5,  9, 14, 15, 8};

static constexpr unsigned NumLanes = 4;
using Lanes = uint32_t __attribute__((vector_size(4 * NumLanes)));

template <typename W> static W rotate(W X, unsigned N) {
  return X >> N | X << (32 - N);
}

template <typename W>
static void mix(W *S, unsigned A, unsigned B, unsigned C, unsigned D, W X,
                W Y) {
  S[A] = S[A] + S[B] + X;
  S[D] = rotate(S[D] ^ S[A], 16);
  S[C] = S[C] + S[D];
  S[B] = rotate(S[B] ^ S[C], 12);
  S[A] = S[A] + S[B] + Y;
  S[D] = rotate(S[D] ^ S[A], 8);
  S[C] = S[C] + S[D];
  S[B] = rotate(S[B] ^ S[C], 7);
}

/// Compresses the block \p M of \p Size bytes into \p Chain. A W is a word of
/// one chunk, or the same word of several. \p Low and \p High are the number of
/// the chunk.
template <typename W>
static void compress(W Chain[8], W M[16], W Low, W High, uint32_t Size,
                     uint32_t Flags) {
  W S[16];
  std::copy(Chain, Chain + 8, S);
  for (unsigned I = 0; I != 4; ++I)
    S[8 + I] = Iv[I] - W{};
  S[12] = Low;
  S[13] = High;
  S[14] = Size - W{};
  S[15] = Flags - W{};
  for (unsigned Round = 0; Round != 7; ++Round) {
    for (unsigned I = 0; I != 4; ++I)
      mix<W>(S, I, 4 + I, 8 + I, 12 + I, M[2 * I], M[2 * I + 1]);
    for (unsigned I = 0; I != 4; ++I)
      mix<W>(S, I, 4 + (I + 1) % 4, 8 + (I + 2) % 4, 12 + (I + 3) % 4,
             M[8 + 2 * I], M[9 + 2 * I]);
    W Next[16];
    for (unsigned I = 0; I != 16; ++I)
      Next[I] = M[Order[I]];
    std::copy(Next, Next + 16, M);
  }
  for (unsigned I = 0; I != 8; ++I)
    Chain[I] = S[I] ^ S[I + 8];
}

static uint32_t word(const char *At) {
  auto *B = reinterpret_cast<const uint8_t *>(At);
  return uint32_t(B[0]) | uint32_t(B[1]) << 8 | uint32_t(B[2]) << 16 |
         uint32_t(B[3]) << 24;
}

/// Compresses one full chunk for each lane, from chunk \p Number on.
static void compressLanes(const char *Bytes, uint64_t Number, Words *Out) {
  Lanes Chain[8], Low, High;
  for (unsigned I = 0; I != 8; ++I)
    Chain[I] = Iv[I] - Lanes{};
  for (unsigned L = 0; L != NumLanes; ++L) {
    Low[L] = uint32_t(Number + L);
    High[L] = uint32_t((Number + L) >> 32);
  }
  for (size_t At = 0; At != ChunkSize; At += BlockSize) {
    Lanes M[16];
    for (unsigned I = 0; I != 16; ++I)
      for (unsigned L = 0; L != NumLanes; ++L)
        M[I][L] = word(Bytes + L * ChunkSize + At + 4 * I);
    compress<Lanes>(Chain, M, Low, High, BlockSize,
                    (At == 0 ? ChunkStart : 0) |
                        (At + BlockSize == ChunkSize ? ChunkEnd : 0));
  }
  for (unsigned L = 0; L != NumLanes; ++L)
    for (unsigned I = 0; I != 8; ++I)
      Out[L][I] = Chain[I][L];
}

static Words compressChunk(std::string_view Chunk, uint64_t Number,
                           uint32_t LastFlags) {
  Words Chain = Iv;
  uint32_t Flags = ChunkStart;
  bool IsLast;
  do {
    std::string_view Block = Chunk.substr(0, BlockSize);
    Chunk.remove_prefix(Block.size());
    IsLast = Chunk.empty();
    char Full[BlockSize] = {};
    std::copy(Block.begin(), Block.end(), Full);
    uint32_t M[16];
    for (unsigned I = 0; I != 16; ++I)
      M[I] = word(Full + 4 * I);
    compress<uint32_t>(Chain.data(), M, uint32_t(Number),
                       uint32_t(Number >> 32), uint32_t(Block.size()),
                       Flags | (IsLast ? ChunkEnd | LastFlags : 0));
    Flags = 0;
  } while (!IsLast);
  return Chain;
}

static Words join(const Words &Left, const Words &Right, uint32_t LastFlags) {
  Words Chain = Iv;
  uint32_t M[16];
  std::copy(Left.begin(), Left.end(), M);
  std::copy(Right.begin(), Right.end(), M + 8);
  compress<uint32_t>(Chain.data(), M, 0, 0, BlockSize, Parent | LastFlags);
  return Chain;
}

void dtlto::reapi::blake3(std::string_view Bytes, uint8_t Out[32]) {
  std::vector<Words> Left; // subtrees without their right halves
  uint64_t Number = 0;
  auto Add = [&](Words New) {
    ++Number;
    for (uint64_t N = Number; (N & 1) == 0; N >>= 1) {
      New = join(Left.back(), New, 0);
      Left.pop_back();
    }
    Left.push_back(New);
  };
  // Keep the last chunk: it is the root, or ends the last subtree.
  while (Bytes.size() > NumLanes * ChunkSize) {
    Words New[NumLanes];
    compressLanes(Bytes.data(), Number, New);
    for (const Words &W : New)
      Add(W);
    Bytes.remove_prefix(NumLanes * ChunkSize);
  }
  while (Bytes.size() > ChunkSize) {
    Add(compressChunk(Bytes.substr(0, ChunkSize), Number, 0));
    Bytes.remove_prefix(ChunkSize);
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

BlobName dtlto::reapi::nameBlob(DigestKind Kind, std::string_view Bytes) {
  uint8_t Out[32];
  if (Kind == DigestKind::Blake3)
    blake3(Bytes, Out);
  else
    SHA256(reinterpret_cast<const unsigned char *>(Bytes.data()), Bytes.size(),
           Out);
  return {hexDigits(Out, sizeof(Out)), Bytes.size()};
}
