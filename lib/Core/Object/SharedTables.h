//===- SharedTables.h - What objects of several formats have ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_SHAREDTABLES_H
#define DTLTO_OBJECT_SHAREDTABLES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// In bytes; more than any target's address space has for one object.
constexpr uint64_t MaxSize = uint64_t(1) << 48;

/// Fails if there is no symbol of that index.
using CheckSymbol = llvm::function_ref<llvm::Error(uint64_t)>;

/// A table of significant addresses: each is a symbol's index in LEB128.
llvm::Error checkAddrsig(llvm::StringRef Contents, CheckSymbol Check);

/// A profile of calls as COFF and Mach-O have it: two symbols of 32 bits and a
/// number of 64, little-endian.
llvm::Error checkCallGraph(llvm::StringRef Contents, CheckSymbol Check);

/// What a CIE of .eh_frame says of its FDEs.
struct Cie {
  bool HasSize = false; // of what its FDEs have beside addresses
  uint8_t AddressEncoding = llvm::dwarf::DW_EH_PE_absptr;
  uint8_t TableEncoding = llvm::dwarf::DW_EH_PE_omit;
  uint64_t Personality = 0;     // the offset in the CIE of an address, or 0
  unsigned PersonalitySize = 0; // in bytes
};

/// Reads \p Entry, which begins with its length and the id 0, as LLD does.
/// \p WordSize is in bytes.
llvm::Expected<Cie> readCie(llvm::StringRef Entry, bool IsLittleEndian,
                            unsigned WordSize);

/// The size of an address in bytes; 0 if \p Encoding is unknown.
unsigned encodedSize(uint8_t Encoding, unsigned WordSize);

} // namespace dtlto

#endif // DTLTO_OBJECT_SHAREDTABLES_H
