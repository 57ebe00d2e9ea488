//===- PartNumber.h - Which part of a module a job compiles -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_PARTNUMBER_H
#define DTLTO_SUPPORT_PARTNUMBER_H

#include <cstdint>
#include <string>

namespace dtlto {

/// Counted from 0.
struct PartNumber {
  unsigned Index = 0, Count = 1;

  bool isWhole() const { return Count == 1; }
};

/// A module is compiled in no more parts.
constexpr unsigned MaxParts = 64;

/// With --thinlto-dist-split=auto, a part has at least so many instructions,
/// about a second of code generation.
constexpr unsigned MinAutoPart = 10000;

/// How many it has in a link of \p OfLink. Each part loads what its module
/// imports, and optimizes copies of the module's small functions: parts of a
/// large link that are as fine as those of a small one are mostly work done
/// twice. Parts of a thousandth of the link keep a thousand slots busy. With
/// more than four seconds of work in each, finer ones would cost little.
constexpr unsigned autoPart(uint64_t OfLink) {
  unsigned Size = MinAutoPart;
  while (Size < 4 * MinAutoPart && OfLink / Size > 1000)
    Size *= 2;
  return Size;
}

/// To be raised by each change to what is in which part (Split/): parts of one
/// module are compiled by workers, and found in caches, of one version.
constexpr unsigned PartitionVersion = 9;

/// \p Module with the part, for people: foo.o [2/8].
inline std::string partTitle(const std::string &Module, PartNumber P) {
  if (P.isWhole())
    return Module;
  return Module + " [" + std::to_string(P.Index + 1) + "/" +
         std::to_string(P.Count) + "]";
}

/// The part, for names of files; nothing for a whole module.
inline std::string partSuffix(PartNumber P) {
  if (P.isWhole())
    return "";
  return "-" + std::to_string(P.Index + 1) + "-of-" + std::to_string(P.Count);
}

/// \p Name with the part, for files and LLD. It ends as the module's does, for
/// linker scripts that name files, as in *foo.o(.text): 2-of-8-foo.o,
/// a.a(2-of-8-foo.o at 64).
inline std::string partFile(std::string Name, PartNumber P) {
  if (P.isWhole())
    return Name;
  size_t Before = Name.find_last_of("/\\(");
  return Name.insert(Before == std::string::npos ? 0 : Before + 1,
                     partSuffix(P).substr(1) + "-");
}

} // namespace dtlto

#endif // DTLTO_SUPPORT_PARTNUMBER_H
