//===- Targets.h - The targets of this worker -------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With DTLTO_TARGETS, a list of TARGET(name), only those; otherwise all that
// LLVM was built with.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CODEGEN_TARGETS_H
#define DTLTO_CODEGEN_TARGETS_H

#include "llvm/Support/TargetSelect.h"

inline void initializeTargets() {
#ifdef DTLTO_TARGETS
#define TARGET(Name)                                                           \
  LLVMInitialize##Name##TargetInfo();                                          \
  LLVMInitialize##Name##Target();                                              \
  LLVMInitialize##Name##TargetMC();                                            \
  LLVMInitialize##Name##AsmPrinter();                                          \
  LLVMInitialize##Name##AsmParser();
  DTLTO_TARGETS
#undef TARGET
#else
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::InitializeAllAsmParsers();
#endif
}

#endif // DTLTO_CODEGEN_TARGETS_H
