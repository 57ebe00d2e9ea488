//===- SshProcessWindows.cpp - No ssh on Windows yet ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// poll() waits for sockets, but a process can't have a socket for its input and
// output.
//
//===----------------------------------------------------------------------===//

#include "SshProcess.h"
#include <cerrno>

using namespace dtlto::distcc;

std::string SshProcess::lastLine() const { return {}; }

int Reaper::start(const std::vector<std::string> &, const HostSpec &,
                  SshProcess &) {
  errno = ENOSYS;
  return -1;
}

void Reaper::end(SshProcess &) {}

void Reaper::reap() {}

Reaper::~Reaper() {}
