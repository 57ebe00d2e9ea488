//===- LineTableCheck.h - What a linker follows in line tables --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_LINETABLECHECK_H
#define DTLTO_OBJECT_LINETABLECHECK_H

#include "llvm/DebugInfo/DWARF/DWARFUnit.h"
#include "llvm/Object/COFF.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace dtlto {

/// A relocation of debug information.
struct LineReloc {
  uint64_t Offset; // of what is relocated
  uint64_t Value;  // of the symbol
  int64_t Addend;
  bool HasAddend; // or it is in place
  bool IsKnown;   // no other object can change the value
};

/// A section of debug information. The relocations are in the table's order.
struct LineSection {
  llvm::StringRef Data;
  std::vector<LineReloc> Relocs;
};

/// The debug information that line tables are found with in an ELF object.
struct LineSections {
  LineSection Info, Line;
  llvm::StringRef Abbrev;
  bool IsLittleEndian;
};

/// LLD names source lines in its errors. It reads the line tables of all
/// compile units with LLVM's reader, which trusts the forms of their entries:
/// those must be known.
llvm::Error checkLineTables(const LineSections &Sections);
llvm::Error checkLineTables(const llvm::object::COFFObjectFile &File);

/// LLVM's reader goes on where an attribute says that it ends: those of a
/// unit's first entry must end in the unit.
llvm::Error checkFirstEntry(llvm::DWARFUnit &Unit);

} // namespace dtlto

#endif // DTLTO_OBJECT_LINETABLECHECK_H
