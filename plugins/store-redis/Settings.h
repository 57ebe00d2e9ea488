//===- Settings.h - The URL and arguments of a Redis store ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_STORE_REDIS_SETTINGS_H
#define DTLTO_STORE_REDIS_SETTINGS_H

#include "dtlto/ext/store.h"
#include "dtlto/sdk/Arguments.hpp"
#include <functional>
#include <string>
#include <string_view>

namespace dtlto::redis {

/// The URL of a store.
struct Address {
  std::string Host; // a name or an address, IPv6 without brackets
  uint16_t Port = 6379;
  uint32_t Database = 0;

  /// The URL in messages.
  std::string url() const;
};

/// Reads redis://HOST[:PORT][/DB]. Throws sdk::Error for any other text,
/// without showing credentials in it.
Address readAddress(std::string_view Text);

struct Settings {
  Address To;
  std::string User, Password; // empty: the server's default user, none
};

/// Describes the library and its settings.
const sdk::Description &description();

/// Looks up an environment variable, like getenv().
using GetEnv = std::function<const char *(const char *)>;

/// Reads all settings, and the file that they name. Throws sdk::Error.
Settings readSettings(const dtlto_store_params &Params, const GetEnv &Env);

} // namespace dtlto::redis

#endif // DTLTO_STORE_REDIS_SETTINGS_H
