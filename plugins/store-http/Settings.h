//===- Settings.h - The URL and arguments of an HTTP store ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_STORE_HTTP_SETTINGS_H
#define DTLTO_STORE_HTTP_SETTINGS_H

#include "SettingsFile.h"
#include "dtlto/ext/store.h"
#include <functional>
#include <string>
#include <string_view>

namespace dtlto::http {

/// The URL of a store.
struct Address {
  std::string Url;    // without a slash at its end
  std::string Origin; // as of originOf()
  bool IsTls = false;
  /// Whether the server is on this machine.
  bool IsLocal = false;

  /// Whether the network can't read what is sent.
  bool isPrivate() const { return IsTls || IsLocal; }
};

/// Reads http[s]://HOST[:PORT][/PATH]. Throws sdk::Error for any other text,
/// without showing credentials in it.
Address readAddress(std::string_view Text);

/// Returns the scheme, the host and the port of a URL; empty if it is invalid.
std::string originOf(const std::string &Url);

struct Settings : ConnectionFiles {
  Address To;
  std::string Token;  // of "Authorization: Bearer"; empty: none
  std::string Helper; // a credential helper: a path, or a name for PATH
  /// A user and a password for each host. Empty: ~/.netrc.
  std::string NetrcFile;
};

/// Describes the library and its settings.
const sdk::Description &description();

/// Looks up an environment variable, like getenv().
using GetEnv = std::function<const char *(const char *)>;

/// Reads all settings, and the files that they name. Throws sdk::Error.
Settings readSettings(const dtlto_store_params &Params, const GetEnv &Env);

} // namespace dtlto::http

#endif // DTLTO_STORE_HTTP_SETTINGS_H
