//===- Hooks.cpp - The functions of LLVM that we stand in for -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All drivers of LLD reach in-process ThinLTO through one function of libLLVM,
// lto::createInProcessThinBackend(), and read bitcode files through another,
// lto::InputFile::create(). The executable is linked with `--wrap` of both:
// each call in LLD's archives becomes a call of `__wrap_<symbol>`, which is
// here, and `__real_<symbol>` is LLVM's. Where LLVM can distribute by itself, a
// third one is wrapped, lto::createOutOfProcessThinBackend(), only to refuse
// both at once.
//
// The mangled names come from CMakeLists.txt, which looks them up in LLD.
//
//===----------------------------------------------------------------------===//

#include "Hooks.h"
#include "Backend.h"
#include "llvm/LTO/LTO.h"

using namespace llvm;
using namespace dtlto;

using InputFileOrError = Expected<std::unique_ptr<lto::InputFile>>;

lto::ThinBackend realCreateBackend(ThreadPoolStrategy, lto::IndexWriteCallback,
                                   bool,
                                   bool) asm("__real_" DTLTO_CREATE_BACKEND);
InputFileOrError
    realCreateInput(MemoryBufferRef) asm("__real_" DTLTO_CREATE_INPUT);

static Linker *TheLinker = nullptr;

void dtlto::installHooks(Linker &L) { TheLinker = &L; }

lto::ThinBackend wrapCreateBackend(
    ThreadPoolStrategy Parallelism, lto::IndexWriteCallback OnWrite,
    bool ShouldEmitIndexFiles,
    bool ShouldEmitImportsFiles) asm("__wrap_" DTLTO_CREATE_BACKEND);

lto::ThinBackend wrapCreateBackend(ThreadPoolStrategy Parallelism,
                                   lto::IndexWriteCallback OnWrite,
                                   bool ShouldEmitIndexFiles,
                                   bool ShouldEmitImportsFiles) {
  if (!TheLinker)
    return realCreateBackend(Parallelism, std::move(OnWrite),
                             ShouldEmitIndexFiles, ShouldEmitImportsFiles);
  return createPluginThinBackend(*TheLinker, Parallelism, std::move(OnWrite),
                                 ShouldEmitIndexFiles, ShouldEmitImportsFiles);
}

InputFileOrError
wrapCreateInput(MemoryBufferRef Buffer) asm("__wrap_" DTLTO_CREATE_INPUT);

InputFileOrError wrapCreateInput(MemoryBufferRef Buffer) {
  InputFileOrError File = realCreateInput(Buffer);
  if (TheLinker && File)
    TheLinker->Inputs.add(Buffer, (*File)->getTargetTriple());
  return File;
}

#ifdef DTLTO_CREATE_DISTRIBUTED
lto::ThinBackend
realCreateDistributed(ThreadPoolStrategy, lto::IndexWriteCallback, bool, bool,
                      StringRef, StringRef, ArrayRef<StringRef>, StringRef,
                      ArrayRef<StringRef>, ArrayRef<StringRef>,
                      bool) asm("__real_" DTLTO_CREATE_DISTRIBUTED);

lto::ThinBackend wrapCreateDistributed(
    ThreadPoolStrategy Parallelism, lto::IndexWriteCallback OnWrite,
    bool ShouldEmitIndexFiles, bool ShouldEmitImportsFiles, StringRef Output,
    StringRef Distributor, ArrayRef<StringRef> DistributorArgs,
    StringRef Compiler, ArrayRef<StringRef> FirstCompilerArgs,
    ArrayRef<StringRef> CompilerArgs,
    bool SaveTemps) asm("__wrap_" DTLTO_CREATE_DISTRIBUTED);

lto::ThinBackend wrapCreateDistributed(
    ThreadPoolStrategy Parallelism, lto::IndexWriteCallback OnWrite,
    bool ShouldEmitIndexFiles, bool ShouldEmitImportsFiles, StringRef Output,
    StringRef Distributor, ArrayRef<StringRef> DistributorArgs,
    StringRef Compiler, ArrayRef<StringRef> FirstCompilerArgs,
    ArrayRef<StringRef> CompilerArgs, bool SaveTemps) {
  if (TheLinker)
    return createFailingThinBackend(
        "dtlto: both a plugin (" + TheLinker->Opts.Plugin +
        ") and --thinlto-distributor are to run the jobs: leave one of them "
        "out");
  return realCreateDistributed(Parallelism, std::move(OnWrite),
                               ShouldEmitIndexFiles, ShouldEmitImportsFiles,
                               Output, Distributor, DistributorArgs, Compiler,
                               FirstCompilerArgs, CompilerArgs, SaveTemps);
}
#endif
