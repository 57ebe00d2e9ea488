//===- Settings.h - The user's settings -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only this file reads the plugin's arguments (--thinlto-dist-plugin-arg=) and
// environment variables; README.md lists them. The variables mean what icecc(1)
// says.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_SETTINGS_H
#define DTLTO_ICECC_SETTINGS_H

#include "Log.h"
#include "Network.h"
#include "dtlto/sdk/Arguments.hpp"
#include <chrono>
#include <functional>
#include <vector>

namespace dtlto::icecc {

struct Settings {
  /// worker=PATH, DTLTO_WORKER, or dtlto-codegen-static next to the plugin.
  /// Unused if Environments isn't empty.
  std::string Worker;
  /// jobs=N: the maximum number of simultaneous requests and jobs.
  uint32_t MaxJobs = 256;
  /// batch=N: how many small jobs share a trip, at most Pace::MaxJobs. 0: as
  /// many as pay off.
  uint32_t Batch = 0;
  /// grant-timeout=SECONDS: a waiting job is given back when no job was granted
  /// a node for this time.
  std::chrono::seconds GrantTimeout{300};
  /// transfer-timeout=SECONDS: how long a transfer to or from a node may pause,
  /// and what it may take in addition to the time for its bytes.
  std::chrono::milliseconds TransferLimit = TheNetworkLimits.Pause;
  /// netname=NAME, or from the local iceccd's configuration: the network whose
  /// scheduler is searched for if Scheduler is empty.
  std::string NetName;

  /// Where an iceccd may listen, in icecc's order: a path, or HOST:PORT.
  std::vector<std::string> Daemons;
  /// ICECC_TEST_REMOTEBUILD: nodes at 127.0.0.1 count like others.
  bool AllowsLocalNodes = false;
  /// ICECC_SCHEDULER, USE_SCHEDULER or, without netname=, from the local
  /// iceccd's configuration: HOST or HOST:PORT.
  std::string Scheduler;
  std::string SchedulerSource; // the variable or file that names it
  /// ICECC=no or ICECC=disable: nothing is distributed.
  bool Off = false;
  std::string PreferredHost; // ICECC_PREFERRED_HOST
  /// DTLTO_ICECC_VERSION: environments to use instead of one with Worker.
  /// ICECC_VERSION, which names a compiler's environment, is ignored.
  struct EnvironmentFile {
    std::string Platform; // empty: this machine's
    std::string File;
  };
  std::vector<EnvironmentFile> Environments;
  Verbosity Level = Verbosity::Errors; // ICECC_DEBUG
  std::string LogFile;                 // ICECC_LOGFILE

  /// $XDG_CACHE_HOME/dtlto/icecc or ~/.cache/dtlto/icecc; empty: none.
  std::string CacheFolder;
  std::vector<std::string> Notes; // for the user
};

/// Describes the plugin and its settings.
const sdk::Description &description();

/// Looks up an environment variable, like getenv().
using GetEnv = std::function<const char *(const char *)>;

/// Returns the files that configure an iceccd on the known systems. A later one
/// overrides those before it.
std::vector<std::string> daemonConfigFiles();

/// Reads all settings. \p PluginFolder is the folder of the plugin's file. \p
/// DaemonConfig are files of lines NAME=VALUE. Throws sdk::Error if an argument
/// or a variable can't be read.
Settings readSettings(
    const dtlto_session_params &Params, const GetEnv &Env,
    const std::string &PluginFolder,
    const std::vector<std::string> &DaemonConfig = daemonConfigFiles());

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_SETTINGS_H
