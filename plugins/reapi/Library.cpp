//===- Library.cpp - The lifetime of gRPC's library -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server.h"
#include "dtlto/sdk/Result.hpp"
#include "dtlto/sdk/WorkPool.hpp"
#include <cstdlib>
#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <string>

using namespace dtlto::reapi;
namespace sdk = dtlto::sdk;

// Threads for gRPC, this plugin, and the linker.
static constexpr size_t MinThreads = 24;

Library::Library() {
  // gRPC aborts or hangs if it can't start a thread.
  if (size_t Left = sdk::availableThreads(); Left < MinThreads)
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                     "gRPC needs " + std::to_string(MinThreads) +
                         " threads, and the limit of processes (pids.max, "
                         "ulimit -u) leaves " +
                         std::to_string(Left));
  // The calls report everything important. Discard gRPC's log unless the user
  // wants it.
  if (!std::getenv("GRPC_VERBOSITY"))
    gpr_set_log_function([](gpr_log_func_args *) {});
  // Discard complaints about messages that a server sends.
  google::protobuf::SetLogHandler(nullptr);
  grpc_init();
}

Library::~Library() { grpc_shutdown_blocking(); }
