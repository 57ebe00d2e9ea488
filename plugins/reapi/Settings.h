//===- Settings.h - What the user has set -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All arguments (--thinlto-dist-plugin-arg=), the file that config= names, and
// environment variables are read here and nowhere else; README.md lists them.
// Each setting counts from the first of these places that has it:
//
//   an argument, the file, RECC_* (as recc has them), RBE_* (as reclient and
//   siso have them)
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_SETTINGS_H
#define DTLTO_REAPI_SETTINGS_H

#include "dtlto/PluginAPI.h"
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dtlto::reapi {

/// Where a service is.
struct Endpoint {
  std::string Target; // for gRPC: HOST:PORT, or unix:PATH; empty: not set
  bool Tls = false;
  /// On this machine.
  bool isLocal() const;
  /// As messages name it.
  std::string name() const { return (Tls ? "grpcs://" : "grpc://") + Target; }
};

enum class Results {
  Write, // of the action cache are used, and executions add to it
  Read,  // are used, and nothing is added
  Off    // are neither
};

struct Settings {
  Endpoint Server; // execution; and what follows, unless set
  Endpoint Cas;    // content
  Endpoint Cache;  // the action cache
  std::string Instance;
  std::map<std::string, std::string> Platform; // sorted, as actions want it
  std::map<std::string, std::string> Headers;  // names in lower case
  std::string CaFile, CertFile, KeyFile;       // PEM
  std::string TokenFile;                       // a bearer token
  std::string Helper; // a credential helper: a path, or a name for PATH
  /// codegen, the path of a dtlto-codegen-static, or the name of a clang that
  /// workers have.
  std::string Worker = "codegen";
  std::string WorkerFile; // what is sent, of the first two kinds
  std::string Digest;     // "sha256", "blake3", or empty: the server's best
  Results Use = Results::Write;
  bool CacheOnly = false;           // nothing is executed
  uint32_t Jobs = 128;              // in flight at the same time, at most
  std::chrono::seconds Timeout{60}; // of each call but executions
  uint32_t Retries = 4;             // of a call that may work later
  std::chrono::milliseconds RetryDelay{200}; // doubles each time

  bool sendsWorker() const { return !WorkerFile.empty(); }
};

/// Looks a variable up, as getenv does.
using GetEnv = std::function<const char *(const char *)>;

/// Reads everything; \p PluginFolder is where the plugin's file is, and \p
/// Environ as environ(7), for variables whose names aren't known. False, with
/// one line in \p Error that names what is wrong and where it stands.
bool readSettings(const dtlto_session_params &Params, const GetEnv &Env,
                  const char *const *Environ, const std::string &PluginFolder,
                  Settings &S, std::string &Error);

/// Reads [grpc[s]|http[s]://]HOST[:PORT] or unix:PATH. Without a scheme, it is
/// TLS if \p Tls. False if it is none.
bool readEndpoint(std::string_view Text, bool Tls, Endpoint &E);

/// Whether gRPC takes them: it ends the process otherwise.
bool isHeaderName(std::string_view Name);
bool isHeaderValue(std::string_view Value);

/// Reads a file of at most \p Limit bytes. False with \p Error, which names it.
bool readSmallFile(const std::string &Path, size_t Limit, std::string &Text,
                   std::string &Error);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_SETTINGS_H
