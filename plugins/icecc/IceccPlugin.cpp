//===- IceccPlugin.cpp - Runs jobs on an icecream cluster -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An icecream client in the linker's process. Jobs go from memory through the
// local iceccd's scheduler to a node, and objects come back into memory. Nodes
// only need icecream. The compiler is our worker, which is sent to each node
// once. README.md is for users. Client.h and RemoteJob.h describe the life of a
// job.
//
//===----------------------------------------------------------------------===//

#include "Client.h"

DTLTO_PLUGIN(dtlto::icecc::Client, "icecc", DTLTO_VERSION,
             DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG);
