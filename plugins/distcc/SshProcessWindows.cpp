//===- SshProcessWindows.cpp - No ssh on Windows yet ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process there has no socket for its input and output, which is what
// connections are waited for with.
//
//===----------------------------------------------------------------------===//

#include "SshProcess.h"
#include <cerrno>

using namespace dtlto::distcc;

int dtlto::distcc::spawnSsh(const std::vector<std::string> &, const HostSpec &,
                            pid_t &) {
  errno = ENOSYS;
  return -1;
}

void Reaper::add(pid_t) {}

void Reaper::reap() {}

Reaper::~Reaper() {}
