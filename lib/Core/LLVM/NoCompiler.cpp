//===- NoCompiler.cpp - LLVM's object readers, without the rest -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's object readers also read bitcode, library stubs and other files, which
// need most of LLVM: IR, assemblers, targets. A program that only reads objects
// with ObjectFile::createObjectFile() links this file instead. Only
// dtlto-distributor for Windows does so: LLVM must be built first there, and
// GNU ld for PE also needs definitions of uncalled functions.
//
// createObjectFile() refuses such files, so these functions are never called.
// If one is called, the program ends with an error.
//
//===----------------------------------------------------------------------===//

#include "llvm/Config/llvm-config.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/COFFImportFile.h"
#include "llvm/Object/IRObjectFile.h"
#include "llvm/Object/OffloadBinary.h"
#include "llvm/Object/TapiUniversal.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using namespace llvm::object;

[[noreturn]] static void missing(const char *What) {
  report_fatal_error(
      "this program is built without LLVM's code generator, but " +
          Twine(What) + " was called",
      /*gen_crash_diag=*/false);
}

Expected<std::unique_ptr<IRObjectFile>> IRObjectFile::create(MemoryBufferRef,
                                                             LLVMContext &) {
  missing("IRObjectFile::create");
}

Expected<MemoryBufferRef>
IRObjectFile::findBitcodeInObject(const ObjectFile &) {
  missing("IRObjectFile::findBitcodeInObject");
}

Expected<std::unique_ptr<OffloadBinary>>
OffloadBinary::create(MemoryBufferRef) {
  missing("OffloadBinary::create");
}

Expected<std::unique_ptr<TapiUniversal>>
TapiUniversal::create(MemoryBufferRef) {
  missing("TapiUniversal::create");
}

// This function determines where the class's vtable is emitted.
Error COFFImportFile::printSymbolName(raw_ostream &, DataRefImpl) const {
  missing("COFFImportFile::printSymbolName");
}

#if LLVM_VERSION_MAJOR >= 22
const Target *TargetRegistry::lookupTarget(const Triple &, std::string &) {
#else
const Target *TargetRegistry::lookupTarget(StringRef, std::string &) {
#endif
  missing("TargetRegistry::lookupTarget");
}

// This function determines where the class's vtable is emitted.
bool MCInstrAnalysis::clearsSuperRegisters(const MCRegisterInfo &,
                                           const MCInst &, APInt &) const {
  missing("MCInstrAnalysis::clearsSuperRegisters");
}

bool MCInstrAnalysis::evaluateBranch(const MCInst &, uint64_t, uint64_t,
                                     uint64_t &) const {
  missing("MCInstrAnalysis::evaluateBranch");
}

std::optional<uint64_t> MCInstrAnalysis::evaluateMemoryOperandAddress(
    const MCInst &, const MCSubtargetInfo *, uint64_t, uint64_t) const {
  missing("MCInstrAnalysis::evaluateMemoryOperandAddress");
}

std::optional<uint64_t>
MCInstrAnalysis::getMemoryOperandRelocationOffset(const MCInst &,
                                                  uint64_t) const {
  missing("MCInstrAnalysis::getMemoryOperandRelocationOffset");
}

#if LLVM_VERSION_MAJOR >= 22
bool MCInstrDesc::hasDefOfPhysReg(const MCInst &, MCRegister,
                                  const MCRegisterInfo &) const {
#else
bool MCInstrDesc::hasDefOfPhysReg(const MCInst &, unsigned,
                                  const MCRegisterInfo &) const {
#endif
  missing("MCInstrDesc::hasDefOfPhysReg");
}
