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
#include "llvm/Support/MemoryBuffer.h"
#include <functional>
#include <memory>
#include <optional>

namespace dtlto {

struct WorkerResult {
  llvm::SmallVector<char, 0> Object;
  bool IsProduced = false; // LLVM made an object, maybe an empty one
  /// The other files of a job that makes them.
  std::unique_ptr<llvm::MemoryBuffer> Dwo, Remarks;
  /// The optimized module, if the job returns it; empty: it can't be kept.
  std::optional<llvm::SmallVector<char, 0>> Optimized;

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
