//===- CredentialHelper.h - Programs that print headers ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program that Bazel's --credential_helper names, which follows the
// credential helper specification 1.0:
//
//   PROGRAM get     reads  {"uri": "https://HOST:PORT"}
//                   writes {"headers": {"Authorization": ["Bearer x"]},
//                           "expires": "2030-01-31T12:00:00Z"}
//
// On failure, it exits with another status than 0 and an error message on
// standard error. Its output is a secret that no message may show.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_CREDENTIALHELPER_H
#define DTLTO_PLUGINS_CREDENTIALHELPER_H

#include "dtlto/sdk/Arguments.hpp"
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dtlto {

/// Whether \p Name, in lower case, is valid for a header of HTTP and of gRPC,
/// which aborts the process otherwise.
bool isHeaderName(std::string_view Name);
/// Whether gRPC encodes the values of this header.
bool isBinaryHeader(std::string_view Name);

/// Names and values. Names may be repeated.
using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct Credentials {
  using Time = std::chrono::system_clock::time_point;
  /// Names are in lower case. All are valid, and values are printable ASCII.
  HeaderList Headers;
  std::optional<Time> Expires;
};

/// Reads the output of a helper. Returns false with \p Error, one line without
/// any of the text.
bool readCredentials(std::string_view Text, Credentials &C, std::string &Error);

/// Returns the argument credential-helper=PROGRAM.
sdk::Argument credentialHelperArgument(std::string &Program);

/// Runs a helper for each URI, and keeps its answers while they are valid. One
/// helper runs at a time. Any thread.
class CredentialHelper {
public:
  using Clock = std::chrono::steady_clock;

  /// How long a caller waits.
  struct Patience {
    Clock::time_point End;
    /// Ends the wait when it returns true; null: never. Called often.
    std::function<bool()> IsCancelled = nullptr;
  };
  struct Failure {
    enum { None, Cancelled, Failed } What = None;
    std::string Why = {}; // of Failed: one line, which names the helper
    explicit operator bool() const { return What != None; }
  };

  /// \p Program is a path or a name in PATH.
  explicit CredentialHelper(std::string Program)
      : Program(std::move(Program)) {}

  /// Adds the headers for \p Uri, which has no control character, to \p To, and
  /// sets \p Stamp, which identifies them. Blocks while the helper runs; if it
  /// fails, all waiting callers get its failure. Unless it \p MayWait, fails if
  /// no valid headers are known.
  Failure get(const Patience &P, const std::string &Uri, HeaderList &To,
              uint64_t &Stamp, bool MayWait = true);
  /// Records that the server has accepted a call with the headers of \p Stamp.
  void onAccepted(const std::string &Uri, uint64_t Stamp);
  /// Runs the helper again, since the server refuses the headers of \p Stamp.
  /// Returns whether get() has others now, unless that has not helped before.
  /// If the helper fails, sets \p F.
  bool renew(const Patience &P, const std::string &Uri, uint64_t Stamp,
             Failure &F);

private:
  struct Entry {
    Credentials Now;
    Credentials::Time ValidUntil{}; // when the helper runs again
    uint64_t Stamp = 0;             // 0: none yet
    unsigned RefusalStreak = 0;
    Failure LastFailure;
    uint64_t NumFailed = 0;
  };
  /// Runs the helper. Releases \p Lock meanwhile.
  Failure run(const Patience &P, const std::string &Uri,
              std::unique_lock<std::mutex> &Lock);

  const std::string Program;
  std::mutex Mutex; // guards what follows
  std::condition_variable Changed;
  std::map<std::string, Entry> All; // by URI
  bool IsRunning = false;
  uint64_t LastStamp = 0;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_CREDENTIALHELPER_H
