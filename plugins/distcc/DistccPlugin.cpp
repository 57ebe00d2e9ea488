//===- DistccPlugin.cpp - Runs jobs on stock distccds ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A distcc client in the linker's process. Jobs go from memory to a distccd and
// its clang, and objects come back into memory. The servers only need distcc
// and the clang of the linker's LLVM version. README.md is for users. Request.h
// and Reply.h describe the protocol, and Client.h the life of a job.
//
//===----------------------------------------------------------------------===//

#include "Client.h"

// configure() adds what the compiler reads.
DTLTO_PLUGIN(dtlto::distcc::Client, "distcc", DTLTO_VERSION, DTLTO_JOB_INPUTS);
