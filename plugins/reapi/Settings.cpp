//===- Settings.cpp - What the user has set -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "Arguments.h"
#include "System.h"
#include "Text.h"
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::reapi;

using namespace std::string_view_literals;

static constexpr size_t MaxConfigSize = size_t(1) << 20;

bool dtlto::reapi::readSmallFile(const std::string &Path, size_t Limit,
                                 std::string &Text, std::string &Error) {
  int Why = os::readFile(Path, Limit, Text);
  bool IsFile = Why != EISDIR && Why != EINVAL;
  if (Why == EFBIG)
    Error = quote(Path) + " is longer than " + std::to_string(Limit) + " bytes";
  else if (Why)
    Error = "can't read " + quote(Path) + ": " +
            (IsFile ? std::strerror(Why) : "it is no file");
  return Why == 0;
}

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
  for (std::string_view Here : {"unix:", "localhost:", "127.", "[::1]:"})
    if (Target.compare(0, Here.size(), Here) == 0)
      return true;
  return false;
}

bool dtlto::reapi::isHeaderName(std::string_view Name) {
  return !Name.empty() &&
         Name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") ==
             Name.npos;
}

bool dtlto::reapi::isHeaderValue(std::string_view Value) {
  return std::all_of(Value.begin(), Value.end(),
                     [](char C) { return C >= 0x20 && C <= 0x7e; });
}

namespace {
struct Variable {
  const char *Name, *Setting;
};

/// Takes settings in falling order of their rank: the first of a name counts.
class Reader {
public:
  Reader(Settings &S, std::string &Error)
      : S(S), Error(Error), Known(makeTable()) {}

  /// \p Where is named in messages. \p Tls: of an endpoint without a scheme.
  bool set(std::string_view Name, std::string_view Value,
           const std::string &Where, bool Tls = false);
  /// The settings from now on are of a lower rank.
  void nextRank() {
    Done.insert(Now.begin(), Now.end());
    Now.clear();
  }
  bool isSet(const std::string &Name) const { return Done.count(Name); }
  bool isKnown(std::string_view Name) const {
    return findArgument(Known, Name) != nullptr;
  }
  const std::string &config() const { return Config; }
  bool wrong(const std::string &Where, const std::string &Why) {
    Error = Where + ": " + Why;
    return false;
  }

private:
  ArgumentTable makeTable();
  Argument service(std::string_view Name, Endpoint &To);
  Argument text(std::string_view Name, std::string &To,
                std::string IfEmpty = "");
  Argument file(std::string_view Name, std::string &To) {
    return text(Name, To, "the name of a file is missing");
  }
  template <typename T>
  Argument number(std::string_view Name, uint32_t Min, uint32_t Max, T &To);
  Argument pairs(std::string_view Name, std::map<std::string, std::string> &To);
  bool checkHeader(std::string &Key, const std::string &Text);
  bool wrong(const std::string &Why) { return wrong(Where, Why); }

  Settings &S;
  std::string &Error;
  std::string Config;
  const ArgumentTable Known;
  std::set<std::string> Done, Now;
  // Of the setting that is read.
  std::string Where;
  bool Tls = false;
};
} // namespace

static std::string lowerCase(std::string_view Text) {
  std::string Low(Text);
  for (char &C : Low)
    if (C >= 'A' && C <= 'Z')
      C = char(C - 'A' + 'a');
  return Low;
}

Argument Reader::service(std::string_view Name, Endpoint &To) {
  return {Name, [this, &To](std::string_view Value) {
            return readEndpoint(Value, Tls, To) ||
                   wrong(std::string("expected grpc://HOST:PORT, "
                                     "grpcs://HOST:PORT or unix:PATH") +
                         (Value.find('@') == Value.npos
                              ? ""
                              : "; what a server knows you by belongs in "
                                "header="));
          }};
}

Argument Reader::text(std::string_view Name, std::string &To,
                      std::string IfEmpty) {
  return {Name, [this, &To, IfEmpty](std::string_view Value) {
            if (Value.empty() && !IfEmpty.empty())
              return wrong(IfEmpty);
            To = Value;
            return !hasControl(Value) || wrong("a control character is in it");
          }};
}

template <typename T>
Argument Reader::number(std::string_view Name, uint32_t Min, uint32_t Max,
                        T &To) {
  return {Name, [this, Min, Max, &To](std::string_view Value) {
            uint32_t N = 0;
            if (!parseNumber(Value, Min, Max, N))
              return wrong("expected a number from " + std::to_string(Min) +
                           " to " + std::to_string(Max));
            To = T(N);
            return true;
          }};
}

bool Reader::checkHeader(std::string &Key, const std::string &Text) {
  Key = lowerCase(Key);
  if (!isHeaderName(Key))
    return wrong("that is no name of a header");
  if (!isHeaderValue(Text))
    return wrong("other characters than ASCII's printable ones are in it");
  if (Key.size() > 4 && Key.substr(Key.size() - 4) == "-bin")
    return wrong("headers with binary values can't be set");
  return true;
}

Argument Reader::pairs(std::string_view Name,
                       std::map<std::string, std::string> &To) {
  return {Name, [this, Name, &To](std::string_view Value) {
            size_t Equals = Value.find('=');
            if (Equals == Value.npos || Equals == 0)
              return wrong("expected " + std::string(Name) + "=NAME=VALUE");
            std::string Key(Value.substr(0, Equals));
            std::string Text(Value.substr(Equals + 1));
            if (hasControl(Key) || hasControl(Text))
              return wrong("a control character is in it");
            if (&To == &S.Headers && !checkHeader(Key, Text))
              return false;
            std::string Ranked = std::string(Name) + "=" + Key;
            if (Done.count(Ranked))
              return true;
            Now.insert(Ranked);
            To[Key] = Text;
            return true;
          }};
}

ArgumentTable Reader::makeTable() {
  const Argument Helper =
      text("", S.Helper, "the name of a program is missing");
  return {
      service("server", S.Server),
      text("instance", S.Instance),
      service("cas", S.Cas),
      service("cache", S.Cache),
      pairs("platform", S.Platform),
      pairs("header", S.Headers),
      file("tls-ca", S.CaFile),
      file("tls-cert", S.CertFile),
      file("tls-key", S.KeyFile),
      file("token-file", S.TokenFile),
      {"credential-helper",
       [this, Helper](std::string_view Value) {
         // Of a path, it is known now whether it is one.
         if (Value.find('/') != Value.npos &&
             ::access(std::string(Value).c_str(), X_OK) != 0)
           return wrong("can't run " + quote(Value) + ": " +
                        std::strerror(errno));
         return Helper.Set(Value);
       }},
      text("worker", S.Worker,
           "expected codegen, the path of a dtlto-codegen-static, or the name "
           "of a clang"),
      {"digest",
       [this](std::string_view Value) {
         std::string Low = lowerCase(Value);
         S.Digest = Low == "auto" ? "" : Low;
         return S.Digest.empty() || Low == "sha256" || Low == "blake3" ||
                wrong("expected sha256, blake3 or auto");
       }},
      {"results",
       [this](std::string_view Value) {
         S.Use = Value == "write" ? Results::Write
                 : Value == "off" ? Results::Off
                                  : Results::Read;
         S.CacheOnly = Value == "only";
         return S.CacheOnly || Value == "write" || Value == "read" ||
                Value == "off" || wrong("expected write, read, off or only");
       }},
      number("jobs", 1, 4096, S.Jobs),
      number("timeout", 1, 86400, S.Timeout),
      number("retries", 0, 100, S.Retries),
      number("retry-delay", 1, 600000, S.RetryDelay),
      file("config", Config)};
}

bool Reader::set(std::string_view Name, std::string_view Value,
                 const std::string &Place, bool IsTls) {
  if (Done.count(std::string(Name)))
    return true;
  if (Name != "platform" && Name != "header") // of which there are many
    Now.insert(std::string(Name));
  Where = Place;
  Tls = IsTls;
  if (const Argument *A = findArgument(Known, Name))
    return A->Set(Value);
  std::string Names;
  for (const Argument &A : Known)
    Names += (Names.empty() ? "" : ", ") + std::string(A.Name);
  return wrong("it is unknown" + nearArgument(Known, Name) + " (known are " +
               Names + ")");
}

static std::string_view trim(std::string_view Text) {
  size_t Begin = Text.find_first_not_of(" \t\r");
  if (Begin == Text.npos)
    return {};
  return Text.substr(Begin, Text.find_last_not_of(" \t\r") + 1 - Begin);
}

/// \p Value for a message: a key may stand in front of a host.
static std::string shownValue(std::string_view Name, std::string_view Value) {
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

/// \p Setting for a message. Headers may be secrets, also where they aren't
/// written as they should be, and messages go to logs.
static std::string shown(const Reader &R, std::string_view Setting) {
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
  if (HasValue && R.isKnown(Name) && Name != "header")
    return quote(std::string(Setting.substr(0, Setting.find('=') + 1)) +
                 shownValue(Name, Setting.substr(Setting.find('=') + 1)));
  if (HasValue && Name == "header")
    Name += "=" + Word(trim(Rest.substr(1)));
  return quote(Name);
}

/// Lines NAME=VALUE; empty ones, and those that begin with #, mean nothing.
static bool readConfig(const std::string &File, Reader &R, std::string &Error) {
  std::string All;
  if (!readSmallFile(File, MaxConfigSize, All, Error)) {
    Error = "config=: " + Error;
    return false;
  }
  std::string_view Rest = All;
  for (unsigned No = 1; !Rest.empty(); ++No) {
    size_t End = std::min(Rest.find('\n'), Rest.size());
    std::string_view Line = trim(Rest.substr(0, End));
    Rest.remove_prefix(std::min(End + 1, Rest.size()));
    if (Line.empty() || Line.front() == '#')
      continue;
    std::string Where = quote(File) + " line " + std::to_string(No);
    size_t Equals = Line.find('=');
    std::string_view Name = trim(Line.substr(0, Equals));
    if (Equals == Line.npos || Name == "config") {
      Error = Where + ": expected NAME=VALUE, found " + shown(R, Line);
      return false;
    }
    if (!R.set(Name, trim(Line.substr(Equals + 1)),
               Where + ": " + shown(R, Line)))
      return false;
  }
  return true;
}

static constexpr Variable ReccVariables[] = {
    {"RECC_SERVER", "server"},
    {"RECC_CAS_SERVER", "cas"},
    {"RECC_ACTION_CACHE_SERVER", "cache"},
    {"RECC_INSTANCE", "instance"},
    {"RECC_SERVER_CERT", "tls-ca"},
    {"RECC_CLIENT_CERT", "tls-cert"},
    {"RECC_CLIENT_KEY", "tls-key"},
    {"RECC_ACCESS_TOKEN_PATH", "token-file"},
    {"RECC_CAS_DIGEST_FUNCTION", "digest"},
    {"RECC_RETRY_LIMIT", "retries"},
    {"RECC_RETRY_DELAY", "retry-delay"},
    {"RECC_REQUEST_TIMEOUT", "timeout"},
};

// siso takes reclient's for the others.
static constexpr Variable SisoVariables[] = {
    {"SISO_REAPI_ADDRESS", "server"},
    {"SISO_REAPI_INSTANCE", "instance"},
};

static constexpr Variable RbeVariables[] = {
    {"RBE_service", "server"},
    {"RBE_cas_service", "cas"},
    {"RBE_instance", "instance"},
    {"RBE_tls_ca_cert", "tls-ca"},
    {"RBE_tls_client_auth_cert", "tls-cert"},
    {"RBE_tls_client_auth_key", "tls-key"},
};

static bool isTrue(const char *Text) {
  std::string_view V = Text ? Text : "";
  return !V.empty() && V != "0" && V != "false" && V != "FALSE" && V != "False";
}

/// As Go reads it, and so reclient; unset is false. Nothing for another text.
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

static bool readVariables(const GetEnv &Env, const char *const *Environ,
                          Reader &R) {
  auto Read = [&](const Variable &V, bool Tls) {
    const char *Value = Env(V.Name);
    return !Value || !*Value ||
           // To recc, no limit.
           R.set(V.Setting,
                 Value == "0"sv && V.Setting == "timeout"sv ? "86400" : Value,
                 std::string("$") + V.Name + "=" +
                     quote(shownValue(V.Setting, Value)),
                 Tls);
  };
  for (const Variable &V : ReccVariables)
    if (!Read(V, false))
      return false;
  // recc has three switches for what is one setting here.
  const char *Use = isTrue(Env("RECC_CACHE_ONLY"))           ? "only"
                    : isTrue(Env("RECC_SKIP_CACHE"))         ? "off"
                    : isTrue(Env("RECC_ACTION_UNCACHEABLE")) ? "read"
                                                             : nullptr;
  if (Use && !R.set("results", Use, "$RECC_"))
    return false;
  constexpr std::string_view Prefix = "RECC_REMOTE_PLATFORM_";
  for (const char *const *E = Environ; E && *E; ++E) {
    std::string_view Text = *E;
    if (Text.substr(0, Prefix.size()) == Prefix &&
        !R.set("platform", Text.substr(Prefix.size()),
               "$" + std::string(Prefix) + quote(Text.substr(Prefix.size()))))
      return false;
  }
  R.nextRank();
  const char *Insecure = Env("RBE_service_no_security");
  std::optional<bool> IsInsecure = goBool(Insecure);
  if (!IsInsecure && !R.isSet("server"))
    return R.wrong("$RBE_service_no_security=" + quote(Insecure),
                   "expected true or false");
  for (const Variable &V : SisoVariables)
    if (!Read(V, !IsInsecure.value_or(false)))
      return false;
  R.nextRank();
  for (const Variable &V : RbeVariables)
    if (!Read(V, !IsInsecure.value_or(false)))
      return false;
  return true;
}

bool dtlto::reapi::readSettings(const dtlto_session_params &Params,
                                const GetEnv &Env, const char *const *Environ,
                                const std::string &PluginFolder, Settings &S,
                                std::string &Error) {
  S = Settings();
  Reader R(S, Error);
  for (uint32_t I = 0; I != Params.num_args; ++I) {
    std::string_view Arg = Params.args[I];
    size_t Equals = Arg.find('=');
    if (Equals == Arg.npos) {
      Error = "unknown argument " + shown(R, Arg) + ": expected NAME=VALUE";
      return false;
    }
    if (!R.set(Arg.substr(0, Equals), Arg.substr(Equals + 1),
               "argument " + shown(R, Arg)))
      return false;
  }
  R.nextRank();
  if (!R.config().empty() && !readConfig(R.config(), R, Error))
    return false;
  R.nextRank();
  if (!readVariables(Env, Environ, R))
    return false;
  if (S.Server.Target.empty()) {
    Error = "no server: name it with "
            "--thinlto-dist-plugin-arg=server=grpc://HOST:PORT, $RECC_SERVER, "
            "$SISO_REAPI_ADDRESS or $RBE_service";
    return false;
  }
  if (S.Cas.Target.empty())
    S.Cas = S.Server;
  if (S.Cache.Target.empty())
    S.Cache = S.Cas;
  if (S.CertFile.empty() != S.KeyFile.empty()) {
    Error = "a client certificate and its key belong together: tls-cert= and "
            "tls-key=";
    return false;
  }
  if (S.Worker == "codegen") {
    const char *File = Env("DTLTO_WORKER");
    S.WorkerFile =
        File && *File ? File : PluginFolder + "/dtlto-codegen-static";
  } else if (S.Worker.find('/') != std::string::npos) {
    S.WorkerFile = S.Worker;
  }
  return true;
}
