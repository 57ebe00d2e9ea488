//===- SettingsFile.h - Files that a setting names --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small files of the user: certificates, tokens, passwords. Errors are
// sdk::Error with DTLTO_ERROR_CALLER, and name the setting and the file.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_SETTINGSFILE_H
#define DTLTO_PLUGINS_SETTINGSFILE_H

#include "dtlto/sdk/Arguments.hpp"

namespace dtlto {

/// The files for a connection to a server; empty: the system's, or none.
struct ConnectionFiles {
  std::string CaFile, CertFile, KeyFile; // PEM
  std::string TokenFile;                 // a bearer token
};

/// Returns the arguments that set \p Files.
sdk::ArgumentTable connectionArguments(ConnectionFiles &Files);

/// Throws if there is a client certificate without its key or a key without its
/// certificate.
void checkCertificate(const ConnectionFiles &Files);

/// Reads the whole file \p Name, which the setting \p Setting names and which
/// may be empty. Throws if the file can't be read, or has more than \p Limit
/// bytes.
std::string readFileOf(const std::string &Name, const char *Setting,
                       size_t Limit);

/// Like readFileOf(), but throws if the file is empty. An empty name is an
/// empty text.
std::string readSettingsFile(const std::string &Name, const char *Setting,
                             size_t Limit);

/// Reads a token or a password: one line of printable ASCII, without spaces at
/// its end. An empty name is an empty text.
std::string readSecretFile(const std::string &Name, const char *Setting);

} // namespace dtlto

#endif // DTLTO_PLUGINS_SETTINGSFILE_H
