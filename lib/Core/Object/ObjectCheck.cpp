//===- ObjectCheck.cpp - Checks objects from plugins ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/ObjectCheck.h"
#include "Object/WasmFile.h"
#include "Support/Failure.h"
#include "LLVM/Version.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/BinaryFormat/Wasm.h"
#include "llvm/Object/COFF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/MachO.h"

using namespace llvm;
using namespace llvm::object;
using namespace dtlto;

/// Adds the section or symbol \p Number to the message of \p E.
static Error withLocation(const char *What, uint64_t Number, Error E) {
  return failure(Twine(What) + " " + Twine(Number) + ": " +
                 toString(std::move(E)));
}

/// Fails unless a relocation's symbol \p Index is less than \p Count.
static Error checkIndex(uint64_t Index, uint64_t Count) {
  return Index < Count ? Error::success()
                       : failure("a relocation refers to symbol " +
                                 Twine(Index) + " of " + Twine(Count));
}

//===----------------------------------------------------------------------===//
// ELF
//===----------------------------------------------------------------------===//

/// Reads a table of Elf_Rel or Elf_Rela.
template <class Table>
static Error walkRelocations(Expected<Table> Relocs, uint64_t NumSymbols,
                             bool IsMips64EL) {
  if (!Relocs)
    return Relocs.takeError();
  for (const auto &R : *Relocs)
    if (Error E = checkIndex(R.getSymbol(IsMips64EL), NumSymbols))
      return E;
  return Error::success();
}

template <class ELFT>
static Error walkSection(const ELFFile<ELFT> &File,
                         const typename ELFT::Shdr &S, StringRef Names,
                         uint64_t NumSymbols) {
  if (Expected<StringRef> Name = File.getSectionName(S, Names); !Name)
    return Name.takeError();
  if (S.sh_type == ELF::SHT_NULL || S.sh_type == ELF::SHT_NOBITS)
    return Error::success();
  if (auto Contents = File.getSectionContents(S); !Contents)
    return Contents.takeError();
  if (S.sh_type == ELF::SHT_REL)
    return walkRelocations(File.rels(S), NumSymbols, File.isMips64EL());
  if (S.sh_type == ELF::SHT_RELA)
    return walkRelocations(File.relas(S), NumSymbols, File.isMips64EL());
  return Error::success();
}

template <class ELFT> static Error walkELF(const ELFFile<ELFT> &File) {
  auto Sections = File.sections();
  if (!Sections)
    return Sections.takeError();
  if (Sections->empty())
    return failure("it has no sections");
  auto Names = File.getSectionStringTable(*Sections);
  if (!Names)
    return Names.takeError();
  // Use the first symbol table, as linkers do.
  auto Find = [&](unsigned Type) {
    auto *It = find_if(*Sections, [=](auto &S) { return S.sh_type == Type; });
    return It == Sections->end() ? nullptr : It;
  };
  const auto *SymbolTable = Find(ELF::SHT_SYMTAB);
  auto Symbols = File.symbols(SymbolTable);
  if (!Symbols)
    return Symbols.takeError();
  for (const auto &S : *Sections)
    if (Error E = walkSection(File, S, *Names, Symbols->size()))
      return withLocation("section", &S - Sections->begin(), std::move(E));
  if (!SymbolTable)
    return Error::success();

  ArrayRef<typename ELFT::Word> LongIndexes;
  if (const auto *S = Find(ELF::SHT_SYMTAB_SHNDX)) {
    auto Table = File.getSHNDXTable(*S, *Sections);
    if (!Table)
      return Table.takeError();
    LongIndexes = *Table;
  }
  auto SymbolNames = File.getStringTableForSymtab(*SymbolTable, *Sections);
  if (!SymbolNames)
    return SymbolNames.takeError();
  for (const auto &S : *Symbols) {
    if (Expected<StringRef> Name = S.getName(*SymbolNames); !Name)
      return withLocation("symbol", &S - Symbols->begin(), Name.takeError());
    if (auto In = File.getSection(S, *Symbols,
                                  DataRegion<typename ELFT::Word>(LongIndexes));
        !In)
      return withLocation("symbol", &S - Symbols->begin(), In.takeError());
  }
  return Error::success();
}

static Error walkELF(const ELFObjectFileBase &Obj) {
  if (const auto *O = dyn_cast<ELF64LEObjectFile>(&Obj))
    return walkELF(O->getELFFile());
  if (const auto *O = dyn_cast<ELF32LEObjectFile>(&Obj))
    return walkELF(O->getELFFile());
  if (const auto *O = dyn_cast<ELF64BEObjectFile>(&Obj))
    return walkELF(O->getELFFile());
  return walkELF(cast<ELF32BEObjectFile>(Obj).getELFFile());
}

/// Whether the file class is right. The ILP32 ABIs of 64-bit machines use the
/// 32-bit class; a flag distinguishes MIPS N32 from O32.
static bool matchesABI(const ELFObjectFileBase &Obj, const Triple &T) {
  bool IsN32 = T.getEnvironmentName().contains("abin32");
  bool Is64 = T.isArch64Bit() && !T.isX32() && !IsN32 &&
              T.getEnvironment() != Triple::GNUILP32;
  if (T.isMIPS() && IsN32 != bool(Obj.getPlatformFlags() & ELF::EF_MIPS_ABI2))
    return false;
  return (Obj.getBytesInAddress() == 8) == Is64;
}

//===----------------------------------------------------------------------===//
// COFF
//===----------------------------------------------------------------------===//

static Error walkSection(const COFFObjectFile &File, int32_t Number) {
  Expected<const coff_section *> S = File.getSection(Number);
  if (!S)
    return S.takeError();
  if (Expected<StringRef> Name = File.getSectionName(*S); !Name)
    return Name.takeError();
  ArrayRef<uint8_t> Contents;
  if (Error E = File.getSectionContents(*S, Contents))
    return E;
  // LLVM also returns an empty list if it can't read the relocations.
  ArrayRef<coff_relocation> Relocs = File.getRelocations(*S);
  if (Relocs.data() == nullptr
          ? (*S)->NumberOfRelocations != 0
          : Relocs.empty() && (*S)->hasExtendedRelocations())
    return failure("its relocations are outside of the file");
  for (const coff_relocation &R : Relocs)
    if (Error E = checkIndex(R.SymbolTableIndex, File.getNumberOfSymbols()))
      return E;
  return Error::success();
}

/// Advances \p I to the symbol's last auxiliary record.
static Error walkSymbol(const COFFObjectFile &File, uint32_t &I) {
  Expected<COFFSymbolRef> S = File.getSymbol(I);
  if (!S)
    return S.takeError();
  if (Expected<StringRef> Name = File.getSymbolName(*S); !Name)
    return Name.takeError();
  if (auto In = File.getSection(S->getSectionNumber()); !In)
    return In.takeError();
  if (S->getNumberOfAuxSymbols() >= File.getNumberOfSymbols() - I)
    return failure("its auxiliary records reach past the table");
  I += S->getNumberOfAuxSymbols();
  return Error::success();
}

static Error walkCOFF(const COFFObjectFile &File) {
  // LLVM ignores a missing symbol table. It accepts a table whose end is in the
  // file only because it is truncated to 32 bits.
  const uint32_t NumSymbols = File.getNumberOfSymbols();
  uint64_t Begin = File.getPointerToSymbolTable(),
           Size = uint64_t(NumSymbols) * File.getSymbolTableEntrySize();
  if (Begin != 0 &&
      (File.getSymbolTable() == 0 || Begin + Size > File.getData().size()))
    return failure("its symbol table is outside of the file");
  for (uint32_t I = 0; I < NumSymbols; ++I)
    if (Error E = walkSymbol(File, I))
      return withLocation("symbol", I, std::move(E));
  for (uint32_t I = 1; I <= File.getNumberOfSections(); ++I)
    if (Error E = walkSection(File, int32_t(I)))
      return withLocation("section", I, std::move(E));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Mach-O
//===----------------------------------------------------------------------===//

/// LLVM has already checked that the tables are within the file.
static Error walkMachO(const MachOObjectFile &File) {
  const StringRef Names = File.getStringTableData();
  uint64_t NumSymbols = 0, Number = 0;
  for (const SymbolRef &S : File.symbols()) {
    DataRefImpl D = S.getRawDataRefImpl();
    uint64_t NameAt = File.is64Bit() ? File.getSymbol64TableEntry(D).n_strx
                                     : File.getSymbolTableEntry(D).n_strx;
    // LLVM searches for the end of a name without a limit.
    if (Names.find('\0', NameAt) == StringRef::npos)
      return withLocation("symbol", NumSymbols, failure("its name has no end"));
    if (Expected<section_iterator> In = S.getSection(); !In)
      return withLocation("symbol", NumSymbols, In.takeError());
    ++NumSymbols;
  }
  for (const SectionRef &S : File.sections()) {
    ++Number;
    if (Expected<StringRef> Contents = S.getContents(); !Contents)
      return withLocation("section", Number, Contents.takeError());
    for (const RelocationRef &Ref : S.relocations()) {
      auto R = File.getRelocation(Ref.getRawDataRefImpl());
      if (!File.isRelocationScattered(R) && File.getPlainRelocationExternal(R))
        if (Error E =
                checkIndex(File.getPlainRelocationSymbolNum(R), NumSymbols))
          return withLocation("section", Number, std::move(E));
    }
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// All formats
//===----------------------------------------------------------------------===//

static Triple::ObjectFormatType formatOf(file_magic Magic) {
  if (Magic == file_magic::coff_object)
    return Triple::COFF;
  if (Magic == file_magic::wasm_object)
    return Triple::Wasm;
  if (Magic >= file_magic::elf && Magic <= file_magic::elf_core)
    return Triple::ELF;
  if (Magic >= file_magic::macho_object &&
      Magic <= file_magic::macho_kext_bundle)
    return Triple::MachO;
  return Triple::UnknownObjectFormat;
}

static StringRef formatName(Triple::ObjectFormatType Format) {
  switch (Format) {
  case Triple::ELF:
    return "an ELF";
  case Triple::COFF:
    return "a COFF";
  case Triple::MachO:
    return "a Mach-O";
  default:
    return "a WebAssembly";
  }
}

/// Returns the architecture in the header of an object for \p A. Callers
/// compare width and byte order separately.
static Triple::ArchType machineOf(Triple::ArchType A) {
  switch (A) {
  case Triple::thumb:
  case Triple::thumbeb:
  case Triple::armeb:
    return Triple::arm;
  case Triple::mips64: // N32 has the 32-bit file class
    return Triple::mips;
  case Triple::mips64el:
    return Triple::mipsel;
  default:
    return A;
  }
}

static bool matchesMachine(const ObjectFile &Obj, const Triple &T) {
  const auto *ELF = dyn_cast<ELFObjectFileBase>(&Obj);
  if (Obj.isLittleEndian() != T.isLittleEndian() ||
      (ELF && !matchesABI(*ELF, T)))
    return false;
  // The flags name the processor, or none if the link has none.
  if (ELF && ELF->getEMachine() == ELF::EM_AMDGPU)
    return T.isAMDGPU();
  return machineOf(Obj.getArch()) == machineOf(T.getArch());
}

static bool isRelocatable(const ObjectFile &Obj) {
  if (const auto *ELF = dyn_cast<ELFObjectFileBase>(&Obj))
    return ELF->getEType() == ELF::ET_REL;
  if (const auto *MachO = dyn_cast<MachOObjectFile>(&Obj))
    return MachO->getHeader().filetype == MachO::MH_OBJECT;
  return Obj.isRelocatableObject();
}

/// Ignores the damage if a compiler wrote the object: its objects are valid
/// however odd the program is.
static Error damaged(Error E, Origin ObjectOrigin) {
  std::string Why = toString(std::move(E));
  return ObjectOrigin == Origin::Compiler
             ? Error::success()
             : failure("it is damaged (" + Why + ")");
}

static Error wrongTarget(const Triple &T, const Twine &Actual) {
  return failure("it is " + Actual + ", but the target is " + T.str());
}

static Error checkWasm(StringRef Object, const Triple &T, Origin ObjectOrigin) {
  auto Sections = wasmSections(Object);
  if (!Sections)
    return damaged(Sections.takeError(), ObjectOrigin);
  bool Is64 = false, IsObject = false;
  for (const WasmSection &S : *Sections) {
    Is64 |= S.Id == wasm::WASM_SEC_IMPORT && has64BitMemory(S.Contents);
    IsObject |= S.Name == "linking";
  }
  if (Is64 != (T.getArch() == Triple::wasm64))
    return wrongTarget(T, Is64 ? "for wasm64" : "for wasm32");
  if (!IsObject)
    return failure("it is not a relocatable object");
  for (const WasmSection &S : *Sections)
    if (Error E = walkWasm(S))
      return damaged(std::move(E), ObjectOrigin);
  return Error::success();
}

Error dtlto::checkObject(StringRef Object, const Triple &T,
                         Origin ObjectOrigin) {
  if (Object.empty())
    return failure("it is empty");
  file_magic Magic = identify_magic(Object);
  if (Magic == file_magic::bitcode)
    return failure("it is bitcode, not an object file");
  Triple::ObjectFormatType Format = formatOf(Magic);
  if (Format == Triple::UnknownObjectFormat)
    return failure("it is not an object file");
  if (Format != T.getObjectFormat())
    return wrongTarget(T, formatName(Format) + " file");

  if (Format == Triple::Wasm)
    return checkWasm(Object, T, ObjectOrigin);

  // LLVM reads ELF only at even addresses; a plugin's buffer may be at any.
  std::string Aligned;
  if (reinterpret_cast<uintptr_t>(Object.data()) % 2 != 0) {
    Aligned = Object.str();
    Object = Aligned;
  }
  MemoryBufferRef Buffer(Object, "object");
  auto Obj =
      Format == Triple::ELF
          ? ObjectFile::createELFObjectFile(Buffer, /*InitContent=*/false)
          : ObjectFile::createObjectFile(Buffer);
  if (!Obj)
    return damaged(Obj.takeError(), ObjectOrigin);
  if (!matchesMachine(**Obj, T))
    return wrongTarget(T, "for " + Triple::getArchTypeName((*Obj)->getArch()));
  if (!isRelocatable(**Obj))
    return failure("it is not a relocatable object");
  if (ObjectOrigin == Origin::Compiler)
    return Error::success();
  Error E = (*Obj)->isELF()    ? walkELF(*cast<ELFObjectFileBase>(Obj->get()))
            : (*Obj)->isCOFF() ? walkCOFF(*cast<COFFObjectFile>(Obj->get()))
                               : walkMachO(*cast<MachOObjectFile>(Obj->get()));
  return E ? damaged(std::move(E), ObjectOrigin) : Error::success();
}
