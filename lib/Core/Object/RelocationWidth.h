//===- RelocationWidth.h - How far a relocation of ELF reaches --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_RELOCATIONWIDTH_H
#define DTLTO_OBJECT_RELOCATIONWIDTH_H

#include <cstdint>

namespace dtlto {

/// The bytes around a relocation's offset that a linker reads or writes,
/// including the instructions that it replaces.
struct RelocationWidth {
  uint8_t Before = 0, After = 0;
  bool NeedsNext = false;    // it is applied together with the next one
  bool AddendIsSize = false; // of what follows: padding, or more code
};

/// Relocation \p Type of ELF's machine \p Machine. A type that isn't known
/// takes a byte: linkers refuse it.
RelocationWidth relocationWidth(uint16_t Machine, uint32_t Type);

/// Whether linkers may leave out bytes of what such a relocation is for: code
/// and padding, on machines where they do.
bool mayShorten(uint16_t Machine, uint32_t Type);

} // namespace dtlto

#endif // DTLTO_OBJECT_RELOCATIONWIDTH_H
