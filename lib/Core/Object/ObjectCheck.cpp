//===- ObjectCheck.cpp - Is this the kind of object we asked for? ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object/ObjectCheck.h"
#include "Object/COFFCheck.h"
#include "Object/ELFCheck.h"
#include "Object/MachOCheck.h"
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

/// Checks what a linker will follow.
static Error checkContents(const ObjectFile &Obj) {
  if (const auto *ELF = dyn_cast<ELFObjectFileBase>(&Obj))
    return checkELF(*ELF);
  if (const auto *COFF = dyn_cast<COFFObjectFile>(&Obj))
    return checkCOFF(*COFF);
  return checkMachO(cast<MachOObjectFile>(Obj));
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
  if (Error E = checkContents(Obj))
    return failure("it is broken (" + toString(std::move(E)) + ")");
  return Error::success();
}
