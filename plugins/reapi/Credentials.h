//===- Credentials.h - Headers from a credential helper ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program that Bazel's --credential_helper names, too, by the credential
// helper specification 1.0:
//
//   PROGRAM get     reads  {"uri": "https://HOST:PORT"}
//                   writes {"headers": {"Authorization": ["Bearer x"]},
//                           "expires": "2030-01-31T12:00:00Z"}
//
// or ends with another status than 0, and says why on standard error. What it
// writes is a secret: no message shows it.
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

struct Credentials {
  using Time = std::chrono::system_clock::time_point;
  /// Names in lower case, fit for gRPC; a name may be there several times.
  std::vector<std::pair<std::string, std::string>> Headers;
  std::optional<Time> Expires;
};

/// Reads what a helper writes. False with \p Error, one line without any of
/// it.
bool readCredentials(std::string_view Text, Credentials &C, std::string &Error);

/// Runs \p Program, a path or a name that is looked for in PATH, for \p Uri.
/// Blocks, no longer than \p Limit or until \p Stopping is raised; then nothing
/// of it is left.
Fault runHelper(Stop &Stopping, const std::string &Program,
                const std::string &Uri, std::chrono::milliseconds Limit,
                Credentials &C);

/// What a helper has said of each address, for as long as that holds. One runs
/// at a time; whoever needs what it will say waits for it. Any thread.
class CredentialHelper {
public:
  CredentialHelper(std::string Program, std::chrono::milliseconds Limit)
      : Program(std::move(Program)), Limit(Limit) {}

  /// Adds to \p Headers those for \p To. \p Stamp says later which they were.
  /// Unless it \p MayWait, fails if none are known that hold. If the helper
  /// fails, so do all that have waited for what it would say.
  Fault get(Stop &Stopping, const Endpoint &To,
            std::vector<std::pair<std::string, std::string>> &Headers,
            uint64_t &Stamp, bool MayWait = true);
  /// A call with these was taken.
  void taken(const Endpoint &To, uint64_t Stamp);
  /// The server doesn't take them, as \p Why says. Whether it may take those
  /// that get() will give: there are others now, and not for the second time in
  /// a row. If the helper fails, \p Why says that.
  bool renew(Stop &Stopping, const Endpoint &To, uint64_t Stamp, Fault &Why);

private:
  struct Known {
    Credentials Now;
    Credentials::Time Until{}; // when they are asked for again
    uint64_t Stamp = 0;        // 0: there are none yet
    unsigned RefusedInRow = 0;
    Fault Failed; // of the helper, as it was run last in vain
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
