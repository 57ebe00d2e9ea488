//===- FakeResolver.cpp - A resolver for invented names -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeResolver.h"
#include <arpa/inet.h>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <utility>

static std::mutex Mutex; // guards Find
static std::function<std::vector<std::string>(const std::string &)> Find;

void dtlto::test::setResolver(
    std::function<std::vector<std::string>(const std::string &)> F) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Find = std::move(F);
}

/// Returns a new entry, followed by its address in the same allocation.
static addrinfo *makeEntry(const std::string &Name, const char *Port) {
  struct Entry {
    addrinfo Info;
    sockaddr_in Address;
  };
  in_addr Address;
  if (inet_pton(AF_INET, Name.c_str(), &Address) != 1)
    return nullptr;
  auto *E = static_cast<Entry *>(calloc(1, sizeof(Entry)));
  E->Address.sin_family = AF_INET;
  E->Address.sin_addr = Address;
  E->Address.sin_port = htons(static_cast<uint16_t>(atoi(Port)));
  E->Info.ai_family = AF_INET;
  E->Info.ai_socktype = SOCK_STREAM;
  E->Info.ai_addr = reinterpret_cast<sockaddr *>(&E->Address);
  E->Info.ai_addrlen = sizeof(E->Address);
  return &E->Info;
}

extern "C" int getaddrinfo(const char *Name, const char *Port, const addrinfo *,
                           addrinfo **List) {
  std::vector<std::string> Addresses = {Name};
  in_addr Numeric;
  if (inet_pton(AF_INET, Name, &Numeric) != 1) {
    std::unique_lock<std::mutex> Lock(Mutex);
    auto F = Find;
    Lock.unlock();
    Addresses = F ? F(Name) : std::vector<std::string>();
  }
  *List = nullptr;
  for (size_t I = Addresses.size(); I-- != 0;)
    if (addrinfo *Entry = makeEntry(Addresses[I], Port)) {
      Entry->ai_next = *List;
      *List = Entry;
    }
  return *List ? 0 : EAI_NONAME;
}

extern "C" void freeaddrinfo(addrinfo *List) {
  while (List)
    free(std::exchange(List, List->ai_next));
}
