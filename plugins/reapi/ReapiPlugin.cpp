//===- ReapiPlugin.cpp - Runs jobs by the Remote Execution API ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A client of the Remote Execution API (build.bazel.remote.execution.v2) in the
// linker's process. Jobs go from memory to a server, and objects come back into
// memory. README.md is for users. Action.h describes what a job is for the
// server, and JobRun.h the life of a job.
//
//===----------------------------------------------------------------------===//

#include "Client.h"

// configure() adds what the compiler reads.
DTLTO_PLUGIN(dtlto::reapi::Client, "reapi", DTLTO_VERSION,
             DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS);
