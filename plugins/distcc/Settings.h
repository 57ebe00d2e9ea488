//===- Settings.h - What the user has set -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All arguments (--thinlto-dist-plugin-arg=), environment variables and host
// files of the plugin are read here and nowhere else. Arguments come before the
// environment. The variables mean what distcc(1) says.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_SETTINGS_H
#define DTLTO_DISTCC_SETTINGS_H

#include "HostSpec.h"
#include "dtlto/PluginAPI.h"
#include <chrono>
#include <functional>

namespace dtlto::distcc {

struct Settings {
  /// The first of hosts=LIST, DISTCC_HOSTS, $DISTCC_DIR/hosts (DISTCC_DIR is
  /// ~/.distcc if unset) and the system's files that exists. Shuffled already,
  /// if the list asks for it.
  std::vector<HostSpec> Hosts;
  std::vector<std::string> Notes, Remarks; // see HostList

  /// compiler=NAME; by default clang-<major version of the linker's LLVM>.
  std::string Compiler;

  /// stats-port=N: where hosts without a limit are asked for their number of
  /// slots (distccd --stats). stats-port=+N: N above the host's own port. 0:
  /// don't ask. Unset: 3633, distccd's own, for hosts on distccd's own port.
  std::string StatsPort; // "", "0", "N" or "+N"; checked
  /// The statistics port of \p Host. 0: the host isn't reached over TCP, there
  /// is no such port, or the limit is known and neither a status nor \p
  /// DespiteLimit asks for more.
  uint16_t statsPort(const HostSpec &Host, bool DespiteLimit = false) const;

  /// How long to wait for an address to accept a connection: less than the time
  /// for a status, so that the status can report it.
  std::chrono::milliseconds connectLimit() const;

  /// If the linker cancels a job after so long without an answer, that counts
  /// against the host.
  std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(IoTimeout) / 100;
  }

  /// How soon a host normally tells its version.
  std::chrono::milliseconds quickProbe() const { return patience() / 10; }

  std::chrono::seconds IoTimeout{300};    // DISTCC_IO_TIMEOUT
  std::chrono::seconds BackoffPeriod{60}; // DISTCC_BACKOFF_PERIOD; 0: none
  bool Fallback = true;                   // DISTCC_FALLBACK is not 0
  bool Verbose = false;                   // DISTCC_VERBOSE is 1
  std::string LogFile;                    // DISTCC_LOG; empty: none
  std::vector<std::string> SshCommand;    // DISTCC_SSH, in words; {"ssh"}

  uint64_t NumJobs = 0; // of the link
  /// For --thinlto-dist-status: no job will come.
  bool OnlyStatus = false;

  /// Where distccmon-text looks: $DISTCC_DIR/state. Empty if there is no home.
  std::string StateDir;
  /// The locks by which this user's links share slots: $DISTCC_DIR/lock/dtlto.
  /// Empty: no sharing.
  std::string LockFile;
};

enum class SettingsStatus {
  Ok,
  Wrong,  // an argument, a variable or a host list that can't be read
  NoHosts // none is named
};

/// Looks a variable up, as getenv does.
using GetEnv = std::function<const char *(const char *)>;

/// A list that can't be read in this time is skipped. Tests shorten it.
extern std::chrono::milliseconds FileLimit;

/// The system's host lists, of Debian's distcc and of one built from source.
std::vector<std::string> systemHostFiles();

/// Reads everything. With another status than Ok, \p Error is one line that
/// names the argument, variable or file, and what to do.
SettingsStatus
readSettings(const dtlto_session_params &Params, const GetEnv &Env, Settings &S,
             std::string &Error,
             const std::vector<std::string> &HostFiles = systemHostFiles());

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SETTINGS_H
