//===- Settings.cpp - What the user has set -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "Text.h"
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace dtlto::reapi;
using dtlto::hasControl;
using dtlto::nearest;
using dtlto::parseNumber;
using dtlto::quote;

using namespace std::string_view_literals;

static constexpr size_t MaxConfigSize = size_t(1) << 20;

bool dtlto::reapi::readSmallFile(const std::string &Path, size_t Limit,
                                 std::string &Text, std::string &Error) {
  Text.clear();
  // A pipe must not hold up the link.
  int Fd = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat St;
  if (Fd < 0 || ::fstat(Fd, &St) != 0) {
    Error = "can't read " + quote(Path) + ": " + std::strerror(errno);
    if (Fd >= 0)
      ::close(Fd);
    return false;
  }
  if (!S_ISREG(St.st_mode)) {
    Error = "can't read " + quote(Path) + ": it is no file";
    ::close(Fd);
    return false;
  }
  char Part[4096];
  ssize_t N;
  while (Text.size() <= Limit && (N = ::read(Fd, Part, sizeof(Part))) != 0) {
    if (N < 0 && errno == EINTR)
      continue;
    if (N < 0) {
      Error = "can't read " + quote(Path) + ": " + std::strerror(errno);
      ::close(Fd);
      return false;
    }
    Text.append(Part, size_t(N));
  }
  ::close(Fd);
  if (Text.size() > Limit) {
    Error = quote(Path) + " is longer than " + std::to_string(Limit) + " bytes";
    return false;
  }
  return true;
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
  for (char C : Name)
    if (!((C >= 'a' && C <= 'z') || (C >= '0' && C <= '9') || C == '-' ||
          C == '_' || C == '.'))
      return false;
  return !Name.empty();
}

bool dtlto::reapi::isHeaderValue(std::string_view Value) {
  for (char C : Value)
    if (C < 0x20 || C > 0x7e)
      return false;
  return true;
}

static const std::initializer_list<std::string_view> Names = {
    "server",     "instance",          "cas",
    "cache",      "platform",          "header",
    "tls-ca",     "tls-cert",          "tls-key",
    "token-file", "credential-helper", "worker",
    "digest",     "results",           "jobs",
    "timeout",    "retries",           "retry-delay",
    "config"};

namespace {
/// Takes settings in falling order of their rank: the first of a name counts.
class Reader {
public:
  Reader(Settings &S, std::string &Error) : S(S), Error(Error) {}

  /// \p Where is named in messages. \p Tls: of an endpoint without a scheme.
  bool set(std::string_view Name, std::string_view Value,
           const std::string &Where, bool Tls = false);
  /// The settings from now on are of a lower rank.
  void nextRank() {
    Done.insert(Now.begin(), Now.end());
    Now.clear();
  }
  bool isSet(const std::string &Name) const { return Done.count(Name); }
  const std::string &config() const { return Config; }
  bool wrong(const std::string &Where, const std::string &Why) {
    Error = Where + ": " + Why;
    return false;
  }

private:
  bool setPair(std::string_view Name, std::string_view Value,
               const std::string &Where);

  Settings &S;
  std::string &Error;
  std::string Config;
  std::set<std::string> Done, Now;
};
} // namespace

bool Reader::setPair(std::string_view Name, std::string_view Value,
                     const std::string &Where) {
  size_t Equals = Value.find('=');
  if (Equals == Value.npos || Equals == 0)
    return wrong(Where, "expected " + std::string(Name) + "=NAME=VALUE");
  std::string Key(Value.substr(0, Equals));
  std::string Text(Value.substr(Equals + 1));
  if (hasControl(Key) || hasControl(Text))
    return wrong(Where, "a control character is in it");
  bool IsHeader = Name == "header";
  if (IsHeader) {
    for (char &C : Key)
      if (C >= 'A' && C <= 'Z')
        C = char(C - 'A' + 'a');
    if (!isHeaderName(Key))
      return wrong(Where, "that is no name of a header");
    if (!isHeaderValue(Text))
      return wrong(Where,
                   "other characters than ASCII's printable ones are in it");
  }
  if (IsHeader && Key.size() > 4 && Key.substr(Key.size() - 4) == "-bin")
    return wrong(Where, "headers with binary values can't be set");
  std::string Ranked = std::string(Name) + "=" + Key;
  if (Done.count(Ranked))
    return true;
  Now.insert(Ranked);
  (IsHeader ? S.Headers : S.Platform)[Key] = Text;
  return true;
}

bool Reader::set(std::string_view Name, std::string_view Value,
                 const std::string &Where, bool Tls) {
  if (Name == "platform" || Name == "header")
    return setPair(Name, Value, Where);
  if (Done.count(std::string(Name)))
    return true;
  Now.insert(std::string(Name));
  auto Number = [&](uint32_t Min, uint32_t Max, uint32_t &N) {
    return parseNumber(Value, Min, Max, N) ||
           wrong(Where, "expected a number from " + std::to_string(Min) +
                            " to " + std::to_string(Max));
  };
  auto Text = [&](std::string &To) {
    if (hasControl(Value))
      return wrong(Where, "a control character is in it");
    To = Value;
    return true;
  };
  auto FileName = [&](std::string &To) {
    return Value.empty() ? wrong(Where, "the name of a file is missing")
                         : Text(To);
  };
  uint32_t N;
  if (Name == "server" || Name == "cas" || Name == "cache") {
    Endpoint &E = Name == "server" ? S.Server : Name == "cas" ? S.Cas : S.Cache;
    return readEndpoint(Value, Tls, E) ||
           wrong(Where,
                 std::string("expected grpc://HOST:PORT, grpcs://HOST:PORT or "
                             "unix:PATH") +
                     (Value.find('@') == Value.npos
                          ? ""
                          : "; what a server knows you by belongs in header="));
  }
  if (Name == "instance")
    return Text(S.Instance);
  if (Name == "tls-ca")
    return FileName(S.CaFile);
  if (Name == "tls-cert")
    return FileName(S.CertFile);
  if (Name == "tls-key")
    return FileName(S.KeyFile);
  if (Name == "token-file")
    return FileName(S.TokenFile);
  if (Name == "credential-helper") {
    // Of a path, it is known now whether it is one.
    if (Value.find('/') != Value.npos &&
        ::access(std::string(Value).c_str(), X_OK) != 0)
      return wrong(Where,
                   "can't run " + quote(Value) + ": " + std::strerror(errno));
    return Value.empty() ? wrong(Where, "the name of a program is missing")
                         : Text(S.Helper);
  }
  if (Name == "config")
    return FileName(Config);
  if (Name == "worker")
    return Value.empty()
               ? wrong(Where, "expected codegen, the path of a "
                              "dtlto-codegen-static, or the name of a clang")
               : Text(S.Worker);
  if (Name == "digest") {
    std::string Low;
    for (char C : Value)
      Low += C >= 'A' && C <= 'Z' ? char(C - 'A' + 'a') : C;
    S.Digest = Low == "auto" ? "" : Low;
    return S.Digest.empty() || Low == "sha256" || Low == "blake3" ||
           wrong(Where, "expected sha256, blake3 or auto");
  }
  if (Name == "results") {
    if (Value == "write" || Value == "read" || Value == "off" ||
        Value == "only") {
      S.Use = Value == "write" ? Results::Write
              : Value == "off" ? Results::Off
                               : Results::Read;
      S.CacheOnly = Value == "only";
      return true;
    }
    return wrong(Where, "expected write, read, off or only");
  }
  if (Name == "jobs")
    return Number(1, 4096, S.Jobs);
  if (Name == "retries")
    return Number(0, 100, S.Retries);
  if (Name == "timeout") {
    if (!Number(1, 86400, N))
      return false;
    S.Timeout = std::chrono::seconds(N);
    return true;
  }
  if (Name == "retry-delay") {
    if (!Number(1, 600000, N))
      return false;
    S.RetryDelay = std::chrono::milliseconds(N);
    return true;
  }
  std::string Why = "it is unknown";
  std::string_view Near = nearest(Name, Names);
  if (!Near.empty())
    Why += ", did you mean " + quote(std::string(Near) + "=") + "?";
  std::string Known;
  for (std::string_view N : Names)
    Known += (Known.empty() ? "" : ", ") + std::string(N);
  return wrong(Where, Why + " (known are " + Known + ")");
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
static std::string shown(std::string_view Setting) {
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
  bool IsKnown = std::find(Names.begin(), Names.end(), Name) != Names.end();
  if (HasValue && IsKnown && Name != "header")
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
      Error = Where + ": expected NAME=VALUE, found " + shown(Line);
      return false;
    }
    if (!R.set(Name, trim(Line.substr(Equals + 1)), Where + ": " + shown(Line)))
      return false;
  }
  return true;
}

namespace {
struct Variable {
  const char *Name;
  const char *Setting;
};
} // namespace

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
      Error = "unknown argument " + shown(Arg) + ": expected NAME=VALUE";
      return false;
    }
    if (!R.set(Arg.substr(0, Equals), Arg.substr(Equals + 1),
               "argument " + shown(Arg)))
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
