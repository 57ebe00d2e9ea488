//===- LTOHooks.h - Wrappers for LLVM's functions for LTO -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_LTOHOOKS_H
#define DTLTO_LLD_HOOKS_LTOHOOKS_H

#include "LTO/Linker.h"

/// Declares real<NAME>(), LLVM's function with the symbol SYMBOL, and
/// wrap<NAME>(), which the linker calls instead. With --defsym, GNU ld gives
/// LLVM's symbol the visibility of the wrapper.
#define DTLTO_WRAP(RESULT, NAME, SYMBOL, ...)                                  \
  RESULT real##NAME(__VA_ARGS__) asm("__real_" SYMBOL);                        \
  __attribute__((visibility("default")))                                       \
  RESULT wrap##NAME(__VA_ARGS__) asm("__wrap_" SYMBOL);

namespace lld {
/// In LLD's libraries: the vendor and version of LLVM. LLD's Version.h declares
/// it as well, but includes a file that isn't installed.
std::string getLLDVersion();
} // namespace lld

namespace llvm {
struct CachePruningPolicy;
}

using InputFileOrError = llvm::Expected<std::unique_ptr<llvm::lto::InputFile>>;
using BufferList = std::vector<std::unique_ptr<llvm::MemoryBuffer>>;

DTLTO_WRAP(llvm::lto::ThinBackend, CreateBackend, DTLTO_CREATE_BACKEND,
           llvm::ThreadPoolStrategy, llvm::lto::IndexWriteCallback, bool, bool)
DTLTO_WRAP(InputFileOrError, CreateInput, DTLTO_CREATE_INPUT,
           llvm::MemoryBufferRef)
DTLTO_WRAP(unsigned, MaxTasks, DTLTO_MAX_TASKS, const llvm::lto::LTO *)
DTLTO_WRAP(bool, PruneCache, DTLTO_PRUNE_CACHE, llvm::StringRef,
           llvm::CachePruningPolicy, const BufferList &)
DTLTO_WRAP(void, StartTrace, DTLTO_START_TRACE, unsigned, llvm::StringRef, bool)
DTLTO_WRAP(llvm::Error, WriteTrace, DTLTO_WRITE_TRACE, llvm::StringRef,
           llvm::StringRef)

namespace dtlto {

/// Reports an error and ends the process.
using FatalFunction = void(const llvm::Twine &Text);

/// Makes the ThinLTO backends that the linker creates use \p TheLinker's
/// plugin. Call this before the linker runs; \p TheLinker must live until the
/// process ends. Without this call, the wrappers only call LLVM.
void installHooks(Linker &TheLinker, FatalFunction *Fatal);

/// Returns what installHooks() got; null if it wasn't called.
Linker *hookedLinker();

/// Whether the linker has asked for a backend since installHooks().
bool wasBackendRequested();

/// In LLDHooks.cpp. Adds our options to LLD's help, in the spelling of COFF's
/// driver or of the others. Call this before LLD runs.
void setHelp(bool IsCOFF);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_LTOHOOKS_H
