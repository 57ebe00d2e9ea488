//===- SharedTables.cpp - What objects of several formats have ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/SharedTables.h"
#include "Support/Failure.h"
#include "LLVM/Data.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace dtlto;

Error dtlto::checkAddrsig(StringRef Contents, CheckSymbol Check) {
  DataExtractor D = dataExtractor(Contents, /*IsLittleEndian=*/true);
  DataExtractor::Cursor C(0);
  while (!D.eof(C)) {
    uint64_t Symbol = D.getULEB128(C);
    if (!C)
      return C.takeError();
    if (Error E = Check(Symbol))
      return joinErrors(std::move(E), C.takeError());
  }
  return C.takeError();
}

Error dtlto::checkCallGraph(StringRef Contents, CheckSymbol Check) {
  constexpr size_t EntrySize = 16;
  if (Contents.size() % EntrySize != 0)
    return failure("its size is " + Twine(Contents.size()));
  for (; !Contents.empty(); Contents = Contents.drop_front(EntrySize))
    for (size_t At : {0, 4})
      if (Error E = Check(support::endian::read32le(Contents.data() + At)))
        return E;
  return Error::success();
}

unsigned dtlto::encodedSize(uint8_t Encoding, unsigned WordSize) {
  switch (Encoding & 0x07) { // signed or not
  case dwarf::DW_EH_PE_absptr:
    return WordSize;
  case dwarf::DW_EH_PE_udata2:
    return 2;
  case dwarf::DW_EH_PE_udata4:
    return 4;
  case dwarf::DW_EH_PE_udata8:
    return 8;
  default:
    return 0;
  }
}

Expected<Cie> dtlto::readCie(StringRef Entry, bool IsLittleEndian,
                             unsigned WordSize) {
  DataExtractor D = dataExtractor(Entry, IsLittleEndian);
  DataExtractor::Cursor C(8);
  Cie Result;
  uint8_t Version = D.getU8(C);
  StringRef Augmentation = D.getCStrRef(C);
  D.getULEB128(C); // alignment of code
  D.getSLEB128(C); // alignment of data
  uint64_t Register = C.tell();
  D.getULEB128(C); // which has the return address; a byte in version 1
  bool IsKnown = Version == 3 || (Version == 1 && C.tell() == Register + 1);
  Result.HasSize = Augmentation.consume_front("z");
  if (Result.HasSize)
    D.getULEB128(C);
  for (char What : Augmentation) {
    switch (What) {
    case 'R':
      Result.AddressEncoding = D.getU8(C);
      break;
    case 'L':
      Result.TableEncoding = D.getU8(C);
      break;
    case 'P':
      Result.PersonalitySize = encodedSize(D.getU8(C), WordSize);
      IsKnown &= Result.PersonalitySize != 0;
      Result.Personality = C.tell();
      D.skip(C, Result.PersonalitySize);
      break;
    case 'B':
    case 'G':
    case 'S':
      break;
    default:
      IsKnown = false;
    }
  }
  if (Error E = C.takeError())
    return failure("a CIE is broken (" + toString(std::move(E)) + ")");
  if (!IsKnown || encodedSize(Result.AddressEncoding, WordSize) == 0)
    return failure("a CIE of an unknown kind");
  return Result;
}
