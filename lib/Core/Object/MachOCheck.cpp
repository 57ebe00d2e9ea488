//===- MachOCheck.cpp - What a linker follows in Mach-O -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/MachOCheck.h"
#include "Object/LineTableCheck.h"
#include "Object/SharedTables.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/MC/MCLinkerOptimizationHint.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/Endian.h"
#include <map>
#include <set>
#include <vector>

using namespace llvm;
using namespace llvm::MachO;
using namespace llvm::object;
using namespace dtlto;

namespace {

struct Section {
  StringRef Segment, Name;
  uint64_t Address, Size;
  uint32_t Offset, Align, RelocOffset, NumRelocs, Flags;

  unsigned type() const { return Flags & SECTION_TYPE; }
  bool isZeros() const {
    return type() == S_ZEROFILL || type() == S_GB_ZEROFILL ||
           type() == S_THREAD_LOCAL_ZEROFILL;
  }
  bool is(StringRef SegmentName, StringRef SectionName) const {
    return Segment == SegmentName && Name == SectionName;
  }
  /// Whether linkers keep it in memory, so that something may refer to it.
  bool isKept() const {
    return Segment != "__DWARF" && Segment != "__LLVM" &&
           !is("__LD", "__compact_unwind") && !is("__DATA", "__objc_imageinfo");
  }
  /// The size of what a linker takes apart and merges, or 0.
  unsigned literalSize() const {
    switch (type()) {
    case S_CSTRING_LITERALS:
      return 1;
    case S_4BYTE_LITERALS:
      return 4;
    case S_8BYTE_LITERALS:
      return 8;
    case S_16BYTE_LITERALS:
      return 16;
    default:
      return 0;
    }
  }
};

/// A relocation that isn't scattered.
struct Reloc {
  uint32_t Address, Symbol;
  bool IsPCRelative, IsExternal;
  unsigned Length, Type;
};

/// The sizes of what the FDEs of a CIE have.
struct FdeSizes {
  unsigned Address = 0, Table = 0;
};

class MachOCheck {
public:
  explicit MachOCheck(const MachOObjectFile &File) : File(File) {}

  Error check();

private:
  using Place = std::pair<const Section *, uint64_t>; // and an address in it

  void readSections();
  Error checkSymbols();
  Error checkUnit();
  Error checkHints(StringRef Hints) const;
  Error checkSection(const Section &S);
  Error checkRecords(const Section &S, StringRef Contents);
  Error checkPlaces(const Section &S,
                    function_ref<bool(uint64_t)> IsEntry) const;
  Error checkEhFrame(const Section &S, StringRef Contents);
  Error checkCie(uint64_t At, StringRef Entry, FdeSizes &Sizes);
  std::optional<Place> targetOf(const Section &S, uint64_t At, unsigned Size,
                                bool MayBeNone) const;
  Error checkRelocations(const Section &S);
  Error checkRelocation(const Section &S, const Reloc &R);
  Error checkTarget(const Section &S, const Reloc &R);
  void addUnwound(const Section &In, StringRef Entry);

  StringRef contents(const Section &S) const {
    return S.isZeros() ? StringRef() : File.getData().substr(S.Offset, S.Size);
  }
  /// The first at \p Address of the section that is checked now, or null.
  const Reloc *findRelocation(uint32_t Address) const {
    auto Found = EhFrameRelocs.find(Address);
    return Found == EhFrameRelocs.end() ? nullptr : Found->second.data();
  }
  unsigned wordSize() const { return File.is64Bit() ? 8 : 4; }
  bool isX86() const { return File.getArch() == Triple::x86_64; }
  bool isArm64() const {
    return File.getArch() == Triple::aarch64 ||
           File.getArch() == Triple::aarch64_32;
  }
  bool isAddend(const Reloc &R) const {
    return isArm64() && R.Type == ARM64_RELOC_ADDEND;
  }
  bool isSubtractor(const Reloc &R) const {
    return (isX86() && R.Type == X86_64_RELOC_SUBTRACTOR) ||
           (isArm64() && R.Type == ARM64_RELOC_SUBTRACTOR);
  }

  const MachOObjectFile &File;
  std::vector<Section> Sections;
  std::vector<uint8_t> SymbolSections; // 0: in none
  std::vector<uint64_t> SymbolValues;  // addresses
  std::vector<bool> IsUsable;          // each symbol, by relocations
  std::map<uint32_t, std::vector<Reloc>> EhFrameRelocs; // by their addresses
  std::set<Place> Unwound; // functions that need no FDE
};

} // namespace

void MachOCheck::readSections() {
  for (const SectionRef &Ref : File.sections()) {
    DataRefImpl D = Ref.getRawDataRefImpl();
    // LLVM takes what is behind a NUL for a part of the name; LLD doesn't.
    auto Text = [](ArrayRef<char> Raw) {
      return StringRef(Raw.data(), 16).take_until([](char C) { return !C; });
    };
    auto Add = [&](const auto &S) {
      Sections.push_back({Text(File.getSectionRawFinalSegmentName(D)),
                          Text(File.getSectionRawName(D)), S.addr, S.size,
                          S.offset, S.align, S.reloff, S.nreloc, S.flags});
    };
    if (File.is64Bit())
      Add(File.getSection64(D));
    else
      Add(File.getSection(D));
  }
}

Error MachOCheck::check() {
  // LLD has names for those that are known.
  for (const auto &Command : File.load_commands())
    if (Command.C.cmd == LC_BUILD_VERSION) {
      uint32_t Platform = File.getBuildVersionLoadCommand(Command).platform;
      if (Platform == 0 || Platform > PLATFORM_XROS_SIMULATOR)
        return failure("unknown platform " + Twine(Platform));
    }
  readSections();
  if (Sections.empty())
    return failure("it has no sections");
  if (Sections.size() > MAX_SECT)
    return failure(Twine(Sections.size()) + " sections");
  if (Error E = checkSymbols())
    return E;
  if (Error E = checkUnit())
    return E;
  // Linkers look for a section by its address, which can't be before all.
  if (Sections[0].Address != 0)
    return failure("its first section is at " + Twine(Sections[0].Address));
  for (const Section &S : Sections) {
    auto Fail = [&](const Twine &Why) {
      return failure(printable(S.Segment) + "," + printable(S.Name) + ": " +
                     Why);
    };
    if (S.Size > MaxSize || S.Address > MaxSize)
      return Fail("it has " + Twine(S.Size) + " bytes at " + Twine(S.Address));
    if (Error E = checkSection(S))
      return Fail(toString(std::move(E)));
  }
  for (const auto &Command : File.load_commands())
    if (Command.C.cmd == LC_LINKER_OPTIMIZATION_HINT) {
      linkedit_data_command Data = File.getLinkeditDataLoadCommand(Command);
      if (Data.dataoff > File.getData().size() ||
          Data.datasize > File.getData().size() - Data.dataoff)
        return failure("its hints for linkers are outside of the file");
      if (Error E =
              checkHints(File.getData().substr(Data.dataoff, Data.datasize)))
        return E;
    }
  return Error::success();
}

/// A linker replaces the instructions that they name. The format is that of
/// MCLOHDirective: a kind, a number of addresses, these.
Error MachOCheck::checkHints(StringRef Hints) const {
  DataExtractor Data(Hints, File.isLittleEndian(), uint8_t(wordSize()));
  DataExtractor::Cursor C(0);
  auto Fail = [&](const Twine &Why) {
    return joinErrors(failure("a hint for linkers " + Why), C.takeError());
  };
  while (C && C.tell() != Hints.size()) {
    uint64_t Kind = Data.getULEB128(C);
    if (!C || Kind == 0)
      break; // padding
    uint64_t Count = Data.getULEB128(C);
    if (C && (Count < 2 || Count > 3 || Kind > MCLOH_AdrpLdrGot))
      return Fail("of kind " + Twine(Kind) + " has " + Twine(Count) +
                  " addresses");
    bool NeedsThree = Kind == MCLOH_AdrpAddLdr || Kind == MCLOH_AdrpLdrGotLdr ||
                      Kind == MCLOH_AdrpAddStr || Kind == MCLOH_AdrpLdrGotStr;
    if (C && NeedsThree && Count != 3)
      return Fail("of kind " + Twine(Kind) + " has two addresses");
    for (; Count != 0 && C; --Count) {
      uint64_t Address = Data.getULEB128(C);
      if (!C)
        break;
      // As a linker looks for it.
      auto Next = partition_point(
          Sections, [&](const Section &S) { return S.Address <= Address; });
      if (Next == Sections.begin())
        return Fail("is for " + Twine(Address));
      const Section &In = *std::prev(Next);
      if (In.isZeros() || Address % 4 != 0 || In.Size < 4 ||
          Address - In.Address > In.Size - 4)
        return Fail("is for " + Twine(Address));
    }
  }
  return C.takeError();
}

Error MachOCheck::checkSymbols() {
  const StringRef Names = File.getStringTableData();
  size_t I = 0;
  for (const SymbolRef &S : File.symbols()) {
    DataRefImpl Ref = S.getRawDataRefImpl();
    uint8_t Type, SectionIndex;
    uint16_t Flags;
    uint32_t NameAt;
    uint64_t Value;
    if (File.is64Bit()) {
      nlist_64 N = File.getSymbol64TableEntry(Ref);
      Type = N.n_type, SectionIndex = N.n_sect, Value = N.n_value;
      Flags = N.n_desc, NameAt = N.n_strx;
    } else {
      nlist N = File.getSymbolTableEntry(Ref);
      Type = N.n_type, SectionIndex = N.n_sect, Value = N.n_value;
      Flags = N.n_desc, NameAt = N.n_strx;
    }
    auto Fail = [&](const Twine &Why) {
      return failure("symbol " + Twine(I) + ": " + Why);
    };
    // LLVM and LLD read up to a NUL, wherever that is.
    if (Names.find('\0', NameAt) == StringRef::npos)
      return Fail("its name has no end");
    Expected<StringRef> Name = S.getName();
    if (!Name)
      return Name.takeError();
    if (Type & N_STAB)
      return Fail("a linker's debug information");
    bool IsUsableNow = true;
    switch (Type & N_TYPE) {
    case N_UNDF:
      if (!(Type & N_EXT) || Value > MaxSize)
        return Fail("it is not defined, and not external");
      SectionIndex = 0;
      break;
    case N_ABS:
      SectionIndex = 0;
      break;
    case N_SECT: {
      if (SectionIndex == 0 || SectionIndex > Sections.size())
        return Fail("its section is " + Twine(unsigned(SectionIndex)) + " of " +
                    Twine(Sections.size()));
      const Section &In = Sections[SectionIndex - 1];
      uint64_t Offset = Value - In.Address;
      if (Value < In.Address || Offset > In.Size)
        return Fail("it is outside of its section");
      // Nothing is there that could be found.
      if (In.literalSize() != 0 && (Offset == In.Size || Flags & N_ALT_ENTRY))
        return Fail("it is at the end of literals");
      // LLD writes a name that isn't private, and where it is.
      if ((In.Name == "__compact_unwind" || In.Name == "__llvm_addrsig") &&
          !Name->starts_with("l") && !Name->starts_with("L"))
        return Fail("it is in " + In.Name + ", and not private");
      IsUsableNow = In.isKept();
      break;
    }
    default:
      return Fail("unknown type " + Twine(unsigned(Type)));
    }
    SymbolSections.push_back(SectionIndex);
    SymbolValues.push_back(Value);
    IsUsable.push_back(IsUsableNow);
    ++I;
  }
  return Error::success();
}

/// LLD takes the name of the source file from debug information, of which it
/// reads these sections alone.
Error MachOCheck::checkUnit() {
  StringMap<std::unique_ptr<MemoryBuffer>> Tables;
  for (const Section &S : Sections)
    if (StringRef Name = S.Name;
        S.Segment == "__DWARF" && Name.consume_front("__debug_") &&
        (S.Flags & SECTION_ATTRIBUTES_USR) == uint32_t(S_ATTR_DEBUG) &&
        is_contained({"info", "line", "str_offs", "abbrev", "str"}, Name))
      Tables[("debug_" + (Name == "str_offs" ? "str_offsets" : Name)).str()] =
          MemoryBuffer::getMemBuffer(contents(S), "", false);
  if (Tables.empty())
    return Error::success();
  auto Ignore = [](Error E) { consumeError(std::move(E)); };
  auto Context = DWARFContext::create(Tables, File.getBytesInAddress(),
                                      /*isLittleEndian=*/true, Ignore, Ignore);
  for (const auto &Unit : Context->compile_units()) {
    if (Error E = checkFirstEntry(*Unit))
      return E;
    if (Unit->getUnitDIE().getShortName() == nullptr)
      return failure("its debug information names no file");
  }
  return Error::success();
}

Error MachOCheck::checkSection(const Section &S) {
  if (S.Align >= 32)
    return failure("its alignment is 2^" + Twine(S.Align));
  if (S.isZeros()) {
    if (S.NumRelocs != 0 || S.literalSize() != 0 || !S.isKept() ||
        S.Name == "__eh_frame")
      return failure("it has no contents");
    return Error::success();
  }
  StringRef Contents = contents(S);
  if (Contents.size() != S.Size)
    return failure("its contents are outside of the file");
  if (unsigned Size = S.literalSize()) {
    if (S.NumRelocs != 0)
      return failure("literals with relocations");
    if (S.Size % Size != 0)
      return failure("part of a literal");
    if (Size == 1 && !Contents.empty() && Contents.back() != 0)
      return failure("its last string doesn't end");
  }
  if (Error E = checkRelocations(S))
    return E;
  return checkRecords(S, Contents);
}

/// Sections that a linker takes apart without a symbol for each part.
Error MachOCheck::checkRecords(const Section &S, StringRef Contents) {
  unsigned Word = wordSize(), Size = 1;
  if (S.is("__LD", "__compact_unwind"))
    Size = 3 * Word + 8;
  else if (S.is("__DATA", "__cfstring"))
    Size = 4 * Word;
  else if (S.is("__DATA", "__objc_classrefs") ||
           S.is("__DATA", "__objc_selrefs"))
    Size = Word;
  else if (S.is("__DATA", "__objc_imageinfo"))
    Size = 8;
  else if (S.is("__LLVM", "__cg_profile"))
    return checkCallGraph(Contents, [&](uint64_t Symbol) {
      return Symbol < IsUsable.size()
                 ? Error::success()
                 : failure("symbol " + Twine(Symbol) + " of " +
                           Twine(IsUsable.size()));
    });
  else if (S.is("__TEXT", "__eh_frame"))
    return checkEhFrame(S, Contents);
  if (Size == 1)
    return Error::success();
  if (Contents.size() % Size != 0)
    return failure("part of an entry");
  if (S.literalSize() != 0)
    return failure("literals instead of entries");
  return checkPlaces(S, [&](uint64_t Offset) { return Offset % Size == 0; });
}

/// LLD has no symbols but at the beginning of an entry.
Error MachOCheck::checkPlaces(const Section &S,
                              function_ref<bool(uint64_t)> IsEntry) const {
  if (S.Size == 0)
    return Error::success();
  for (size_t I = 0; I != SymbolSections.size(); ++I) {
    uint64_t Offset = SymbolValues[I] - S.Address;
    if (SymbolSections[I] != 0 && &Sections[SymbolSections[I] - 1] == &S &&
        (Offset == S.Size || !IsEntry(Offset)))
      return failure("symbol " + Twine(I) + " is at no entry");
  }
  return Error::success();
}

/// A CIE as LLVM writes it: nothing else is understood by LLD.
Error MachOCheck::checkCie(uint64_t At, StringRef Entry, FdeSizes &Sizes) {
  Expected<Cie> C = readCie(Entry, /*IsLittleEndian=*/true, wordSize());
  if (!C)
    return C.takeError();
  if (C->Personality != 0) {
    const Reloc *R = findRelocation(uint32_t(At + C->Personality));
    if (C->PersonalitySize != 4 || R == nullptr || !R->IsExternal ||
        isSubtractor(*R))
      return failure("a CIE's personality function is broken");
  }
  auto Size = [&](uint8_t Encoding) {
    bool IsKnown = is_contained({dwarf::DW_EH_PE_absptr, dwarf::DW_EH_PE_sdata4,
                                 dwarf::DW_EH_PE_sdata8},
                                Encoding & 0xf);
    return IsKnown ? encodedSize(Encoding, wordSize()) : 0;
  };
  Sizes = {Size(C->AddressEncoding), Size(C->TableEncoding)};
  if (!C->HasSize || Sizes.Address == 0 ||
      !(C->AddressEncoding & dwarf::DW_EH_PE_pcrel) ||
      (C->TableEncoding != dwarf::DW_EH_PE_omit && Sizes.Table == 0))
    return failure("a CIE of an unknown kind");
  return Error::success();
}

/// What an FDE refers to by an address relative to itself: a difference of two
/// symbols, or a number, of \p Size bytes at \p At. Zero may mean none.
/// Nothing: it is nowhere.
std::optional<MachOCheck::Place> MachOCheck::targetOf(const Section &S,
                                                      uint64_t At,
                                                      unsigned Size,
                                                      bool MayBeNone) const {
  auto InPlain = [&](const Section &T, uint64_t Address) {
    bool IsPlain =
        T.isKept() && T.Size != 0 && !T.isZeros() && T.literalSize() == 0;
    return IsPlain ? std::optional(Place(&T, Address)) : std::nullopt;
  };
  if (const Reloc *R = findRelocation(uint32_t(At))) {
    // checkRelocations() has seen that the second is there.
    const Reloc &To = R[1];
    if (!isSubtractor(*R) || !To.IsExternal)
      return std::nullopt;
    uint8_t From = SymbolSections[R->Symbol], In = SymbolSections[To.Symbol];
    if (From == 0 || &Sections[From - 1] != &S || In == 0)
      return std::nullopt;
    return InPlain(Sections[In - 1], SymbolValues[To.Symbol]);
  }
  const char *Data = contents(S).data() + At;
  uint64_t Distance = Size == 8 ? support::endian::read64le(Data)
                                : support::endian::read32le(Data);
  if (Distance == 0 && MayBeNone)
    return Place();
  // As linkers look for it, whatever the order of the sections is.
  uint64_t Address = Distance + S.Address + At;
  auto After = std::upper_bound(
      Sections.begin(), Sections.end(), Address,
      [](uint64_t A, const Section &T) { return A < T.Address; });
  if (After == Sections.begin())
    return std::nullopt;
  return InPlain(*std::prev(After), Address);
}

Error MachOCheck::checkEhFrame(const Section &S, StringRef Contents) {
  if (S.literalSize() != 0)
    return failure("literals instead of entries");
  std::map<uint64_t, FdeSizes> Cies; // by their offsets
  std::set<uint64_t> Entries;        // offsets
  for (uint64_t At = 0; At != Contents.size();) {
    StringRef D = Contents.drop_front(At);
    uint64_t Size =
        D.size() < 4 ? 0 : uint64_t(support::endian::read32le(D.data())) + 4;
    if (Size < 12 || Size > D.size())
      return failure("the entry at " + Twine(At) + " has " + Twine(Size) +
                     " bytes");
    Entries.insert(At);
    if (findRelocation(uint32_t(At + 4)))
      return failure("the entry at " + Twine(At) + " has no CIE");
    uint32_t Id = support::endian::read32le(D.data() + 4);
    if (Id == 0) {
      if (Error E = checkCie(At, D.take_front(Size), Cies[At]))
        return E;
    } else {
      auto Found = Cies.find(At + 4 - Id);
      if (Found == Cies.end())
        return failure("the entry at " + Twine(At) + " has no CIE");
      const FdeSizes &Sizes = Found->second;
      // Two addresses, the size of the rest, and maybe a table's address.
      uint64_t Needed = 8 + 2 * Sizes.Address + 1 + Sizes.Table;
      uint64_t Table = At + Needed - Sizes.Table;
      if (Size < Needed || Contents[Table - 1] & 0x80)
        return failure("the entry at " + Twine(At) + " has no addresses");
      std::optional<Place> Function =
          targetOf(S, At + 8, Sizes.Address, /*MayBeNone=*/false);
      if (!Function || (Sizes.Table != 0 &&
                        !targetOf(S, Table, Sizes.Table, /*MayBeNone=*/true)))
        return failure("the entry at " + Twine(At) + " is for no function");
      // LLD has no relocations for one that it keeps.
      if (File.getArch() == Triple::aarch64_32 && !Unwound.count(*Function))
        return failure("the entry at " + Twine(At) +
                       " is for a function without compact unwind information");
    }
    At += Size;
  }
  return checkPlaces(
      S, [&](uint64_t Offset) { return Entries.count(Offset) != 0; });
}

Error MachOCheck::checkTarget(const Section &S, const Reloc &R) {
  if (R.IsExternal) {
    if (R.Symbol >= IsUsable.size() || !IsUsable[R.Symbol])
      return failure("is for symbol " + Twine(R.Symbol) + " of " +
                     Twine(IsUsable.size()));
    return Error::success();
  }
  if (R.Symbol == 0 || R.Symbol > Sections.size() ||
      !Sections[R.Symbol - 1].isKept())
    return failure("is for section " + Twine(R.Symbol) + " of " +
                   Twine(Sections.size()));
  const Section &Target = Sections[R.Symbol - 1];
  // The address stands where the relocation is.
  const char *At = contents(S).data() + R.Address;
  uint64_t Address = 0;
  if (R.Length == 3)
    Address = support::endian::read64le(At);
  else if (R.Length == 2)
    Address = R.IsPCRelative
                  ? uint64_t(int64_t(int32_t(support::endian::read32le(At))))
                  : support::endian::read32le(At);
  else
    return failure("has a length that no address has");
  if (R.IsPCRelative) {
    Address += S.Address + R.Address + 4;
    if (isX86() && R.Type == X86_64_RELOC_SIGNED_1)
      Address += 1;
    if (isX86() && R.Type == X86_64_RELOC_SIGNED_2)
      Address += 2;
    if (isX86() && R.Type == X86_64_RELOC_SIGNED_4)
      Address += 4;
  }
  // An address in the middle of a subtraction may be anywhere, but in literals
  // linkers look for what is there.
  if (Target.literalSize() != 0 && Address - Target.Address >= Target.Size)
    return failure("is for a literal that isn't there");
  return Error::success();
}

Error MachOCheck::checkRelocation(const Section &S, const Reloc &R) {
  uint64_t Size = uint64_t(1) << R.Length;
  if (R.Address > S.Size || Size > S.Size - R.Address)
    return failure("is at " + Twine(R.Address) + " of " + Twine(S.Size) +
                   " bytes");
  unsigned Types = isX86()     ? unsigned(X86_64_RELOC_TLV)
                   : isArm64() ? unsigned(ARM64_RELOC_ADDEND)
                               : 15;
  if (R.Type > Types)
    return failure("is of the unknown type " + Twine(R.Type));
  if (isAddend(R))
    return Error::success();
  if (isSubtractor(R) && !R.IsExternal)
    return failure("subtracts what has no symbol");
  return checkTarget(S, R);
}

/// Notes a function of \p In that has compact unwind information, which
/// \p Entry begins with. LLD doesn't know that of arm64_32 with frames.
void MachOCheck::addUnwound(const Section &In, StringRef Entry) {
  constexpr uint32_t HasFrame = 0x04000000, Mask = 0x0f000000;
  if (File.getArch() != Triple::aarch64_32 || Entry.size() < 12)
    return;
  uint32_t Address = support::endian::read32le(Entry.data()),
           Encoding = support::endian::read32le(Entry.data() + 8);
  if ((Encoding & Mask) != HasFrame)
    Unwound.insert({&In, Address});
}

Error MachOCheck::checkRelocations(const Section &S) {
  StringRef Data = File.getData();
  if (S.NumRelocs != 0 && (S.RelocOffset > Data.size() ||
                           S.NumRelocs > (Data.size() - S.RelocOffset) / 8))
    return failure("its relocations are outside of the file");
  // Linkers read its symbols, if at all.
  if (S.Segment == "__DWARF" || S.Segment == "__LLVM")
    return Error::success();
  bool IsUnwind = S.is("__LD", "__compact_unwind");
  bool IsEhFrame = S.is("__TEXT", "__eh_frame");
  EhFrameRelocs.clear();
  const Reloc *First = nullptr; // of a pair
  Reloc Previous;
  for (uint32_t I = 0; I != S.NumRelocs; ++I) {
    const char *At = Data.data() + S.RelocOffset + 8 * uint64_t(I);
    uint32_t Address = support::endian::read32le(At),
             Word = support::endian::read32le(At + 4);
    Reloc R = {Address,
               Word & 0xffffff,
               bool(Word >> 24 & 1),
               bool(Word >> 27 & 1),
               Word >> 25 & 3,
               Word >> 28};
    auto Fail = [&](const Twine &Why) {
      return failure("relocation " + Twine(I) + " " + Why);
    };
    // Of 32-bit machines that LLD doesn't link.
    if (Address & R_SCATTERED && !isX86() && !isArm64())
      continue;
    if (Error E = checkRelocation(S, R))
      return Fail(toString(std::move(E)));
    if (First != nullptr) {
      bool Fits = R.Address == First->Address && !isAddend(R) &&
                  !isSubtractor(R) &&
                  (isAddend(*First) || R.Type == 0 /* UNSIGNED */);
      if (!Fits)
        return Fail("doesn't belong to the one before it");
      First = nullptr;
    } else if (isAddend(R) || isSubtractor(R)) {
      Previous = R;
      First = &Previous;
    }
    if (IsEhFrame)
      EhFrameRelocs[R.Address].push_back(R);
    if (IsUnwind && R.Type != 0)
      return Fail("is for no function");
    if (IsUnwind) {
      uint8_t Index = R.IsExternal ? SymbolSections[R.Symbol] : R.Symbol;
      // A function, a personality function, which may be elsewhere, or a table.
      bool IsFunction = R.Address % (File.is64Bit() ? 32 : 20) == 0;
      if ((Index == 0 && (IsFunction || !R.IsExternal)) ||
          (Index != 0 && Sections[Index - 1].type() != S_REGULAR &&
           Sections[Index - 1].type() != S_COALESCED))
        return Fail("is for no function");
      if (IsFunction && !R.IsExternal)
        addUnwound(Sections[R.Symbol - 1], contents(S).substr(R.Address));
    }
  }
  if (First != nullptr)
    return failure("its last relocation needs another");
  return Error::success();
}

Error dtlto::checkMachO(const MachOObjectFile &Object) {
  return MachOCheck(Object).check();
}
