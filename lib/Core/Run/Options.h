//===- Options.h - The --thinlto-dist-... options ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that reads the project's options and environment variables:
//
//   DTLTO_PLUGIN_PATH   folders to look for plugins in, separated as in PATH
//   DTLTO_STATUS        what the progress line begins with (Progress.h)
//   MAKEFLAGS           the build's jobserver (Support/Jobserver.h)
//   TERM                "dumb": lines can't be overwritten
//   XDG_CACHE_HOME, HOME   where the user's cache folder is
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_OPTIONS_H
#define DTLTO_RUN_OPTIONS_H

#include "Host/HostContext.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace dtlto {

enum class FallbackKind { Local, None };
enum class ProgressKind { Auto, Always, Never };
enum class OrderKind { Cost, Link };
enum class StatusKind { None, Table, JSON };
enum class CacheKind { Separate, Shared };

/// Below, a slim module takes more time to make than its bytes would.
constexpr unsigned DefaultSlimFrom = 4096;

/// With --thinlto-dist-split=auto, a part has at least so many instructions,
/// about a second of code generation.
constexpr unsigned MinAutoPart = 10000;

struct Options : JobOptions {
  std::string Plugin; // name or path; empty: in-process ThinLTO as ever
  FallbackKind Fallback = FallbackKind::Local;
  std::optional<unsigned> LocalJobs; // next to the plugin's; nothing: what pays
  OrderKind Order = OrderKind::Cost; // that jobs are started in
  // How much of the link's work may be done twice, against stragglers.
  unsigned DuplicatePercent = 25;
  unsigned VerifyPercent = 0;
  std::optional<uint64_t> VerifySeed; // of the sample; nothing: the link's own
  // Whether other machines' objects have keys of their own in the cache.
  CacheKind Cache = CacheKind::Separate;
  ProgressKind Progress = ProgressKind::Auto;
  std::string SaveJobs; // a folder; empty: save none
  /// A folder of optimised modules, or keepsInFarm(); empty: keep none.
  std::string KeepIR;
  std::string Report;                   // a file, .html or .json; empty: none
  std::string Log;                      // of events, a file; empty: none
  StatusKind Status = StatusKind::None; // show the farm, and don't link
  // Instructions of a part that a long module is compiled in; 0: none is.
  unsigned Split = 0;
  bool SplitIsAuto = false; // Split is MinAutoPart
  // Modules of so many bytes and more are imported as slim ones; no value:
  // none.
  std::optional<unsigned> SlimFrom = DefaultSlimFrom;
  // The file of the cost history; empty: none; nothing: where it is by default.
  std::optional<std::string> Costs;

  // From the rest of the command line and the environment.
  std::string CacheFolder; // of LLD's ThinLTO cache; may be empty
  std::string KeepsWhole;  // an option with which none is split
  bool Version = false;    // LLD is asked for its version
  bool MayNotLink = false; // LLD may only print that, or write index files
  std::vector<std::string> PluginPath; // DTLTO_PLUGIN_PATH
  std::string StatusFormat;            // DTLTO_STATUS, or the default
  bool DumbTerminal = false;           // TERM
  std::string MakeFlags;               // MAKEFLAGS

  /// Not in a folder of that name, which is ./farm.
  bool keepsInFarm() const { return KeepIR == "farm"; }
  /// Whether an option was given that means nothing without a plugin.
  bool needsPlugin() const { return Plugin.empty() && !FirstOption.empty(); }
  std::string FirstOption;
};

/// Sets the option \p Name (`thinlto-dist-timeout`, without dashes) to
/// \p Value, or to its default meaning if there is none. Fails with a message
/// that names the option, in its spelling on the command line \p Spelling.
llvm::Error setOption(Options &Opts, llvm::StringRef Name,
                      std::optional<llvm::StringRef> Value,
                      llvm::StringRef Spelling);

/// Whether \p Name is for setOption() to judge, rather than for LLD:
/// `thinlto-dist-` and anything, and `thinlto-distribute`. LLVM's own
/// `thinlto-distributor` is LLD's.
bool isOurOption(llvm::StringRef Name);

/// Prints what each option is for, after the help of LLD.
void printHelp(llvm::raw_ostream &OS, bool IsCOFF);

/// Reads the environment. Fails with a message that names the variable.
llvm::Error readEnvironment(Options &Opts);

/// The file that the link's cost history (CostHistory.h) is kept in: the one
/// that the user chose, else one in the user's cache folder. Empty if there
/// shall be none, or if the user has no such folder. Asks the environment.
std::string costHistoryPath(const Options &Opts);

} // namespace dtlto

#endif // DTLTO_RUN_OPTIONS_H
