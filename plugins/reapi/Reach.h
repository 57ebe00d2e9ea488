//===- Reach.h - Why a server can't be reached ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gRPC reports that a handshake failed, but not which certificate has expired.
// It also names the address of a proxy as if it were the server's. This file
// finds out what the user must change.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_REACH_H
#define DTLTO_REAPI_REACH_H

#include "Settings.h"

namespace dtlto::reapi {

/// The contents of the settings' PEM files.
struct PemFiles {
  std::string Ca, Cert, Key;
};

/// Reads the files. Throws sdk::Error, which names the setting and the file, if
/// gRPC couldn't use one of them.
PemFiles readPemFiles(const Settings &S);

/// Returns the environment variable whose proxy gRPC uses for \p E, or nothing.
/// Sets \p Address to the proxy's host and port, without credentials.
std::string proxyVariable(const Endpoint &E, const GetEnv &Env,
                          std::string &Address);

/// Returns why a connection to \p E fails and what to do, for a message that
/// ends with gRPC's own \p Text. Returns nothing if that is unknown. May open
/// its own connection. Blocks for a few seconds at most.
std::string explainConnection(const Settings &S, const Endpoint &E,
                              std::string_view Text, const GetEnv &Env);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_REACH_H
