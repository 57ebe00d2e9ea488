//===- InputBuffers.cpp - The whole file behind a bitcode module ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/InputBuffers.h"
#include "Support/System.h"
#include <algorithm>
#include <iterator>

using namespace llvm;
using namespace dtlto;

void InputBuffers::add(MemoryBufferRef Buffer, StringRef Triple) {
  std::lock_guard<std::mutex> Lock(Mutex);
  File &F = Files[Buffer.getBufferStart()];
  if (F.Bytes.size() < Buffer.getBufferSize())
    F.Bytes = Buffer.getBuffer();
  F.Triple = Triples.insert(Triple).first->getKey();
}

std::vector<size_t> InputBuffers::sizes() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::vector<size_t> Sizes;
  for (const auto &[At, TheFile] : Files)
    Sizes.push_back(TheFile.Bytes.size());
  return Sizes;
}

void InputBuffers::drop() const {
  // An archive's members are close together: drop them with one call.
  constexpr ptrdiff_t Gap = 4096;
  std::vector<StringRef> Ranges;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    for (const auto &[At, TheFile] : Files) {
      const char *Begin = At, *End = TheFile.Bytes.end();
      if (!Ranges.empty() && Begin - Ranges.back().end() < Gap) {
        Begin = Ranges.back().begin();
        End = std::max(End, Ranges.back().end());
        Ranges.pop_back();
      }
      Ranges.emplace_back(Begin, size_t(End - Begin));
    }
  }
  dropFilePages(Ranges);
}

std::optional<InputBuffers::File>
InputBuffers::find(const BitcodeModule &Module) const {
  StringRef Slice = Module.getBuffer();
  std::lock_guard<std::mutex> Lock(Mutex);
  auto It = Files.upper_bound(Slice.data());
  if (It == Files.begin())
    return std::nullopt;
  const File &F = std::prev(It)->second;
  // A slice lies inside its file.
  if (Slice.end() > F.Bytes.end())
    return std::nullopt;
  return F;
}
