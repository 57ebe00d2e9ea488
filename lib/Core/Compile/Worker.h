//===- Worker.h - A backend compile from a bundle ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_COMPILE_WORKER_H
#define DTLTO_COMPILE_WORKER_H

#include "Bundle/Bundle.h"
#include "Bundle/JobOutputs.h"
#include "Compile/BackendCompile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <functional>
#include <memory>

namespace dtlto {

struct WorkerResult : CompiledModule {
  /// The other files of a job that makes them.
  std::unique_ptr<llvm::MemoryBuffer> Dwo, Remarks;

  JobOutputs outputs() const;
};

/// Compiles \p JobBundle as in-process ThinLTO does. Call it once in a process:
/// LLVM's options are global. \p Report receives each LLVM diagnostic as
/// "error: ...", "warning: ...", "remark: ..." or "note: ...". Fails with a
/// reason.
llvm::Expected<WorkerResult>
runBundle(const Bundle &JobBundle, std::function<void(llvm::StringRef)> Report);

} // namespace dtlto

#endif // DTLTO_COMPILE_WORKER_H
