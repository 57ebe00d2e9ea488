//===- ObjectCheck.cpp - Is this the kind of object we asked for? ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/ObjectCheck.h"
#include "Object/WasmCheck.h"
#include "Support/Failure.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MachO.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/COFF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/MachO.h"
#include "llvm/Object/ObjectFile.h"

using namespace llvm;
using namespace llvm::object;
using namespace dtlto;

static StringRef formatName(const ObjectFile &Obj) {
  if (Obj.isELF())
    return "ELF";
  if (Obj.isCOFF())
    return "COFF";
  if (Obj.isMachO())
    return "Mach-O";
  return "unknown";
}

static bool isWantedFormat(const ObjectFile &Obj, const Triple &T) {
  switch (T.getObjectFormat()) {
  case Triple::ELF:
    return Obj.isELF();
  case Triple::COFF:
    return Obj.isCOFF();
  case Triple::MachO:
    return Obj.isMachO();
  default:
    return false;
  }
}

/// Arm and Thumb code share one machine, and so do some variants of others:
/// the object's header knows less than the triple. Width and byte order are
/// compared on their own.
static bool isWantedArch(Triple::ArchType Have, Triple::ArchType Want) {
  auto Canonical = [](Triple::ArchType A) {
    switch (A) {
    case Triple::thumb:
    case Triple::thumbeb:
    case Triple::armeb:
      return Triple::arm;
    // Of the 32-bit file class with the N32 ABI.
    case Triple::mips64:
      return Triple::mips;
    case Triple::mips64el:
      return Triple::mipsel;
    default:
      return A;
    }
  };
  return Canonical(Have) == Canonical(Want);
}

/// The ILP32 ABIs of 64-bit machines use the 32-bit file class.
static bool isELF64(const Triple &T) {
  return T.isArch64Bit() && !T.isX32() &&
         T.getEnvironment() != Triple::GNUABIN32;
}

/// N32 and O32 of MIPS share file class and machine; a flag tells them apart.
static bool isWantedABI(const ObjectFile &Obj, const Triple &T) {
  const auto *ELF = dyn_cast<ELFObjectFileBase>(&Obj);
  if (!ELF || !T.isMIPS())
    return true;
  bool IsN32 = ELF->getPlatformFlags() & ELF::EF_MIPS_ABI2;
  return IsN32 == (T.getEnvironment() == Triple::GNUABIN32);
}

static bool isRelocatable(const ObjectFile &Obj) {
  if (const auto *ELF = dyn_cast<ELFObjectFileBase>(&Obj))
    return ELF->getEType() == ELF::ET_REL;
  if (const auto *MachO = dyn_cast<MachOObjectFile>(&Obj))
    return MachO->getHeader().filetype == MachO::MH_OBJECT;
  return Obj.isRelocatableObject();
}

/// Reads the header of every section and symbol, which fails where a table or
/// a section's contents reach past the end of the file.
static Error walk(const ObjectFile &Obj) {
  if (const auto *ELF = dyn_cast<ELFObjectFileBase>(&Obj)) {
    // sections() of a broken ELF file is an empty range, not an error: ask for
    // the table itself first.
    auto CheckSections = [](const auto &File) -> Error {
      auto Sections = File.sections();
      if (!Sections)
        return Sections.takeError();
      if (Sections->empty())
        return failure("it has no sections");
      for (const auto &S : *Sections) {
        auto Name = File.getSectionName(S);
        if (!Name)
          return Name.takeError();
        if (S.sh_type == ELF::SHT_NOBITS)
          continue;
        if (auto Contents = File.getSectionContents(S); !Contents)
          return Contents.takeError();
      }
      return Error::success();
    };
    if (const auto *O = dyn_cast<ELF64LEObjectFile>(ELF))
      return CheckSections(O->getELFFile());
    if (const auto *O = dyn_cast<ELF32LEObjectFile>(ELF))
      return CheckSections(O->getELFFile());
    if (const auto *O = dyn_cast<ELF64BEObjectFile>(ELF))
      return CheckSections(O->getELFFile());
    return CheckSections(cast<ELF32BEObjectFile>(ELF)->getELFFile());
  }
  // LLVM goes on without a symbol table of COFF that isn't there.
  if (const auto *COFF = dyn_cast<COFFObjectFile>(&Obj))
    if (COFF->getPointerToSymbolTable() != 0 && COFF->getSymbolTable() == 0)
      return failure("its symbol table is outside of the file");
  for (const SectionRef &S : Obj.sections()) {
    if (S.isBSS() || S.isVirtual())
      continue;
    if (auto Contents = S.getContents(); !Contents)
      return Contents.takeError();
  }
  for (const SymbolRef &S : Obj.symbols())
    if (auto Name = S.getName(); !Name)
      return Name.takeError();
  return Error::success();
}

static Error checkWasmObject(StringRef Object, const Triple &TheTriple) {
  Expected<WasmKind> Kind = checkWasm(Object);
  if (!Kind)
    return failure("it is broken (" + toString(Kind.takeError()) + ")");
  if (Kind->Is64 != (TheTriple.getArch() == Triple::wasm64))
    return failure(Twine("it is for ") + (Kind->Is64 ? "wasm64" : "wasm32") +
                   ", but the target is " + TheTriple.str());
  if (!Kind->IsRelocatable)
    return failure("it is not a relocatable object");
  return Error::success();
}

Error dtlto::checkObject(StringRef Object, const Triple &TheTriple) {
  if (Object.empty())
    return failure("it is empty");
  if (identify_magic(Object) == file_magic::bitcode)
    return failure("it is bitcode, not an object file");
  if (identify_magic(Object) == file_magic::wasm_object) {
    if (!TheTriple.isOSBinFormatWasm())
      return failure("it is a WebAssembly file, but the target is " +
                     TheTriple.str());
    return checkWasmObject(Object, TheTriple);
  }
  // LLVM reads ELF at even addresses only; a plugin may have it anywhere.
  std::string Aligned;
  if (reinterpret_cast<uintptr_t>(Object.data()) % 2 != 0) {
    Aligned = Object.str();
    Object = Aligned;
  }
  Expected<std::unique_ptr<ObjectFile>> ObjOrErr =
      ObjectFile::createObjectFile(MemoryBufferRef(Object, "object"));
  if (!ObjOrErr)
    return failure("it is not an object file (" +
                   toString(ObjOrErr.takeError()) + ")");
  const ObjectFile &Obj = **ObjOrErr;
  if (!isWantedFormat(Obj, TheTriple))
    return failure("it is a " + formatName(Obj) + " file, but the target is " +
                   TheTriple.str());
  if (!isWantedArch(Obj.getArch(), TheTriple.getArch()) ||
      !isWantedABI(Obj, TheTriple) ||
      Obj.isLittleEndian() != TheTriple.isLittleEndian() ||
      (Obj.isELF() && (Obj.getBytesInAddress() == 8) != isELF64(TheTriple)))
    return failure("it is for " + Triple::getArchTypeName(Obj.getArch()) +
                   ", but the target is " + TheTriple.str());
  if (!isRelocatable(Obj))
    return failure("it is not a relocatable object");
  if (Error E = walk(Obj))
    return failure("it is broken (" + toString(std::move(E)) + ")");
  return Error::success();
}
