//===- Settings.h - The user's settings -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Settings come from arguments (--thinlto-dist-plugin-arg=), the file that
// config= names, and environment variables; README.md lists them. They take
// precedence in this order:
//
//   an argument, the file, RECC_* (as in recc), RBE_* (as in reclient and siso)
//
// A store with a URL does not read these variables: they, and the credentials
// in them, may belong to another server.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_SETTINGS_H
#define DTLTO_REAPI_SETTINGS_H

#include "Endpoint.h"
#include "SettingsFile.h"
#include "dtlto/ext/store.h"
#include "dtlto/sdk/Arguments.hpp"
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dtlto::reapi {

enum class Results {
  Write, // use the action cache, and add results
  Read,  // use it, and add none
  Off,   // do neither
  Only   // like Read, and execute nothing
};

struct Settings : ConnectionFiles {
  Endpoint Server; // execution; the default of the next two
  Endpoint Cas;    // content
  Endpoint Cache;  // the action cache
  std::string Instance;
  std::map<std::string, std::string> Platform; // sorted, as actions require
  std::map<std::string, std::string> Headers;  // names in lower case
  std::string Helper; // a credential helper: a path, or a name for PATH
  /// codegen, the path of a dtlto-codegen-static, or the name of a clang that
  /// the workers have.
  std::string Worker = "codegen";
  std::string WorkerFile; // to send, for the first two kinds
  std::string Digest;     // "sha256", "blake3", or empty: the server's best
  Results CacheUse = Results::Write;
  uint32_t Jobs = 128;              // in flight at the same time, at most
  std::chrono::seconds Timeout{60}; // for each call except executions
  uint32_t Retries = 4;             // of a call that may work later
  std::chrono::milliseconds RetryDelay{200}; // doubles each time

  bool sendsWorker() const { return !WorkerFile.empty(); }
  bool isCacheOnly() const { return CacheUse == Results::Only; }
  /// Returns the setting whose credentials take precedence, or an empty text.
  const char *credentials() const;
  /// Returns a service that credentials would reach without encryption, or
  /// null.
  const Endpoint *exposedService() const;
};

/// Describes the plugin and its settings.
const sdk::Description &description();

/// Looks up an environment variable, like getenv().
using GetEnv = std::function<const char *(const char *)>;

/// Reads all settings. \p PluginFolder is the folder of the plugin's file. \p
/// Environ is like environ(7), for variables whose names aren't known. Throws
/// sdk::Error with one line that says what is wrong and where.
Settings readSettings(const char *const *Args, uint32_t NumArgs,
                      const GetEnv &Env, const char *const *Environ,
                      const std::string &PluginFolder);

/// Reads the settings of a store. With a URL, they are its server and instance,
/// the arguments, and $DTLTO_REMOTE_CACHE_TOKEN; otherwise those of the plugin.
Settings readStoreSettings(const dtlto_store_params &Params, const GetEnv &Env,
                           const char *const *Environ);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_SETTINGS_H
