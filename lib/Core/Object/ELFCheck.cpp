//===- ELFCheck.cpp - What a linker follows in an ELF object --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/ELFCheck.h"
#include "Object/AppliedRelocations.h"
#include "Object/LineTableCheck.h"
#include "Object/RelocationWidth.h"
#include "Object/SharedTables.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Object/Decompressor.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <vector>

using namespace llvm;
using namespace llvm::ELF;
using namespace llvm::object;
using namespace dtlto;

// More than zlib can, and than zstd makes of all but zeros. A linker allocates
// what the header claims.
static constexpr uint64_t MaxCompression = 1100;
// What zstd makes of zeros: a block of 128 KiB takes four bytes, and fewer of
// them than this many bytes' worth are in any debug information.
static constexpr uint64_t MaxZeros = 1 << 15, MaxZeroBytes = 64 << 20;

namespace {

template <class ELFT> class ELFCheck {
public:
  explicit ELFCheck(const ELFFile<ELFT> &File) : File(File) {}

  Error check();

private:
  using Shdr = typename ELFT::Shdr;
  using Sym = typename ELFT::Sym;
  using Word = typename ELFT::Word;
  using Bytes = ArrayRef<uint8_t>;

  /// A relocation of any of the kinds of tables.
  struct Reloc {
    uint64_t Offset;
    uint32_t Symbol;
    uint32_t Type;
    int64_t Addend;
  };

  Error readTables();
  Error checkSection(size_t Index);
  Error checkCompressed(const Shdr &S, Bytes Contents);
  Error checkSymbols();
  Error checkSymbol(size_t Index);
  Error checkGroup(size_t Index);
  Error checkRelocations(size_t Index);
  Error checkLinkOrder(size_t Index);
  Error checkEhFrame(Bytes Contents);
  Error checkProperties(const Shdr &S, Bytes Contents);
  Error checkLines();
  Expected<StringRef> debugData(size_t Index, SmallString<0> &Buffer) const;
  LineReloc lineReloc(const Reloc &R, bool HasAddend) const;

  uint16_t machine() const { return File.getHeader().e_machine; }
  bool isMips64EL() const {
    return machine() == EM_MIPS && ELFT::Is64Bits && File.isLE();
  }
  uint32_t read32(Bytes At) const {
    return support::endian::read32<ELFT::Endianness>(At.data());
  }

  /// Whether LLD keeps it as a plain list of bytes that relocations and
  /// SHF_LINK_ORDER may refer to.
  bool hasContents(const Shdr &S) const {
    switch (S.sh_type) {
    case SHT_NULL:
    case SHT_SYMTAB:
    case SHT_STRTAB:
    case SHT_RELA:
    case SHT_REL:
    case SHT_CREL:
    case SHT_GROUP:
    case SHT_SYMTAB_SHNDX:
      return false;
    default:
      return true;
    }
  }

  /// Whether LLD drops it, and with it the relocations for it, without a look
  /// at its group.
  bool isDropped(size_t Index) const {
    switch (Sections[Index].sh_type) {
    case SHT_ARM_ATTRIBUTES: // also of other machines
    case SHT_AARCH64_MEMTAG_GLOBALS_STATIC:
    case SHT_LLVM_DEPENDENT_LIBRARIES:
    case SHT_LLVM_LTO:
      return true;
    default:
      return is_contained({".note.GNU-stack", ".note.gnu.property",
                           ".note.GNU-split-stack", ".note.GNU-no-split-stack",
                           ".note.gnu.build-id"},
                          Names[Index]);
    }
  }

  /// The bytes that LoongArch's R_LARCH_ALIGN \p R stands for. Without a
  /// symbol, the addend is their number; else its last byte is the alignment's
  /// logarithm.
  std::optional<uint64_t> paddingOf(const Reloc &R) const {
    uint64_t Log = uint64_t(R.Addend) & 0xff;
    if (R.Symbol == 0)
      Log = R.Addend > 0 ? Log2_64(uint64_t(R.Addend)) + 1 : 0;
    else if (Symbols[R.Symbol].st_shndx == SHN_UNDEF)
      return std::nullopt; // another object says which it is
    if (Log < 2 || Log >= 32)
      return std::nullopt;
    return (uint64_t(1) << Log) - 4;
  }

  std::string name(size_t Index) const {
    return Names[Index].empty() ? ("section " + Twine(Index)).str()
                                : printable(Names[Index].take_front(100));
  }
  Error fail(size_t Index, const Twine &Why) const {
    return failure(name(Index) + ": " + Why);
  }

  const ELFFile<ELFT> &File;
  ArrayRef<Shdr> Sections;
  std::vector<StringRef> Names;
  std::vector<uint32_t> GroupOf; // of each section; 0: none
  std::vector<bool> IsRelocated; // a section of relocations is for it
  std::map<size_t, std::vector<LineReloc>> LineRelocs; // of each section
  bool HasCalls = false;   // of __tls_get_addr, marked as such, on PowerPC
  bool LacksCalls = false; // a section has none, but prepares them
  size_t SymbolTable = 0;  // index of the section
  ArrayRef<Sym> Symbols;
  ArrayRef<Word> LongIndexes; // of symbols: SHT_SYMTAB_SHNDX
  StringRef SymbolNames;
};

} // namespace

template <class ELFT> Error ELFCheck<ELFT>::readTables() {
  auto Table = File.sections();
  if (!Table)
    return Table.takeError();
  Sections = *Table;
  if (Sections.empty())
    return failure("it has no sections");
  if (File.getHeader().e_phnum != 0)
    return failure("it has program headers");
  auto Strings = File.getSectionStringTable(Sections);
  if (!Strings)
    return Strings.takeError();
  for (const Shdr &S : Sections) {
    Expected<StringRef> Name = File.getSectionName(S, *Strings);
    if (!Name)
      return Name.takeError();
    Names.push_back(*Name);
  }
  GroupOf.resize(Sections.size());
  IsRelocated.resize(Sections.size());
  for (size_t I = 0; I != Sections.size(); ++I) {
    const Shdr &S = Sections[I];
    if ((S.sh_type == SHT_NULL) != (I == 0))
      return failure("section " + Twine(I) + " has the type " +
                     Twine(S.sh_type));
    // The first has the table's size there, where that is large.
    if (I != 0 && S.sh_link >= Sections.size())
      return fail(I, "sh_link is " + Twine(S.sh_link) + " of " +
                         Twine(Sections.size()) + " sections");
    if (S.sh_type != SHT_SYMTAB)
      continue;
    if (SymbolTable != 0)
      return fail(I, "a second symbol table");
    SymbolTable = I;
    auto List = File.symbols(&S);
    if (!List)
      return List.takeError();
    Symbols = *List;
    auto Names = File.getStringTableForSymtab(S, Sections);
    if (!Names)
      return Names.takeError();
    SymbolNames = *Names;
    if (S.sh_info == 0 || S.sh_info > Symbols.size())
      return fail(I, "sh_info is " + Twine(S.sh_info) + " of " +
                         Twine(Symbols.size()) + " symbols");
  }
  for (size_t I = 0; I != Sections.size(); ++I) {
    if (Sections[I].sh_type != SHT_SYMTAB_SHNDX)
      continue;
    if (!LongIndexes.empty() || Sections[I].sh_link != SymbolTable)
      return fail(I, "it is not for the symbol table");
    auto List = File.getSHNDXTable(Sections[I], Sections);
    if (!List)
      return List.takeError();
    LongIndexes = *List;
  }
  return Error::success();
}

template <class ELFT> Error ELFCheck<ELFT>::check() {
  if (Error E = readTables())
    return E;
  if (Error E = checkSymbols())
    return E;
  for (size_t I = 1; I != Sections.size(); ++I)
    if (Sections[I].sh_type == SHT_GROUP)
      if (Error E = checkGroup(I))
        return E;
  for (size_t I = 1; I != Sections.size(); ++I)
    if (Error E = checkSection(I))
      return E;
  for (size_t I = 1; I != Sections.size(); ++I)
    if (Sections[I].sh_type == SHT_LLVM_SYMPART && !IsRelocated[I])
      return fail(I, "it names no symbol");
  if (HasCalls && LacksCalls)
    return failure("only some calls of __tls_get_addr are marked");
  return checkLines();
}

template <class ELFT> Error ELFCheck<ELFT>::checkSymbols() {
  for (size_t I = 0; I != Symbols.size(); ++I)
    if (Error E = checkSymbol(I))
      return failure("symbol " + Twine(I) + ": " + toString(std::move(E)));
  return Error::success();
}

template <class ELFT> Error ELFCheck<ELFT>::checkSymbol(size_t I) {
  const Sym &S = Symbols[I];
  if (S.st_name >= SymbolNames.size())
    return failure("its name is outside of the string table");
  bool IsLocal = I < Sections[SymbolTable].sh_info;
  unsigned Binding = S.getBinding(), Type = S.getType();
  if (IsLocal != (Binding == STB_LOCAL))
    return failure("local and global symbols are mixed");
  if (!IsLocal && Binding != STB_GLOBAL && Binding != STB_WEAK &&
      Binding != STB_GNU_UNIQUE)
    return failure("its binding is " + Twine(Binding));
  uint32_t Section = S.st_shndx;
  if (I == 0 && (Section != SHN_UNDEF || Type != STT_NOTYPE))
    return failure("it is not the null symbol");
  if (!IsLocal && (Type == STT_SECTION || Type == STT_FILE))
    return failure("its type is " + Twine(Type) + ", but it is global");
  if (!IsLocal && S.st_name == 0)
    return failure("it has no name");
  if (Type == STT_TLS && Section >= SHN_LORESERVE && Section != SHN_XINDEX)
    return failure("a thread's own variable outside of sections");
  if (Section == SHN_COMMON) {
    if (IsLocal || !isPowerOf2_64(S.st_value) || S.st_value > UINT32_MAX ||
        S.st_size > MaxSize)
      return failure("not a common symbol");
    return Error::success();
  }
  if (Section == SHN_XINDEX) {
    if (I >= LongIndexes.size())
      return failure("its section's index is nowhere");
    Section = LongIndexes[I];
  } else if (Section >= SHN_LORESERVE) {
    return Error::success();
  }
  if (Section >= Sections.size())
    return failure("its section is " + Twine(Section) + " of " +
                   Twine(Sections.size()));
  if (Section == SHN_UNDEF)
    return Error::success();
  const Shdr &In = Sections[Section];
  // The signature of a group is a symbol of the group's own section where
  // nothing else has its name.
  if (!hasContents(In) && !(In.sh_type == SHT_GROUP && IsLocal))
    return failure("it is in " + name(Section) + ", which is a table");
  if (Type == STT_TLS && !(In.sh_flags & SHF_TLS))
    return failure("a thread's own variable in " + name(Section));
  return Error::success();
}

template <class ELFT> Error ELFCheck<ELFT>::checkGroup(size_t I) {
  const Shdr &S = Sections[I];
  if (SymbolTable == 0 || S.sh_link != SymbolTable ||
      S.sh_info >= Symbols.size())
    return fail(I, "its signature is symbol " + Twine(S.sh_info) + " of " +
                       Twine(Symbols.size()));
  auto Words = File.template getSectionContentsAsArray<Word>(S);
  if (!Words)
    return Words.takeError();
  if (Words->empty() || ((*Words)[0] & ~uint32_t(GRP_COMDAT)) != 0)
    return fail(I, "unknown flags");
  for (uint32_t Member : Words->drop_front()) {
    if (Member == 0 || Member >= Sections.size())
      return fail(I, "it has section " + Twine(Member) + " of " +
                         Twine(Sections.size()));
    const Shdr &M = Sections[Member];
    if (M.sh_type == SHT_GROUP || M.sh_type == SHT_SYMTAB ||
        M.sh_type == SHT_SYMTAB_SHNDX || M.sh_type == SHT_STRTAB ||
        !(M.sh_flags & SHF_GROUP) || GroupOf[Member] != 0)
      return fail(I, "it can't have " + name(Member));
    GroupOf[Member] = I;
  }
  return Error::success();
}

template <class ELFT>
Error ELFCheck<ELFT>::checkCompressed(const Shdr &S, Bytes Contents) {
  using Chdr = typename ELFT::Chdr;
  if (!hasContents(S) || S.sh_flags & SHF_ALLOC)
    return failure("it can't be compressed");
  if (Contents.size() < sizeof(Chdr))
    return failure("no header of compression");
  const auto &Header = *reinterpret_cast<const Chdr *>(Contents.data());
  if (Header.ch_type != ELFCOMPRESS_ZLIB && Header.ch_type != ELFCOMPRESS_ZSTD)
    return failure("unknown compression " + Twine(Header.ch_type));
  bool MayBeZeros = Header.ch_type == ELFCOMPRESS_ZSTD &&
                    Header.ch_size <= MaxZeroBytes &&
                    Header.ch_size / MaxZeros <= Contents.size();
  if (Header.ch_size == 0 ||
      (Header.ch_size / MaxCompression > Contents.size() && !MayBeZeros) ||
      (S.sh_flags & SHF_MERGE && S.sh_entsize != 0 &&
       Header.ch_size % S.sh_entsize != 0))
    return failure("it can't have " + Twine(Header.ch_size) +
                   " bytes before compression");
  if (Header.ch_addralign != 0 && !isPowerOf2_64(Header.ch_addralign))
    return failure("its alignment is " + Twine(Header.ch_addralign));
  return Error::success();
}

template <class ELFT> Error ELFCheck<ELFT>::checkSection(size_t I) {
  const Shdr &S = Sections[I];
  StringRef Name = Names[I];
  if (S.sh_addralign != 0 &&
      (!isPowerOf2_64(S.sh_addralign) || S.sh_addralign > UINT32_MAX))
    return fail(I, "its alignment is " + Twine(S.sh_addralign));
  if (S.sh_type == SHT_NOBITS) {
    // Whoever reads one of these expects bytes.
    if (S.sh_flags & (SHF_MERGE | SHF_COMPRESSED) || S.sh_size > MaxSize ||
        Name.starts_with(".eh_frame") || Name.starts_with(".note") ||
        Name.starts_with(".debug") || Name.starts_with(".zdebug") ||
        Name == ".toc" || Name == ".opd" || Name == ".got2")
      return fail(I, "it has no contents");
    return Error::success();
  }
  auto ContentsOrErr = File.getSectionContents(S);
  if (!ContentsOrErr)
    return ContentsOrErr.takeError();
  Bytes Contents = *ContentsOrErr;

  if (S.sh_flags & SHF_COMPRESSED)
    if (Error E = checkCompressed(S, Contents))
      return fail(I, toString(std::move(E)));
  if (S.sh_flags & SHF_MERGE && S.sh_entsize != 0) {
    bool IsPlain = !(S.sh_flags & SHF_COMPRESSED);
    if (S.sh_flags & SHF_WRITE || !hasContents(S) ||
        (IsPlain && S.sh_size % S.sh_entsize != 0))
      return fail(I, "it can't be merged");
    if (IsPlain && S.sh_flags & SHF_STRINGS && !Contents.empty() &&
        !all_of(Contents.take_back(S.sh_entsize),
                [](uint8_t B) { return B == 0; }))
      return fail(I, "its last string doesn't end");
  }
  if (S.sh_flags & SHF_LINK_ORDER)
    if (Error E = checkLinkOrder(I))
      return E;

  auto Named = [&](Error E) -> Error {
    return E ? fail(I, toString(std::move(E))) : Error::success();
  };
  switch (S.sh_type) {
  case SHT_STRTAB:
    if (Contents.empty() || Contents.back() != 0)
      return fail(I, "its last string doesn't end");
    return Error::success();
  case SHT_RELA:
  case SHT_REL:
  case SHT_CREL:
    return checkRelocations(I);
  case SHT_HASH:
  case SHT_DYNAMIC:
  case SHT_SHLIB:
  case SHT_DYNSYM:
  case SHT_RELR:
  case SHT_ANDROID_REL:
  case SHT_ANDROID_RELA:
  case SHT_ANDROID_RELR:
  case SHT_GNU_HASH:
  case SHT_GNU_verdef:
  case SHT_GNU_verneed:
  case SHT_GNU_versym:
  case SHT_LLVM_PART_EHDR:
  case SHT_LLVM_PART_PHDR:
    return fail(I, "no section of an object");
  case SHT_LLVM_ADDRSIG:
    // Without a link it stands in an object that was rewritten, and linkers
    // ignore it.
    if (S.sh_link == 0)
      return Error::success();
    return Named(checkAddrsig(toStringRef(Contents), [&](uint64_t Symbol) {
      return Symbol < Symbols.size() ? Error::success()
                                     : failure("symbol " + Twine(Symbol) +
                                               " of " + Twine(Symbols.size()));
    }));
  case SHT_LLVM_CALL_GRAPH_PROFILE:
    if (S.sh_size % sizeof(typename ELFT::CGProfile) != 0)
      return fail(I, "its size is " + Twine(S.sh_size));
    break;
  case SHT_LLVM_DEPENDENT_LIBRARIES:
  case SHT_LLVM_SYMPART:
    if (!Contents.empty() && Contents.back() != 0)
      return fail(I, "its last string doesn't end");
    break;
  case SHT_ARM_EXIDX: // also SHT_X86_64_UNWIND
    if (machine() == EM_ARM &&
        (S.sh_size == 0 || S.sh_size % 8 != 0 ||
         !(S.sh_flags & SHF_LINK_ORDER) || S.sh_link == 0))
      return fail(I, "no table of functions");
    break;
  }
  if (Name == ".eh_frame")
    return Named(checkEhFrame(Contents));
  if (Name == ".note.gnu.property")
    return Named(checkProperties(S, Contents));
  return Error::success();
}

template <class ELFT> Error ELFCheck<ELFT>::checkLinkOrder(size_t I) {
  const Shdr &S = Sections[I];
  auto IsPlain = [&](size_t Index) {
    const Shdr &P = Sections[Index];
    return hasContents(P) && !(P.sh_flags & SHF_MERGE) &&
           Names[Index] != ".eh_frame";
  };
  if (!IsPlain(I))
    return fail(I, "it can't follow another section");
  // None: its section is gone, or it stands first.
  if (S.sh_link != 0 && (S.sh_link == I || !IsPlain(S.sh_link)))
    return fail(I, "it can't follow " + name(S.sh_link));
  return Error::success();
}

/// Part of finding a thread's own variable with a call of __tls_get_addr. If
/// that isn't marked, LLD leaves all of the file's calls as they are, and
/// doesn't expect marked ones.
static bool preparesCall(uint32_t Type) {
  return is_contained({R_PPC64_GOT_TLSGD16, R_PPC64_GOT_TLSGD16_LO,
                       R_PPC64_GOT_TLSGD16_HI, R_PPC64_GOT_TLSGD16_HA,
                       R_PPC64_GOT_TLSLD16, R_PPC64_GOT_TLSLD16_LO,
                       R_PPC64_GOT_TLSLD16_HI, R_PPC64_GOT_TLSLD16_HA},
                      Type);
}

/// Calls \p Each with each of a table's relocations until it returns an error.
template <class Range, class Function>
static Error forEach(Expected<Range> Table, Function Each) {
  if (!Table)
    return Table.takeError();
  for (const auto &R : *Table)
    if (Error E = Each(R))
      return E;
  return Error::success();
}

template <class ELFT> Error ELFCheck<ELFT>::checkRelocations(size_t I) {
  const Shdr &S = Sections[I];
  if (SymbolTable == 0 || S.sh_link != SymbolTable)
    return fail(I, "it is not for the symbol table");
  if (S.sh_info == 0 || S.sh_info >= Sections.size() || IsRelocated[S.sh_info])
    return fail(I, "it can't be for section " + Twine(S.sh_info) + " of " +
                       Twine(Sections.size()));
  const Shdr &Target = Sections[S.sh_info];
  if (!hasContents(Target) || Target.sh_type == SHT_NOBITS ||
      (Target.sh_flags & SHF_MERGE && Target.sh_flags & SHF_STRINGS))
    return fail(I, name(S.sh_info) + " can't have relocations");
  // One would be kept where the other isn't.
  if (GroupOf[I] != GroupOf[S.sh_info] ||
      (GroupOf[I] != 0 && isDropped(S.sh_info)))
    return fail(I, "it is in another group than " + name(S.sh_info));
  // With -r LLD has to have placed what they are for. It never places what
  // follows another section and names none, and crashes: but LLVM writes such
  // objects, which it can link otherwise.
  if (!(S.sh_flags & SHF_GROUP) &&
      (I < S.sh_info ||
       (Target.sh_flags & SHF_LINK_ORDER && I < Target.sh_link)))
    return fail(I, "it stands before " + name(S.sh_info));
  IsRelocated[S.sh_info] = true;
  uint64_t Size = Target.sh_size;
  if (Target.sh_flags & SHF_COMPRESSED) {
    auto Contents = File.getSectionContents(Target);
    if (!Contents)
      return Contents.takeError();
    if (Contents->size() < sizeof(typename ELFT::Chdr))
      return fail(S.sh_info, "no header of compression");
    Size = reinterpret_cast<const typename ELFT::Chdr *>(Contents->data())
               ->ch_size;
  }

  bool IsAllocated = Target.sh_flags & SHF_ALLOC;
  std::vector<LineReloc> *ForLines =
      Names[S.sh_info] == ".debug_info" || Names[S.sh_info] == ".debug_line"
          ? &LineRelocs[S.sh_info]
          : nullptr;
  bool PreparesCalls = false, MarksCalls = false;
  size_t Number = 0;
  uint64_t LastOffset = 0;
  bool AreSorted = machine() == EM_S390; // by LLD, before it looks at the next
  std::optional<Reloc> NeedsNext;
  // Where bytes may be left out, and up to where: linkers go from one to the
  // next, by their offsets.
  std::vector<std::pair<uint64_t, uint64_t>> Shortened;
  auto Check = [&](const Reloc &R) -> Error {
    auto Fail = [&](const Twine &Why) {
      return fail(I, "relocation " + Twine(Number) + " of " + name(S.sh_info) +
                         " " + Why);
    };
    RelocationWidth W = relocationWidth(machine(), R.Type);
    if (R.Offset < W.Before || R.Offset > Size || Size - R.Offset < W.After)
      return Fail("is at " + Twine(R.Offset) + " of " + Twine(Size) + " bytes");
    if (R.Symbol >= Symbols.size())
      return Fail("is for symbol " + Twine(R.Symbol) + " of " +
                  Twine(Symbols.size()));
    if (S.sh_type == SHT_REL && R.Type != 0 &&
        Symbols[R.Symbol].getType() == STT_SECTION &&
        !isApplied(machine(), R.Type))
      return Fail("is of the unknown type " + Twine(R.Type));
    if (W.AddendIsSize && (R.Addend < 0 || R.Addend > 1 << 20 ||
                           uint64_t(R.Addend) > Size - R.Offset - W.After))
      return Fail("reaches " + Twine(R.Addend) + " bytes further");
    const Sym &Symbol = Symbols[R.Symbol];
    if (IsAllocated && mayShorten(machine(), R.Type)) {
      uint64_t Length = W.AddendIsSize ? uint64_t(R.Addend) : uint64_t(W.After);
      if (machine() == EM_LOONGARCH && R.Type == R_LARCH_ALIGN) {
        std::optional<uint64_t> Padding = paddingOf(R);
        if (!Padding || *Padding > Size - R.Offset)
          return Fail("aligns by " + Twine(R.Addend));
        Length = *Padding;
      }
      Shortened.push_back({R.Offset, R.Offset + Length});
    }
    if (IsAllocated)
      if (Error E = checkApplied(machine(), R.Type, Symbol.getType() == STT_TLS,
                                 Symbol.st_shndx != SHN_UNDEF))
        return Fail(toString(std::move(E)));
    // It is the second of three in one, which N32 has one after the other.
    if (machine() == EM_MIPS && (R.Type & 0xff) == R_MIPS_SUB &&
        !(File.getHeader().e_flags & EF_MIPS_ABI2 && Number != 0 &&
          R.Offset == LastOffset))
      return Fail("subtracts from nothing");
    if (machine() == EM_MIPS && R.Type >> 24 != 0)
      return Fail("is for a special symbol");
    if (NeedsNext && !AreSorted && R.Offset < NeedsNext->Offset)
      return Fail("is not where the one before it needs it");
    if (!AreSorted || R.Offset >= LastOffset) {
      NeedsNext.reset();
      if (W.NeedsNext)
        NeedsNext = R;
      LastOffset = R.Offset;
    }
    if (machine() == EM_PPC64 && IsAllocated) {
      PreparesCalls |= preparesCall(R.Type);
      MarksCalls |= R.Type == R_PPC64_TLSGD || R.Type == R_PPC64_TLSLD;
    }
    if (ForLines)
      ForLines->push_back(lineReloc(R, S.sh_type != SHT_REL));
    ++Number;
    return Error::success();
  };

  auto CheckRel = [&](const typename ELFT::Rel &R) {
    return Check(
        {R.r_offset, R.getSymbol(isMips64EL()), R.getType(isMips64EL()), 0});
  };
  auto CheckRela = [&](const typename ELFT::Rela &R) {
    return Check({R.r_offset, R.getSymbol(isMips64EL()),
                  R.getType(isMips64EL()), int64_t(R.r_addend)});
  };
  Error E = Error::success();
  (void)!!E; // or it may not be assigned
  if (S.sh_type == SHT_RELA) {
    E = forEach(File.relas(S), CheckRela);
  } else if (S.sh_type == SHT_REL) {
    E = forEach(File.rels(S), CheckRel);
  } else {
    auto Contents = File.getSectionContents(S);
    if (!Contents)
      return Contents.takeError();
    // Room for as many as the first number says is made at once, and each takes
    // a byte at least.
    unsigned Length = 0;
    const char *Wrong = nullptr;
    uint64_t Count =
        decodeULEB128(Contents->begin(), &Length, Contents->end(), &Wrong) / 8;
    if (Wrong || Count > Contents->size())
      return fail(I, "it can't have that many relocations");
    auto Relocs = File.crels(S);
    if (!Relocs)
      return Relocs.takeError();
    for (const typename ELFT::Rel &R : Relocs->first)
      if (!E)
        E = CheckRel(R);
    for (const typename ELFT::Rela &R : Relocs->second)
      if (!E)
        E = CheckRela(R);
  }
  if (E)
    return E;
  llvm::sort(Shortened);
  for (size_t N = 1; N < Shortened.size(); ++N)
    if (Shortened[N].first < Shortened[N - 1].second)
      return fail(I, "relocations overlap at " + Twine(Shortened[N].first) +
                         " of " + name(S.sh_info));
  HasCalls |= MarksCalls;
  LacksCalls |= PreparesCalls && !MarksCalls;
  if (NeedsNext)
    return fail(I, "relocation " + Twine(Number - 1) + " of " +
                       name(S.sh_info) + " needs another");
  if (Target.sh_type == SHT_LLVM_SYMPART && Number == 0)
    return fail(I, "it is empty");
  if (Target.sh_type == SHT_LLVM_CALL_GRAPH_PROFILE &&
      Number != Target.sh_size / sizeof(typename ELFT::CGProfile) * 2)
    return fail(I, "not two relocations for each call");
  return Error::success();
}

template <class ELFT> Error ELFCheck<ELFT>::checkEhFrame(Bytes Contents) {
  DenseMap<uint64_t, unsigned> AddressSizes; // of the FDEs of each CIE
  for (uint64_t At = 0; At != Contents.size();) {
    Bytes D = Contents.drop_front(At);
    uint64_t Size = D.size() < 4 ? 0 : uint64_t(read32(D)) + 4;
    if (Size == 4) // a terminator: linkers ignore the rest
      break;
    if (Size < 8 || Size > D.size())
      return failure("the entry at " + Twine(At) + " has " + Twine(Size) +
                     " bytes");
    uint32_t Id = read32(D.drop_front(4));
    if (Id == 0) {
      constexpr unsigned WordSize = ELFT::Is64Bits ? 8 : 4;
      Expected<Cie> C =
          readCie(toStringRef(D.take_front(Size)), File.isLE(), WordSize);
      if (!C)
        return C.takeError();
      AddressSizes[At] = encodedSize(C->AddressEncoding, WordSize);
    } else {
      auto Cie = AddressSizes.find(At + 4 - Id);
      if (Id > At + 4 || Cie == AddressSizes.end())
        return failure("the entry at " + Twine(At) + " has no CIE");
      if (Size < 8 + 2 * uint64_t(Cie->second))
        return failure("the entry at " + Twine(At) + " has no addresses");
    }
    At += Size;
  }
  return Error::success();
}

template <class ELFT>
Error ELFCheck<ELFT>::checkProperties(const Shdr &S, Bytes Contents) {
  if (S.sh_flags & SHF_COMPRESSED)
    return failure("it can't be compressed");
  uint64_t Align = std::max<uint64_t>(S.sh_addralign, 1);
  while (!Contents.empty()) {
    // The sizes of the name and of the description, and the type.
    constexpr size_t HeaderSize = 12;
    if (Contents.size() < HeaderSize)
      return failure("a note is too short");
    uint64_t Begin = alignTo(HeaderSize + uint64_t(read32(Contents)), Align),
             Size = read32(Contents.drop_front(4)),
             End = Begin + alignTo(Size, Align);
    if (End > Contents.size())
      return failure("a note of " + Twine(End) + " bytes");
    Bytes Rest = Contents.slice(Begin, Size);
    if (read32(Contents.drop_front(8)) == NT_GNU_PROPERTY_TYPE_0)
      while (!Rest.empty()) {
        if (Rest.size() < 8)
          return failure("a property is too short");
        uint64_t Value =
            alignTo(read32(Rest.drop_front(4)), ELFT::Is64Bits ? 8 : 4);
        if (Value > Rest.size() - 8)
          return failure("a property is too short");
        Rest = Rest.drop_front(8 + Value);
      }
    Contents = Contents.drop_front(End);
  }
  return Error::success();
}

/// Another object's symbol may take the place of a global one, and what is in
/// a group may be dropped.
template <class ELFT>
LineReloc ELFCheck<ELFT>::lineReloc(const Reloc &R, bool HasAddend) const {
  const Sym &S = Symbols[R.Symbol];
  uint32_t In = S.st_shndx;
  if (In == SHN_XINDEX)
    In = LongIndexes[R.Symbol];
  bool IsKnown = S.getBinding() == STB_LOCAL && In < Sections.size() &&
                 Names[In].starts_with(".debug_") && GroupOf[In] == 0 &&
                 !(Sections[In].sh_flags & SHF_EXCLUDE);
  return {R.Offset, S.st_value, R.Addend, HasAddend, IsKnown};
}

/// What a section has, which \p Buffer keeps if it was compressed.
template <class ELFT>
Expected<StringRef> ELFCheck<ELFT>::debugData(size_t Index,
                                              SmallString<0> &Buffer) const {
  Expected<Bytes> Contents = File.getSectionContents(Sections[Index]);
  if (!Contents)
    return Contents.takeError();
  StringRef Data = toStringRef(*Contents);
  if (!(Sections[Index].sh_flags & SHF_COMPRESSED))
    return Data;
  Expected<Decompressor> D =
      Decompressor::create(Names[Index], Data, File.isLE(), ELFT::Is64Bits);
  if (!D)
    return D.takeError();
  if (Error E = D->resizeAndDecompress(Buffer))
    return std::move(E);
  return Buffer.str();
}

/// LLD takes the last section of each name, and no units of a group.
template <class ELFT> Error ELFCheck<ELFT>::checkLines() {
  size_t Info = 0, Line = 0, Abbrev = 0;
  for (size_t I = 1; I != Sections.size(); ++I) {
    size_t *Last = StringSwitch<size_t *>(Names[I])
                       .Case(".debug_info", &Info)
                       .Case(".debug_line", &Line)
                       .Case(".debug_abbrev", &Abbrev)
                       .Default(nullptr);
    const Shdr &S = Sections[I];
    if (!Last || !hasContents(S) || (Last == &Info && S.sh_flags & SHF_GROUP))
      continue;
    // Which is the last, if this may be dropped?
    if (*Last != 0 && S.sh_flags & (SHF_GROUP | SHF_EXCLUDE))
      return fail(I, "it is there twice");
    *Last = I;
  }
  if (Info == 0 || Line == 0 || Abbrev == 0)
    return Error::success();
  if (Sections[Info].sh_flags & SHF_MERGE)
    return fail(Info, "it can't be merged");
  SmallString<0> Buffers[3];
  LineSections L;
  for (auto [Data, Index, Buffer] :
       {std::tuple(&L.Info.Data, Info, &Buffers[0]),
        std::tuple(&L.Line.Data, Line, &Buffers[1]),
        std::tuple(&L.Abbrev, Abbrev, &Buffers[2])}) {
    Expected<StringRef> Contents = debugData(Index, *Buffer);
    if (!Contents)
      return fail(Index, toString(Contents.takeError()));
    *Data = *Contents;
  }
  L.Info.Relocs = std::move(LineRelocs[Info]);
  L.Line.Relocs = std::move(LineRelocs[Line]);
  L.IsLittleEndian = File.isLE();
  return checkLineTables(L);
}

Error dtlto::checkELF(const ELFObjectFileBase &Object) {
  auto Check = [](const auto &File) { return ELFCheck(File).check(); };
  if (const auto *O = dyn_cast<ELF64LEObjectFile>(&Object))
    return Check(O->getELFFile());
  if (const auto *O = dyn_cast<ELF32LEObjectFile>(&Object))
    return Check(O->getELFFile());
  if (const auto *O = dyn_cast<ELF64BEObjectFile>(&Object))
    return Check(O->getELFFile());
  return Check(cast<ELF32BEObjectFile>(&Object)->getELFFile());
}
