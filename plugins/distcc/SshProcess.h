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
// compilers: anyone who can log in can run commands anyway.
//
// ssh must not ask questions during a link. It gets no terminal, no askpass
// program and, if it is called "ssh", BatchMode. So it fails with a message
// instead of waiting for a password.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_SSHPROCESS_H
#define DTLTO_DISTCC_SSHPROCESS_H

#include "HostSpec.h"
#include <chrono>
#include <memory>

namespace dtlto {
class Guard;
}

namespace dtlto::distcc {

/// One ssh.
struct SshProcess {
  struct Child;
  std::shared_ptr<Child> Running; // shared: there is none on Windows

  /// The last line that ssh, or the command at the other end, wrote, without
  /// control characters and full stop.
  std::string lastLine() const;
};

/// Starts all ssh processes of a link, and ends them without blocking. Each has
/// a session, and so a process group, of its own. They also end if the linker
/// is killed.
class Reaper {
public:
  Reaper() = default;
  /// Waits a moment for processes that are ending, then kills them.
  ~Reaper();
  Reaper(const Reaper &) = delete;

  /// Starts ssh for \p Host. Returns a non-blocking stream socket to it, or a
  /// negative number with errno set.
  int start(const std::vector<std::string> &SshCommand, const HostSpec &Host,
            SshProcess &Ssh);
  /// Terminates \p Ssh.
  void end(SshProcess &Ssh);
  /// Reaps what has ended, and kills what has not ended for a while.
  void reap();
  bool empty() const { return Ending.empty(); }

private:
  struct Last {
    std::shared_ptr<SshProcess::Child> Running;
    std::chrono::steady_clock::time_point KillAt;
  };
  std::shared_ptr<Guard> TheGuard; // with the first process
  std::vector<Last> Ending;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SSHPROCESS_H
