//===- Reach.h - Why a server can't be reached ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gRPC says that a handshake failed, but not which certificate has expired, and
// names the address of a proxy as if it were the server's. This file finds out
// what a user has to change.
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
/// gRPC could make nothing of one of them.
PemFiles readPemFiles(const Settings &S);

/// The environment variable whose proxy gRPC uses for \p E; empty: none. \p
/// Address is set to the proxy's host and port, without credentials.
std::string proxyVariable(const Endpoint &E, const GetEnv &Env,
                          std::string &Address);

/// Why a connection to \p E fails and what to do, for a message that ends with
/// gRPC's own \p Text. Empty if nothing is known. May open a connection of its
/// own, and blocks for a few seconds at most.
std::string explainConnection(const Settings &S, const Endpoint &E,
                              std::string_view Text, const GetEnv &Env);

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_REACH_H
