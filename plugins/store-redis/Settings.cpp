//===- Settings.cpp - The URL and arguments of a Redis store --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "Description.h"
#include "SettingsFile.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>

using namespace dtlto;
using namespace dtlto::redis;

// redis-cli's.
static constexpr const char *PasswordVariable = "REDISCLI_AUTH";
static constexpr size_t MaxUrl = 1024;
static constexpr uint32_t MaxDatabase = 1000000;

[[noreturn]] static void refuse(const std::string &Why) {
  throw sdk::Error(DTLTO_ERROR_CALLER, Why);
}

std::string redis::Address::url() const {
  bool IsV6 = Host.find(':') != Host.npos;
  return "redis://" + (IsV6 ? "[" + Host + "]" : Host) + ":" +
         std::to_string(Port) +
         (Database ? "/" + std::to_string(Database) : "");
}

/// Reads HOST[:PORT]. Returns false for any other text.
static bool readServer(std::string_view Text, Address &A) {
  bool IsV6 = !Text.empty() && Text.front() == '[';
  size_t End = IsV6 ? Text.find(']') : Text.find(':');
  if (IsV6 && End == Text.npos)
    return false;
  A.Host = IsV6 ? Text.substr(1, End - 1) : Text.substr(0, End);
  Text.remove_prefix(std::min(End + IsV6, Text.size()));
  constexpr const char *Digits = "0123456789abcdefABCDEF:.";
  constexpr const char *Letters = "0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_";
  if (A.Host.find_first_not_of(IsV6 ? Digits : Letters) != A.Host.npos ||
      A.Host.empty() || (IsV6 && A.Host.find(':') == A.Host.npos))
    return false;
  uint32_t Port = A.Port;
  if (!Text.empty() &&
      (Text.front() != ':' || !parseNumber(Text.substr(1), 1, 65535, Port)))
    return false;
  A.Port = uint16_t(Port);
  return true;
}

Address redis::readAddress(std::string_view Text) {
  const std::string Shown = urlForMessage(Text);
  constexpr std::string_view Scheme = "redis://";
  if (Text.substr(0, 9) == "rediss://")
    refuse(
        "invalid URL " + Shown +
        ": this store has no TLS; use redis:// through a tunnel, or https://");
  if (Text.find('@') != Text.npos)
    refuse("invalid URL " + Shown +
           ": credentials belong in user= and password-file=");
  Address A;
  std::string_view Rest = Text;
  bool IsGood =
      Text.size() <= MaxUrl && Text.substr(0, Scheme.size()) == Scheme;
  if (IsGood) {
    Rest.remove_prefix(Scheme.size());
    size_t Slash = std::min(Rest.find('/'), Rest.size());
    std::string_view Database = Rest.substr(std::min(Slash + 1, Rest.size()));
    IsGood =
        readServer(Rest.substr(0, Slash), A) &&
        (Database.empty() || parseNumber(Database, 0, MaxDatabase, A.Database));
  }
  if (!IsGood)
    refuse("invalid URL " + Shown + ": expected redis://HOST[:PORT][/DB]");
  return A;
}

static sdk::ArgumentTable argumentTable(Settings &S,
                                        std::string &PasswordFile) {
  return {sdk::textArgument("user", "NAME", S.User,
                            "The user of Redis 6 or "
                            "later"),
          sdk::fileArgument("password-file", PasswordFile, "The password")};
}

const sdk::Description &redis::description() {
  Settings S;
  std::string PasswordFile;
  static const sdk::Description D = describePlugin(
      "Remote cache on a Redis server", argumentTable(S, PasswordFile),
      {{PasswordVariable, "The password"}});
  return D;
}

Settings redis::readSettings(const dtlto_store_params &Params,
                             const GetEnv &Env) {
  Settings S;
  S.To = readAddress(Params.url ? Params.url : "");
  std::string PasswordFile;
  sdk::readArguments(argumentTable(S, PasswordFile), Params.args,
                     Params.num_args, /*HidesUnknown=*/true);
  S.Password = readSecretFile(PasswordFile, "password-file");
  if (const char *Value = Env(PasswordVariable); PasswordFile.empty() && Value)
    S.Password = Value;
  if (!S.User.empty() && S.Password.empty())
    refuse(std::string("user= needs a password: password-file= or $") +
           PasswordVariable);
  return S;
}
