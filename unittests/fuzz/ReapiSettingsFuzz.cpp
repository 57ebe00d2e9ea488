//===- ReapiSettingsFuzz.cpp - Any settings of reapi ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: see UserSettings.h. Lines that begin with `!` go, without the `!`,
// into the file that config= names. A line that begins with `@` is the URL of a
// store.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Settings.h"
#include "UserSettings.h"
#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

using namespace dtlto::reapi;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"server=grpcs://host:8980\ninstance=a/b\nplatform=OSFamily=linux\n"
          "platform=a=\nheader=X-A=b\njobs=7\ntimeout=9\nretries=0",
          "$RECC_SERVER=http://[::1]:80/\n$RECC_REMOTE_PLATFORM_Arch=x86\n"
          "$RECC_SKIP_CACHE=1\n$RECC_INSTANCE=i",
          "$RBE_service=host\n$RBE_service_no_security=true\nworker=clang-19",
          "server=unix:/run/s\nresults=only\ndigest=BLAKE3\ntls-cert=/c\n"
          "tls-key=/k\nretry-delay=5",
          "server=grpc://host:0",
          "header=a b=c\nserver=x",
          "serve=x",
          "$RECC_SERVER=ftp://x",
          "config=/dev/null\nserver=x:1",
          "!server=x:1\n!# c\n! jobs = 7 \n!header = a=b\n!results=off",
          "!header a: b\n!platform=x=y\n!timeout=9\njobs=3\n!jobs=x\n"
          "server=a\n$RECC_INSTANCE=i",
          "server=x\ncredential-helper=bazel-helper\ntoken-file=t",
          "@grpc://host:1/a/b\n$RECC_SERVER=other:1\nresults=read\n"
          "$DTLTO_REMOTE_CACHE_TOKEN=t",
          "@grpcs://[::1]\ninstance=i\ntoken-file=t\n!cas=b:1",
          "@grpc://secret@host\n$DTLTO_REMOTE_CACHE_TOKEN=t"};
}

/// Moves the lines of the file into a file in memory. Returns its path, or an
/// empty string if there are none.
static std::string moveToFile(UserSettings &G) {
  static const int File = memfd_create("config", MFD_CLOEXEC);
  static const std::string Path = "/proc/self/fd/" + std::to_string(File);
  std::vector<std::string> Args;
  std::string Text;
  for (const std::string &Arg : G.Args)
    if (!Arg.empty() && Arg[0] == '!')
      Text += Arg.substr(1) + "\n";
    else if (Arg.compare(0, 7, "config=") != 0) // would name another file
      Args.push_back(Arg);
  G.Args = Args;
  if (Text.empty())
    return "";
  check(ftruncate(File, 0) == 0 &&
        pwrite(File, Text.data(), Text.size(), 0) == ssize_t(Text.size()));
  G.Args.push_back("config=" + Path);
  return Path;
}

/// Removes the URL from the arguments. Returns it, or an empty string if there
/// is none.
static std::string takeUrl(UserSettings &G) {
  auto It = std::find_if(G.Args.begin(), G.Args.end(), [](const auto &Arg) {
    return !Arg.empty() && Arg[0] == '@';
  });
  if (It == G.Args.end())
    return "";
  std::string Url = It->substr(1);
  G.Args.erase(It);
  return Url;
}

/// With an empty \p Url, reads the plugin's settings.
static bool read(const UserSettings &G, Settings &S, std::string &Error,
                 const std::string &Url = "") {
  std::vector<std::string> Texts;
  for (const auto &[Name, Value] : G.Variables)
    Texts.push_back(Name + "=" + Value);
  std::vector<const char *> Environ;
  for (const std::string &T : Texts)
    Environ.push_back(T.c_str());
  Environ.push_back(nullptr);
  return G.with([&](const dtlto_session_params &Params, const GetEnv &Env) {
    dtlto_store_params Store = {};
    Store.size = sizeof(Store);
    Store.url = Url.c_str();
    Store.args = Params.args;
    Store.num_args = Params.num_args;
    try {
      S = Url.empty() ? readSettings(Params.args, Params.num_args, Env,
                                     Environ.data(), "/plugins")
                      : readStoreSettings(Store, Env, Environ.data());
      return true;
    } catch (const dtlto::sdk::Error &E) {
      Error = E.what();
      return false;
    }
  });
}

static std::string scheme(const Endpoint &E) {
  return E.Target.compare(0, 5, "unix:") == 0 ? E.Target : E.name();
}

/// Returns whether the quoted text is the beginning of an argument. Possible
/// secrets aren't shown: dots replace everything between the scheme and the
/// last `@`, and the end of a long text.
static bool namesPrefix(const UserSettings &G, const std::string &Error) {
  size_t Begin = Error.find('\'') + 1;
  std::string Shown = Error.substr(Begin, Error.find('\'', Begin) - Begin);
  if (size_t Dots = Shown.find("...@"); Dots != std::string::npos)
    Shown.resize(Dots);
  else
    Shown.resize(Shown.find_last_not_of('.') + 1);
  return Shown.find('@') == std::string::npos &&
         std::any_of(G.Args.begin(), G.Args.end(), [&](const std::string &Arg) {
           return dtlto::quote(Arg).compare(1, Shown.size(), Shown) == 0;
         });
}

/// The same URL, made of the settings, and no variables give the same settings.
static void checkStore(const UserSettings &G, const std::string &Url) {
  Settings S;
  std::string Error;
  if (!read(G, S, Error, Url)) {
    check(isLine(Error) && Error.size() < 4000);
    // Credentials aren't shown.
    if (size_t At = Error.find('@');
        Error.find("URL '") == 0 && At != std::string::npos)
      check(Error.compare(At - 3, 3, "...") == 0);
    return;
  }
  check(Error.empty() && !S.Server.Target.empty() && !S.Cas.Target.empty() &&
        !S.Cache.Target.empty());
  check(Url.find(S.Server.Target.substr(0, S.Server.Target.rfind(':'))) !=
        std::string::npos);
  bool NamesInstance = Url.find('/', Url.find("://") + 3) < Url.size() - 1;
  UserSettings Again = G;
  Again.Variables.clear();
  if (auto It = G.Variables.find("DTLTO_REMOTE_CACHE_TOKEN");
      It != G.Variables.end())
    Again.Variables.insert(*It);
  std::string SameUrl = S.Server.name();
  if (NamesInstance)
    SameUrl += "/" + S.Instance;
  if (SameUrl.size() > 1024) // by the port
    return;
  Settings Same;
  check(read(Again, Same, Error, SameUrl));
  check(scheme(Same.Server) == scheme(S.Server) &&
        scheme(Same.Cas) == scheme(S.Cas) &&
        scheme(Same.Cache) == scheme(S.Cache) && Same.Instance == S.Instance &&
        Same.Headers == S.Headers && Same.TokenFile == S.TokenFile &&
        Same.Helper == S.Helper && Same.CacheUse == S.CacheUse);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  UserSettings G({reinterpret_cast<const char *>(Data), Size});
  const std::string Url = takeUrl(G);
  const std::string Path = moveToFile(G);
  if (!Url.empty()) {
    checkStore(G, Url);
    return 0;
  }
  Settings S;
  std::string Error;
  if (!read(G, S, Error)) {
    check(isLine(Error) && Error.size() < 2000);
    check(G.isNamedIn(Error) || namesPrefix(G, Error) ||
          Error.find("no server") == 0 ||
          (!Path.empty() && Error.find(Path) != std::string::npos) ||
          Error.find("a client certificate") == 0 ||
          Error.find("argument 'header") == 0 ||
          Error.find("$RECC_REMOTE_PLATFORM_") == 0);
    return 0;
  }
  check(Error.empty() && !S.Server.Target.empty() && !S.Cas.Target.empty() &&
        !S.Cache.Target.empty());
  check(S.Jobs >= 1 && S.Jobs <= 4096 && S.Timeout.count() >= 1);
  check(S.CertFile.empty() == S.KeyFile.empty());

  // Here, an address may become too long by its scheme and port.
  for (const Endpoint *E : {&S.Server, &S.Cas, &S.Cache})
    if (scheme(*E).size() > 1024)
      return 0;

  // Settings can be written as arguments, and are then read as the same.
  UserSettings Again("");
  auto Add = [&](const std::string &Name, const std::string &Value) {
    if (!Value.empty())
      Again.Args.push_back(Name + "=" + Value);
  };
  Add("server", scheme(S.Server));
  Add("cas", scheme(S.Cas));
  Add("cache", scheme(S.Cache));
  Add("instance", S.Instance);
  for (const auto &[Name, Value] : S.Platform)
    Again.Args.push_back("platform=" + Name + "=" + Value);
  for (const auto &[Name, Value] : S.Headers)
    Again.Args.push_back("header=" + Name + "=" + Value);
  Add("tls-ca", S.CaFile);
  Add("tls-cert", S.CertFile);
  Add("tls-key", S.KeyFile);
  Add("token-file", S.TokenFile);
  Add("credential-helper", S.Helper);
  Add("worker", S.Worker);
  Add("digest", S.Digest);
  Add("results", S.isCacheOnly()                ? "only"
                 : S.CacheUse == Results::Write ? "write"
                 : S.CacheUse == Results::Read  ? "read"
                                                : "off");
  Add("jobs", std::to_string(S.Jobs));
  Add("retries", std::to_string(S.Retries));
  Add("timeout", std::to_string(S.Timeout.count()));
  Add("retry-delay", std::to_string(S.RetryDelay.count()));
  Settings Same;
  check(read(Again, Same, Error));
  check(scheme(Same.Server) == scheme(S.Server) &&
        scheme(Same.Cas) == scheme(S.Cas) &&
        scheme(Same.Cache) == scheme(S.Cache) && Same.Instance == S.Instance &&
        Same.Platform == S.Platform && Same.Headers == S.Headers &&
        Same.CaFile == S.CaFile && Same.CertFile == S.CertFile &&
        Same.KeyFile == S.KeyFile && Same.TokenFile == S.TokenFile &&
        Same.Helper == S.Helper && Same.Worker == S.Worker &&
        Same.Digest == S.Digest && Same.CacheUse == S.CacheUse &&
        Same.Jobs == S.Jobs && Same.Retries == S.Retries &&
        Same.Timeout == S.Timeout && Same.RetryDelay == S.RetryDelay);
  return 0;
}
