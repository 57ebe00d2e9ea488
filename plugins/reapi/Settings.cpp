//===- Settings.cpp - The user's settings ---------------------------------===//
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
#include <cerrno>
#include <cstring>
#include <sstream>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::reapi;

namespace {
/// Environment variables in order of precedence.
enum Family { Recc, Siso, Rbe };
constexpr struct Variable {
  Family Of;
  const char *Name, *Setting;
} Variables[] = {
    {Recc, "RECC_SERVER", "server"},
    {Recc, "RECC_CAS_SERVER", "cas"},
    {Recc, "RECC_ACTION_CACHE_SERVER", "cache"},
    {Recc, "RECC_INSTANCE", "instance"},
    {Recc, "RECC_SERVER_CERT", "tls-ca"},
    {Recc, "RECC_CLIENT_CERT", "tls-cert"},
    {Recc, "RECC_CLIENT_KEY", "tls-key"},
    {Recc, "RECC_ACCESS_TOKEN_PATH", "token-file"},
    {Recc, "RECC_CAS_DIGEST_FUNCTION", "digest"},
    {Recc, "RECC_RETRY_LIMIT", "retries"},
    {Recc, "RECC_RETRY_DELAY", "retry-delay"},
    {Recc, "RECC_REQUEST_TIMEOUT", "timeout"},
    // For all other settings, siso uses reclient's variables.
    {Siso, "SISO_REAPI_ADDRESS", "server"},
    {Siso, "SISO_REAPI_INSTANCE", "instance"},
    {Rbe, "RBE_service", "server"},
    {Rbe, "RBE_cas_service", "cas"},
    {Rbe, "RBE_instance", "instance"},
    {Rbe, "RBE_tls_ca_cert", "tls-ca"},
    {Rbe, "RBE_tls_client_auth_cert", "tls-cert"},
    {Rbe, "RBE_tls_client_auth_key", "tls-key"},
};

// Three switches of recc are one setting of this plugin.
constexpr std::pair<const char *, const char *> ResultSwitches[] = {
    {"RECC_CACHE_ONLY", "only"},
    {"RECC_SKIP_CACHE", "off"},
    {"RECC_ACTION_UNCACHEABLE", "read"}};
constexpr std::string_view PlatformPrefix = "RECC_REMOTE_PLATFORM_";
constexpr const char *NoSecurity = "RBE_service_no_security";
constexpr const char *StoreToken = "DTLTO_REMOTE_CACHE_TOKEN";

/// Takes settings in order of precedence: the first value of a name wins, and
/// within one rank the last. Failures throw sdk::Error.
class Reader {
public:
  explicit Reader(Settings &S) : S(S), Known(makeTable()) {}

  /// Reads the arguments, and the file that config= names.
  void readArguments(const char *const *Args, uint32_t NumArgs);
  /// Reads SCHEME://HOST[:PORT][/INSTANCE], of which no other setting may have
  /// a part.
  void readUrl(std::string_view Url);
  void readVariables(const GetEnv &Env, const char *const *Environ);
  const sdk::ArgumentTable &table() const { return Known; }
  /// Sets what follows from other settings, and checks them together.
  void finish();
  /// Reads the token of a store, unless there are other credentials. A store
  /// can't warn that they are not encrypted, so that is an error.
  void authorize(const GetEnv &Env);

private:
  /// Reads lines NAME=VALUE. Skips empty lines and those that begin with #.
  void readConfig();
  sdk::ArgumentTable makeTable();
  sdk::Argument helper();
  sdk::Argument service(const char *Name, Endpoint &To, const char *Help);
  sdk::Argument pairs(std::string Name, std::map<std::string, std::string> &To,
                      const char *Help);

  /// Sets what Where describes.
  void set(std::string_view Name, std::string_view Value);
  void readFamily(Family Of, const GetEnv &Env);
  /// Whether \p Name is set from a higher rank; otherwise, sets its rank now.
  bool isAlreadySet(const std::string &Name) {
    return Ranks.try_emplace(Name, Rank).first->second != Rank;
  }
  std::string redacted(std::string_view Setting) const;
  [[noreturn]] void wrong(const std::string &Why) const {
    throw sdk::Error(DTLTO_ERROR_CALLER, Where + ": " + Why);
  }

  Settings &S;
  std::string Config;
  const sdk::ArgumentTable Known;
  unsigned Rank = 0;
  std::map<std::string, unsigned> Ranks; // of what is set, by its name
  std::string Where; // for messages about the setting that is being read
  bool Tls = false;  // of an endpoint without a scheme
};
} // namespace

sdk::Argument Reader::service(const char *Name, Endpoint &To,
                              const char *Help) {
  return {Name, "URL", Help, [this, &To](std::string_view Value) {
            if (!readEndpoint(Value, Tls, To))
              wrong(std::string("expected grpc://HOST:PORT, grpcs://HOST:PORT "
                                "or unix:PATH") +
                    (Value.find('@') == Value.npos
                         ? ""
                         : "; credentials belong in header="));
            return true;
          }};
}

sdk::Argument Reader::pairs(std::string Name,
                            std::map<std::string, std::string> &To,
                            const char *Help) {
  return {Name, "NAME=VALUE", Help, [this, Name, &To](std::string_view Value) {
            size_t Equals = Value.find('=');
            if (Equals == Value.npos || Equals == 0)
              return false;
            std::string Key(Value.substr(0, Equals)),
                Text(Value.substr(Equals + 1));
            if (&To == &S.Headers) {
              Key = lowerCase(Key);
              if (!isHeaderName(Key))
                wrong("not a valid header name");
              if (!isPrintableAscii(Text))
                wrong("it has characters other than printable ASCII");
              if (isBinaryHeader(Key))
                wrong("headers with binary values cannot be set");
            }
            if (!isAlreadySet(Name + "=" + Key))
              To[Key] = Text;
            return true;
          }};
}

sdk::Argument Reader::helper() {
  sdk::Argument Helper = credentialHelperArgument(S.Helper);
  Helper.Set = [this, SetText = Helper.Set](std::string_view Value) {
    // A name is looked up in PATH later; a path is checked now.
    if (Value.find('/') != Value.npos &&
        ::access(std::string(Value).c_str(), X_OK) != 0)
      wrong("cannot run " + quote(Value) + ": " + std::strerror(errno));
    return SetText(Value);
  };
  return Helper;
}

sdk::ArgumentTable Reader::makeTable() {
  sdk::Argument Digest = sdk::choiceArgument<std::string>(
      "digest", {{"auto", ""}, {"sha256", "sha256"}, {"blake3", "blake3"}},
      S.Digest, "The digest function; auto is BLAKE3 if the server has it");
  Digest.Set = [SetWord = Digest.Set](std::string_view Value) {
    return SetWord(lowerCase(Value));
  };
  sdk::Argument Worker = sdk::textArgument(
      "worker", "PATH|CLANG", S.Worker,
      "The dtlto-codegen-static to send, or the name of a clang that workers "
      "have");
  Worker.Choices = {"codegen"};
  sdk::ArgumentTable All = {
      service("server", S.Server,
              "The server: grpc://HOST:PORT, with TLS grpcs://..., or "
              "unix:PATH"),
      {"instance", "NAME", "The instance's name",
       [this](std::string_view Value) {
         S.Instance = Value; // may be empty
         return true;
       }},
      service("cas", S.Cas, "Where blobs are, if elsewhere"),
      service("cache", S.Cache, "Where the action cache is, if elsewhere"),
      pairs("platform", S.Platform,
            "Which workers may run a job; may be repeated"),
      pairs("header", S.Headers, "A header of each call; may be repeated"),
      helper(),
      std::move(Worker),
      std::move(Digest),
      sdk::choiceArgument<Results>(
          "results",
          {{"write", Results::Write},
           {"read", Results::Read},
           {"off", Results::Off},
           {"only", Results::Only}},
          S.CacheUse,
          "Use results of the action cache and add new ones, only use them, do "
          "neither, or execute nothing"),
      sdk::numberArgument("jobs", "N", 1, 4096, S.Jobs,
                          "The limit of jobs in flight"),
      sdk::durationArgument<std::chrono::seconds>(
          "timeout", "SECONDS", 1, 86400, S.Timeout,
          "The time limit of each call except executions"),
      sdk::numberArgument("retries", "N", 0, 100, S.Retries,
                          "How often a call that may work later is repeated"),
      sdk::durationArgument<std::chrono::milliseconds>(
          "retry-delay", "MILLISECONDS", 1, 600000, S.RetryDelay,
          "The first delay; it doubles"),
      sdk::fileArgument("config", Config, "A file of lines NAME=VALUE")};
  sdk::ArgumentTable Files = connectionArguments(S);
  All.insert(All.end(), Files.begin(), Files.end());
  return All;
}

void Reader::set(std::string_view Name, std::string_view Value) {
  // Each platform property and each header has its own rank.
  if (Name != "platform" && Name != "header" && isAlreadySet(std::string(Name)))
    return;
  const sdk::Argument *A = sdk::findArgument(Known, Name);
  if (!A)
    wrong("unknown setting" + sdk::suggestArgument(Known, Name) +
          ", expected " + sdk::allArguments(Known));
  if (hasControl(Value))
    wrong("it has a control character");
  if (!A->Set(Value))
    wrong("expected " + A->expected());
}

static std::string_view trim(std::string_view Text) {
  size_t Begin = Text.find_first_not_of(" \t\r");
  if (Begin == Text.npos)
    return {};
  return Text.substr(Begin, Text.find_last_not_of(" \t\r") + 1 - Begin);
}

/// Returns \p Setting for a message without secrets. Headers, even misspelled
/// ones, and the text in front of a host may be secrets, and messages go to
/// logs.
std::string Reader::redacted(std::string_view Setting) const {
  auto Word = [](std::string_view Text) {
    return std::string(Text.substr(
        0, Text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ")));
  };
  size_t Value = Setting.find('=') + 1; // 0: there is none
  std::string_view Name = trim(Setting.substr(0, Setting.find('=')));
  if (Value && Name == "header")
    return quote("header=" + Word(trim(Setting.substr(Value))));
  if (Value && sdk::findArgument(Known, Name))
    return quote(std::string(Setting.substr(0, Value)) +
                 withoutKey(Setting.substr(Value)));
  return quote(Word(Setting));
}

void Reader::readArguments(const char *const *Args, uint32_t NumArgs) {
  for (uint32_t I = 0; I != NumArgs; ++I) {
    std::string_view Arg = Args[I];
    size_t Equals = Arg.find('=');
    Where = (Equals == Arg.npos ? "unknown argument " : "argument ") +
            redacted(Arg);
    if (Equals == Arg.npos)
      wrong("expected NAME=VALUE");
    set(Arg.substr(0, Equals), Arg.substr(Equals + 1));
  }
  readConfig();
}

void Reader::readUrl(std::string_view Url) {
  // The first slash that can follow a scheme and a host.
  size_t Slash = std::min(Url.find('/', std::strlen("grpcs://")), Url.size());
  std::string_view Path = Url.substr(std::min(Slash + 1, Url.size()));
  Where = "URL " + quote(withoutKey(Url));
  Endpoint Server;
  bool IsGrpc = Url.substr(0, 7) == "grpc://" || Url.substr(0, 8) == "grpcs://";
  if (!IsGrpc || Url.size() > 1024 || hasControl(Path) ||
      Path.find_first_of("?#") != Path.npos ||
      !readEndpoint(Url.substr(0, Slash), /*Tls=*/false, Server))
    wrong("expected grpc://HOST:PORT[/INSTANCE] or "
          "grpcs://HOST:PORT[/INSTANCE]");
  if (!S.Server.Target.empty())
    wrong("server= names another server");
  if (!Path.empty() && !S.Instance.empty())
    wrong("instance= names another instance");
  S.Server = std::move(Server);
  if (!Path.empty())
    S.Instance = Path;
}

void Reader::readConfig() {
  ++Rank;
  if (Config.empty())
    return;
  std::istringstream All(readFileOf(Config, "config", /*Limit=*/1 << 20));
  std::string Text;
  for (unsigned No = 1; std::getline(All, Text); ++No) {
    std::string_view Line = trim(Text);
    if (Line.empty() || Line.front() == '#')
      continue;
    size_t Equals = Line.find('=');
    std::string_view Name = trim(Line.substr(0, Equals));
    Where = quote(Config) + " line " + std::to_string(No);
    if (Equals == Line.npos || Name == "config")
      wrong("expected NAME=VALUE, found " + redacted(Line));
    Where += ": " + redacted(Line);
    set(Name, trim(Line.substr(Equals + 1)));
  }
}

static bool isAnyOf(const char *Text,
                    std::initializer_list<std::string_view> Words) {
  return std::find(Words.begin(), Words.end(), Text ? Text : "") != Words.end();
}

void Reader::readFamily(Family Of, const GetEnv &Env) {
  ++Rank;
  for (const Variable &V : Variables) {
    const char *Value = Env(V.Name);
    if (V.Of != Of || !Value || !*Value)
      continue;
    // In recc, a timeout of 0 means no limit.
    bool IsEndless = std::string_view(V.Name) == "RECC_REQUEST_TIMEOUT" &&
                     std::string_view(Value) == "0";
    Where = std::string("$") + V.Name + "=" + quote(withoutKey(Value));
    set(V.Setting, IsEndless ? "86400" : Value);
  }
}

void Reader::readVariables(const GetEnv &Env, const char *const *Environ) {
  readFamily(Recc, Env);
  for (auto [Name, Value] : ResultSwitches)
    if (!isAnyOf(Env(Name), {"", "0", "false", "FALSE", "False"})) {
      Where = std::string("$") + Name;
      set("results", Value);
      break;
    }
  for (const char *const *E = Environ; E && *E; ++E)
    if (std::string_view Text = *E;
        Text.substr(0, PlatformPrefix.size()) == PlatformPrefix) {
      Text.remove_prefix(PlatformPrefix.size());
      Where = "$" + std::string(PlatformPrefix) + quote(Text);
      set("platform", Text);
    }
  // The words are Go's, and so reclient's.
  const char *Insecure = Env(NoSecurity);
  Tls = !isAnyOf(Insecure, {"1", "t", "T", "true", "TRUE", "True"});
  if (Tls && !Ranks.count("server") &&
      !isAnyOf(Insecure, {"", "0", "f", "F", "false", "FALSE", "False"})) {
    Where = "$" + std::string(NoSecurity) + "=" + quote(Insecure);
    wrong("expected true or false");
  }
  readFamily(Siso, Env);
  readFamily(Rbe, Env);
}

void Reader::authorize(const GetEnv &Env) {
  Where = S.credentials();
  if (const char *Token = Env(StoreToken); Where.empty() && Token && *Token) {
    Where = std::string("$") + StoreToken;
    if (!isPrintableAscii(Token))
      wrong("it has characters other than printable ASCII");
    S.Headers["authorization"] = std::string("Bearer ") + Token;
  }
  if (const Endpoint *E = S.exposedService())
    wrong("the credentials would go to " + E->name() +
          " without encryption; use grpcs://");
}

const char *Settings::credentials() const {
  return Headers.count("authorization") ? "header=authorization"
         : !Helper.empty()              ? "credential-helper="
         : !TokenFile.empty()           ? "token-file="
                                        : "";
}

const Endpoint *Settings::exposedService() const {
  for (const Endpoint *E : {&Server, &Cas, &Cache})
    if (*credentials() && !E->Tls && !E->isLocal())
      return E;
  return nullptr;
}

void Reader::finish() {
  Where = "no server";
  if (S.Server.Target.empty())
    wrong("name it with --thinlto-dist-plugin-arg=server=grpc://HOST:PORT, "
          "$RECC_SERVER, $SISO_REAPI_ADDRESS or $RBE_service");
  if (S.Cas.Target.empty())
    S.Cas = S.Server;
  if (S.Cache.Target.empty())
    S.Cache = S.Cas;
  checkCertificate(S);
}

const sdk::Description &dtlto::reapi::description() {
  Settings S;
  auto Variables = [] {
    constexpr const char *Proxy = "The proxy that gRPC uses";
    constexpr const char *Direct = "Servers that are reached without a proxy";
    std::vector<sdk::Variable> All = {
        {"DTLTO_WORKER", "The worker to send"},
        {StoreToken, "A bearer token of a store"},
        {std::string(PlatformPrefix) + "<name>", "Like platform=<name>="},
        {NoSecurity, "If it is true, without TLS"},
        {"GRPC_VERBOSITY", "Show messages of gRPC's library"},
        {"grpc_proxy", Proxy},
        {"https_proxy", Proxy},
        {"http_proxy", Proxy},
        {"no_grpc_proxy", Direct},
        {"no_proxy", Direct}};
    for (const Variable &V : ::Variables)
      All.push_back({V.Name, std::string("Like ") + V.Setting + "="});
    for (auto [Name, Value] : ResultSwitches)
      All.push_back({Name, std::string("Like results=") + Value});
    return All;
  };
  static const sdk::Description D = describePlugin(
      "Runs jobs, or keeps results, on a server of the Remote Execution API",
      Reader(S).table(), Variables());
  return D;
}

Settings dtlto::reapi::readStoreSettings(const dtlto_store_params &Params,
                                         const GetEnv &Env,
                                         const char *const *Environ) {
  if (!*Params.url)
    return readSettings(Params.args, Params.num_args, Env, Environ,
                        /*PluginFolder=*/"");
  Settings S;
  Reader R(S);
  R.readArguments(Params.args, Params.num_args);
  R.readUrl(Params.url);
  R.finish();
  R.authorize(Env);
  return S;
}

Settings dtlto::reapi::readSettings(const char *const *Args, uint32_t NumArgs,
                                    const GetEnv &Env,
                                    const char *const *Environ,
                                    const std::string &PluginFolder) {
  Settings S;
  Reader R(S);
  R.readArguments(Args, NumArgs);
  R.readVariables(Env, Environ);
  R.finish();
  const char *File = Env("DTLTO_WORKER");
  if (S.Worker.find('/') != std::string::npos)
    S.WorkerFile = S.Worker;
  else if (S.Worker == "codegen")
    S.WorkerFile =
        File && *File ? File : PluginFolder + "/dtlto-codegen-static";
  return S;
}
