//===- Backend.h - The ThinLTO backend that uses a plugin -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_BACKEND_H
#define DTLTO_LTO_BACKEND_H

#include "LTO/Linker.h"
#include "llvm/Support/Threading.h"

namespace dtlto {

/// Makes the backend that takes the place of the one that
/// lto::createInProcessThinBackend() makes from the same parameters.
/// \p TheLinker has a plugin and outlives the backend.
llvm::lto::ThinBackend
createPluginThinBackend(Linker &TheLinker, llvm::ThreadPoolStrategy Parallelism,
                        llvm::lto::IndexWriteCallback OnWrite,
                        bool ShouldEmitIndexFiles, bool ShouldEmitImportsFiles);

/// Whether this process can generate code twice by a plugin's jobs.
bool canDistributeTwoRounds(const Linker &TheLinker);

/// The same for a link that compiles each module twice (LLVM/CodegenData.h).
/// LLVM doesn't hear of that until the backend is made.
llvm::lto::ThinBackend
createTwoRoundsBackend(Linker &TheLinker, llvm::ThreadPoolStrategy Parallelism);

/// Fails, naming the file, if LLVM's reader can't be trusted with what code
/// generation is told to use (-codegen-data-use-path). Before LLVM reads it.
llvm::Error checkCodegenDataToUse();

/// Makes a backend that compiles nothing: the link fails with \p Why.
llvm::lto::ThinBackend createFailingThinBackend(llvm::StringRef Why);

/// At the end of a link that has succeeded: if no ThinLTO module was in it, so
/// that the plugin had nothing to do, warns, and writes the report and the log
/// that the user wants, without a job.
void finishLinkWithoutModules(Linker &TheLinker);

} // namespace dtlto

#endif // DTLTO_LTO_BACKEND_H
