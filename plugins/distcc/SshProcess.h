//===- SshProcess.h - A distccd at the other end of ssh ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As distcc does it:
//
//   ssh [-l USER] HOST COMMAND --inetd --enable-tcp-insecure
//
// with the protocol on standard input and output. "Insecure" means no list of
// compilers; whoever may log in needs none to run what he likes.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_SSHPROCESS_H
#define DTLTO_DISTCC_SSHPROCESS_H

#include "HostSpec.h"
#include <sys/types.h>

namespace dtlto::distcc {

/// Starts ssh for \p Host. Returns a non-blocking stream socket to it and sets
/// \p Pid, or a negative number with errno set.
int spawnSsh(const std::vector<std::string> &SshCommand, const HostSpec &Host,
             pid_t &Pid);

/// Processes that have been told to end, and are waited for without blocking.
class Reaper {
public:
  ~Reaper(); // kills and waits
  /// Tells \p Pid to end.
  void add(pid_t Pid);
  /// Collects what has ended.
  void reap();
  bool empty() const { return Pids.empty(); }

private:
  std::vector<pid_t> Pids;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SSHPROCESS_H
