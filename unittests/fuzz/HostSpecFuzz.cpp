//===- HostSpecFuzz.cpp - Host lists of any bytes -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the text of a host list.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "HostSpec.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <cstdlib>
#include <string_view>

using namespace dtlto::distcc;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"localhost/2 @bigman/16:/opt/bin/distccd oldmachine:4200/1\n"
          "# cartman is down\r\n"
          "distant/3,lzo\n",
          "--randomize --localslots=3 --localslots_cpp=4 +zeroconf",
          "[::1]:4000/2,lzo,cpp [fe80::1%eth0] host/4:3632,down",
          "user@node3,zstd a.b-c_d,auth=name,lzo @[2001:db8::1]/9",
          "localhost:4000 localhost 127.0.0.1/4096:65535",
          "node1,node2 node3;node4 ::1 --randomise"};
}

static bool isLine(std::string_view Text) {
  return !Text.empty() && Text.size() < 2000 &&
         std::all_of(Text.begin(), Text.end(),
                     [](char C) { return C >= 0x20 && C < 0x7f; });
}

static void check(bool Condition) {
  if (!Condition)
    abort();
}

static std::string limit(const HostSpec &H) {
  return H.Limit ? "/" + std::to_string(H.Limit) : "";
}

/// Returns \p H as an item of a list.
static std::string item(const HostSpec &H) {
  std::string Name =
      H.Name.find(':') == std::string::npos ? H.Name : "[" + H.Name + "]";
  switch (H.Kind) {
  case HostKind::Local:
    return Name + limit(H);
  case HostKind::Tcp:
    return Name + ":" + std::to_string(H.Port) + limit(H);
  case HostKind::Ssh:
    return H.User + "@" + Name + limit(H) +
           (H.Command.empty() ? "" : ":" + H.Command);
  }
  return "";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Text(reinterpret_cast<const char *>(Data), Size);
  HostList List;
  try {
    List = parseHostList(Text, "source");
  } catch (const dtlto::sdk::Error &E) {
    std::string_view Why = E.what();
    check(isLine(Why) && Why.substr(0, 6) == "source");
    return 0;
  }
  check(List.Notes.size() <= 5);
  for (const std::string &Note : List.Notes)
    check(isLine(Note));

  // The list can be written, and is then read as the same.
  for (const HostSpec &H : List.Hosts) {
    check(!H.Name.empty() && H.Name[0] != '-' && H.Port != 0 &&
          H.Limit <= 4096);
    check(H.User.empty() || H.User[0] != '-');
    check(H.Kind == HostKind::Ssh || (H.User.empty() && H.Command.empty()));
    check(H.Kind != HostKind::Local || H.Name == "localhost");
    HostList Again = parseHostList(item(H), "again");
    check(Again.Hosts.size() == 1);
    const HostSpec &A = Again.Hosts.front();
    check(A.Kind == H.Kind && A.Name == H.Name && A.Port == H.Port &&
          A.Limit == H.Limit && A.User == H.User && A.Command == H.Command &&
          A.display() == H.display());
  }
  return 0;
}
