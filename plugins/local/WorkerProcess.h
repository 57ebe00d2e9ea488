//===- WorkerProcess.h - A job in a process of its own ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LOCAL_WORKERPROCESS_H
#define DTLTO_LOCAL_WORKERPROCESS_H

#include "dtlto/PluginAPI.h"
#include <chrono>
#include <functional>
#include <string>
#include <vector>

/// What became of a run of dtlto-codegen.
struct WorkerResult {
  int32_t Status = DTLTO_ERROR_INFRASTRUCTURE;
  std::vector<char> Object; // of DTLTO_OK
  std::string Message;      // what it wrote, or why it has no object
};

/// Runs `Worker --frame - -o -` with \p Bundle on standard input. The process
/// is killed when \p Limit has passed, or soon after \p Stop returns true.
WorkerResult runWorker(const std::string &Worker, dtlto_span Bundle,
                       std::chrono::seconds Limit,
                       const std::function<bool()> &Stop);

#endif // DTLTO_LOCAL_WORKERPROCESS_H
