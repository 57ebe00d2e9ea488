//===- Credentials.h - Tokens and credential helpers ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file with a bearer token, or a credential helper. The helper is the program
// that Bazel's --credential_helper names, and follows the credential helper
// specification 1.0:
//
//   PROGRAM get     reads  {"uri": "https://HOST:PORT"}
//                   writes {"headers": {"Authorization": ["Bearer x"]},
//                           "expires": "2030-01-31T12:00:00Z"}
//
// On failure, it exits with another status than 0 and an error message on
// standard error. Its output is a secret that no message may show.
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

struct Credentials {
  using Time = std::chrono::system_clock::time_point;
  /// Names are in lower case and valid for gRPC. They may be repeated.
  std::vector<std::pair<std::string, std::string>> Headers;
  std::optional<Time> Expires;
};

/// Reads the output of a helper. Returns false with \p Error, one line without
/// any of the text.
bool readCredentials(std::string_view Text, Credentials &C, std::string &Error);

/// Runs a helper for each address, and keeps its answers while they are valid.
/// One helper runs at a time. Any thread.
class CredentialHelper {
public:
  /// \p Program is a path or a name in PATH. \p Limit is for one run.
  CredentialHelper(std::string Program, std::chrono::milliseconds Limit)
      : Program(std::move(Program)), Limit(Limit) {}

  /// Adds the headers for \p To to \p Headers, and sets \p Stamp, which
  /// identifies them. Blocks while the helper runs; if it fails, all waiting
  /// callers get its failure. Unless it \p MayWait, fails if no valid headers
  /// are known.
  Fault get(Stop &Stopping, const Endpoint &To,
            std::vector<std::pair<std::string, std::string>> &Headers,
            uint64_t &Stamp, bool MayWait = true);
  /// Records that the server has accepted a call with the headers of \p Stamp.
  void onAccepted(const Endpoint &To, uint64_t Stamp);
  /// Runs the helper again, since the server refuses the headers of \p Stamp
  /// with \p Why. Returns whether get() has others now, unless that has not
  /// helped before. If the helper fails, sets \p Why to its failure.
  bool renew(Stop &Stopping, const Endpoint &To, uint64_t Stamp, Fault &Why);

private:
  struct HelperEntry {
    Credentials Now;
    Credentials::Time ValidUntil{}; // when the helper runs again
    uint64_t Stamp = 0;             // 0: none yet
    unsigned RefusalStreak = 0;
    Fault LastFault; // of the last run that failed
    uint64_t NumFailed = 0;
  };
  /// Runs the helper. Releases \p Lock meanwhile.
  Fault run(Stop &Stopping, const Endpoint &To,
            std::unique_lock<std::mutex> &Lock);

  const std::string Program;
  const std::chrono::milliseconds Limit;
  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  std::map<std::string, HelperEntry> All; // by the endpoint's target
  bool IsRunning = false;
  uint64_t LastStamp = 0;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_CREDENTIALS_H
