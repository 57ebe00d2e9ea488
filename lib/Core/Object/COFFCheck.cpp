//===- COFFCheck.cpp - What a linker follows in a COFF object -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/COFFCheck.h"
#include "Object/LineTableCheck.h"
#include "Object/SharedTables.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/DebugInfo/CodeView/CVRecord.h"
#include "llvm/DebugInfo/CodeView/CVSymbolVisitor.h"
#include "llvm/DebugInfo/CodeView/CVTypeVisitor.h"
#include "llvm/DebugInfo/CodeView/DebugSubsectionRecord.h"
#include "llvm/DebugInfo/CodeView/SymbolDeserializer.h"
#include "llvm/DebugInfo/CodeView/SymbolVisitorCallbackPipeline.h"
#include "llvm/DebugInfo/CodeView/SymbolVisitorCallbacks.h"
#include "llvm/DebugInfo/CodeView/TypeIndexDiscovery.h"
#include "llvm/DebugInfo/CodeView/TypeVisitorCallbacks.h"
#include "llvm/Support/BinaryStreamArray.h"
#include "llvm/Support/BinaryStreamReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"
#include <vector>

using namespace llvm;
using namespace llvm::COFF;
using namespace llvm::object;
using namespace dtlto;

using Bytes = ArrayRef<uint8_t>;

namespace {

class COFFCheck {
public:
  explicit COFFCheck(const COFFObjectFile &File) : File(File) {}

  Error check();

private:
  Error findDropped();
  Error checkSymbols();
  Error checkSymbol(const COFFSymbolRef &S);
  Error checkWeakSymbols();
  Error checkDefinition(const COFFSymbolRef &S,
                        const coff_aux_section_definition &Def);
  Error checkSection(const coff_section &S);
  Error checkRelocations(const coff_section &S);
  Error checkContents(const coff_section &S, StringRef Name, Bytes Contents);
  Error checkTypes(Bytes Contents);
  Error checkDebugSymbols(const coff_section &S, Bytes Contents);

  /// Whether LLD looks at what a symbol of that name is of.
  bool isRead(StringRef Name) const {
    if (File.getMachine() == IMAGE_FILE_MACHINE_I386)
      Name.consume_front("_");
    return Name == "_load_config_used" || Name == "_tls_used";
  }
  bool isSymbol(uint64_t Index) const {
    return Index < IsSymbol.size() && IsSymbol[Index];
  }
  unsigned width(uint16_t Type) const;

  const COFFObjectFile &File;
  std::vector<bool> IsSymbol; // and no auxiliary record of one
  /// What each weak symbol is if nothing defines it, by name.
  StringMap<StringRef> Weak;
  std::vector<bool> IsDefined; // each comdat, by a symbol with its name
  std::vector<bool> IsDropped; // each section, without external symbols
  bool HasLines = false;       // of DWARF
  bool HasTypes = false, HasHashes = false; // .debug$T and .debug$H
  uint32_t NumTypes = 0, NumHashes = 0;     // with the header, as one
};

} // namespace

Error COFFCheck::check() {
  // LLVM goes on without a symbol table that isn't there, and takes one for
  // whole if its end in 32 bits is in the file.
  uint64_t End = File.getPointerToSymbolTable();
  if (End != 0 && File.getSymbolTable() == 0)
    End = UINT64_MAX;
  else
    End += uint64_t(File.getNumberOfSymbols()) * File.getSymbolTableEntrySize();
  if (End > File.getData().size())
    return failure("its symbol table is outside of the file");
  if (Error E = checkSymbols())
    return E;
  for (uint32_t I = 1; I <= File.getNumberOfSections(); ++I) {
    Expected<const coff_section *> S = File.getSection(int32_t(I));
    if (!S)
      return S.takeError();
    if (Error E = checkSection(**S)) {
      Expected<StringRef> Name = File.getSectionName(*S);
      std::string Text = Name ? printable(Name->take_front(100))
                              : "section " + std::to_string(I);
      consumeError(Name.takeError());
      return failure(Text + ": " + toString(std::move(E)));
    }
  }
  if (NumHashes != 0 && NumHashes - 1 != NumTypes)
    return failure(Twine(NumHashes - 1) + " hashes of " + Twine(NumTypes) +
                   " types");
  return HasLines ? checkLineTables(File) : Error::success();
}

/// LLD doesn't expect an external symbol where it writes nothing: in a comdat
/// that it drops, or in a section that it reads itself.
Error COFFCheck::findDropped() {
  IsDropped.push_back(false);
  for (uint32_t I = 1; I <= File.getNumberOfSections(); ++I) {
    Expected<const coff_section *> S = File.getSection(int32_t(I));
    if (!S)
      return S.takeError();
    Expected<StringRef> Name = File.getSectionName(*S);
    if (!Name)
      return Name.takeError();
    uint32_t Flags = (*S)->Characteristics;
    bool IsComdat =
        Flags & IMAGE_SCN_LNK_COMDAT &&
        (Flags & IMAGE_SCN_LNK_REMOVE ||
         is_contained({".drectve", ".llvm_addrsig", ".llvm.call-graph-profile"},
                      *Name) ||
         Name->starts_with(".debug_"));
    bool IsRead = Name->starts_with(".debug$") ||
                  is_contained({".gfids$y", ".giats$y", ".gljmp$y",
                                ".gehcont$y", ".sxdata"},
                               *Name);
    IsDropped.push_back(IsComdat || IsRead);
  }
  return Error::success();
}

Error COFFCheck::checkSymbols() {
  uint32_t Count = File.getNumberOfSymbols();
  IsSymbol.resize(Count);
  IsDefined.resize(File.getNumberOfSections() + 1);
  if (Error E = findDropped())
    return E;
  for (uint32_t I = 0; I != Count; ++I) {
    Expected<COFFSymbolRef> S = File.getSymbol(I);
    if (!S)
      return S.takeError();
    IsSymbol[I] = true;
    if (S->getNumberOfAuxSymbols() >= Count - I)
      return failure("symbol " + Twine(I) + " has " +
                     Twine(S->getNumberOfAuxSymbols()) +
                     " auxiliary records past the end of the table");
    I += S->getNumberOfAuxSymbols();
  }
  for (uint32_t I = 0; I != Count; ++I) {
    if (!IsSymbol[I])
      continue;
    Expected<COFFSymbolRef> S = File.getSymbol(I);
    if (!S)
      return S.takeError();
    if (Error E = checkSymbol(*S))
      return failure("symbol " + Twine(I) + ": " + toString(std::move(E)));
  }
  return checkWeakSymbols();
}

/// LLD follows a weak symbol through others to its end, by their names.
Error COFFCheck::checkWeakSymbols() {
  constexpr unsigned MaxSteps = 16;
  for (const auto &Entry : Weak) {
    unsigned Steps = 0;
    for (auto It = Weak.find(Entry.second); It != Weak.end();
         It = Weak.find(It->second))
      if (++Steps > MaxSteps)
        return failure("weak symbols for one another, such as " +
                       printable(Entry.first().take_front(100)));
  }
  return Error::success();
}

Error COFFCheck::checkSymbol(const COFFSymbolRef &S) {
  Expected<StringRef> Name = File.getSymbolName(S);
  if (!Name)
    return Name.takeError();
  int32_t Section = S.getSectionNumber();
  if (Section < IMAGE_SYM_DEBUG ||
      Section > int32_t(File.getNumberOfSections()))
    return failure("its section is " + Twine(Section) + " of " +
                   Twine(File.getNumberOfSections()));
  unsigned Aux = S.getNumberOfAuxSymbols();
  switch (S.getStorageClass()) {
  case IMAGE_SYM_CLASS_EXTERNAL:
  case IMAGE_SYM_CLASS_SECTION:
    if (Aux > 1 || Name->empty())
      return failure("no external symbol");
    if (Section > 0 && IsDropped[Section])
      return failure("it is in a section that is dropped");
    if (isRead(*Name) && Section <= 0 &&
        (Section != IMAGE_SYM_UNDEFINED || S.getValue() != 0))
      return failure(*Name + " is in no section");
    break;
  case IMAGE_SYM_CLASS_STATIC:
    if (Section == IMAGE_SYM_UNDEFINED)
      return failure("a static symbol that isn't defined");
    if (Aux > 1)
      return failure("more than one auxiliary record");
    if (Aux == 1 && Section > 0) {
      const auto *Def = S.getSectionDefinition();
      if (!Def)
        return failure("no definition of a section");
      return checkDefinition(S, *Def);
    }
    break;
  case IMAGE_SYM_CLASS_LABEL:
  case IMAGE_SYM_CLASS_FUNCTION:
    break;
  case IMAGE_SYM_CLASS_FILE:
    if (Section != IMAGE_SYM_DEBUG)
      return failure("the name of a file is in a section");
    break;
  case IMAGE_SYM_CLASS_WEAK_EXTERNAL: {
    if (Section != IMAGE_SYM_UNDEFINED || Aux != 1 || Name->empty())
      return failure("no weak symbol");
    if (isRead(*Name))
      return failure("a weak " + *Name);
    uint32_t Other = S.getAux<coff_aux_weak_external>()->TagIndex;
    if (!isSymbol(Other))
      return failure("a weak symbol for symbol " + Twine(Other) + " of " +
                     Twine(IsSymbol.size()));
    Expected<COFFSymbolRef> Behind = File.getSymbol(Other);
    if (!Behind)
      return Behind.takeError();
    Expected<StringRef> OtherName = File.getSymbolName(*Behind);
    if (!OtherName)
      return OtherName.takeError();
    if (!Weak.try_emplace(*Name, *OtherName).second)
      return failure("it is weak a second time");
    break;
  }
  default:
    return failure("its class is " + Twine(unsigned(S.getStorageClass())));
  }
  return Error::success();
}

Error COFFCheck::checkDefinition(const COFFSymbolRef &S,
                                 const coff_aux_section_definition &Def) {
  uint32_t Number = uint32_t(S.getSectionNumber());
  Expected<const coff_section *> Section = File.getSection(int32_t(Number));
  if (!Section)
    return Section.takeError();
  if (!((*Section)->Characteristics & IMAGE_SCN_LNK_COMDAT))
    return Error::success();
  if (IsDefined[Number])
    return failure("it defines section " + Twine(Number) + " again");
  IsDefined[Number] = true;
  if (Def.Selection < IMAGE_COMDAT_SELECT_NODUPLICATES ||
      Def.Selection > IMAGE_COMDAT_SELECT_LARGEST)
    return failure("unknown kind of comdat " + Twine(unsigned(Def.Selection)));
  if (Def.Selection != IMAGE_COMDAT_SELECT_ASSOCIATIVE)
    return Error::success();
  int32_t Parent = Def.getNumber(S.isBigObj());
  if (Parent <= 0 || uint32_t(Parent) == Number ||
      uint32_t(Parent) > File.getNumberOfSections())
    return failure("it follows section " + Twine(Parent) + " of " +
                   Twine(File.getNumberOfSections()));
  return Error::success();
}

/// How many bytes relocation \p Type writes.
unsigned COFFCheck::width(uint16_t Type) const {
  switch (File.getMachine()) {
  case IMAGE_FILE_MACHINE_AMD64:
    switch (Type) {
    case IMAGE_REL_AMD64_ABSOLUTE:
      return 0;
    case IMAGE_REL_AMD64_SECREL7:
      return 1;
    case IMAGE_REL_AMD64_SECTION:
      return 2;
    case IMAGE_REL_AMD64_ADDR64:
      return 8;
    }
    return 4;
  case IMAGE_FILE_MACHINE_I386:
    switch (Type) {
    case IMAGE_REL_I386_ABSOLUTE:
      return 0;
    case IMAGE_REL_I386_SECREL7:
      return 1;
    case IMAGE_REL_I386_DIR16:
    case IMAGE_REL_I386_REL16:
    case IMAGE_REL_I386_SECTION:
    case IMAGE_REL_I386_SEG12:
      return 2;
    }
    return 4;
  case IMAGE_FILE_MACHINE_ARMNT:
    switch (Type) {
    case IMAGE_REL_ARM_ABSOLUTE:
      return 0;
    case IMAGE_REL_ARM_SECTION:
      return 2;
    case IMAGE_REL_ARM_MOV32A:
    case IMAGE_REL_ARM_MOV32T:
      return 8;
    }
    return 4;
  default: // of ARM64
    switch (Type) {
    case IMAGE_REL_ARM64_ABSOLUTE:
      return 0;
    case IMAGE_REL_ARM64_SECTION:
      return 2;
    case IMAGE_REL_ARM64_ADDR64:
      return 8;
    }
    return 4;
  }
}

Error COFFCheck::checkSection(const coff_section &S) {
  Expected<StringRef> Name = File.getSectionName(&S);
  if (!Name)
    return Name.takeError();
  if ((S.Characteristics & IMAGE_SCN_ALIGN_MASK) == IMAGE_SCN_ALIGN_MASK)
    return failure("unknown alignment");
  if (S.VirtualAddress != 0 || S.VirtualSize != 0)
    return failure("it has an address");
  if (S.PointerToRawData == 0) {
    if (S.NumberOfRelocations != 0)
      return failure("relocations, but no contents");
    if (S.SizeOfRawData != 0 &&
        !(S.Characteristics & IMAGE_SCN_CNT_UNINITIALIZED_DATA))
      return failure("no contents");
    return Error::success();
  }
  if (S.Characteristics & IMAGE_SCN_CNT_UNINITIALIZED_DATA)
    return failure("contents, but only zeros");
  Bytes Contents;
  if (Error E = File.getSectionContents(&S, Contents))
    return E;
  if (Error E = checkRelocations(S))
    return E;
  return checkContents(S, *Name, Contents);
}

Error COFFCheck::checkRelocations(const coff_section &S) {
  // LLVM takes the table for whole if it begins in the file.
  StringRef Table = File.getData().drop_front(
      std::min<size_t>(S.PointerToRelocations, File.getData().size()));
  uint64_t Count = S.NumberOfRelocations;
  // The first is the number of all, with itself.
  if (S.hasExtendedRelocations() && Table.size() >= sizeof(coff_relocation))
    Count = support::endian::read32le(Table.data());
  if (Count == 0 && S.NumberOfRelocations == 0)
    return Error::success();
  if (Count == 0 || Count > Table.size() / sizeof(coff_relocation))
    return failure("its relocations are outside of the file");
  ArrayRef<coff_relocation> List = File.getRelocations(&S);
  if (List.size() != Count - S.hasExtendedRelocations())
    return failure("its relocations are outside of the file");
  for (size_t I = 0; I != List.size(); ++I) {
    const coff_relocation &R = List[I];
    if (R.VirtualAddress > S.SizeOfRawData ||
        S.SizeOfRawData - R.VirtualAddress < width(R.Type))
      return failure("relocation " + Twine(I) + " is at " +
                     Twine(R.VirtualAddress) + " of " + Twine(S.SizeOfRawData) +
                     " bytes");
    if (!isSymbol(R.SymbolTableIndex))
      return failure("relocation " + Twine(I) + " is for symbol " +
                     Twine(R.SymbolTableIndex) + " of " +
                     Twine(IsSymbol.size()));
  }
  return Error::success();
}

/// Whether \p Type has all that discoverTypeIndices() reads without looking.
static bool hasWholeLists(const codeview::CVType &Type) {
  using namespace codeview;
  if (Type.kind() == LF_FIELDLIST) {
    TypeVisitorCallbacks Nothing;
    Error E = visitMemberRecordStream(Type.content(), Nothing);
    bool IsGood = !E;
    consumeError(std::move(E));
    return IsGood;
  }
  if (Type.kind() != LF_METHODLIST)
    return true;
  // Attributes, a type, and the place in its table of a virtual method that a
  // class introduces.
  for (Bytes Rest = Type.content(); !Rest.empty();) {
    if (Rest.size() < 8)
      return false;
    unsigned Kind = support::endian::read16le(Rest.data()) >> 2 & 7;
    bool IsNew = Kind == unsigned(MethodKind::IntroducingVirtual) ||
                 Kind == unsigned(MethodKind::PureIntroducingVirtual);
    if (IsNew && Rest.size() < 12)
      return false;
    Rest = Rest.drop_front(IsNew ? 12 : 8);
  }
  return true;
}

/// Types: each is whole, and refers to those before it. LLVM pads each to four
/// bytes, and LLD copies the padding.
Error COFFCheck::checkTypes(Bytes Contents) {
  using namespace codeview;
  TypeVisitorCallbacks Nothing;
  return forEachCodeViewRecord<CVType>(Contents, [&](CVType Type) -> Error {
    uint32_t Index = TypeIndex::FirstNonSimpleIndex + NumTypes++;
    switch (Type.kind()) {
    case LF_TYPESERVER2:
    case LF_PRECOMP:
    case LF_ENDPRECOMP:
      return failure("types of another file");
    default:
      break;
    }
    if (Type.length() < 4 || Type.length() % 4 != 0 || !hasWholeLists(Type))
      return failure("type " + Twine(Index) + " is broken");
    if (Error E = visitTypeRecord(Type, Nothing))
      return E;
    SmallVector<TypeIndex, 16> Others;
    discoverTypeIndices(Type, Others);
    for (TypeIndex Other : Others)
      if (!Other.isSimple() && Other.getIndex() >= Index)
        return failure("type " + Twine(Index) + " refers to type " +
                       Twine(Other.getIndex()));
    return Error::success();
  });
}

/// Symbols and the tables beside them: each is whole. LLD copies each with its
/// relocations, none of which may reach past its end.
Error COFFCheck::checkDebugSymbols(const coff_section &S, Bytes Contents) {
  using namespace codeview;
  std::vector<const uint8_t *> Ends; // of what is copied as one
  BinaryStreamReader Reader(Contents, llvm::endianness::little);
  DebugSubsectionArray Parts;
  if (Error E = Reader.readArray(Parts, Reader.getLength()))
    return E;
  SymbolVisitorCallbackPipeline Pipeline;
  SymbolDeserializer Deserializer(nullptr, CodeViewContainer::ObjectFile);
  Pipeline.addCallbackToPipeline(Deserializer);
  CVSymbolVisitor Visitor(Pipeline);
  bool Failed = false;
  for (auto I = Parts.begin(&Failed), End = Parts.end(); I != End; ++I) {
    Bytes Part;
    BinaryStreamRef Stream = I->getRecordData();
    if (Error E = Stream.readBytes(0, Stream.getLength(), Part))
      return E;
    Ends.push_back(Part.begin());
    if (I->kind() == DebugSubsectionKind::Symbols) {
      Error E = forEachCodeViewRecord<CVSymbol>(Part, [&](CVSymbol Symbol) {
        Ends.push_back(Symbol.data().end());
        return Symbol.length() < 4 ? failure("a symbol is too short")
                                   : Visitor.visitSymbolRecord(Symbol);
      });
      if (E)
        return E;
    }
    Ends.push_back(Part.end());
  }
  if (Failed)
    return failure("its parts are broken");
  ArrayRef<coff_relocation> List = File.getRelocations(&S);
  for (size_t I = 0; I != List.size(); ++I) {
    const uint8_t *At =
        Contents.end() - (S.SizeOfRawData - List[I].VirtualAddress);
    auto End = upper_bound(Ends, At);
    if (End != Ends.end() && unsigned(*End - At) < width(List[I].Type))
      return failure("relocation " + Twine(I) + " is in two records");
  }
  return Error::success();
}

/// Options for the linker: a symbol that is asked for has a name.
static Error checkDirectives(StringRef Text) {
  BumpPtrAllocator Memory;
  StringSaver Saver(Memory);
  SmallVector<StringRef, 16> Words;
  cl::TokenizeWindowsCommandLineNoCopy(Text, Saver, Words);
  for (StringRef Word : Words)
    if (Word.equals_insensitive("/include:") ||
        Word.equals_insensitive("-include:"))
      return failure("it asks for a symbol without a name");
  return Error::success();
}

Error COFFCheck::checkContents(const coff_section &S, StringRef Name,
                               Bytes Contents) {
  auto Check = [&](uint64_t Symbol) {
    return isSymbol(Symbol) ? Error::success()
                            : failure("symbol " + Twine(Symbol) + " of " +
                                      Twine(IsSymbol.size()));
  };
  if (Name == ".llvm_addrsig")
    return checkAddrsig(toStringRef(Contents), Check);
  if (Name == ".llvm.call-graph-profile")
    return checkCallGraph(toStringRef(Contents), Check);
  if (Name == ".debug$P")
    return failure("no section of LLVM's");
  HasLines |= Name == ".debug_line";
  if (Name == ".drectve")
    return checkDirectives(toStringRef(Contents));
  bool AreTypes = Name == ".debug$T", AreHashes = Name == ".debug$H";
  if (AreTypes || AreHashes) {
    // LLD takes the first that it keeps, of each.
    bool &IsSeen = AreTypes ? HasTypes : HasHashes;
    if (IsSeen || S.Characteristics & IMAGE_SCN_LNK_COMDAT)
      return failure("a second list of types");
    IsSeen = true;
  }
  if (!AreTypes && !AreHashes && Name != ".debug$S")
    return Error::success();
  // Linkers ignore what they don't know.
  uint32_t Magic = AreHashes ? DEBUG_HASHES_SECTION_MAGIC : DEBUG_SECTION_MAGIC;
  if (Contents.size() < 4 ||
      support::endian::read32le(Contents.data()) != Magic)
    return Error::success();
  if (AreHashes) {
    NumHashes = Contents.size() / 8; // of 8 bytes each; the header has as many
    return Error::success();
  }
  Contents = Contents.drop_front(4);
  return AreTypes ? checkTypes(Contents) : checkDebugSymbols(S, Contents);
}

Error dtlto::checkCOFF(const COFFObjectFile &Object) {
  return COFFCheck(Object).check();
}
