//===- DistccSettingsFuzz.cpp - Any settings of distcc --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: see UserSettings.h. host-spec tests the list of hosts in more detail.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Settings.h"
#include "UserSettings.h"

using namespace dtlto::distcc;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"hosts=a/2 b:4000,lzo\ncompiler=clang-19\nstats-port=+1",
          "$DISTCC_HOSTS=a,zstd @b\n$DISTCC_IO_TIMEOUT=7\n"
          "$DISTCC_BACKOFF_PERIOD=0\n$DISTCC_FALLBACK=0\n"
          "$DISTCC_VERBOSE=yes\n$DISTCC_SSH=ssh -v  -x\n$DISTCC_LOG=/l",
          "hosts=\n$HOME=/none",
          "$DISTCC_DIR=/none",
          "host=a",
          "compiler=",
          "hosts=a\nstats-port=65536",
          "hosts=a\n$DISTCC_IO_TIMEOUT=0",
          "hosts=a\ncompiler=a\tb",
          "stats-port=0\n$DISTCC_HOSTS=-a"};
}

/// Returns false if a setting is wrong.
static bool read(const UserSettings &G, Settings &S, std::string &Error) {
  return G.with([&](const dtlto_session_params &Params, const GetEnv &Env) {
    try {
      S = readSettings(Params, Env, {});
      Error = S.NoHosts;
      return true;
    } catch (const dtlto::sdk::Error &E) {
      Error = E.what();
      return false;
    }
  });
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  UserSettings G({reinterpret_cast<const char *>(Data), Size});
  // Don't read a list of hosts from this machine.
  for (const char *Name : {"DISTCC_DIR", "HOME"})
    if (auto It = G.Variables.find(Name); It != G.Variables.end())
      It->second = "/dev/null";
  Settings S;
  std::string Error;
  bool IsValid = read(G, S, Error);
  if (!Error.empty()) {
    check(isLine(Error) && Error.size() < 3000);
    check(IsValid || G.isNamedIn(Error));
    return 0;
  }
  check(Error.empty() && !S.Hosts.empty() && !S.Compiler.empty() &&
        !S.SshCommand.empty());
  check(S.IoTimeout.count() >= 1 && S.patience().count() >= 10);
  for (const std::string &Note : S.Notes)
    check(isLine(Note));
  for (const HostSpec &H : S.Hosts)
    if (S.StatsPort == 0u || H.Kind != HostKind::Tcp || H.Limit != 0)
      check(S.statsPort(H) == 0);

  // Settings can be written, and are then read as the same.
  UserSettings Again("");
  Again.Variables = G.Variables;
  Again.Args = {"compiler=" + S.Compiler};
  for (const std::string &Arg : G.Args)
    if (Arg.rfind("hosts=", 0) == 0)
      Again.Args.push_back(Arg);
  if (S.StatsPort)
    Again.Args.push_back(std::string("stats-port=") +
                         (S.IsStatsPortRelative ? "+" : "") +
                         std::to_string(*S.StatsPort));
  Again.Variables["DISTCC_IO_TIMEOUT"] = std::to_string(S.IoTimeout.count());
  Again.Variables["DISTCC_BACKOFF_PERIOD"] =
      std::to_string(S.BackoffPeriod.count());
  Again.Variables["DISTCC_FALLBACK"] = S.Fallback ? "1" : "0";
  Again.Variables["DISTCC_VERBOSE"] = S.Verbose ? "1" : "0";
  std::string Ssh;
  for (const std::string &Word : S.SshCommand)
    Ssh += Word + " ";
  Again.Variables["DISTCC_SSH"] = Ssh;
  Settings Same;
  check(read(Again, Same, Error));
  check(Same.Compiler == S.Compiler && Same.StatsPort == S.StatsPort &&
        Same.IsStatsPortRelative == S.IsStatsPortRelative &&
        Same.IoTimeout == S.IoTimeout &&
        Same.BackoffPeriod == S.BackoffPeriod && Same.Fallback == S.Fallback &&
        Same.Verbose == S.Verbose && Same.SshCommand == S.SshCommand &&
        Same.LogFile == S.LogFile && Same.StateDir == S.StateDir &&
        Same.Hosts.size() == S.Hosts.size());
  return 0;
}
