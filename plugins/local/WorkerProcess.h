//===- WorkerProcess.h - A job in a process of its own ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mode=process: each job is a dtlto-codegen, with the bundle on its standard
// input, so that a crash of the code generator is the module's and not the
// linker's.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LOCAL_WORKERPROCESS_H
#define DTLTO_LOCAL_WORKERPROCESS_H

#include "dtlto/sdk/Plugin.hpp"
#include <atomic>

class WorkerProcesses {
public:
  /// In open(): asks \p Host for jobs that a process can run. An empty
  /// \p Program stands for the one that is installed beside the plugin. Throws
  /// sdk::Error where the host or the program is of no use.
  WorkerProcesses(const dtlto_host &Host, std::string Program,
                  std::chrono::seconds Limit);

  const std::string &program() const { return Program; }

  /// Runs one job. The process is killed when the limit has passed, or soon
  /// after \p J was cancelled.
  dtlto::sdk::Result run(const dtlto::sdk::Job &J) const;

private:
  std::string Program;
  [[maybe_unused]] const std::chrono::seconds Limit; // not on Windows
  mutable std::atomic<unsigned> NumRunning{0};
};

#endif // DTLTO_LOCAL_WORKERPROCESS_H
