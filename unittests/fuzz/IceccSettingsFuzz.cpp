//===- IceccSettingsFuzz.cpp - Any settings of icecc ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: see UserSettings.h.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Settings.h"
#include "UserSettings.h"

using namespace dtlto::icecc;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"worker=/opt/"
          "w\njobs=7\nbatch=9\ngrant-timeout=3\ntransfer-timeout=86400\n"
          "netname=a b",
          "$DTLTO_ICECC_VERSION=x86_64:/a.tar.gz,/b.tar,arm:/c=arm-gcc\n"
          "$ICECC_DEBUG=info\n$HOME=/h\n$ICECC_SCHEDULER=host:1",
          "$DTLTO_ICECC_VERSION=/a,/b\n$XDG_CACHE_HOME=/x",
          "$ICECC_TEST_SOCKET=/s\n$DTLTO_WORKER=/w\njobs=0",
          "job=4",
          "transfer-timeout=-1",
          "worker=",
          "$USE_SCHEDULER=x\njobs=4097"};
}

static bool read(const UserSettings &G, Settings &S, std::string &Error) {
  return G.with([&](const dtlto_session_params &Params, const GetEnv &Env) {
    try {
      S = readSettings(Params, Env, "/plugins");
      return true;
    } catch (const dtlto::sdk::Error &E) {
      Error = E.what();
      return false;
    }
  });
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  UserSettings G({reinterpret_cast<const char *>(Data), Size});
  Settings S;
  std::string Error;
  if (!read(G, S, Error)) {
    check(isLine(Error) && Error.size() < 2000 && G.isNamedIn(Error));
    return 0;
  }
  check(Error.empty() && !S.Worker.empty() && !S.Daemons.empty());
  check(S.MaxJobs >= 1 && S.MaxJobs <= 4096);
  check(S.Batch <= 16);
  check(S.GrantTimeout.count() >= 1 && S.GrantTimeout.count() <= 86400);
  for (const std::string &Note : S.Notes)
    check(isLine(Note));

  // Settings can be written, and are then read as the same. An empty value
  // counts as unset.
  UserSettings Again("");
  Again.Variables = G.Variables;
  Again.Args = {"worker=" + S.Worker, "jobs=" + std::to_string(S.MaxJobs),
                "grant-timeout=" + std::to_string(S.GrantTimeout.count()),
                "transfer-timeout=" +
                    std::to_string(S.TransferLimit.count() / 1000),
                "netname=" + S.NetName};
  if (S.Batch)
    Again.Args.push_back("batch=" + std::to_string(S.Batch));
  std::string Version;
  size_t NumCross = S.Notes.size();
  for (const Settings::EnvironmentFile &E : S.Environments)
    Version += (Version.empty() ? "" : ",") + E.Platform + ":" + E.File;
  Again.Variables["DTLTO_ICECC_VERSION"] = Version;
  Settings Same;
  check(read(Again, Same, Error));
  check(Same.Worker == S.Worker && Same.MaxJobs == S.MaxJobs &&
        Same.Batch == S.Batch && Same.GrantTimeout == S.GrantTimeout &&
        Same.TransferLimit == S.TransferLimit && Same.NetName == S.NetName &&
        Same.Daemons == S.Daemons && Same.Scheduler == S.Scheduler &&
        Same.Level == S.Level && Same.CacheFolder == S.CacheFolder &&
        Same.Notes.size() <= NumCross &&
        Same.Environments.size() == S.Environments.size());
  for (size_t I = 0; I != S.Environments.size(); ++I)
    check(Same.Environments[I].Platform == S.Environments[I].Platform &&
          Same.Environments[I].File == S.Environments[I].File);
  return 0;
}
