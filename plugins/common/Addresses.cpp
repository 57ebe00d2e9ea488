//===- Addresses.cpp - The addresses of a host ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Addresses.h"
#include <algorithm>
#include <cerrno>
#include <cstring>

using namespace dtlto;

/// Reorders \p All so that IPv6 and IPv4 alternate, beginning with the family
/// of the first address (RFC 8305). Otherwise all addresses of a family without
/// a route might be tried first.
static void interleave(std::vector<SocketAddress> &All) {
  std::vector<SocketAddress> ByFamily[2];
  for (const SocketAddress &A : All)
    ByFamily[A.Storage.ss_family != All[0].Storage.ss_family].push_back(A);
  All.clear();
  for (size_t I = 0; I != std::max(ByFamily[0].size(), ByFamily[1].size()); ++I)
    for (auto &Family : ByFamily)
      if (I < Family.size())
        All.push_back(Family[I]);
}

LookupResult dtlto::lookUpAddresses(const std::string &Name, uint16_t Port) {
  LookupResult R;
  addrinfo Hints = {};
  Hints.ai_socktype = SOCK_STREAM;
  Hints.ai_flags = AI_NUMERICSERV;
  addrinfo *List = nullptr;
  errno = 0;
  int Status =
      ::getaddrinfo(Name.c_str(), std::to_string(Port).c_str(), &Hints, &List);
  if (Status != 0) {
    // A shortage may also hide behind another error of the resolver.
    R.IsLocalShortage =
        Status == EAI_MEMORY || errno == EMFILE || errno == ENFILE;
    R.Error = os::lookUpErrorText(Status);
    return R;
  }
  for (addrinfo *I = List; I; I = I->ai_next) {
    if (I->ai_addrlen > sizeof(sockaddr_storage))
      continue;
    SocketAddress A;
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
