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
// here, and
// `__real_<symbol>` is LLVM's.
//
//===----------------------------------------------------------------------===//

#include "Hooks.h"
#include "Backend.h"
#include "llvm/LTO/LTO.h"

using namespace llvm;
using namespace dtlto;

// The mangled names stand in CMakeLists.txt as well.
#define CREATE_BACKEND                                                         \
  "_ZN4llvm3lto26createInProcessThinBackendENS_18ThreadPoolStrategyESt8"       \
  "functionIFvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEEbb"
#define CREATE_INPUT "_ZN4llvm3lto9InputFile6createENS_15MemoryBufferRefE"

using InputFileOrError = Expected<std::unique_ptr<lto::InputFile>>;

lto::ThinBackend realCreateBackend(ThreadPoolStrategy, lto::IndexWriteCallback,
                                   bool, bool) asm("__real_" CREATE_BACKEND);
InputFileOrError realCreateInput(MemoryBufferRef) asm("__real_" CREATE_INPUT);

static Linker *TheLinker = nullptr;

void dtlto::installHooks(Linker &L) { TheLinker = &L; }

lto::ThinBackend
wrapCreateBackend(ThreadPoolStrategy Parallelism,
                  lto::IndexWriteCallback OnWrite, bool ShouldEmitIndexFiles,
                  bool ShouldEmitImportsFiles) asm("__wrap_" CREATE_BACKEND);

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
wrapCreateInput(MemoryBufferRef Buffer) asm("__wrap_" CREATE_INPUT);

InputFileOrError wrapCreateInput(MemoryBufferRef Buffer) {
  InputFileOrError File = realCreateInput(Buffer);
  if (TheLinker && File)
    TheLinker->Inputs.add(Buffer, (*File)->getTargetTriple());
  return File;
}
