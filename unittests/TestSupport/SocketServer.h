//===- SocketServer.h - A daemon's sockets inside of a test -----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_SOCKETSERVER_H
#define DTLTO_UNITTESTS_SOCKETSERVER_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dtlto::test {

/// Nothing that a test waits for takes as long. The end of all waiting.
constexpr std::chrono::seconds MaxWait{30};

/// Where a socket listens that has no path. Port 0 is one that is free.
struct TcpPlace {
  const char *Address = "127.0.0.1";
  uint16_t Port = 0;
};

/// A socket that listens: at a path, or (empty) at a TcpPlace. Connections
/// wait in its queue, of \p Backlog, until somebody accepts them.
class Listener {
public:
  explicit Listener(const std::string &Path = "", int Backlog = 500,
                    TcpPlace At = {});
  ~Listener() { close(); }
  Listener(const Listener &) = delete;

  int fd() const { return Fd; }
  uint16_t port() const { return Port; }
  /// "127.0.0.1:4711", as a host list and messages have it.
  std::string name() const;
  /// Who waits to be let in is refused.
  void close();

private:
  int Fd;
  uint16_t Port = 0;
};

/// Accepts connections, each on a thread of its own.
class SocketServer : public Listener {
public:
  /// \p Serve gets the connection, and ends with leave().
  using Session = std::function<void(int Fd)>;
  SocketServer(Session Serve, const std::string &Path = "", int Backlog = 500,
               TcpPlace At = {});
  ~SocketServer(); // stop(), and the end of all threads

  /// A connection is no longer there: \p Close, which closes it, is called.
  /// stop() leaves it alone from then on. Any thread.
  void leave(int Fd, const std::function<void()> &Close);
  /// Lets nobody in any more, and hangs up.
  void stop();
  /// Connections that are open.
  unsigned numOpen() const;

private:
  void accept();

  const Session Serve;
  mutable std::mutex Mutex; // guards the rest
  bool Stopping = false;
  std::vector<int> Open;
  std::vector<std::thread> Threads;
  std::thread Acceptor;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_SOCKETSERVER_H
