//===- Settings.cpp - What the user has set -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "Batch.h"
#include "Text.h"
#include <strings.h>

using namespace dtlto::icecc;
using dtlto::nearest;
using dtlto::parseNumber;
using dtlto::quote;

static bool readArgument(std::string_view Arg, Settings &S,
                         std::string &Error) {
  size_t Equals = Arg.find('=');
  std::string_view Name = Arg.substr(0, Equals);
  bool HasValue = Equals != std::string_view::npos;
  std::string_view Value = HasValue ? Arg.substr(Equals + 1) : "";

  if (HasValue && Name == "worker") {
    if (Value.empty()) {
      Error = "worker= needs the path of dtlto-codegen-static";
      return false;
    }
    S.Worker = Value;
    return true;
  }
  if (HasValue && Name == "jobs") {
    if (parseNumber(Value, 1, 4096, S.MaxJobs))
      return true;
    Error = quote(Arg) + ": expected jobs=N with N from 1 to 4096";
    return false;
  }
  if (HasValue && Name == "batch") {
    if (parseNumber(Value, 1, Pace::MaxJobs, S.Batch))
      return true;
    static_assert(Pace::MaxJobs == 16);
    Error = quote(Arg) + ": expected batch=N with N from 1 to 16";
    return false;
  }
  if (HasValue && (Name == "grant-timeout" || Name == "transfer-timeout")) {
    uint32_t N;
    if (!parseNumber(Value, 1, 86400, N)) {
      Error = quote(Arg) + ": expected a number of seconds from 1 to 86400";
      return false;
    }
    if (Name == "grant-timeout")
      S.GrantTimeout = std::chrono::seconds(N);
    else
      S.TransferLimit = std::chrono::seconds(N);
    return true;
  }
  if (HasValue && Name == "netname") {
    S.NetName = Value;
    return true;
  }
  Error = "unknown argument " + quote(Arg);
  std::string_view Near =
      nearest(Name, {"worker", "jobs", "batch", "grant-timeout",
                     "transfer-timeout", "netname"});
  if (!Near.empty())
    Error += ", did you mean " + quote(std::string(Near) + "=") + "?";
  Error += " (known are worker=PATH, jobs=N, batch=N, "
           "grant-timeout=SECONDS, transfer-timeout=SECONDS, netname=NAME)";
  return false;
}

/// ICECC_VERSION is [platform:]file[=prefix],... as icecc(1) says. A prefix
/// names a cross compiler, which the worker is none of.
static bool readVersion(std::string_view Text, Settings &S,
                        std::string &Error) {
  while (!Text.empty()) {
    size_t End = std::min(Text.find(','), Text.size());
    std::string_view Item = Text.substr(0, End);
    Text.remove_prefix(std::min(End + 1, Text.size()));
    if (Item.empty())
      continue;
    if (Item.find('=') != std::string_view::npos) {
      S.Notes.push_back("$ICECC_VERSION: " + quote(Item) +
                        " is for a cross compiler and not used");
      continue;
    }
    Settings::EnvironmentFile E;
    size_t Colon = Item.find(':');
    if (Colon != std::string_view::npos) {
      E.Platform = Item.substr(0, Colon);
      Item.remove_prefix(Colon + 1);
    }
    E.File = Item;
    for (const auto &Other : S.Environments)
      if (Other.Platform == E.Platform) {
        Error = "$ICECC_VERSION has two environments for one platform: " +
                quote(Other.File) + " and " + quote(E.File);
        return false;
      }
    S.Environments.push_back(std::move(E));
  }
  return true;
}

bool dtlto::icecc::readSettings(const dtlto_session_params &Params,
                                const GetEnv &Env,
                                const std::string &PluginFolder, Settings &S,
                                std::string &Error) {
  S = Settings();
  auto Value = [&](const char *Name) -> std::string {
    const char *Text = Env(Name);
    return Text ? Text : "";
  };
  for (uint32_t I = 0; I != Params.num_args; ++I)
    if (!readArgument(Params.args[I], S, Error))
      return false;
  if (S.Worker.empty())
    S.Worker = Value("DTLTO_WORKER");
  if (S.Worker.empty())
    S.Worker = PluginFolder + "/dtlto-codegen-static";

  std::string Home = Value("HOME");
  if (std::string Socket = Value("ICECC_TEST_SOCKET"); !Socket.empty()) {
    S.Daemons = {Socket};
  } else {
    S.Daemons = {"/var/run/icecc/iceccd.socket", "/var/run/iceccd.socket"};
    if (!Home.empty())
      S.Daemons.push_back(Home + "/.iceccd.socket");
    S.Daemons.push_back("127.0.0.1:10245");
  }
  S.LocalNodes = Env("ICECC_TEST_REMOTEBUILD") != nullptr;
  S.Scheduler = Value("ICECC_SCHEDULER");
  if (S.Scheduler.empty())
    S.Scheduler = Value("USE_SCHEDULER");
  S.PreferredHost = Value("ICECC_PREFERRED_HOST");
  S.LogFile = Value("ICECC_LOGFILE");
  if (!readVersion(Value("ICECC_VERSION"), S, Error))
    return false;

  std::string Level = Value("ICECC_DEBUG");
  if (!Level.empty()) {
    // As icecc: any other word means all.
    S.Level = Verbosity::Debug;
    if (strncasecmp(Level.c_str(), "info", 4) == 0)
      S.Level = Verbosity::Info;
    else if (strncasecmp(Level.c_str(), "warn", 4) == 0)
      S.Level = Verbosity::Warnings;
  }

  if (std::string Cache = Value("XDG_CACHE_HOME"); Cache.rfind("/", 0) == 0)
    S.CacheFolder = Cache + "/dtlto/icecc";
  else if (!Home.empty())
    S.CacheFolder = Home + "/.cache/dtlto/icecc";
  return true;
}
