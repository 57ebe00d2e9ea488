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
  /// hosts=LIST; else DISTCC_HOSTS, $DISTCC_DIR/hosts (DISTCC_DIR is ~/.distcc
  /// if unset), or the system's file: the first of these that is there.
  /// Shuffled already, if the list asks for it.
  std::vector<HostSpec> Hosts;
  std::vector<std::string> Notes, Remarks; // see HostList

  /// compiler=NAME; else clang-<major version of the linker's LLVM>.
  std::string Compiler;
  /// The compiler is dtlto-codegen, which reads whole jobs.
  bool isWorker() const;

  /// stats-port=N: where hosts without a limit are asked for their number of
  /// slots (distccd --stats). stats-port=+N: N above the host's own port. 0:
  /// don't ask. Unset: 3633, distccd's own, for hosts on distccd's own port.
  std::string StatsPort; // "", "0", "N" or "+N"; checked
  /// The statistics port of \p Host; 0: it isn't reached over TCP, there is no
  /// such port, or its limit is known, the user doesn't want its status, and it
  /// isn't asked \p DespiteLimit.
  uint16_t statsPort(const HostSpec &Host, bool DespiteLimit = false) const;

  /// How long an address may not answer a connection: less than the time for a
  /// status, which then tells that.
  std::chrono::milliseconds connectLimit() const;

  /// How long a host may answer nothing before that speaks against it, if the
  /// linker takes a job back.
  std::chrono::milliseconds patience() const {
    return std::chrono::milliseconds(IoTimeout) / 100;
  }

  /// How soon a host tells its version, if all is well.
  std::chrono::milliseconds quickProbe() const { return patience() / 10; }

  std::chrono::seconds IoTimeout{300};    // DISTCC_IO_TIMEOUT
  std::chrono::seconds BackoffPeriod{60}; // DISTCC_BACKOFF_PERIOD; 0: none
  bool Fallback = true;                   // DISTCC_FALLBACK is not 0
  bool Verbose = false;                   // DISTCC_VERBOSE is 1
  std::string LogFile;                    // DISTCC_LOG; empty: none
  std::vector<std::string> SshCommand;    // DISTCC_SSH, in words; {"ssh"}

  uint64_t NumJobs = 0; // of the link
  /// No job will come: the user asks how the hosts are.
  bool OnlyStatus = false;

  /// Where distccmon-text looks: $DISTCC_DIR/state. Empty if there is no home.
  std::string StateDir;
  /// What links of this user share slots by: $DISTCC_DIR/lock/dtlto. Empty:
  /// nothing.
  std::string LockFile;
};

enum class SettingsStatus {
  Ok,
  Wrong,  // an argument, a variable or a host list that can't be read
  NoHosts // none is named anywhere
};

/// Looks a variable up, as getenv does.
using GetEnv = std::function<const char *(const char *)>;

/// Where the system's host lists are: what Debian's distcc reads, and what a
/// distcc that was built from source does.
extern const char *const SystemHostFiles[2];

/// A list that can't be read in this time is passed over. Tests shorten it.
extern std::chrono::milliseconds FileLimit;

/// Reads everything. With another status than Ok, \p Error is one line that
/// names the argument, variable or file, and what to do.
SettingsStatus readSettings(const dtlto_session_params &Params,
                            const GetEnv &Env, Settings &S, std::string &Error);

/// The same with other files than SystemHostFiles.
SettingsStatus readSettings(const dtlto_session_params &Params,
                            const GetEnv &Env,
                            const std::vector<std::string> &HostFiles,
                            Settings &S, std::string &Error);

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_SETTINGS_H
