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

/// An upper limit for everything that a test waits for.
constexpr std::chrono::seconds MaxWait{30};

/// An address for a socket without a path. Port 0 means any free port.
struct TcpPlace {
  const char *Address = "127.0.0.1";
  uint16_t Port = 0;
};

/// A listening socket, at a path or, if that is empty, at a TcpPlace. Up to \p
/// Backlog connections wait to be accepted.
class Listener {
public:
  explicit Listener(const std::string &Path = "", int Backlog = 500,
                    TcpPlace At = {});
  ~Listener() { close(); }
  Listener(const Listener &) = delete;

  int fd() const { return Fd; }
  uint16_t port() const { return Port; }
  /// "127.0.0.1:4711", as in host lists and messages.
  std::string name() const;
  /// Refuses the connections that wait.
  void close();

private:
  int Fd;
  uint16_t Port = 0;
};

/// Accepts connections, and serves each on its own thread.
class SocketServer : public Listener {
public:
  /// \p Serve gets the connection, and must call leave() at its end.
  using Session = std::function<void(int Fd)>;
  SocketServer(Session Serve, const std::string &Path = "", int Backlog = 500,
               TcpPlace At = {});
  ~SocketServer(); // calls stop(), and waits for all threads

  /// Ends a connection by calling \p Close, which must close it. stop() doesn't
  /// touch the connection any more. May be called on any thread.
  void leave(int Fd, const std::function<void()> &Close);
  /// Accepts no more connections, and shuts down the open ones.
  void stop();
  /// The number of open connections.
  unsigned numOpen() const;

private:
  void accept();

  const Session Serve;
  mutable std::mutex Mutex; // guards the members below
  bool Stopping = false;
  std::vector<int> Open;
  std::vector<std::thread> Threads;
  std::thread Acceptor;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_SOCKETSERVER_H
