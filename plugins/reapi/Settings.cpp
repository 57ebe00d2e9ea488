//===- Settings.cpp - The user's settings ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
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

bool dtlto::reapi::readEndpoint(std::string_view Text, bool Tls, Endpoint &E) {
  E = Endpoint();
  if (Text.empty() || Text.size() > 1024 || hasControl(Text) ||
      Text.find(' ') != Text.npos)
    return false;
  if (Text.substr(0, 5) == "unix:") {
    E.Target = Text;
    return Text.size() > 5;
  }
  if (size_t At = Text.find("://"); At != Text.npos) {
    std::string_view Scheme = Text.substr(0, At);
    Tls = Scheme == "grpcs" || Scheme == "https";
    if (!Tls && Scheme != "grpc" && Scheme != "http")
      return false;
    Text.remove_prefix(At + 3);
    if (!Text.empty() && Text.back() == '/')
      Text.remove_suffix(1);
  }
  std::string_view Host = Text, Port;
  size_t Bracket = Text.rfind(']');
  size_t Colon = Text.rfind(':');
  if (Colon != Text.npos && (Bracket == Text.npos || Colon > Bracket)) {
    Host = Text.substr(0, Colon);
    Port = Text.substr(Colon + 1);
    uint32_t N;
    if (!parseNumber(Port, 1, 65535, N))
      return false;
  }
  bool IsV6 = Host.size() > 2 && Host.front() == '[' && Host.back() == ']';
  if (Host.empty() || Host.find_first_of("/@?#") != Host.npos ||
      (!IsV6 && Host.find_first_of("[]:") != Host.npos))
    return false;
  E.Tls = Tls;
  E.Target = std::string(Host) + ":" +
             (Port.empty() ? (Tls ? "443" : "80") : std::string(Port));
  return true;
}

bool Endpoint::isLocal() const {
  for (std::string_view LocalPrefix : {"unix:", "localhost:", "127.", "[::1]:"})
    if (Target.compare(0, LocalPrefix.size(), LocalPrefix) == 0)
      return true;
  return false;
}

bool dtlto::reapi::isHeaderName(std::string_view Name) {
  return !Name.empty() &&
         Name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") ==
             Name.npos;
}

bool dtlto::reapi::isHeaderValue(std::string_view Value) {
  return isPrintableAscii(Value);
}

bool dtlto::reapi::isBinaryHeader(std::string_view Name) {
  return Name.size() > 4 && Name.substr(Name.size() - 4) == "-bin";
}

std::string dtlto::reapi::lowerCase(std::string_view Text) {
  std::string Low(Text);
  for (char &C : Low)
    if (C >= 'A' && C <= 'Z')
      C = char(C - 'A' + 'a');
  return Low;
}

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
  /// Sets what follows from other settings, and checks them together.
  void finish();
  /// Reads the token of a store, unless there are other credentials. A store
  /// can't warn that they are not encrypted, so that is an error. Must be
  /// called after finish().
  void authorize(const GetEnv &Env);

private:
  using Setter = std::function<void(std::string_view Value)>;
  using Table = std::vector<std::pair<std::string_view, Setter>>;
  Table makeTable();
  Setter service(Endpoint &To);
  Setter text(std::string &To, const char *IfEmpty = nullptr);
  template <typename T> Setter number(uint32_t Min, uint32_t Max, T &To);
  Setter pairs(std::string Name, std::map<std::string, std::string> &To);
  const Setter *find(std::string_view Name) const {
    for (const auto &[Of, Set] : Known)
      if (Of == Name)
        return &Set;
    return nullptr;
  }

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
  const Table Known;
  unsigned Rank = 0;
  std::map<std::string, unsigned> Ranks; // of what is set, by its name
  // Of the setting that is being read.
  std::string Where;
  bool Tls = false;
};
} // namespace

Reader::Setter Reader::service(Endpoint &To) {
  return [this, &To](std::string_view Value) {
    constexpr const char *Expected =
        "expected grpc://HOST:PORT, grpcs://HOST:PORT or unix:PATH";
    if (!readEndpoint(Value, Tls, To))
      wrong(Value.find('@') == Value.npos
                ? Expected
                : std::string(Expected) + "; credentials belong in header=");
  };
}

Reader::Setter Reader::text(std::string &To, const char *IfEmpty) {
  return [this, &To, IfEmpty](std::string_view Value) {
    if (Value.empty() && IfEmpty)
      wrong(IfEmpty);
    if (hasControl(Value))
      wrong("it has a control character");
    To = Value;
  };
}

template <typename T>
Reader::Setter Reader::number(uint32_t Min, uint32_t Max, T &To) {
  return [this, Min, Max, &To](std::string_view Value) {
    uint32_t N = 0;
    if (!parseNumber(Value, Min, Max, N))
      wrong("expected a number from " + std::to_string(Min) + " to " +
            std::to_string(Max));
    To = T(N);
  };
}

Reader::Setter Reader::pairs(std::string Name,
                             std::map<std::string, std::string> &To) {
  return [this, Name, &To](std::string_view Value) {
    size_t Equals = Value.find('=');
    if (Equals == Value.npos || Equals == 0)
      wrong("expected " + Name + "=NAME=VALUE");
    std::string Key(Value.substr(0, Equals)), Text(Value.substr(Equals + 1));
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
  };
}

Reader::Table Reader::makeTable() {
  constexpr const char *NoFile = "the name of a file is missing";
  const Setter SetHelper = text(S.Helper, "the name of a program is missing");
  auto Helper = [this, SetHelper](std::string_view Value) {
    // A name is looked up in PATH later; a path is checked now.
    if (Value.find('/') != Value.npos &&
        ::access(std::string(Value).c_str(), X_OK) != 0)
      wrong("cannot run " + quote(Value) + ": " + std::strerror(errno));
    SetHelper(Value);
  };
  auto Digest = [this](std::string_view Value) {
    S.Digest = lowerCase(Value);
    if (S.Digest != "auto" && S.Digest != "sha256" && S.Digest != "blake3")
      wrong("expected sha256, blake3 or auto");
    if (S.Digest == "auto")
      S.Digest.clear();
  };
  auto CacheUse = [this](std::string_view Value) {
    S.CacheOnly = Value == "only";
    S.CacheUse = Value == "write" ? Results::Write
                 : Value == "off" ? Results::Off
                                  : Results::Read;
    if (S.CacheUse == Results::Read && !S.CacheOnly && Value != "read")
      wrong("expected write, read, off or only");
  };
  return {{"server", service(S.Server)},
          {"instance", text(S.Instance)},
          {"cas", service(S.Cas)},
          {"cache", service(S.Cache)},
          {"platform", pairs("platform", S.Platform)},
          {"header", pairs("header", S.Headers)},
          {"tls-ca", text(S.CaFile, NoFile)},
          {"tls-cert", text(S.CertFile, NoFile)},
          {"tls-key", text(S.KeyFile, NoFile)},
          {"token-file", text(S.TokenFile, NoFile)},
          {"credential-helper", Helper},
          {"worker", text(S.Worker, "expected codegen, the path of a "
                                    "dtlto-codegen-static, or the name of a "
                                    "clang")},
          {"digest", Digest},
          {"results", CacheUse},
          {"jobs", number(1, 4096, S.Jobs)},
          {"timeout", number(1, 86400, S.Timeout)},
          {"retries", number(0, 100, S.Retries)},
          {"retry-delay", number(1, 600000, S.RetryDelay)},
          {"config", text(Config, NoFile)}};
}

void Reader::set(std::string_view Name, std::string_view Value,
                 const std::string &Place, bool IsTls) {
  // Each platform property and each header has its own rank.
  if (Name != "platform" && Name != "header" && isAlreadySet(std::string(Name)))
    return;
  Where = Place;
  Tls = IsTls;
  if (const Setter *Set = find(Name))
    return (*Set)(Value);
  std::vector<std::string_view> Names;
  std::string All;
  for (const auto &[Known, Set] : Known) {
    Names.push_back(Known);
    All += (All.empty() ? "" : ", ") + std::string(Known);
  }
  std::string Near(nearest(Name, Names));
  wrong("unknown setting" +
        (Near.empty() ? "" : ", did you mean " + quote(Near + "=") + "?") +
        " (known are " + All + ")");
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
  if (HasValue && Name != "header" && find(Name))
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
  // Three switches of recc are one setting of this plugin.
  for (auto [Name, Value] : {std::pair("RECC_CACHE_ONLY", "only"),
                             {"RECC_SKIP_CACHE", "off"},
                             {"RECC_ACTION_UNCACHEABLE", "read"}})
    if (isTrue(Env(Name))) {
      set("results", Value, std::string("$") + Name);
      break;
    }
  constexpr std::string_view Prefix = "RECC_REMOTE_PLATFORM_";
  for (const char *const *E = Environ; E && *E; ++E)
    if (std::string_view Text = *E; Text.substr(0, Prefix.size()) == Prefix) {
      Text.remove_prefix(Prefix.size());
      set("platform", Text, "$" + std::string(Prefix) + quote(Text));
    }
  ++Rank;
  const char *Insecure = Env("RBE_service_no_security");
  std::optional<bool> IsInsecure = goBool(Insecure);
  if (!IsInsecure && !Ranks.count("server")) {
    Where = "$RBE_service_no_security=" + quote(Insecure);
    wrong("expected true or false");
  }
  bool IsTls = !IsInsecure.value_or(false);
  readFamily(Siso, Env, IsTls);
  ++Rank;
  readFamily(Rbe, Env, IsTls);
}

void Reader::authorize(const GetEnv &Env) {
  constexpr const char *Variable = "DTLTO_REMOTE_CACHE_TOKEN";
  const char *Token = Env(Variable);
  std::string Source;
  if (S.Headers.count("authorization")) {
    Source = "header=authorization";
  } else if (!S.Helper.empty()) {
    Source = "credential-helper=";
  } else if (!S.TokenFile.empty()) {
    Source = "token-file=";
  } else if (Token && *Token) {
    Source = Where = std::string("$") + Variable;
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
