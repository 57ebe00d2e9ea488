//===- WasmCheck.cpp - The sections of a WebAssembly object ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/WasmCheck.h"
#include "Object/WasmReader.h"
#include "Object/WasmRelocation.h"
#include "Support/Failure.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Wasm.h"
#include <vector>

using namespace llvm;
using namespace dtlto;

namespace {

/// An object's index spaces: what is imported, and then what is defined.
struct IndexSpace {
  uint32_t Imported = 0, All = 0;
  bool isDefined(uint32_t Index) const {
    return Index >= Imported && Index < All;
  }
};

/// A part of the file whose relocations have offsets in it.
struct Range {
  uint64_t Begin, End;
};

struct SectionInfo {
  uint8_t Id = 0;
  std::string Name; // of a custom section
  uint64_t Size = 0;
  bool IsRelocated = false;
};

bool isDebug(const SectionInfo &S) {
  return StringRef(S.Name).starts_with(".debug_");
}

class WasmCheck {
public:
  explicit WasmCheck(StringRef Object) : R(Object) {}

  Error check();
  WasmKind Kind;

private:
  Error readSection(uint8_t Id, WasmReader &S);
  Error readCustom(StringRef Name, WasmReader &S);
  Error readTypes(WasmReader &S);
  Error readImports(WasmReader &S);
  Error readGlobals(WasmReader &S);
  Error readExports(WasmReader &S);
  Error readElements(WasmReader &S);
  Error readCode(WasmReader &S);
  Error readData(WasmReader &S);
  Error readLinking(WasmReader &S);
  Error readSymbols(WasmReader &S);
  Error readComdats(WasmReader &S);
  Error readFeatures(WasmReader &S);
  Error readRelocations(WasmReader &S);

  bool readLimits(WasmReader &S);
  bool readExpression(WasmReader &S);
  bool isSymbol(uint32_t Index, unsigned What) const {
    return Index < SymbolKinds.size() && SymbolKinds[Index] == What;
  }
  static bool isValueType(uint8_t Type);

  WasmReader R;
  std::vector<SectionInfo> Sections;
  uint32_t NumTypes = 0;
  IndexSpace Functions, Tables, Memories, Globals, Tags;
  uint32_t NumBodies = 0;
  std::vector<Range> Bodies, Segments; // in the sections of code and of data
  std::vector<bool> InComdat[3];       // data, functions, sections
  std::vector<uint8_t> SymbolKinds;
  std::vector<bool> IsDebugSymbol;   // a section's that linkers may strip
  std::vector<bool> IsFunctionTable; // of tables that are imported
  bool HasFunctionTable = false;     // the symbol that linkers look for
  uint32_t NumFeatures = 0;
  unsigned LastOrder = 0;
};

} // namespace

bool WasmCheck::isValueType(uint8_t Type) {
  switch (Type) {
  case wasm::WASM_TYPE_I32:
  case wasm::WASM_TYPE_I64:
  case wasm::WASM_TYPE_F32:
  case wasm::WASM_TYPE_F64:
  case wasm::WASM_TYPE_V128:
  case wasm::WASM_TYPE_FUNCREF:
  case wasm::WASM_TYPE_EXTERNREF:
  case 0x69: // a reference to an exception, which not all versions name alike
    return true;
  default:
    return false;
  }
}

bool WasmCheck::readLimits(WasmReader &S) {
  unsigned Flags = S.number();
  S.number(64);
  if (Flags & wasm::WASM_LIMITS_FLAG_HAS_MAX)
    S.number(64);
  // Whoever doesn't know a flag doesn't know what follows.
  return (Flags & ~unsigned(wasm::WASM_LIMITS_FLAG_HAS_MAX |
                            wasm::WASM_LIMITS_FLAG_IS_SHARED |
                            wasm::WASM_LIMITS_FLAG_IS_64)) == 0;
}

/// The value that something begins with: one instruction and the end, or a few
/// with arithmetic.
bool WasmCheck::readExpression(WasmReader &S) {
  for (unsigned Depth = 0; !S.failed();) {
    switch (S.byte()) {
    case wasm::WASM_OPCODE_END:
      return Depth == 1;
    case wasm::WASM_OPCODE_I32_CONST:
      S.signedNumber(32);
      ++Depth;
      break;
    case wasm::WASM_OPCODE_I64_CONST:
      S.signedNumber(64);
      ++Depth;
      break;
    case wasm::WASM_OPCODE_F32_CONST:
      S.take(4);
      ++Depth;
      break;
    case wasm::WASM_OPCODE_F64_CONST:
      S.take(8);
      ++Depth;
      break;
    case wasm::WASM_OPCODE_GLOBAL_GET:
      if (S.number() >= Globals.All)
        return false;
      ++Depth;
      break;
    case wasm::WASM_OPCODE_REF_NULL:
      S.byte();
      ++Depth;
      break;
    default:
      return false;
    }
  }
  return false;
}

Error WasmCheck::readTypes(WasmReader &S) {
  NumTypes = S.number();
  for (uint32_t I = 0; I != NumTypes && !S.failed(); ++I) {
    if (S.byte() != wasm::WASM_TYPE_FUNC)
      return failure("type " + Twine(I) + " is not that of a function");
    for (unsigned Part : {0, 1}) { // parameters and results
      (void)Part;
      for (uint32_t N = S.number(); N != 0 && !S.failed(); --N)
        if (!isValueType(S.byte()))
          return failure("type " + Twine(I) + " has an unknown part");
    }
  }
  return Error::success();
}

Error WasmCheck::readImports(WasmReader &S) {
  uint32_t Count = S.number();
  for (uint32_t I = 0; I != Count && !S.failed(); ++I) {
    S.string(); // module
    StringRef Name = S.string();
    bool Good = true;
    switch (S.byte()) {
    case wasm::WASM_EXTERNAL_FUNCTION:
      Good = S.number() < NumTypes;
      ++Functions.All;
      break;
    case wasm::WASM_EXTERNAL_TABLE: {
      uint8_t Type = S.byte();
      Good = isValueType(Type) && readLimits(S);
      IsFunctionTable.push_back(Name == "__indirect_function_table" &&
                                Type == wasm::WASM_TYPE_FUNCREF);
      ++Tables.All;
      break;
    }
    case wasm::WASM_EXTERNAL_MEMORY: {
      WasmReader Flags = S;
      if (Flags.number() & wasm::WASM_LIMITS_FLAG_IS_64)
        Kind.Is64 = true;
      Good = readLimits(S);
      ++Memories.All;
      break;
    }
    case wasm::WASM_EXTERNAL_GLOBAL:
      Good = isValueType(S.byte());
      Good &= S.byte() <= 1;
      ++Globals.All;
      break;
    case wasm::WASM_EXTERNAL_TAG:
      Good = S.byte() == 0;
      Good &= S.number() < NumTypes;
      ++Tags.All;
      break;
    default:
      Good = false;
    }
    if (!Good)
      return failure("import " + Twine(I) + " is broken");
  }
  for (IndexSpace *Space : {&Functions, &Tables, &Memories, &Globals, &Tags})
    Space->Imported = Space->All;
  return Error::success();
}

Error WasmCheck::readGlobals(WasmReader &S) {
  uint32_t Count = S.number();
  for (uint32_t I = 0; I != Count && !S.failed(); ++I, ++Globals.All)
    if (!isValueType(S.byte()) || S.byte() > 1 || !readExpression(S))
      return failure("global " + Twine(I) + " is broken");
  return Error::success();
}

Error WasmCheck::readExports(WasmReader &S) {
  uint32_t Count = S.number();
  for (uint32_t I = 0; I != Count && !S.failed(); ++I) {
    S.string();
    uint8_t What = S.byte();
    uint32_t Index = S.number();
    const IndexSpace *Spaces[] = {&Functions, &Tables, &Memories, &Globals,
                                  &Tags};
    if (What >= std::size(Spaces) || Index >= Spaces[What]->All)
      return failure("export " + Twine(I) + " is for " + Twine(Index));
  }
  return Error::success();
}

Error WasmCheck::readElements(WasmReader &S) {
  uint32_t Count = S.number();
  for (uint32_t I = 0; I != Count && !S.failed(); ++I) {
    uint32_t Flags = S.number();
    if ((Flags & ~uint32_t(wasm::WASM_ELEM_SEGMENT_HAS_TABLE_NUMBER)) != 0)
      return failure("the elements are of an unknown kind");
    if (Flags != 0 && S.number() >= Tables.All)
      return failure("the elements are for an unknown table");
    if (!readExpression(S) || (Flags != 0 && S.byte() != 0))
      return failure("the elements are nowhere");
    for (uint32_t N = S.number(); N != 0 && !S.failed(); --N)
      if (S.number() >= Functions.All)
        return failure("an element is no function");
  }
  return Error::success();
}

Error WasmCheck::readCode(WasmReader &S) {
  uint64_t Size = S.left();
  uint32_t Count = S.number();
  if (Count != NumBodies)
    return failure(Twine(Count) + " bodies of " + Twine(NumBodies) +
                   " functions");
  for (uint32_t I = 0; I != Count && !S.failed(); ++I) {
    // LLD takes the body with its size.
    uint64_t Begin = Size - S.left();
    WasmReader Body(S.take(S.number()));
    for (uint32_t N = Body.number(); N != 0 && !Body.failed(); --N) {
      Body.number();
      if (!isValueType(Body.byte()))
        return failure("function " + Twine(I) + " has an unknown variable");
    }
    if (Body.failed() || Body.atEnd())
      return failure("function " + Twine(I) + " is broken");
    Bodies.push_back({Begin, Size - S.left()});
  }
  return Error::success();
}

Error WasmCheck::readData(WasmReader &S) {
  uint64_t Size = S.left();
  uint32_t Count = S.number();
  for (uint32_t I = 0; I != Count && !S.failed(); ++I) {
    uint32_t Flags = S.number();
    if (Flags > wasm::WASM_DATA_SEGMENT_HAS_MEMINDEX)
      return failure("segment " + Twine(I) + " is of an unknown kind");
    if (Flags & wasm::WASM_DATA_SEGMENT_HAS_MEMINDEX &&
        S.number() >= Memories.All)
      return failure("segment " + Twine(I) + " is in an unknown memory");
    if (!(Flags & wasm::WASM_DATA_SEGMENT_IS_PASSIVE) && !readExpression(S))
      return failure("segment " + Twine(I) + " is nowhere");
    uint64_t Bytes = S.number();
    uint64_t Begin = Size - S.left();
    S.take(Bytes);
    Segments.push_back({Begin, Begin + Bytes});
  }
  return Error::success();
}

Error WasmCheck::readSymbols(WasmReader &S) {
  uint32_t Count = S.number();
  for (uint32_t I = 0; I != Count && !S.failed(); ++I) {
    uint8_t What = S.byte();
    uint32_t Flags = S.number();
    bool IsDefined = !(Flags & wasm::WASM_SYMBOL_UNDEFINED);
    unsigned Binding = Flags & wasm::WASM_SYMBOL_BINDING_MASK;
    bool IsLocal = Binding == wasm::WASM_SYMBOL_BINDING_LOCAL;
    bool Good = true, IsDebug = false;
    auto ReadElement = [&](const IndexSpace &Space) {
      uint32_t Index = S.number();
      Good = Index < Space.All && IsDefined == Space.isDefined(Index);
      if (IsDefined || Flags & wasm::WASM_SYMBOL_EXPLICIT_NAME)
        S.string();
      else if (Good && &Space == &Tables)
        HasFunctionTable |= IsFunctionTable[Index];
    };
    switch (What) {
    case wasm::WASM_SYMBOL_TYPE_FUNCTION:
      ReadElement(Functions);
      break;
    case wasm::WASM_SYMBOL_TYPE_GLOBAL:
      ReadElement(Globals);
      break;
    case wasm::WASM_SYMBOL_TYPE_TAG:
      ReadElement(Tags);
      break;
    case wasm::WASM_SYMBOL_TYPE_TABLE:
      ReadElement(Tables);
      break;
    case wasm::WASM_SYMBOL_TYPE_DATA:
      S.string();
      if (IsDefined) {
        uint32_t Segment = S.number();
        uint64_t Offset = S.number(64);
        S.number(64); // its size
        Good = Segment < Segments.size() &&
               (Flags & wasm::WASM_SYMBOL_ABSOLUTE ||
                Offset <= Segments[Segment].End - Segments[Segment].Begin);
      }
      break;
    case wasm::WASM_SYMBOL_TYPE_SECTION: {
      uint32_t Index = S.number();
      Good = IsDefined && Index < Sections.size() &&
             Sections[Index].Id == wasm::WASM_SEC_CUSTOM && IsLocal;
      IsDebug = Good && isDebug(Sections[Index]);
      break;
    }
    default:
      Good = false;
    }
    // LLD imports no local function, and crashes where one is called.
    if (!Good || Binding == wasm::WASM_SYMBOL_BINDING_MASK ||
        (IsLocal && !IsDefined))
      return failure("symbol " + Twine(I) + " is broken");
    SymbolKinds.push_back(What);
    IsDebugSymbol.push_back(IsDebug);
  }
  // Without the reference types feature tables have no symbols, and LLD makes
  // one for the only import (ObjFile::addLegacyIndirectFunctionTableIfNeeded).
  if (Tables.All == 1 && IsFunctionTable.size() == 1 && IsFunctionTable[0] &&
      !is_contained(SymbolKinds, uint8_t(wasm::WASM_SYMBOL_TYPE_TABLE)))
    HasFunctionTable = true;
  return Error::success();
}

Error WasmCheck::readComdats(WasmReader &S) {
  InComdat[wasm::WASM_COMDAT_DATA].resize(Segments.size());
  InComdat[wasm::WASM_COMDAT_FUNCTION].resize(Functions.All);
  uint32_t Count = S.number();
  for (uint32_t I = 0; I != Count && !S.failed(); ++I) {
    S.string();
    if (S.number() != 0)
      return failure("comdat " + Twine(I) + " has unknown flags");
    for (uint32_t N = S.number(); N != 0 && !S.failed(); --N) {
      uint32_t What = S.number(), Index = S.number();
      if (What == wasm::WASM_COMDAT_SECTION) {
        if (Index >= Sections.size() ||
            Sections[Index].Id != wasm::WASM_SEC_CUSTOM)
          return failure("comdat " + Twine(I) + " has section " + Twine(Index));
        continue;
      }
      if (What > wasm::WASM_COMDAT_FUNCTION || Index >= InComdat[What].size() ||
          InComdat[What][Index] ||
          (What == wasm::WASM_COMDAT_FUNCTION && !Functions.isDefined(Index)))
        return failure("comdat " + Twine(I) + " can't have " + Twine(Index));
      InComdat[What][Index] = true;
    }
  }
  return Error::success();
}

Error WasmCheck::readLinking(WasmReader &S) {
  if (S.number() != wasm::WasmMetadataVersion)
    return failure("unknown version of the linking section");
  bool Seen[16] = {};
  while (!S.atEnd() && !S.failed()) {
    uint8_t What = S.byte();
    WasmReader Part(S.take(S.number()));
    if (What >= std::size(Seen) || Seen[What])
      return failure("unknown part " + Twine(unsigned(What)) +
                     " of the linking section");
    Seen[What] = true;
    switch (What) {
    case wasm::WASM_SYMBOL_TABLE:
      if (Error E = readSymbols(Part))
        return E;
      break;
    case wasm::WASM_SEGMENT_INFO: {
      uint32_t Count = Part.number();
      if (Count > Segments.size())
        return failure("more names than segments");
      for (; Count != 0 && !Part.failed(); --Count) {
        Part.string();
        if (Part.number() >= 32)
          return failure("unknown alignment of a segment");
        Part.number(); // flags
      }
      break;
    }
    case wasm::WASM_INIT_FUNCS:
      for (uint32_t Count = Part.number(); Count != 0 && !Part.failed();
           --Count) {
        Part.number(); // priority
        if (!isSymbol(Part.number(), wasm::WASM_SYMBOL_TYPE_FUNCTION))
          return failure("a constructor is no function");
      }
      break;
    case wasm::WASM_COMDAT_INFO:
      if (Error E = readComdats(Part))
        return E;
      break;
    default:
      return failure("unknown part " + Twine(unsigned(What)) +
                     " of the linking section");
    }
    if (Part.failed() || !Part.atEnd())
      return failure("broken linking section");
  }
  return Error::success();
}

Error WasmCheck::readFeatures(WasmReader &S) {
  for (uint32_t Count = S.number(); Count != 0 && !S.failed(); --Count) {
    S.byte(); // whether it is used
    S.string();
  }
  return Error::success();
}

Error WasmCheck::readRelocations(WasmReader &S) {
  uint32_t Index = S.number();
  if (Index >= Sections.size() || Sections[Index].IsRelocated)
    return failure("relocations for section " + Twine(Index) + " of " +
                   Twine(Sections.size()));
  SectionInfo &Target = Sections[Index];
  Target.IsRelocated = true;
  // A linker moves functions and segments one by one.
  Range All[] = {{0, Target.Size}};
  ArrayRef<Range> Parts = All;
  if (Target.Id == wasm::WASM_SEC_CODE)
    Parts = Bodies;
  else if (Target.Id == wasm::WASM_SEC_DATA)
    Parts = Segments;
  else if (Target.Id != wasm::WASM_SEC_CUSTOM)
    return failure("relocations for section " + Twine(Index) +
                   ", which can't have any");
  uint32_t Last = 0, Count = S.number();
  for (uint32_t I = 0; I != Count && !S.failed(); ++I) {
    uint32_t Type = S.number(), Offset = S.number(), Of = S.number();
    WasmRelocationKind Kind = wasmRelocationKind(Type);
    bool Good = Of < NumTypes;
    if (!Kind.IsForType)
      // With --strip-debug LLD follows one for debug information, from
      // elsewhere, to where nothing is any more.
      Good = Of < SymbolKinds.size() && Kind.Symbols >> SymbolKinds[Of] & 1 &&
             (!Kind.NeedsTable || HasFunctionTable) &&
             (isDebug(Target) || !IsDebugSymbol[Of]);
    if (Kind.AddendBits != 0)
      S.signedNumber(Kind.AddendBits);
    if (!Good)
      return failure("relocation " + Twine(I) + " of section " + Twine(Index) +
                     " is for " + Twine(Of) + ", which it can't be");
    if (Offset < Last)
      return failure("relocations aren't in order");
    Last = Offset;
    while (!Parts.empty() && Parts.front().End <= Offset)
      Parts = Parts.drop_front();
    if (Parts.empty() || Offset < Parts.front().Begin ||
        Parts.front().End - Offset < Kind.Size)
      return failure("relocation " + Twine(I) + " of section " + Twine(Index) +
                     " is at " + Twine(Offset) + " of " + Twine(Target.Size) +
                     " bytes");
  }
  return Error::success();
}

Error WasmCheck::readCustom(StringRef Name, WasmReader &S) {
  if (Name == "linking") {
    if (Kind.IsRelocatable)
      return failure("a second linking section");
    Kind.IsRelocatable = true;
    return readLinking(S);
  }
  if (Name.starts_with("reloc."))
    return readRelocations(S);
  if (Name == "target_features") {
    if (NumFeatures++ != 0)
      return failure("a second list of features");
    return readFeatures(S);
  }
  if (Name == "producers") {
    for (uint32_t Count = S.number(); Count != 0 && !S.failed(); --Count) {
      S.string();
      for (uint32_t N = S.number(); N != 0 && !S.failed(); --N) {
        S.string();
        S.string();
      }
    }
    return Error::success();
  }
  if (Name == "name" || Name.starts_with("dylink"))
    return failure("it is not a relocatable object");
  S.take(S.left());
  return Error::success();
}

Error WasmCheck::readSection(uint8_t Id, WasmReader &S) {
  // Of all but custom sections.
  static constexpr uint8_t Order[] = {
      wasm::WASM_SEC_TYPE,      wasm::WASM_SEC_IMPORT, wasm::WASM_SEC_FUNCTION,
      wasm::WASM_SEC_TABLE,     wasm::WASM_SEC_MEMORY, wasm::WASM_SEC_TAG,
      wasm::WASM_SEC_GLOBAL,    wasm::WASM_SEC_EXPORT, wasm::WASM_SEC_ELEM,
      wasm::WASM_SEC_DATACOUNT, wasm::WASM_SEC_CODE,   wasm::WASM_SEC_DATA};
  unsigned Place = find(Order, Id) - std::begin(Order) + 1;
  if (Place > std::size(Order))
    return failure("unknown section " + Twine(unsigned(Id)));
  if (Place <= LastOrder)
    return failure("section " + Twine(unsigned(Id)) + " is out of order");
  LastOrder = Place;
  switch (Id) {
  case wasm::WASM_SEC_TYPE:
    return readTypes(S);
  case wasm::WASM_SEC_IMPORT:
    return readImports(S);
  case wasm::WASM_SEC_FUNCTION:
    NumBodies = S.number();
    for (uint32_t I = 0; I != NumBodies && !S.failed(); ++I, ++Functions.All)
      if (S.number() >= NumTypes)
        return failure("function " + Twine(I) + " has no type");
    return Error::success();
  case wasm::WASM_SEC_TABLE:
    for (uint32_t N = S.number(); N != 0 && !S.failed(); --N, ++Tables.All)
      if (!isValueType(S.byte()) || !readLimits(S))
        return failure("broken tables");
    return Error::success();
  case wasm::WASM_SEC_MEMORY:
    for (uint32_t N = S.number(); N != 0 && !S.failed(); --N, ++Memories.All)
      if (!readLimits(S))
        return failure("broken memories");
    return Error::success();
  case wasm::WASM_SEC_TAG:
    for (uint32_t N = S.number(); N != 0 && !S.failed(); --N, ++Tags.All)
      if (S.byte() != 0 || S.number() >= NumTypes)
        return failure("broken tags");
    return Error::success();
  case wasm::WASM_SEC_GLOBAL:
    return readGlobals(S);
  case wasm::WASM_SEC_EXPORT:
    return readExports(S);
  case wasm::WASM_SEC_ELEM:
    return readElements(S);
  case wasm::WASM_SEC_DATACOUNT:
    S.number();
    return Error::success();
  case wasm::WASM_SEC_CODE:
    return readCode(S);
  default:
    return readData(S);
  }
}

Error WasmCheck::check() {
  if (R.take(4) != StringRef(wasm::WasmMagic, 4))
    return failure("no magic number");
  if (R.take(4) != StringRef("\1\0\0\0", 4))
    return failure("not version 1");
  while (!R.atEnd()) {
    uint8_t Id = R.byte();
    WasmReader S(R.take(R.number()));
    if (R.failed())
      return failure("a section reaches past the end");
    SectionInfo Info;
    Info.Id = Id;
    StringRef Name;
    if (Id == wasm::WASM_SEC_CUSTOM) {
      Name = S.string();
      if (S.failed())
        return failure("a section's name reaches past its end");
      Info.Name = Name.str();
    }
    Info.Size = S.left();
    Sections.push_back(Info);
    if (Error E = Id == wasm::WASM_SEC_CUSTOM ? readCustom(Name, S)
                                              : readSection(Id, S))
      return E;
    if (S.failed() || !S.atEnd())
      return failure("section " + Twine(Sections.size() - 1) + " is broken");
  }
  if (NumBodies != Bodies.size())
    return failure(Twine(NumBodies) + " functions without bodies");
  return Error::success();
}

Expected<WasmKind> dtlto::checkWasm(StringRef Object) {
  WasmCheck Check(Object);
  if (Error E = Check.check())
    return E;
  return Check.Kind;
}
