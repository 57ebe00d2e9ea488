//===- IceccLine.h - The far end of an icecream channel ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_FUZZ_ICECCLINE_H
#define DTLTO_UNITTESTS_FUZZ_ICECCLINE_H

#include "Fuzz.h"
#include <icecc/comm.h>
#include <icecc/logging.h>
#include <memory>
#include <ostream>
#include <sys/socket.h>
#include <unistd.h>

namespace dtlto::test {

inline constexpr size_t MaxLineSize = 100000; // fits in a socket's buffer
inline constexpr uint8_t OldestProtocol = MIN_PROTOCOL_VERSION,
                         NumProtocols = PROTOCOL_VERSION - OldestProtocol + 1;

/// A socket whose far end sends everything before the near end reads.
struct IceccLine {
  explicit IceccLine(uint8_t Version) {
    // Suppress libicecc's messages about errors.
    static std::ostream Nowhere(nullptr);
    logfile_error = logfile_warning = logfile_info = logfile_trace = &Nowhere;
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Fds) == 0);
    // First its own version, then the one that both ends agree on.
    for (int Time = 0; Time != 2; ++Time)
      send({char(Version), 0, 0, 0});
  }
  ~IceccLine() { ::close(Fds[1]); }

  void send(const std::string &Bytes) {
    check(::send(Fds[1], Bytes.data(), Bytes.size(), MSG_DONTWAIT) ==
          ssize_t(Bytes.size()));
  }
  /// Returns a channel that owns the near end.
  MsgChannel *channel() {
    ::shutdown(Fds[1], SHUT_WR);
    sockaddr NoAddress = {AF_UNIX, {}};
    return Service::createChannel(Fds[0], &NoAddress, sizeof(NoAddress));
  }

  int Fds[2];
};

/// Returns the bytes of \p M as libicecc writes them.
inline std::string serialize(const Msg &M, uint8_t Version) {
  IceccLine Line(Version);
  std::unique_ptr<MsgChannel> C(Line.channel());
  check(C && C->send_msg(M));
  char Buffer[4096];
  ssize_t N = ::recv(Line.Fds[1], Buffer, sizeof(Buffer), MSG_DONTWAIT);
  check(N > 8);
  return {Buffer + 8, size_t(N) - 8}; // after both versions
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_FUZZ_ICECCLINE_H
