//===- Credentials.h - What a server knows the user by ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file with a bearer token, or a credential helper: the program that Bazel's
// --credential_helper names, by the credential helper specification 1.0:
//
//   PROGRAM get     reads  {"uri": "https://HOST:PORT"}
//                   writes {"headers": {"Authorization": ["Bearer x"]},
//                           "expires": "2030-01-31T12:00:00Z"}
//
// If it fails, it ends with another status than 0 and an error message on
// standard error. What it writes is a secret that no message may show.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_CREDENTIALS_H
#define DTLTO_REAPI_CREDENTIALS_H

#include "Fault.h"
#include "Settings.h"
#include "Stop.h"
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dtlto::reapi {

/// A bearer token in a file, which may be replaced during the link: it is read
/// again when the server refuses the token. Any thread.
class TokenFile {
public:
  /// Throws sdk::Error if there is no token in \p Name. An empty name: there is
  /// no file, and no header.
  explicit TokenFile(const std::string &Name)
      : Name(Name), Header(read(Name)) {}

  /// The value of the header `authorization`; empty: there is none.
  std::string header() const;
  /// The server has accepted a call with \p Used.
  void taken(const std::string &Used);
  /// The server refuses \p Used. Returns whether header() is another one now,
  /// unless that has not helped twice in a row.
  bool renew(const std::string &Used);

private:
  static std::string read(const std::string &Name);

  const std::string Name;
  mutable std::mutex Mutex; // guards what follows
  std::string Header;
  unsigned RefusedInRow = 0;
};

struct Credentials {
  using Time = std::chrono::system_clock::time_point;
  /// Names in lower case, fit for gRPC; a name may be there several times.
  std::vector<std::pair<std::string, std::string>> Headers;
  std::optional<Time> Expires;
};

/// Reads what a helper writes. Returns false with \p Error, one line without
/// any of the text.
bool readCredentials(std::string_view Text, Credentials &C, std::string &Error);

/// Runs a helper for each address, and keeps its answers for as long as they
/// hold. One helper runs at a time. Any thread.
class CredentialHelper {
public:
  /// \p Program: a path or a name in PATH. \p Limit: for one run.
  CredentialHelper(std::string Program, std::chrono::milliseconds Limit)
      : Program(std::move(Program)), Limit(Limit) {}

  /// Adds to \p Headers those for \p To, and sets \p Stamp, which names them.
  /// Blocks while the helper runs; all callers that wait for a helper get its
  /// failure. Unless it \p MayWait, fails if no headers are known that hold.
  Fault get(Stop &Stopping, const Endpoint &To,
            std::vector<std::pair<std::string, std::string>> &Headers,
            uint64_t &Stamp, bool MayWait = true);
  /// The server has accepted a call with the headers of \p Stamp.
  void taken(const Endpoint &To, uint64_t Stamp);
  /// The server refuses the headers of \p Stamp, with \p Why. Returns whether
  /// get() has others now, unless that has not helped before. If the helper
  /// fails, sets \p Why to that.
  bool renew(Stop &Stopping, const Endpoint &To, uint64_t Stamp, Fault &Why);

private:
  struct Known {
    Credentials Now;
    Credentials::Time Until{}; // when the helper runs again
    uint64_t Stamp = 0;        // 0: there are none yet
    unsigned RefusedInRow = 0;
    Fault Failed; // of the last run that failed
    uint64_t NumFailed = 0;
  };
  /// Runs the helper, with \p Lock released meanwhile.
  Fault run(Stop &Stopping, const Endpoint &To,
            std::unique_lock<std::mutex> &Lock);

  const std::string Program;
  const std::chrono::milliseconds Limit;
  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  std::map<std::string, Known> All; // by the endpoint's target
  bool IsRunning = false;
  uint64_t LastStamp = 0;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_CREDENTIALS_H
