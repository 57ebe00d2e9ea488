//===- Modules.cpp - Modules from the text of their IR --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Modules.h"
#include "LLVMCompat.h"
#include "llvm/Analysis/ModuleSummaryAnalysis.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

[[noreturn]] static void mistake(const Twine &What) {
  errs() << "mistake in a test: " << What << '\n';
  abort();
}

static std::unique_ptr<Module> parse(LLVMContext &Context, StringRef IR) {
  SMDiagnostic Diag;
  std::unique_ptr<Module> M = parseAssemblyString(IR, Diag, Context);
  if (!M) {
    Diag.print("IR", errs());
    mistake("its IR has an error");
  }
  return M;
}

void dtlto::test::initializeTargets() {
  static const bool Once = [] {
    InitializeAllTargetInfos();
    InitializeAllTargets();
    InitializeAllTargetMCs();
    InitializeAllAsmParsers();
    InitializeAllAsmPrinters();
    return true;
  }();
  (void)Once;
}

Bytes dtlto::test::thinBitcode(StringRef IR, bool HasHash) {
  initializeTargets(); // the symbols of inline assembly need targets
  LLVMContext Context;
  std::unique_ptr<Module> M = parse(Context, IR);
  assignGUIDs(*M);
  ProfileSummaryInfo PSI(*M);
  ModuleSummaryIndex Index = buildModuleSummaryIndex(*M, nullptr, &PSI);
  Bytes Result;
  raw_svector_ostream OS(Result);
  WriteBitcodeToFile(*M, OS, /*ShouldPreserveUseListOrder=*/false, &Index,
                     /*GenerateHash=*/HasHash);
  return Result;
}

Bytes dtlto::test::plainBitcode(StringRef IR) {
  initializeTargets();
  LLVMContext Context;
  Bytes Result;
  raw_svector_ostream OS(Result);
  WriteBitcodeToFile(*parse(Context, IR), OS);
  return Result;
}

Bytes dtlto::test::compileObject(StringRef IR, StringRef TripleName) {
  return compileObject(IR, TripleName, TargetOptions());
}

Bytes dtlto::test::compileObject(StringRef IR, StringRef TripleName,
                                 const TargetOptions &Options, StringRef CPU) {
  initializeTargets();
  LLVMContext Context;
  std::unique_ptr<Module> M = parse(Context, IR);
  std::string Why;
  Triple TheTriple(TripleName);
  const Target *T = TargetRegistry::lookupTarget("", TheTriple, Why);
  if (!T)
    mistake(Why);
  std::unique_ptr<TargetMachine> TM(T->createTargetMachine(
      toTargetTriple(TheTriple), CPU, /*Features=*/"", Options, Reloc::PIC_));
  M->setTargetTriple(toTargetTriple(TheTriple));
  M->setDataLayout(TM->createDataLayout());
  Bytes Result;
  raw_svector_ostream OS(Result);
  legacy::PassManager Passes;
  if (TM->addPassesToEmitFile(Passes, OS, nullptr, CodeGenFileType::ObjectFile))
    mistake(TripleName + " has no object files");
  Passes.run(*M);
  return Result;
}
