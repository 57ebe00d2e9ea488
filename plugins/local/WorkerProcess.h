//===- WorkerProcess.h - A job in its own process ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mode=process: each job runs in its own dtlto-codegen, with the bundle on
// standard input. A crash of the code generator then doesn't end the linker.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LOCAL_WORKERPROCESS_H
#define DTLTO_LOCAL_WORKERPROCESS_H

#include "dtlto/sdk/Plugin.hpp"
#include <atomic>

class WorkerProcesses {
public:
  /// Called in open(). Asks \p Host for jobs that a process can run. An empty
  /// \p Program means the dtlto-codegen that is installed with the plugin.
  /// Throws sdk::Error if the host or the program can't be used.
  WorkerProcesses(const dtlto_host &Host, std::string Program,
                  std::chrono::seconds Limit);

  const std::string &program() const { return Program; }

  /// Runs one job. Kills the process when the limit has passed, or soon after
  /// \p J was cancelled.
  dtlto::sdk::Result run(const dtlto::sdk::Job &J) const;

private:
  std::string Program;
  [[maybe_unused]] const std::chrono::seconds Limit; // unused on Windows
  mutable std::atomic<unsigned> NumRunning{0};
};

#endif // DTLTO_LOCAL_WORKERPROCESS_H
