//===- Address.cpp - Where a host is --------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Address.h"
#include "Network.h"
#include "dtlto/sdk/Detached.hpp"
#include <algorithm>
#include <cerrno>
#include <cstring>
#ifndef _WIN32
#include <netinet/tcp.h>
#endif
#include <system_error>

using namespace dtlto;
using namespace dtlto::distcc;

bool dtlto::distcc::isOurLack(int Errno) {
  return Errno == EMFILE || Errno == ENFILE || Errno == ENOBUFS ||
         Errno == ENOMEM || Errno == EAGAIN;
}

/// Reorders \p All so that IPv6 and IPv4 take turns, beginning with the first
/// one's family (RFC 8305): otherwise several addresses of a family that this
/// machine has no route for would all be tried first.
static void interleave(std::vector<Address> &All) {
  std::vector<Address> Of[2];
  for (const Address &A : All)
    Of[A.Storage.ss_family != All[0].Storage.ss_family].push_back(A);
  All.clear();
  for (size_t I = 0; I != std::max(Of[0].size(), Of[1].size()); ++I)
    for (auto &Family : Of)
      if (I < Family.size())
        All.push_back(Family[I]);
}

static Resolved lookUp(const std::string &Name, uint16_t Port) {
  Resolved R;
  addrinfo Hints = {};
  Hints.ai_socktype = SOCK_STREAM;
  Hints.ai_flags = AI_NUMERICSERV;
  addrinfo *List = nullptr;
  errno = 0;
  int Status =
      ::getaddrinfo(Name.c_str(), std::to_string(Port).c_str(), &Hints, &List);
  if (Status != 0) {
    // Of other errors of the resolver, too, one of these may be the reason.
    R.IsOurLack = Status == EAI_MEMORY || errno == EMFILE || errno == ENFILE;
    R.Error = os::lookUpErrorText(Status);
    return R;
  }
  for (addrinfo *I = List; I; I = I->ai_next) {
    if (I->ai_addrlen > sizeof(sockaddr_storage))
      continue;
    Address A;
    std::memcpy(&A.Storage, I->ai_addr, I->ai_addrlen);
    A.Size = static_cast<socklen_t>(I->ai_addrlen);
    R.Addresses.push_back(A);
  }
  ::freeaddrinfo(List);
  interleave(R.Addresses);
  if (R.Addresses.empty())
    R.Error = "the name has no address";
  return R;
}

void dtlto::distcc::resolve(const std::string &Name, uint16_t Port,
                            std::shared_ptr<Mailbox> Box,
                            std::function<void(Resolved)> Then) {
  auto Work = [=] {
    Resolved R = lookUp(Name, Port);
    Box->post([Then, R = std::move(R)] { Then(R); });
  };
  try {
    sdk::runDetached(Work);
  } catch (const std::system_error &E) {
    Resolved R;
    R.Error = std::string("no thread to look it up: ") + E.what();
    R.IsOurLack = true;
    Box->post([Then, R] { Then(R); });
  }
}

int dtlto::distcc::beginConnect(const Address &A) {
  int Fd = os::openSocket(A.Storage.ss_family);
  if (Fd < 0)
    return -1;
  int On = 1;
  ::setsockopt(Fd, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<char *>(&On),
               sizeof(On));
  watchMachine(Fd);
  if (!os::beginConnect(Fd, reinterpret_cast<const sockaddr *>(&A.Storage),
                        A.Size)) {
    int Why = errno;
    os::closeSocket(Fd);
    errno = Why;
    return -1;
  }
  return Fd;
}
