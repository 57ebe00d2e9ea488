//===- ObjectFields.cpp - The numbers in an object ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ObjectFields.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/COFF.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MachO.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace dtlto::test;

namespace {

/// Reads numbers of either byte order, and records the positions of fields.
class FieldFinder {
public:
  FieldFinder(StringRef Object, bool IsBig) : Object(Object), IsBig(IsBig) {}

  uint64_t at(uint64_t Offset, unsigned Size) const {
    if (Offset > Object.size() || Size > Object.size() - Offset)
      return 0;
    uint64_t Value = 0;
    for (unsigned I = 0; I != Size; ++I)
      Value |= uint64_t(uint8_t(Object[Offset + I]))
               << 8 * (IsBig ? Size - 1 - I : I);
    return Value;
  }

  /// Records fields of these sizes in sequence, and advances \p Offset.
  void add(uint64_t &Offset, ArrayRef<unsigned> Sizes) {
    for (unsigned Size : Sizes) {
      if (Offset <= Object.size() && Size <= Object.size() - Offset)
        Fields.push_back({size_t(Offset), Size, Group});
      Offset += Size;
    }
  }
  /// Records a table of \p Count entries.
  void table(uint64_t Offset, uint64_t Count, ArrayRef<unsigned> Sizes) {
    ++Group;
    for (; Count != 0 && Offset < Object.size(); --Count)
      add(Offset, Sizes);
  }
  /// Records bytes that a linker interprets.
  void bytes(uint64_t Offset, uint64_t Size) { table(Offset, Size, {1}); }

  std::vector<Field> Fields;

  void elf();
  void coff();
  void machO();
  void wasm();

private:
  StringRef Object;
  bool IsBig;
  unsigned Group = 0;
};

} // namespace

void FieldFinder::elf() {
  bool Is64 = Object[ELF::EI_CLASS] == ELF::ELFCLASS64;
  unsigned W = Is64 ? 8 : 4;
  uint64_t At = 16;
  add(At, {2, 2, 4, W, W, W, 4, 2, 2, 2, 2, 2, 2});
  uint64_t Table = at(Is64 ? 40 : 32, W), Count = at(Is64 ? 60 : 48, 2);
  table(Table, Count, {4, 4, W, W, W, W, 4, 4, W, W});
  uint64_t HeaderSize = Is64 ? 64 : 40;
  for (uint64_t I = 0; I != Count; ++I) {
    uint64_t H = Table + I * HeaderSize;
    uint64_t Offset = at(H + 8 + 2 * W, W), Size = at(H + 8 + 3 * W, W);
    switch (at(H + 4, 4)) {
    case ELF::SHT_SYMTAB:
      if (Is64)
        table(Offset, Size / 24, {4, 1, 1, 2, 8, 8});
      else
        table(Offset, Size / 16, {4, 4, 4, 1, 1, 2});
      break;
    case ELF::SHT_RELA:
      if (Is64)
        table(Offset, Size / 24, {8, 4, 4, 8});
      else
        table(Offset, Size / 12, {4, 1, 1, 1, 1, 4});
      break;
    case ELF::SHT_REL:
      if (Is64)
        table(Offset, Size / 16, {8, 4, 4});
      else
        table(Offset, Size / 8, {4, 1, 1, 1, 1});
      break;
    case ELF::SHT_GROUP:
      table(Offset, Size / 4, {4});
      break;
    case ELF::SHT_NOTE:
      table(Offset, Size / 4, {4});
      break;
    case ELF::SHT_NOBITS:
    case ELF::SHT_NULL:
      break;
    default:
      // .eh_frame, .debug_* and a few bytes of code.
      bytes(Offset, std::min<uint64_t>(Size, 400));
    }
  }
}

void FieldFinder::coff() {
  uint64_t At = 0;
  add(At, {2, 2, 4, 4, 4, 2, 2});
  uint64_t Sections = at(2, 2), Symbols = at(8, 4), NumSymbols = at(12, 4);
  uint64_t Table = 20 + at(16, 2);
  table(Table, Sections, {4, 4, 4, 4, 4, 4, 4, 4, 2, 2, 4});
  for (uint64_t I = 0; I != Sections; ++I) {
    uint64_t H = Table + 40 * I;
    table(at(H + 24, 4), at(H + 32, 2), {4, 4, 2});
    bytes(at(H + 20, 4), std::min<uint64_t>(at(H + 16, 4), 300));
  }
  for (uint64_t I = 0, S; I < NumSymbols; ++I) {
    S = Symbols + 18 * I;
    if (S >= Object.size())
      break;
    unsigned Aux = at(S + 17, 1);
    table(S, 1, {4, 4, 4, 2, 2, 1, 1});
    // Mostly of sections.
    table(S + 18, Aux, {4, 2, 2, 4, 2, 1, 1, 1, 1});
    I += Aux;
  }
  At = Symbols + 18 * NumSymbols;
  add(At, {4});
}

void FieldFinder::machO() {
  bool Is64 = at(0, 4) == MachO::MH_MAGIC_64;
  unsigned W = Is64 ? 8 : 4;
  uint64_t At = 0;
  add(At, {4, 4, 4, 4, 4, 4, 4});
  uint64_t Command = Is64 ? 32 : 28;
  for (uint64_t Left = at(16, 4); Left != 0 && Command < Object.size();
       --Left) {
    uint64_t Kind = at(Command, 4), Size = at(Command + 4, 4);
    table(Command, Size / 4, {4});
    if (Kind == MachO::LC_SEGMENT || Kind == MachO::LC_SEGMENT_64) {
      uint64_t Count = at(Command + 32 + 4 * W, 4);
      uint64_t S = Command + (Is64 ? 72 : 56);
      for (; Count != 0 && S < Object.size(); --Count) {
        uint64_t Fields = S + 32 + 2 * W;
        table(at(Fields + 8, 4), at(Fields + 12, 4), {4, 1, 1, 1, 1});
        bytes(at(Fields, 4), std::min<uint64_t>(at(S + 32 + W, W), 300));
        S += Is64 ? 80 : 68;
      }
    } else if (Kind == MachO::LC_SYMTAB) {
      table(at(Command + 8, 4), at(Command + 12, 4), {4, 1, 1, 2, W});
    } else if (Kind == MachO::LC_DATA_IN_CODE ||
               Kind == MachO::LC_LINKER_OPTIMIZATION_HINT) {
      bytes(at(Command + 8, 4), at(Command + 12, 4));
    }
    Command += std::max<uint64_t>(Size, 8);
  }
}

void FieldFinder::wasm() {
  for (uint64_t At = 8; At < Object.size();) {
    uint64_t Begin = At++, Size = 0;
    unsigned Shift = 0;
    do
      Size |= (at(At, 1) & 0x7f) << Shift, Shift += 7;
    while (at(At++, 1) & 0x80 && Shift < 35);
    bytes(Begin, At - Begin);
    bytes(At, std::min<uint64_t>(Size, 600));
    At += Size;
  }
}

std::vector<Field> dtlto::test::fieldsOf(StringRef Object) {
  FieldFinder Little(Object, false);
  switch (identify_magic(Object)) {
  case file_magic::elf_relocatable: {
    FieldFinder F(Object, Object[ELF::EI_DATA] == ELF::ELFDATA2MSB);
    F.elf();
    return F.Fields;
  }
  case file_magic::coff_object:
    Little.coff();
    break;
  case file_magic::macho_object:
    Little.machO();
    break;
  case file_magic::wasm_object:
    Little.wasm();
    break;
  default:
    break;
  }
  return Little.Fields;
}

void dtlto::test::changeFields(std::string &Object, std::mt19937 &Random) {
  auto Below = [&](size_t N) { return size_t(Random() % N); };
  std::vector<Field> Fields = fieldsOf(Object);
  if (Fields.empty())
    return;
  // Large and small tables are equally likely. The fields of a table are
  // contiguous.
  std::vector<size_t> Begins;
  for (size_t I = 0; I != Fields.size(); ++I)
    if (I == 0 || Fields[I].Group != Fields[I - 1].Group)
      Begins.push_back(I);
  size_t NumGroups = Begins.size();
  Begins.push_back(Fields.size());
  for (size_t Times = 1 + Below(3); Times != 0; --Times) {
    size_t Which = Below(NumGroups);
    ArrayRef<Field> Group = ArrayRef(Fields).slice(
        Begins[Which], Begins[Which + 1] - Begins[Which]);
    const Field F =
        Below(2) ? Group[Below(Group.size())] : Fields[Below(Fields.size())];
    std::string Bytes = Object.substr(F.Offset, F.Size);
    bool IsBig = StringRef(Object).starts_with("\x7f"
                                               "ELF") &&
                 Object[ELF::EI_DATA] == ELF::ELFDATA2MSB;
    if (IsBig)
      std::reverse(Bytes.begin(), Bytes.end());
    uint64_t Value = 0;
    for (unsigned I = 0; I != F.Size; ++I)
      Value |= uint64_t(uint8_t(Bytes[I])) << 8 * I;
    switch (Below(10)) {
    case 0:
      Value = Below(4);
      break;
    case 1:
      Value = Below(128);
      break;
    case 2:
      Value += 1 + Below(3);
      break;
    case 3:
      Value -= 1 + Below(3);
      break;
    case 4:
      Value ^= uint64_t(1) << Below(8 * F.Size);
      break;
    case 5:
      Value = ~uint64_t(0) >> Below(8 * F.Size);
      break;
    case 6:
      Value = Object.size() - Below(16);
      break;
    case 7: {
      // Copy a field of the same size from elsewhere.
      const Field Other = Group[Below(Group.size())];
      if (Other.Size == F.Size) {
        Object.replace(F.Offset, F.Size, Object.substr(Other.Offset, F.Size));
        continue;
      }
      Value *= 2;
      break;
    }
    case 8:
      Value = uint64_t(1) << Below(8 * F.Size);
      break;
    case 9:
      Value = (uint64_t(Random()) << 32 | Random());
      break;
    }
    for (unsigned I = 0; I != F.Size; ++I)
      Bytes[I] = char(Value >> 8 * I);
    if (IsBig)
      std::reverse(Bytes.begin(), Bytes.end());
    Object.replace(F.Offset, F.Size, Bytes);
  }
  if (Below(16) == 0)
    Object[Below(Object.size())] = char(Random());
}
