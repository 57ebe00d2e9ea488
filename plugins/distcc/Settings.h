//===- Settings.h - The user's settings -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only this file reads the plugin's arguments (--thinlto-dist-plugin-arg=),
// environment variables and host files. Arguments override the environment. The
// variables mean what distcc(1) says.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_SETTINGS_H
#define DTLTO_DISTCC_SETTINGS_H

#include "HostSpec.h"
#include "dtlto/sdk/Arguments.hpp"
#include <chrono>
#include <functional>
#include <optional>

namespace dtlto::distcc {

struct Settings {
  /// The first that exists of hosts=LIST, DISTCC_HOSTS, $DISTCC_DIR/hosts
  /// (DISTCC_DIR is ~/.distcc if unset) and the system's files. Already
  /// shuffled if the list asks for that.
  std::vector<HostSpec> Hosts;
  std::string HostsSource; // "hosts=", "$DISTCC_HOSTS" or a file
  std::string NoHosts;     // why there are no hosts, and what to do; or empty
  std::vector<std::string> Notes, Remarks; // see HostList

  /// compiler=NAME; by default clang-<major version of the linker's LLVM>.
  std::string Compiler;

  /// stats-port=N: the port where hosts without a limit are asked for their
  /// number of slots (distccd --stats). stats-port=+N: N above the host's own
  /// port. 0: don't ask. Unset: 3633, distccd's default, for hosts on distccd's
  /// default port.
  std::optional<uint32_t> StatsPort;
  bool IsStatsPortRelative = false;
  /// Returns the statistics port of \p Host, or 0: the host isn't reached over
  /// TCP, it has no such port, or the limit is known and neither a status nor
  /// \p IgnoreLimit requires more.
  uint16_t statsPort(const HostSpec &Host, bool IgnoreLimit = false) const;

  /// How long to wait for an address to accept a connection. It is less than
  /// the time for a status, so that the status can report it.
  std::chrono::milliseconds connectLimit() const;

  /// A job that the linker cancels after this time without an answer counts
  /// against the host.
  std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(IoTimeout) / 100;
  }

  /// How soon a host normally reports its version.
  std::chrono::milliseconds quickProbe() const { return patience() / 10; }

  std::chrono::seconds IoTimeout{300};    // DISTCC_IO_TIMEOUT
  std::chrono::seconds BackoffPeriod{60}; // DISTCC_BACKOFF_PERIOD; 0: none
  bool Fallback = true;                   // DISTCC_FALLBACK is not 0
  bool Verbose = false;                   // DISTCC_VERBOSE is 1
  std::string LogFile;                    // DISTCC_LOG; empty: none
  std::vector<std::string> SshCommand;    // DISTCC_SSH, in words; {"ssh"}

  uint64_t NumJobs = 0; // of the link
  /// For --thinlto-dist-status: there are no jobs.
  bool IsStatusOnly = false;

  /// Where distccmon-text looks: $DISTCC_DIR/state. Empty without a home
  /// folder.
  std::string StateDir;
  /// The locks through which this user's links share slots:
  /// $DISTCC_DIR/lock/dtlto. Empty: no sharing.
  std::string LockFile;
};

/// Describes the plugin and its settings.
const sdk::Description &description();

/// Looks up an environment variable, like getenv().
using GetEnv = std::function<const char *(const char *)>;

/// A host list that can't be read within this time is skipped. Tests shorten
/// it.
extern std::chrono::milliseconds HostFileTimeout;

/// Returns the system's host lists: Debian's, and that of a distcc built from
/// source.
std::vector<std::string> systemHostFiles();

/// Reads all settings. Throws sdk::Error, which says what to do, for an
/// argument, a variable or a host list that can't be read.
Settings
readSettings(const dtlto_session_params &Params, const GetEnv &Env,
             const std::vector<std::string> &HostFiles = systemHostFiles());

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SETTINGS_H
