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

/// Makes the backend that takes the place of the one that
/// lto::createInProcessThinBackend() makes from the same parameters.
/// \p TheLinker has a plugin and outlives the backend.
llvm::lto::ThinBackend
createPluginThinBackend(Linker &TheLinker, llvm::ThreadPoolStrategy Parallelism,
                        llvm::lto::IndexWriteCallback OnWrite,
                        bool ShouldEmitIndexFiles, bool ShouldEmitImportsFiles);

/// Compiles all of \p Tasks, on the thread in the backend's wait().
using JobRunner =
    std::function<llvm::Error(Link &TheLink, std::vector<Task> Tasks)>;

/// What such a backend is made by, if \p RunJobs compiles its tasks.
BackendFunction pluginBackend(Linker &TheLinker,
                              llvm::ThreadPoolStrategy Parallelism,
                              llvm::lto::IndexWriteCallback OnWrite,
                              bool ShouldEmitIndexFiles,
                              bool ShouldEmitImportsFiles, JobRunner RunJobs);

/// Makes a backend that compiles nothing: the link fails with \p Why.
llvm::lto::ThinBackend createFailingThinBackend(llvm::StringRef Why);

/// At the end of a link that has succeeded: if no ThinLTO module was in it, so
/// that the plugin had nothing to do, warns, and writes the report and the log
/// that the user wants, without a job.
void finishLinkWithoutModules(Linker &TheLinker);

} // namespace dtlto

#endif // DTLTO_LTO_BACKEND_H
