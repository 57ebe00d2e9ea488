//===- Credentials.h - Tokens and credential helpers ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file with a bearer token, or a credential helper.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_CREDENTIALS_H
#define DTLTO_REAPI_CREDENTIALS_H

#include "CredentialHelper.h"
#include "Fault.h"
#include "Settings.h"
#include "Stop.h"
#include <string>

namespace dtlto::reapi {

/// A bearer token in a file, which may be replaced during the link. The file is
/// read again when the server refuses the token. Any thread.
class TokenFile {
public:
  /// Throws sdk::Error if there is no token in \p Name. An empty name means no
  /// file and no header.
  explicit TokenFile(const std::string &Name)
      : Name(Name), Header(read(Name)) {}

  /// The value of the header `authorization`, or empty.
  std::string header() const;
  /// Records that the server has accepted a call with \p Used.
  void onAccepted(const std::string &Used);
  /// Reads the file again, since the server refuses \p Used. Returns whether
  /// header() differs now, unless that has not helped twice in a row.
  bool renew(const std::string &Used);

private:
  static std::string read(const std::string &Name);

  const std::string Name;
  mutable std::mutex Mutex; // guards what follows
  std::string Header;
  unsigned RefusalStreak = 0;
};

/// A credential helper for the calls of a server. Any thread.
class ServerHelper {
public:
  /// \p Program is a path or a name in PATH. \p Limit is for one run.
  ServerHelper(const std::string &Program, std::chrono::milliseconds Limit)
      : Helper(Program), Limit(Limit) {}

  // Like those of CredentialHelper, for calls to To that Stopping ends.
  Fault get(Stop &Stopping, const Endpoint &To, HeaderList &Headers,
            uint64_t &Stamp, bool MayWait = true);
  void onAccepted(const Endpoint &To, uint64_t Stamp);
  bool renew(Stop &Stopping, const Endpoint &To, uint64_t Stamp, Fault &Why);

private:
  CredentialHelper::Patience patience(const Stop &Stopping) const;

  CredentialHelper Helper;
  const std::chrono::milliseconds Limit;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_CREDENTIALS_H
