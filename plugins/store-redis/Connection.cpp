//===- Connection.cpp - A connection to a Redis server --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Connection.h"
#include "Addresses.h"
#include "System.h"
#include "dtlto/sdk/Detached.hpp"
#include <algorithm>
#include <cerrno>
#include <future>
#include <netinet/tcp.h>
#include <vector>

using namespace dtlto;
using namespace dtlto::redis;
using std::chrono::milliseconds;

static constexpr size_t ChunkSize = size_t(64) << 10;

/// Waits until \p Socket is ready for \p Events. Throws after \p End.
static void waitFor(int Socket, short Events, Clock::time_point End,
                    const char *What) {
  while (true) {
    auto Left = std::chrono::ceil<milliseconds>(End - Clock::now());
    if (Left.count() <= 0)
      throw ConnectionError(std::string("timed out ") + What);
    pollfd P = {Socket, Events, 0};
    int Status =
        os::poll(&P, 1, int(std::min<int64_t>(Left.count(), INT32_MAX)));
    if (Status > 0)
      return;
    if (Status < 0 && errno != EINTR)
      throw ConnectionError(os::errorText(errno));
  }
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

/// Like lookUpAddresses(), on another thread, until \p End.
static LookupResult lookUp(const std::string &Host, uint16_t Port,
                           Clock::time_point End) {
  auto Answer = std::make_shared<std::promise<LookupResult>>();
  std::future<LookupResult> Future = Answer->get_future();
  sdk::runDetached([=] { Answer->set_value(lookUpAddresses(Host, Port)); });
  if (Future.wait_until(End) != std::future_status::ready)
    throw ConnectionError("timed out looking up the name");
  return Future.get();
}

/// Returns a connected socket, or -1 with \p Why.
static int connectTo(const SocketAddress &A, Clock::time_point End,
                     std::string &Why) {
  int Socket = os::openSocket(A.Storage.ss_family);
  if (Socket < 0) {
    Why = os::errorText(errno);
    return -1;
  }
  int On = 1;
  ::setsockopt(Socket, IPPROTO_TCP, TCP_NODELAY, &On, sizeof(On));
  int Code = 0;
  if (!os::beginConnect(Socket, reinterpret_cast<const sockaddr *>(&A.Storage),
                        A.Size))
    Code = errno;
  try {
    if (!Code) {
      waitFor(Socket, POLLOUT, End, "connecting");
      Code = os::connectError(Socket);
    }
    if (Code)
      Why = os::errorText(Code);
  } catch (const ConnectionError &E) {
    Why = E.what();
  }
  if (Why.empty())
    return Socket;
  os::closeSocket(Socket);
  return -1;
}

Connection::Connection(const std::string &Host, uint16_t Port,
                       Clock::time_point End) {
  LookupResult Server = lookUp(Host, Port, End);
  if (!Server.Error.empty())
    throw ConnectionError("cannot find the host: " + Server.Error);
  std::string Why;
  for (size_t I = 0; I != Server.Addresses.size() && Socket < 0; ++I) {
    // Leaves time for the other addresses.
    Clock::duration Left = End - Clock::now();
    Why.clear();
    Socket = connectTo(
        Server.Addresses[I],
        Clock::now() + Left / int64_t(Server.Addresses.size() - I), Why);
  }
  if (Socket < 0)
    throw ConnectionError("cannot connect: " + Why);
}

Connection::~Connection() {
  if (Socket >= 0)
    os::closeSocket(Socket);
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

void Connection::send(std::initializer_list<std::string_view> Command,
                      Clock::time_point End) {
  // An array of binary strings. The last one may be long and is not copied.
  std::string Text = "*" + std::to_string(Command.size()) + "\r\n";
  const std::string_view Value = *std::prev(Command.end());
  for (const std::string_view *Word = Command.begin(); Word != Command.end();
       ++Word) {
    Text += "$" + std::to_string(Word->size()) + "\r\n";
    if (Word != std::prev(Command.end()))
      Text.append(*Word).append("\r\n");
  }
  std::string_view Parts[] = {Text, Value, "\r\n"};
  size_t First = 0;
  while (true) {
    while (First != std::size(Parts) && Parts[First].empty())
      ++First;
    if (First == std::size(Parts))
      return;
    os::Part Left[std::size(Parts)];
    size_t Count = 0;
    for (size_t I = First; I != std::size(Parts); ++I)
      Left[Count++] = {Parts[I].data(), Parts[I].size()};
    int64_t N = os::send(Socket, Left, Count);
    if (N < 0 && errno == EAGAIN) {
      waitFor(Socket, POLLOUT, End, "sending");
      continue;
    }
    if (N < 0)
      throw ConnectionError(os::errorText(errno), /*IsClosed=*/true);
    for (size_t I = First; N && I != std::size(Parts); ++I) {
      size_t Sent = std::min(size_t(N), Parts[I].size());
      Parts[I].remove_prefix(Sent);
      N -= int64_t(Sent);
    }
  }
}

Reply Connection::call(std::initializer_list<std::string_view> Command,
                       size_t MaxBytes, Clock::time_point End) {
  send(Command, End);
  const std::unique_ptr<char[]> Chunk(new char[ChunkSize]);
  // For each call: the parser keeps the memory of its longest reply.
  ReplyReader Reader;
  for (bool HasBegun = false;; HasBegun = true) {
    int64_t N = os::receive(Socket, Chunk.get(), ChunkSize);
    for (; N < 0 && errno == EAGAIN;
         N = os::receive(Socket, Chunk.get(), ChunkSize))
      waitFor(Socket, POLLIN, End, "waiting for a reply");
    if (N < 0)
      throw ConnectionError(os::errorText(errno), !HasBegun);
    if (N == 0)
      throw ConnectionError("the server closed the connection", !HasBegun);
    if (std::optional<Reply> R = Reader.add({Chunk.get(), size_t(N)}, MaxBytes))
      return std::move(*R);
    // A server that sends without a pause must not delay the end.
    if (Clock::now() >= End)
      throw ConnectionError("timed out waiting for a reply");
  }
}
