//===- BundlePieces.cpp - Where a bundle's inputs lie ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/BUNDLE.md: a tar archive of the manifest and then the inputs, in the
// job's order. The linker has made it a moment ago; the worker checks each
// input's digest, so a wrong cut could not become a wrong object.
//
//===----------------------------------------------------------------------===//

#include "BundlePieces.h"
#include <cstddef>

using namespace dtlto::icecc;

// Of a tar archive.
static constexpr uint64_t BlockSize = 512;
static constexpr size_t SizeField = 124, SizeDigits = 11, TypeField = 156;
// A message of its own costs about as much as compressing so many bytes.
static constexpr uint64_t MinPiece = 16 << 10;

/// The size of a file by its header. False: it has none, as the archive's end.
static bool readSize(const char *Header, uint64_t &Size) {
  Size = 0;
  for (size_t I = 0; I != SizeDigits; ++I) {
    char C = Header[SizeField + I];
    if (C < '0' || C > '7')
      return false;
    Size = Size * 8 + static_cast<uint64_t>(C - '0');
  }
  return true;
}

std::vector<BundlePiece> dtlto::icecc::bundlePieces(const void *Bytes,
                                                    uint64_t Size,
                                                    const dtlto_job &Job) {
  auto *Begin = static_cast<const char *>(Bytes);
  std::vector<BundlePiece> Pieces;
  uint64_t Cut = 0; // the pieces end here
  auto Add = [&](uint64_t End, const void *Content) {
    if (End != Cut)
      Pieces.push_back(
          {Begin + Cut, End - Cut, static_cast<const char *>(Content)});
    Cut = End;
  };
  bool IsManifest = true;
  uint32_t Next = 0; // input
  for (uint64_t At = 0, FileSize; Size - At >= BlockSize;) {
    const char *Header = Begin + At;
    if (!readSize(Header, FileSize))
      break;
    At += BlockSize;
    uint64_t Blocks = (FileSize + BlockSize - 1) / BlockSize;
    if (Blocks > (Size - At) / BlockSize)
      break;
    bool IsFile = Header[TypeField] == '0'; // else a longer name for it
    if (IsFile && !IsManifest) {
      if (Next == Job.num_inputs || Job.inputs[Next]->bytes.size != FileSize)
        break;
      const dtlto_input &In = *Job.inputs[Next++];
      if (In.role == DTLTO_ROLE_IMPORT && FileSize >= MinPiece) {
        Add(At, nullptr);
        Add(At + FileSize, In.bytes.data);
      }
    }
    IsManifest &= !IsFile;
    At += Blocks * BlockSize;
  }
  Add(Size, nullptr);
  return Pieces;
}
