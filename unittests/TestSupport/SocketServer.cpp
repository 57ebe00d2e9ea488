//===- SocketServer.cpp - A daemon's sockets inside of a test -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SocketServer.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace dtlto::test;

Listener::Listener(const std::string &Path, int Backlog, TcpPlace At)
    : Fd(::socket(Path.empty() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC,
                  0)) {
  sockaddr_in Tcp = {};
  Tcp.sin_family = AF_INET;
  Tcp.sin_port = htons(At.Port);
  ::inet_pton(AF_INET, At.Address, &Tcp.sin_addr);
  sockaddr_un Unix = {};
  Unix.sun_family = AF_UNIX;
  std::strncpy(Unix.sun_path, Path.c_str(), sizeof(Unix.sun_path) - 1);
  socklen_t Size = Path.empty() ? sizeof(Tcp) : sizeof(Unix);
  auto *Where = Path.empty() ? reinterpret_cast<sockaddr *>(&Tcp)
                             : reinterpret_cast<sockaddr *>(&Unix);
  if (Fd < 0 || ::bind(Fd, Where, Size) != 0 || ::listen(Fd, Backlog) != 0 ||
      ::getsockname(Fd, Where, &Size) != 0) {
    perror("a socket for a test");
    abort();
  }
  Port = ntohs(Tcp.sin_port);
}

void Listener::close() {
  if (Fd >= 0)
    ::close(Fd);
  Fd = -1;
}

std::string Listener::name() const {
  return "127.0.0.1:" + std::to_string(Port);
}

SocketServer::SocketServer(Session Serve, const std::string &Path, int Backlog,
                           TcpPlace At)
    : Listener(Path, Backlog, At), Serve(std::move(Serve)) {
  Acceptor = std::thread([this] { accept(); });
}

SocketServer::~SocketServer() {
  stop();
  for (std::thread &T : Threads)
    T.join();
}

void SocketServer::accept() {
  while (true) {
    int Socket = ::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC);
    std::lock_guard<std::mutex> Lock(Mutex);
    if (Stopping) {
      if (Socket >= 0)
        ::close(Socket);
      return;
    }
    if (Socket < 0)
      continue;
    Open.push_back(Socket);
    Threads.emplace_back([this, Socket] { Serve(Socket); });
  }
}

void SocketServer::leave(int Fd, const std::function<void()> &Close) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Open.erase(std::find(Open.begin(), Open.end(), Fd));
  Close();
}

void SocketServer::stop() {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Stopping = true;
    for (int Socket : Open)
      ::shutdown(Socket, SHUT_RDWR);
  }
  if (!Acceptor.joinable())
    return;
  ::shutdown(fd(), SHUT_RDWR); // wakes accept()
  Acceptor.join();
  close();
}

unsigned SocketServer::numOpen() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return static_cast<unsigned>(Open.size());
}
