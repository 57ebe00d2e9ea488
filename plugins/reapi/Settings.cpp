//===- Settings.cpp - The user's settings ---------------------------------===//
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
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::reapi;
using dtlto::sdk::Error;

using namespace std::string_view_literals;

static constexpr size_t MaxConfigSize = size_t(1) << 20;

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
constexpr const char *PlatformPrefix = "RECC_REMOTE_PLATFORM_";
constexpr const char *NoSecurity = "RBE_service_no_security";
constexpr const char *StoreToken = "DTLTO_REMOTE_CACHE_TOKEN";

/// Takes settings in order of precedence: the first value of a name wins, and
/// within one rank the last. Failures throw sdk::Error.
class Reader {
public:
  explicit Reader(Settings &S) : S(S), Known(makeTable()) {}

  void readArguments(const char *const *Args, uint32_t NumArgs);
  /// Reads SCHEME://HOST[:PORT][/INSTANCE], of which no other setting may have
  /// a part.
  void readUrl(std::string_view Url);
  /// Reads lines NAME=VALUE. Skips empty lines and those that begin with #.
  void readConfig();
  void readVariables(const GetEnv &Env, const char *const *Environ);
  const sdk::ArgumentTable &table() const { return Known; }
  /// Sets what follows from other settings, and checks them together.
  void finish();
  /// Reads the token of a store, unless there are other credentials. A store
  /// can't warn that they are not encrypted, so that is an error. Must be
  /// called after finish().
  void authorize(const GetEnv &Env);

private:
  sdk::ArgumentTable makeTable();
  sdk::Argument service(const char *Name, Endpoint &To, const char *Help);
  sdk::Argument text(const char *Name, const char *Value, std::string &To,
                     const char *Help, const char *IfEmpty = nullptr);
  sdk::Argument file(const char *Name, std::string &To, const char *Help);
  sdk::Argument pairs(std::string Name, std::map<std::string, std::string> &To,
                      const char *Help);

  /// \p Place is named in messages. \p IsTls is for an endpoint without a
  /// scheme.
  void set(std::string_view Name, std::string_view Value,
           const std::string &Place, bool IsTls = false);
  void readFamily(Family Of, const GetEnv &Env, bool IsTls);
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
  // Of the setting that is being read.
  std::string Where;
  bool Tls = false;
};
} // namespace

sdk::Argument Reader::service(const char *Name, Endpoint &To,
                              const char *Help) {
  return {Name, "URL", Help, [this, &To](std::string_view Value) {
            constexpr const char *Expected =
                "expected grpc://HOST:PORT, grpcs://HOST:PORT or unix:PATH";
            if (!readEndpoint(Value, Tls, To))
              wrong(Value.find('@') == Value.npos
                        ? Expected
                        : std::string(Expected) +
                              "; credentials belong in header=");
            return true;
          }};
}

sdk::Argument Reader::text(const char *Name, const char *Value, std::string &To,
                           const char *Help, const char *IfEmpty) {
  return {Name,
          Value,
          Help,
          [this, &To, IfEmpty](std::string_view Value) {
            if (Value.empty() && IfEmpty)
              wrong(IfEmpty);
            if (hasControl(Value))
              wrong("it has a control character");
            To = Value;
            return true;
          },
          DTLTO_ARGUMENT_TEXT,
          To};
}

sdk::Argument Reader::file(const char *Name, std::string &To,
                           const char *Help) {
  sdk::Argument A =
      text(Name, "PATH", To, Help, "the name of a file is missing");
  A.Kind = DTLTO_ARGUMENT_FILE;
  return A;
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
            if (hasControl(Key) || hasControl(Text))
              wrong("it has a control character");
            if (&To == &S.Headers) {
              Key = lowerCase(Key);
              if (!isHeaderName(Key))
                wrong("not a valid header name");
              if (!isHeaderValue(Text))
                wrong("it has characters other than printable ASCII");
              if (isBinaryHeader(Key))
                wrong("headers with binary values cannot be set");
            }
            if (!isAlreadySet(Name + "=" + Key))
              To[Key] = Text;
            return true;
          }};
}

sdk::ArgumentTable Reader::makeTable() {
  sdk::Argument Helper =
      text("credential-helper", "PROGRAM", S.Helper,
           "A program that prints the headers of calls, as for Bazel's "
           "--credential_helper",
           "the name of a program is missing");
  Helper.Set = [this, SetText = Helper.Set](std::string_view Value) {
    // A name is looked up in PATH later; a path is checked now.
    if (Value.find('/') != Value.npos &&
        ::access(std::string(Value).c_str(), X_OK) != 0)
      wrong("cannot run " + quote(Value) + ": " + std::strerror(errno));
    return SetText(Value);
  };
  sdk::Argument Digest = sdk::choiceArgument<std::string>(
      "digest", {{"auto", ""}, {"sha256", "sha256"}, {"blake3", "blake3"}},
      S.Digest, "The digest function; auto is BLAKE3 if the server has it");
  Digest.Set = [SetWord = Digest.Set](std::string_view Value) {
    return SetWord(lowerCase(Value));
  };
  sdk::Argument CacheUse = {
      "results",
      "",
      "Use results of the action cache and add new ones, only use them, do "
      "neither, or execute nothing",
      [this](std::string_view Value) {
        S.CacheOnly = Value == "only";
        S.CacheUse = Value == "write" ? Results::Write
                     : Value == "off" ? Results::Off
                                      : Results::Read;
        return S.CacheUse != Results::Read || S.CacheOnly || Value == "read";
      },
      DTLTO_ARGUMENT_CHOICE,
      "write",
      {"write", "read", "off", "only"}};
  sdk::Argument Worker = text(
      "worker", "PATH|CLANG", S.Worker,
      "The dtlto-codegen-static to send, or the name of a clang that workers "
      "have",
      "expected codegen, the path of a dtlto-codegen-static, or the name of a "
      "clang");
  Worker.Choices = {"codegen"};
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  return {
      service("server", S.Server,
              "The server: grpc://HOST:PORT, with TLS grpcs://..., or "
              "unix:PATH"),
      text("instance", "NAME", S.Instance, "The instance's name"),
      service("cas", S.Cas, "Where blobs are, if elsewhere"),
      service("cache", S.Cache, "Where the action cache is, if elsewhere"),
      pairs("platform", S.Platform,
            "Which workers may run a job; may be repeated"),
      pairs("header", S.Headers, "A header of each call; may be repeated"),
      file("tls-ca", S.CaFile,
           "The authority of the server's certificate, in PEM"),
      file("tls-cert", S.CertFile, "The client's certificate"),
      file("tls-key", S.KeyFile, "The key of tls-cert"),
      file("token-file", S.TokenFile, "A bearer token"),
      std::move(Helper),
      std::move(Worker),
      std::move(Digest),
      std::move(CacheUse),
      sdk::numberArgument("jobs", "N", 1, 4096, S.Jobs,
                          "The limit of jobs in flight"),
      sdk::durationArgument<seconds>(
          "timeout", "SECONDS", 1, 86400, S.Timeout,
          "The time limit of each call except executions"),
      sdk::numberArgument("retries", "N", 0, 100, S.Retries,
                          "How often a call that may work later is repeated"),
      sdk::durationArgument<milliseconds>("retry-delay", "MILLISECONDS", 1,
                                          600000, S.RetryDelay,
                                          "The first delay; it doubles"),
      file("config", Config, "A file of lines NAME=VALUE")};
}

void Reader::set(std::string_view Name, std::string_view Value,
                 const std::string &Place, bool IsTls) {
  // Each platform property and each header has its own rank.
  if (Name != "platform" && Name != "header" && isAlreadySet(std::string(Name)))
    return;
  Where = Place;
  Tls = IsTls;
  const sdk::Argument *A = sdk::findArgument(Known, Name);
  if (!A)
    wrong("unknown setting" + sdk::suggestArgument(Known, Name) +
          ", expected " + sdk::allArguments(Known));
  if (!A->Set(Value))
    wrong("expected " + A->expected());
}

static std::string_view trim(std::string_view Text) {
  size_t Begin = Text.find_first_not_of(" \t\r");
  if (Begin == Text.npos)
    return {};
  return Text.substr(Begin, Text.find_last_not_of(" \t\r") + 1 - Begin);
}

/// Returns \p Value for a message, without a key in front of a host.
static std::string redactedValue(std::string_view Name,
                                 std::string_view Value) {
  size_t At = Value.rfind('@');
  if (At == Value.npos ||
      (Name != "server" && Name != "cas" && Name != "cache"))
    return std::string(Value);
  // Only a scheme ends in the first of these.
  size_t Begin = Value.find_first_of(":/@");
  Begin = Value.compare(Begin, 3, "://") == 0 ? Begin + 3 : 0;
  return std::string(Value.substr(0, Begin)) + "..." +
         std::string(Value.substr(At));
}

/// Returns \p Setting for a message without secrets. Headers may be secrets,
/// even misspelled ones, and messages go to logs.
std::string Reader::redacted(std::string_view Setting) const {
  auto Word = [](std::string_view Text) {
    size_t End = 0;
    while (End != Text.size() &&
           (std::isalnum(uint8_t(Text[End])) || Text[End] == '-'))
      ++End;
    return std::string(Text.substr(0, End));
  };
  std::string Name = Word(Setting);
  std::string_view Rest = trim(Setting.substr(Name.size()));
  bool HasValue = !Rest.empty() && Rest.front() == '=';
  if (HasValue && Name != "header" && sdk::findArgument(Known, Name))
    return quote(std::string(Setting.substr(0, Setting.find('=') + 1)) +
                 redactedValue(Name, Setting.substr(Setting.find('=') + 1)));
  if (HasValue && Name == "header")
    Name += "=" + Word(trim(Rest.substr(1)));
  return quote(Name);
}

void Reader::readArguments(const char *const *Args, uint32_t NumArgs) {
  for (uint32_t I = 0; I != NumArgs; ++I) {
    std::string_view Arg = Args[I];
    size_t Equals = Arg.find('=');
    if (Equals == Arg.npos)
      throw Error(DTLTO_ERROR_CALLER, "unknown argument " + redacted(Arg) +
                                          ": expected NAME=VALUE");
    set(Arg.substr(0, Equals), Arg.substr(Equals + 1),
        "argument " + redacted(Arg));
  }
}

void Reader::readUrl(std::string_view Url) {
  size_t Colon = Url.find("://");
  std::string_view Scheme = Url.substr(0, Colon);
  size_t Slash = Colon == Url.npos ? Url.npos : Url.find('/', Colon + 3);
  std::string_view Path = Url.substr(std::min(Slash, Url.size()));
  Path.remove_prefix(std::min<size_t>(1, Path.size()));
  Where = "URL " + quote(redactedValue("server", Url));
  Endpoint Server;
  if ((Scheme != "grpc" && Scheme != "grpcs") || Colon == Url.npos ||
      Url.size() > 1024 || Path.find_first_of("?#") != Path.npos ||
      hasControl(Path) ||
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
  std::string All = readFileOf(Config, "config", MaxConfigSize);
  std::string_view Rest = All;
  for (unsigned No = 1; !Rest.empty(); ++No) {
    size_t End = std::min(Rest.find('\n'), Rest.size());
    std::string_view Line = trim(Rest.substr(0, End));
    Rest.remove_prefix(std::min(End + 1, Rest.size()));
    if (Line.empty() || Line.front() == '#')
      continue;
    size_t Equals = Line.find('=');
    std::string_view Name = trim(Line.substr(0, Equals));
    const std::string Place = quote(Config) + " line " + std::to_string(No);
    if (Equals == Line.npos || Name == "config")
      throw Error(DTLTO_ERROR_CALLER,
                  Place + ": expected NAME=VALUE, found " + redacted(Line));
    set(Name, trim(Line.substr(Equals + 1)), Place + ": " + redacted(Line));
  }
}

static bool isTrue(const char *Text) {
  std::string_view V = Text ? Text : "";
  return !V.empty() && V != "0" && V != "false" && V != "FALSE" && V != "False";
}

/// Reads \p Text like Go, and so like reclient; unset is false. Returns nothing
/// for any other text.
static std::optional<bool> goBool(const char *Text) {
  std::string_view V = Text ? Text : "";
  for (std::string_view No : {"", "0", "f", "F", "false", "FALSE", "False"})
    if (V == No)
      return false;
  for (std::string_view Yes : {"1", "t", "T", "true", "TRUE", "True"})
    if (V == Yes)
      return true;
  return std::nullopt;
}

void Reader::readFamily(Family Of, const GetEnv &Env, bool IsTls) {
  for (const Variable &V : Variables) {
    const char *Value = Env(V.Name);
    if (V.Of != Of || !Value || !*Value)
      continue;
    // In recc, a timeout of 0 means no limit.
    bool IsEndless = Value == "0"sv && V.Setting == "timeout"sv;
    set(V.Setting, IsEndless ? "86400" : Value,
        std::string("$") + V.Name + "=" +
            quote(redactedValue(V.Setting, Value)),
        IsTls);
  }
}

void Reader::readVariables(const GetEnv &Env, const char *const *Environ) {
  ++Rank;
  readFamily(Recc, Env, /*IsTls=*/false);
  for (auto [Name, Value] : ResultSwitches)
    if (isTrue(Env(Name))) {
      set("results", Value, std::string("$") + Name);
      break;
    }
  constexpr std::string_view Prefix = PlatformPrefix;
  for (const char *const *E = Environ; E && *E; ++E)
    if (std::string_view Text = *E; Text.substr(0, Prefix.size()) == Prefix) {
      Text.remove_prefix(Prefix.size());
      set("platform", Text, "$" + std::string(Prefix) + quote(Text));
    }
  ++Rank;
  const char *Insecure = Env(NoSecurity);
  std::optional<bool> IsInsecure = goBool(Insecure);
  if (!IsInsecure && !Ranks.count("server")) {
    Where = "$" + std::string(NoSecurity) + "=" + quote(Insecure);
    wrong("expected true or false");
  }
  bool IsTls = !IsInsecure.value_or(false);
  readFamily(Siso, Env, IsTls);
  ++Rank;
  readFamily(Rbe, Env, IsTls);
}

void Reader::authorize(const GetEnv &Env) {
  const char *Token = Env(StoreToken);
  std::string Source;
  if (S.Headers.count("authorization")) {
    Source = "header=authorization";
  } else if (!S.Helper.empty()) {
    Source = "credential-helper=";
  } else if (!S.TokenFile.empty()) {
    Source = "token-file=";
  } else if (Token && *Token) {
    Source = Where = std::string("$") + StoreToken;
    if (!isHeaderValue(Token))
      wrong("it has characters other than printable ASCII");
    S.Headers["authorization"] = std::string("Bearer ") + Token;
  } else {
    return;
  }
  for (const Endpoint *E : {&S.Server, &S.Cas, &S.Cache})
    if (!E->Tls && !E->isLocal())
      throw Error(DTLTO_ERROR_CALLER,
                  Source + ": the credentials would go to " + E->name() +
                      " without encryption; use grpcs://");
}

void Reader::finish() {
  if (S.Cas.Target.empty())
    S.Cas = S.Server;
  if (S.Cache.Target.empty())
    S.Cache = S.Cas;
  if (S.CertFile.empty() != S.KeyFile.empty())
    throw Error(DTLTO_ERROR_CALLER,
                "a client certificate and its key belong together: "
                "tls-cert= and tls-key=");
}

const sdk::Description &dtlto::reapi::description() {
  Settings S;
  auto Variables = [] {
    std::vector<sdk::Variable> All = {
        {"DTLTO_WORKER", "The worker to send"},
        {StoreToken, "A bearer token of a store"}};
    for (const Variable &V : ::Variables)
      All.push_back({V.Name, std::string("Like ") + V.Setting + "="});
    for (auto [Name, Value] : ResultSwitches)
      All.push_back({Name, std::string("Like results=") + Value});
    All.push_back(
        {PlatformPrefix + std::string("<name>"), "Like platform=<name>="});
    All.push_back({NoSecurity, "If it is true, without TLS"});
    All.push_back({"GRPC_VERBOSITY", "Show messages of gRPC's library"});
    for (const char *Name : {"grpc_proxy", "https_proxy", "http_proxy"})
      All.push_back({Name, "The proxy that gRPC uses"});
    for (const char *Name : {"no_grpc_proxy", "no_proxy"})
      All.push_back({Name, "Servers that are reached without a proxy"});
    return All;
  };
  static const sdk::Description D = describePlugin(
      "Runs jobs, or keeps results, on a server of the Remote Execution API",
      Reader(S).table(), Variables());
  return D;
}

bool dtlto::reapi::readStoreSettings(const dtlto_store_params &Params,
                                     const GetEnv &Env,
                                     const char *const *Environ, Settings &S,
                                     std::string &Why) try {
  if (!*Params.url) {
    dtlto_session_params Plugin = {};
    Plugin.size = sizeof(Plugin);
    Plugin.args = Params.args;
    Plugin.num_args = Params.num_args;
    return readSettings(Plugin, Env, Environ, /*PluginFolder=*/"", S, Why);
  }
  S = Settings();
  Reader R(S);
  R.readArguments(Params.args, Params.num_args);
  R.readConfig();
  R.readUrl(Params.url);
  R.finish();
  R.authorize(Env);
  return true;
} catch (const sdk::Error &E) {
  Why = E.what();
  return false;
}

bool dtlto::reapi::readSettings(const dtlto_session_params &Params,
                                const GetEnv &Env, const char *const *Environ,
                                const std::string &PluginFolder, Settings &S,
                                std::string &Why) try {
  S = Settings();
  Reader R(S);
  R.readArguments(Params.args, Params.num_args);
  R.readConfig();
  R.readVariables(Env, Environ);
  if (S.Server.Target.empty())
    throw Error(
        DTLTO_ERROR_CALLER,
        "no server: name it with "
        "--thinlto-dist-plugin-arg=server=grpc://HOST:PORT, $RECC_SERVER, "
        "$SISO_REAPI_ADDRESS or $RBE_service");
  R.finish();
  if (S.Worker == "codegen") {
    const char *File = Env("DTLTO_WORKER");
    S.WorkerFile =
        File && *File ? File : PluginFolder + "/dtlto-codegen-static";
  } else if (S.Worker.find('/') != std::string::npos) {
    S.WorkerFile = S.Worker;
  }
  return true;
} catch (const sdk::Error &E) {
  Why = E.what();
  return false;
}
