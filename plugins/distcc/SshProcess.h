//===- SshProcess.h - A distccd that ssh starts -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs ssh as distcc does:
//
//   ssh [-l USER] HOST COMMAND --inetd --enable-tcp-insecure
//
// with the protocol on standard input and output. "Insecure" means no list of
// allowed compilers: anyone who can log in can run commands anyway.
//
// ssh must not ask questions during a link. It gets no terminal, no askpass
// program and, if its name is "ssh", BatchMode. So it fails with a message
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

/// One ssh process.
struct SshProcess {
  struct Child;
  std::shared_ptr<Child> TheChild; // shared_ptr: Windows doesn't define Child

  /// Returns the last line that ssh or the remote command wrote, without
  /// control characters and full stop.
  std::string lastLine() const;
};

/// Starts all ssh processes of a link, and ends them without blocking. Each has
/// its own session, and so its own process group. They also end if the linker
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
  /// Reaps processes that have ended, and kills those that take too long.
  void reap();
  bool empty() const { return EndingProcesses.empty(); }

private:
  struct EndingProcess {
    std::shared_ptr<SshProcess::Child> TheChild;
    std::chrono::steady_clock::time_point KillAt;
  };
  std::shared_ptr<Guard> TheGuard; // created with the first process
  std::vector<EndingProcess> EndingProcesses;
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SSHPROCESS_H
