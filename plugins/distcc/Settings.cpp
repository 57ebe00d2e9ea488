//===- Settings.cpp - The user's settings ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "Description.h"
#include "FileThread.h"
#include "Network.h"
#include "System.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <random>
#include <system_error>

namespace dtlto::distcc {

std::vector<std::string> systemHostFiles() {
  return {"/etc/distcc/hosts", "/usr/local/etc/distcc/hosts"};
}

std::chrono::milliseconds HostFileTimeout{5000};

static constexpr size_t MaxHostFile = size_t(16) << 20;
static constexpr uint16_t DaemonPort = 3632;
static constexpr uint16_t DaemonStatsPort = 3633;

std::chrono::milliseconds Settings::connectLimit() const {
  const std::chrono::milliseconds Limit = TheNetworkLimits.Connect;
  return IsStatusOnly ? Limit / 2 : Limit;
}

uint16_t Settings::statsPort(const HostSpec &Host, bool IgnoreLimit) const {
  if (Host.Kind != HostKind::Tcp ||
      (Host.Limit != 0 && !IsStatusOnly && !IgnoreLimit))
    return 0;
  if (!StatsPort)
    return Host.Port == DaemonPort ? DaemonStatsPort : 0;
  uint32_t Port = *StatsPort + (IsStatsPortRelative ? Host.Port : 0);
  return Port <= 65535 ? uint16_t(Port) : 0;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Reads a small file. Returns an errno, or 0.
static int readFile(const std::string &Path, std::string &Text) {
  auto Answer = std::make_shared<std::pair<int, std::string>>();
  try {
    FileThread Thread;
    Thread.post([=] {
      Answer->first = os::readFile(Path, MaxHostFile, Answer->second);
    });
    if (!Thread.wait(HostFileTimeout))
      return ETIMEDOUT;
  } catch (const std::system_error &E) {
    return E.code().value();
  }
  Text = std::move(Answer->second);
  return Answer->first;
}

//===----------------------------------------------------------------------===//
// Arguments, variables, hosts
//===----------------------------------------------------------------------===//

[[noreturn]] static void fail(const std::string &Text) {
  throw sdk::Error(DTLTO_ERROR_CALLER, Text);
}

static sdk::ArgumentTable argumentTable(Settings &S,
                                        std::optional<std::string> &Hosts) {
  return {
      {"hosts", "LIST", "The hosts, as in $DISTCC_HOSTS",
       [&](std::string_view Value) {
         Hosts = Value;
         return true;
       }},
      {"compiler", "NAME",
       "Clang's name on the servers, by default clang-<major version of LLVM>, "
       "or that of dtlto-codegen",
       [&S](std::string_view Value) {
         // The server decides which names it accepts.
         if (Value.empty())
           fail("compiler= needs the name that clang has on the servers, e.g. "
                "compiler=" +
                S.Compiler);
         if (hasControl(Value))
           fail(quote("compiler=" + std::string(Value)) +
                ": a compiler's name cannot have line breaks or other control "
                "characters");
         S.Compiler = Value;
         return true;
       }},
      {"stats-port", "PORT",
       "Where hosts without a limit are asked for their slots: a port, +N for "
       "N "
       "above the host's own, 0 to ask none; by default 3633, for hosts on "
       "distccd's default port",
       [&S](std::string_view Value) {
         uint32_t N;
         S.IsStatsPortRelative = Value.substr(0, 1) == "+";
         if (!parseNumber(Value.substr(S.IsStatsPortRelative),
                          S.IsStatsPortRelative, 65535, N))
           fail(quote("stats-port=" + std::string(Value)) +
                ": expected a port from 1 to 65535, +N for N above the host's "
                "own, or 0 to ask no host");
         S.StatsPort = N;
         return true;
       }}};
}

const sdk::Description &description() {
  Settings S;
  std::optional<std::string> Hosts;
  static const sdk::Description D = describePlugin(
      "Runs jobs on the hosts of distcc", argumentTable(S, Hosts),
      {{"DISTCC_HOSTS", "The hosts"},
       {"DISTCC_DIR", "The folder of the host list, locks and state"},
       {"DISTCC_IO_TIMEOUT", "Seconds that a connection may be silent"},
       {"DISTCC_BACKOFF_PERIOD", "Seconds that a host rests after a failure"},
       {"DISTCC_FALLBACK", "With 0, a job that fails is not compiled locally"},
       {"DISTCC_VERBOSE", "With 1, report where each module was compiled"},
       {"DISTCC_LOG", "A file that messages are appended to"},
       {"DISTCC_SSH", "The command for hosts over ssh"}});
  return D;
}

namespace {

class Reader {
public:
  Reader(const GetEnv &Env, const std::vector<std::string> &HostFiles)
      : Env(Env), HostFiles(HostFiles) {}
  Settings read(const dtlto_session_params &Params);

private:
  /// Returns the value of a variable, or null if it is unset or empty.
  const char *value(const char *Name) {
    const char *Text = Env(Name);
    return Text && *Text ? Text : nullptr;
  }

  void readVariables();
  void readSeconds(const char *Name, uint32_t Min,
                   std::chrono::seconds &Seconds);
  void readBool(const char *Name, bool &Value);
  void readHosts();
  void useHosts(std::string_view Text, std::string_view Source);

  const GetEnv &Env;
  const std::vector<std::string> &HostFiles;
  Settings S;

  std::optional<std::string> HostsArgument;
  std::string DistccDir; // empty without a home folder
};

} // namespace

Settings Reader::read(const dtlto_session_params &Params) {
  S.NumJobs = Params.num_jobs;
  S.IsStatusOnly = Params.num_jobs == 0;
  std::string_view Version = Params.llvm_version ? Params.llvm_version : "";
  S.Compiler = "clang-" + std::string(Version.substr(0, Version.find('.')));
  sdk::readArguments(argumentTable(S, HostsArgument), Params.args,
                     Params.num_args);
  readVariables();
  readHosts();
  return std::move(S);
}

void Reader::readVariables() {
  if (const char *Dir = value("DISTCC_DIR"))
    DistccDir = Dir;
  else if (const char *Home = value(os::HomeVariable))
    DistccDir = std::string(Home) + "/.distcc";
#ifndef _WIN32 // without monitors and locks
  if (!DistccDir.empty()) {
    S.StateDir = DistccDir + "/state";
    S.LockFile = DistccDir + "/lock/dtlto";
  }
#endif

  readSeconds("DISTCC_IO_TIMEOUT", 1, S.IoTimeout);
  readSeconds("DISTCC_BACKOFF_PERIOD", 0, S.BackoffPeriod);
  readBool("DISTCC_FALLBACK", S.Fallback);
  readBool("DISTCC_VERBOSE", S.Verbose);
  if (const char *File = value("DISTCC_LOG"))
    S.LogFile = File;

  std::string_view Ssh = value("DISTCC_SSH") ? Env("DISTCC_SSH") : "";
  while (!Ssh.empty()) {
    size_t End = std::min(Ssh.find(' '), Ssh.size());
    if (End != 0)
      S.SshCommand.emplace_back(Ssh.substr(0, End));
    Ssh.remove_prefix(std::min(End + 1, Ssh.size()));
  }
  if (S.SshCommand.empty())
    S.SshCommand = {"ssh"};
}

void Reader::readSeconds(const char *Name, uint32_t Min,
                         std::chrono::seconds &Seconds) {
  const char *Text = Env(Name);
  if (!Text)
    return;
  uint32_t N;
  if (!parseNumber(Text, Min, INT32_MAX, N))
    fail("$" + std::string(Name) + ": " + quote(Text) +
         ": expected a number of seconds from " + std::to_string(Min) + " to " +
         std::to_string(INT32_MAX));
  Seconds = std::chrono::seconds(N);
}

void Reader::readBool(const char *Name, bool &Value) {
  const char *Text = value(Name);
  if (!Text)
    return;
  if (std::strcmp(Text, "0") == 0 || std::strcmp(Text, "1") == 0)
    Value = *Text == '1';
  else
    S.Notes.push_back("$" + std::string(Name) + ": " + quote(Text) +
                      " is neither 0 nor 1, taken for " + (Value ? "1" : "0"));
}

static const char WaysToNameHosts[] =
    "name some with --thinlto-dist-plugin-arg=hosts=LIST, in $DISTCC_HOSTS, or "
    "in a file: ";

void Reader::readHosts() {
  if (HostsArgument)
    return useHosts(*HostsArgument, "hosts=");
  if (const char *Variable = Env("DISTCC_HOSTS"))
    return useHosts(Variable, "$DISTCC_HOSTS");

  std::vector<std::string> Files;
  if (!DistccDir.empty())
    Files.push_back(DistccDir + "/hosts");
  Files.insert(Files.end(), HostFiles.begin(), HostFiles.end());
  std::string Names;
  for (const std::string &File : Files) {
    std::string Text;
    int Code = readFile(File, Text);
    if (Code == 0)
      return useHosts(Text, File);
    if (Code != ENOENT && Code != ENOTDIR)
      S.Notes.push_back("cannot read the host list " + quote(File) + ": " +
                        os::errorText(Code));
    Names += (Names.empty() ? "" : ", ") + File;
  }
  S.NoHosts = std::string("no hosts are named; ") + WaysToNameHosts + Names;
}

void Reader::useHosts(std::string_view Text, std::string_view Source) {
  HostList List = parseHostList(Text, Source);
  S.Notes.insert(S.Notes.end(), List.Notes.begin(), List.Notes.end());
  S.Remarks = std::move(List.Remarks);
  if (List.Hosts.empty()) {
    bool Empty = Text.find_first_not_of(" \t\r\n\f") == std::string_view::npos;
    S.NoHosts = std::string(Source) +
                (Empty ? " is empty; " : " names no host that can be used; ") +
                WaysToNameHosts;
    S.NoHosts += DistccDir.empty() && !HostFiles.empty() ? HostFiles.front()
                                                         : DistccDir + "/hosts";
  }
  if (List.Randomize)
    std::shuffle(List.Hosts.begin(), List.Hosts.end(),
                 std::mt19937(std::random_device()()));
  S.Hosts = std::move(List.Hosts);
  S.HostsSource = Source;
}

Settings readSettings(const dtlto_session_params &Params, const GetEnv &Env,
                      const std::vector<std::string> &HostFiles) {
  return Reader(Env, HostFiles).read(Params);
}

} // namespace dtlto::distcc
