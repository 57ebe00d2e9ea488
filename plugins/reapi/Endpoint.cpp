//===- Endpoint.cpp - The address of a service ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Endpoint.h"
#include "Text.h"

using namespace dtlto;
using namespace dtlto::reapi;

bool dtlto::reapi::readEndpoint(std::string_view Text, bool Tls, Endpoint &E) {
  E = Endpoint();
  if (Text.empty() || Text.size() > 1024 || hasControl(Text) ||
      Text.find(' ') != Text.npos)
    return false;
  if (Text.substr(0, 5) == "unix:") {
    E.Target = Text;
    return Text.size() > 5;
  }
  if (size_t At = Text.find("://"); At != Text.npos) {
    std::string_view Scheme = Text.substr(0, At);
    Tls = Scheme == "grpcs" || Scheme == "https";
    if (!Tls && Scheme != "grpc" && Scheme != "http")
      return false;
    Text.remove_prefix(At + 3);
    if (!Text.empty() && Text.back() == '/')
      Text.remove_suffix(1);
  }
  std::string_view Host = Text, Port;
  size_t Bracket = Text.rfind(']');
  size_t Colon = Text.rfind(':');
  if (Colon != Text.npos && (Bracket == Text.npos || Colon > Bracket)) {
    Host = Text.substr(0, Colon);
    Port = Text.substr(Colon + 1);
    uint32_t N;
    if (!parseNumber(Port, 1, 65535, N))
      return false;
  }
  bool IsV6 = Host.size() > 2 && Host.front() == '[' && Host.back() == ']';
  if (Host.empty() || Host.find_first_of("/@?#") != Host.npos ||
      (!IsV6 && Host.find_first_of("[]:") != Host.npos))
    return false;
  E.Tls = Tls;
  E.Target = std::string(Host) + ":" +
             (Port.empty() ? (Tls ? "443" : "80") : std::string(Port));
  return true;
}

bool Endpoint::isLocal() const {
  for (std::string_view LocalPrefix : {"unix:", "localhost:", "127.", "[::1]:"})
    if (Target.compare(0, LocalPrefix.size(), LocalPrefix) == 0)
      return true;
  return false;
}
