//===- Settings.cpp - The URL and arguments of an HTTP store --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "CredentialHelper.h"
#include "Description.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <arpa/inet.h>
#include <curl/curl.h>
#include <memory>
#include <new>
#include <utility>

using namespace dtlto;
using namespace dtlto::http;

static constexpr const char *TokenVariable = "DTLTO_REMOTE_CACHE_TOKEN";
static constexpr size_t MaxPem = size_t(4) << 20;

[[noreturn]] static void refuse(const std::string &Why) {
  throw sdk::Error(DTLTO_ERROR_CALLER, Why);
}

namespace {
/// A parsed URL.
class UrlParts {
public:
  UrlParts() : Handle(curl_url()) {
    if (!Handle)
      throw std::bad_alloc();
  }
  ~UrlParts() { curl_url_cleanup(Handle); }
  UrlParts(const UrlParts &) = delete;

  bool parse(const std::string &Text) {
    return curl_url_set(Handle, CURLUPART_URL, Text.c_str(), 0) == CURLUE_OK;
  }
  /// Returns a part, or an empty text if there is none.
  std::string get(CURLUPart Part, unsigned Flags = 0) const {
    char *Text = nullptr;
    if (curl_url_get(Handle, Part, &Text, Flags) != CURLUE_OK)
      return "";
    std::unique_ptr<char, decltype(&curl_free)> Owner(Text, curl_free);
    return Text;
  }

private:
  CURLU *const Handle;
};
} // namespace

/// Whether \p Host is an address or a name of this machine.
static bool isLoopback(std::string Host) {
  if (Host.size() > 2 && Host.front() == '[')
    Host = Host.substr(1, Host.size() - 2);
  uint8_t V4[4], V6[16];
  if (::inet_pton(AF_INET, Host.c_str(), V4) == 1)
    return V4[0] == 127;
  if (::inet_pton(AF_INET6, Host.c_str(), V6) == 1) {
    const in6_addr Loopback = IN6ADDR_LOOPBACK_INIT;
    return std::equal(V6, V6 + sizeof(V6), Loopback.s6_addr);
  }
  return Host == "localhost";
}

std::string http::originOf(const std::string &Url) {
  UrlParts Parts;
  if (!Parts.parse(Url))
    return "";
  return lowerCase(Parts.get(CURLUPART_SCHEME) + "://" +
                   Parts.get(CURLUPART_HOST) + ":" +
                   Parts.get(CURLUPART_PORT, CURLU_DEFAULT_PORT));
}

Address http::readAddress(std::string_view Text) {
  UrlParts Parts;
  const std::string Shown = urlForMessage(Text);
  if (Text.empty() || hasControl(Text) || !Parts.parse(std::string(Text)))
    refuse("invalid URL " + Shown +
           ": expected https://HOST[:PORT][/PATH] or http://...");
  Address A;
  const std::string Scheme = Parts.get(CURLUPART_SCHEME);
  A.IsTls = Scheme == "https";
  if (!A.IsTls && Scheme != "http")
    refuse("invalid URL " + Shown + ": expected https:// or http://");
  if (Text.find('@') != Text.npos)
    refuse("invalid URL " + Shown +
           ": credentials belong in a file (token-file=, netrc-file=)");
  if (Text.find_first_of("?#") != Text.npos)
    refuse("invalid URL " + Shown + ": the path must not have '?' or '#'");
  A.IsLocal = isLoopback(Parts.get(CURLUPART_HOST));
  A.Url = Parts.get(CURLUPART_URL);
  A.Url.erase(A.Url.find_last_not_of('/') + 1);
  A.Origin = originOf(A.Url);
  return A;
}

static sdk::ArgumentTable argumentTable(Settings &S) {
  sdk::ArgumentTable All = connectionArguments(S);
  All.push_back(sdk::fileArgument("netrc-file", S.NetrcFile,
                                  "User and password, as for curl"));
  // A missing program is a failure of the cache, not of the link.
  All.push_back(credentialHelperArgument(S.Helper));
  return All;
}

const sdk::Description &http::description() {
  Settings S;
  static const sdk::Description D =
      describePlugin("Remote cache on an HTTP server", argumentTable(S),
                     {{TokenVariable, "A bearer token"}});
  return D;
}

Settings http::readSettings(const dtlto_store_params &Params,
                            const GetEnv &Env) {
  Settings S;
  S.To = readAddress(Params.url ? Params.url : "");
  sdk::readArguments(argumentTable(S), Params.args, Params.num_args,
                     /*HidesUnknown=*/true);
  checkCertificate(S);
  for (auto [File, Name] : {std::pair(&S.CaFile, "tls-ca"),
                            {&S.CertFile, "tls-cert"},
                            {&S.KeyFile, "tls-key"}}) {
    if (!File->empty() && !S.To.IsTls)
      refuse(std::string(Name) + "= needs https://");
    readSettingsFile(*File, Name, MaxPem);
  }
  if (!S.TokenFile.empty() && !S.NetrcFile.empty())
    refuse("token-file= and netrc-file= are alternatives");
  readSettingsFile(S.NetrcFile, "netrc-file", MaxPem);

  const char *Source = S.Helper.empty() ? nullptr : "credential-helper=";
  if (!S.NetrcFile.empty()) {
    Source = "netrc-file=";
  } else if (!S.TokenFile.empty()) {
    S.Token = readSecretFile(S.TokenFile, "token-file");
    Source = "token-file=";
  } else if (const char *Value = Env(TokenVariable);
             !Source && Value && *Value) {
    S.Token = Value;
    Source = TokenVariable;
    if (!isPrintableAscii(S.Token))
      refuse(std::string("$") + TokenVariable +
             " has characters other than printable ASCII");
  }
  if (Source && !S.To.isPrivate())
    refuse(std::string(Source) +
           " would cross the network without encryption "
           "to " +
           quote(S.To.Url) + "; use https://");
  return S;
}
