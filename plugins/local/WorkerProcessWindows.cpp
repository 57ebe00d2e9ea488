//===- WorkerProcessWindows.cpp - No worker on Windows yet ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerProcess.h"

using namespace dtlto::sdk;

WorkerProcesses::WorkerProcesses(const dtlto_host &, std::string,
                                 std::chrono::seconds Limit)
    : Limit(Limit) {
  throw Error(DTLTO_ERROR_CALLER, "mode=process needs dtlto-codegen, which is "
                                  "not available on Windows yet");
}

Result WorkerProcesses::run(const Job &) const { return {}; }
