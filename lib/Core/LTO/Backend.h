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
#include <functional>

namespace dtlto {

/// Compiles all \p Tasks, on the thread that called the backend's wait().
using JobRunner =
    std::function<llvm::Error(Link &TheLink, std::vector<Task> Tasks)>;

/// A JobRunner: makes each task a job. Opens the store of optimised modules, if
/// the user wants one.
llvm::Error runJobs(Link &TheLink, std::vector<Task> Tasks);

/// Makes the backend that replaces that of lto::createInProcessThinBackend(),
/// from the same parameters. \p TheLinker has a plugin and outlives the
/// backend, whose tasks \p RunJobs compiles.
llvm::lto::ThinBackend
createPluginThinBackend(Linker &TheLinker, llvm::ThreadPoolStrategy Parallelism,
                        llvm::lto::IndexWriteCallback OnWrite,
                        bool ShouldEmitIndexFiles, bool ShouldEmitImportsFiles,
                        JobRunner RunJobs);

/// Makes a backend that fails the link with \p Why.
llvm::lto::ThinBackend createFailingThinBackend(llvm::StringRef Why);

/// For the end of a successful link: waits a little until its results are in
/// the remote cache. If the link had no ThinLTO module, warns, and writes the
/// report and the log that the user wants, without jobs.
void finishLink(Linker &TheLinker);

} // namespace dtlto

#endif // DTLTO_LTO_BACKEND_H
