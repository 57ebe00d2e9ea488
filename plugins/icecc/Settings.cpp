//===- Settings.cpp - The user's settings ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "Batch.h"
#include "Description.h"
#include "System.h"
#include "Text.h"
#include <strings.h>

using namespace dtlto::icecc;
using dtlto::quote;
namespace sdk = dtlto::sdk;

static sdk::ArgumentTable argumentTable(Settings &S) {
  static_assert(Pace::MaxJobs == 16);
  return {sdk::fileArgument("worker", S.Worker,
                            "The dtlto-codegen-static to send, by default the "
                            "one next to the plugin"),
          sdk::numberArgument("jobs", "N", 1, 4096, S.MaxJobs,
                              "The limit of jobs at the same time"),
          sdk::numberArgument("batch", "N", 1, Pace::MaxJobs, S.Batch,
                              "How many small jobs are sent together; by "
                              "default, as many as pay off"),
          sdk::durationArgument<std::chrono::seconds>(
              "grant-timeout", "SECONDS", 1, 86400, S.GrantTimeout,
              "How long jobs wait while none is granted a node"),
          sdk::durationArgument<std::chrono::seconds>(
              "transfer-timeout", "SECONDS", 1, 86400, S.TransferLimit,
              "How long a transfer may pause"),
          {"netname", "NAME",
           "The network whose scheduler is asked for the number of nodes",
           [&S](std::string_view Value) {
             S.NetName = Value;
             return true;
           }}};
}

const sdk::Description &dtlto::icecc::description() {
  Settings S;
  static const sdk::Description D = describePlugin(
      "Runs jobs on an icecream cluster", argumentTable(S),
      {{"DTLTO_WORKER", "Like worker="},
       {"DTLTO_ICECC_VERSION",
        "Environments with a worker, instead of the plugin's"},
       {"ICECC_VERSION", "Not used; a note says so"},
       {"ICECC", "With no or disable, the linker compiles all modules"},
       {"ICECC_PREFERRED_HOST", "The node to use, for debugging"},
       {"ICECC_SCHEDULER", "The scheduler that is asked for its nodes"},
       {"USE_SCHEDULER", "Like ICECC_SCHEDULER"},
       {"ICECC_DEBUG", "warnings, info or debug: more messages"},
       {"ICECC_LOGFILE", "Messages go to this file"},
       {"ICECC_COMPRESSION", "The zstd level of what is sent"},
       {"XDG_CACHE_HOME", "Where the packed worker is stored"}});
  return D;
}

/// Reads DTLTO_ICECC_VERSION: [platform:]file[=prefix],..., as icecc(1) says of
/// ICECC_VERSION. A prefix names a cross compiler, and workers have none.
static void readVersion(std::string_view Text, Settings &S) {
  while (!Text.empty()) {
    size_t End = std::min(Text.find(','), Text.size());
    std::string_view Item = Text.substr(0, End);
    Text.remove_prefix(std::min(End + 1, Text.size()));
    if (Item.empty())
      continue;
    if (Item.find('=') != std::string_view::npos) {
      S.Notes.push_back("$DTLTO_ICECC_VERSION: " + quote(Item) +
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
      if (Other.Platform == E.Platform)
        throw sdk::Error(
            DTLTO_ERROR_CALLER,
            "$DTLTO_ICECC_VERSION has two environments for one platform: " +
                quote(Other.File) + " and " + quote(E.File));
    S.Environments.push_back(std::move(E));
  }
}

std::vector<std::string> dtlto::icecc::daemonConfigFiles() {
  return {"/etc/sysconfig/icecream", "/etc/conf.d/icecream",
          "/etc/icecc/icecc.conf", "/etc/default/icecc"};
}

/// Returns the value of a shell assignment with \p Text after the `=`, or
/// nothing if only a shell could evaluate it.
static std::string_view shellValue(std::string_view Text) {
  char Quote = Text.empty() ? 0 : Text[0];
  bool IsQuoted = Quote == '"' || Quote == '\'';
  if (IsQuoted)
    Text.remove_prefix(1);
  size_t End = Text.find_first_of(IsQuoted ? std::string_view(&Quote, 1)
                                           : std::string_view(" \t\r;#"));
  Text = Text.substr(0, End);
  return Text.find_first_of("$`\\") == std::string_view::npos ? Text : "";
}

/// Finds the scheduler that the local iceccd is configured to use.
static void readDaemonConfig(const std::vector<std::string> &Files,
                             Settings &S) {
  static constexpr size_t MaxSize = 1 << 20;
  for (const std::string &File : Files) {
    std::string Text;
    if (dtlto::os::readFile(File, MaxSize, Text) != 0)
      continue;
    for (std::string_view Rest = Text; !Rest.empty();) {
      std::string_view Line = Rest.substr(0, Rest.find('\n'));
      Rest.remove_prefix(std::min(Line.size() + 1, Rest.size()));
      Line.remove_prefix(std::min(Line.find_first_not_of(" \t"), Line.size()));
      if (Line.substr(0, 7) == "export ")
        Line.remove_prefix(7);
      size_t Equals = std::min(Line.find('='), Line.size());
      std::string_view Name = Line.substr(0, Equals);
      std::string_view Value =
          shellValue(Line.substr(std::min(Equals + 1, Line.size())));
      if (Name == "ICECC_SCHEDULER_HOST" || Name == "ICECREAM_SCHEDULER_HOST") {
        S.Scheduler = Value;
        S.SchedulerSource = File;
      } else if (Name == "ICECC_NETNAME" || Name == "ICECREAM_NETNAME") {
        S.NetName = Value;
      }
    }
  }
}

/// Reads where to look for the local iceccd and the scheduler.
static void readPlaces(const std::function<std::string(const char *)> &Value,
                       const std::vector<std::string> &DaemonConfig,
                       Settings &S) {
  if (std::string Socket = Value("ICECC_TEST_SOCKET"); !Socket.empty()) {
    S.Daemons = {Socket};
  } else {
    S.Daemons = {"/var/run/icecc/iceccd.socket", "/var/run/iceccd.socket"};
    if (std::string Home = Value("HOME"); !Home.empty())
      S.Daemons.push_back(Home + "/.iceccd.socket");
    S.Daemons.push_back("127.0.0.1:10245");
  }
  for (const char *Name : {"USE_SCHEDULER", "ICECC_SCHEDULER"})
    if (std::string Host = Value(Name); !Host.empty()) {
      S.Scheduler = Host;
      S.SchedulerSource = std::string("$") + Name;
    }
  if (S.Scheduler.empty() && S.NetName.empty())
    readDaemonConfig(DaemonConfig, S);
}

Settings
dtlto::icecc::readSettings(const dtlto_session_params &Params,
                           const GetEnv &Env, const std::string &PluginFolder,
                           const std::vector<std::string> &DaemonConfig) {
  Settings S;
  auto Value = [&](const char *Name) -> std::string {
    const char *Text = Env(Name);
    return Text ? Text : "";
  };
  sdk::readArguments(argumentTable(S), Params.args, Params.num_args);
  if (S.Worker.empty())
    S.Worker = Value("DTLTO_WORKER");
  if (S.Worker.empty())
    S.Worker = PluginFolder + "/dtlto-codegen-static";

  readPlaces(Value, DaemonConfig, S);
  S.AllowsLocalNodes = Env("ICECC_TEST_REMOTEBUILD") != nullptr;
  S.PreferredHost = Value("ICECC_PREFERRED_HOST");
  S.LogFile = Value("ICECC_LOGFILE");
  readVersion(Value("DTLTO_ICECC_VERSION"), S);
  // ICECC_VERSION names a compiler's environment, which has no worker. A user
  // who sets DTLTO_ICECC_VERSION, even to nothing, knows that.
  if (!Value("ICECC_VERSION").empty() && !Env("DTLTO_ICECC_VERSION"))
    S.Notes.push_back(
        "$ICECC_VERSION is for compiles; links do not use it, but the worker "
        "of this plugin, or $DTLTO_ICECC_VERSION");
  std::string Mode = Value("ICECC");
  S.Off = strcasecmp(Mode.c_str(), "no") == 0 ||
          strcasecmp(Mode.c_str(), "disable") == 0;

  // As in icecc, any other word means everything.
  if (std::string Level = Value("ICECC_DEBUG"); !Level.empty())
    S.Level = strncasecmp(Level.c_str(), "info", 4) == 0   ? Verbosity::Info
              : strncasecmp(Level.c_str(), "warn", 4) == 0 ? Verbosity::Warnings
                                                           : Verbosity::Debug;

  if (std::string Cache = Value("XDG_CACHE_HOME"); Cache.rfind("/", 0) == 0)
    S.CacheFolder = Cache + "/dtlto/icecc";
  else if (std::string Home = Value("HOME"); !Home.empty())
    S.CacheFolder = Home + "/.cache/dtlto/icecc";
  return S;
}
