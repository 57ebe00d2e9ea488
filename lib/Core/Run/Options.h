//===- Options.h - The --thinlto-dist-... options ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only Options.cpp reads the linker's options and environment variables.
// Options.def describes them.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_OPTIONS_H
#define DTLTO_RUN_OPTIONS_H

#include "Host/HostContext.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
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
enum class CacheMode { Read, Write };
enum class CheckKind { Off, On, Error };

/// Where options are set. A later one overrides those before it.
enum class OptionLevel { MachineFile, UserFile, Environment, CommandLine };

/// One use of an option. \c Place is for display: "command line", "FILE:LINE".
struct OptionUse {
  std::string Name, Value;
  OptionLevel Level;
  std::string Place;
};

/// Slimming a smaller module takes longer than sending it.
constexpr unsigned DefaultSlimThreshold = 4096;

struct Options : JobOptions {
  std::string Plugin; // name or path; empty: in-process ThinLTO
  CheckKind CheckPlugin = CheckKind::Off;
  FallbackKind Fallback = FallbackKind::Local;
  std::optional<unsigned> LocalJobs; // next to the plugin's; unset: automatic
  OrderKind Order = OrderKind::Cost; // in which jobs start
  // The share of the link's work that may be done twice, against stragglers.
  unsigned DuplicatePercent = 25;
  unsigned VerifyPercent = 0;
  std::optional<uint64_t> VerifySeed; // of the sample; unset: automatic
  // Whether other machines' objects have keys of their own in the cache.
  CacheKind Cache = CacheKind::Separate;
  std::string RemoteCache; // a URL; empty: none
  CacheMode RemoteCacheMode = CacheMode::Read;
  std::vector<std::string> RemoteCacheArgs;
  ProgressKind Progress = ProgressKind::Auto;
  std::string SaveJobs; // a folder; empty: save none
  /// A folder of optimised modules, or "farm" (keepsInFarm()); empty: keep
  /// none.
  std::string KeepIR;
  std::string Report;                   // a file, .html or .json; empty: none
  std::string Log;                      // a file for events; empty: none
  StatusKind Status = StatusKind::None; // show the farm, and don't link
  // The instructions of a part of a long module; 0: don't split modules; unset:
  // automatic.
  std::optional<unsigned> Split = 0;
  // Slim imported modules of this size or more; unset: none.
  std::optional<unsigned> SlimThreshold = DefaultSlimThreshold;
  // The cost history's file; empty: none; unset: the default path.
  std::optional<std::string> Costs;

  bool ShowConfig = false;  // show all options, and don't link
  bool ListPlugins = false; // show all plugins, and don't link
  /// Show this plugin's arguments, and don't link; empty: those of Plugin.
  std::optional<std::string> PluginHelp;
  bool IsDisabled = false; // DTLTO_DISABLE: no plugin for links
  /// All uses of options, those of lower levels first.
  std::vector<OptionUse> Uses;
  /// For the user, once there is a plugin. Debug notes are for --verbose.
  std::vector<std::string> Notes, DebugNotes;

  // From the rest of the command line and the environment.
  std::string LLVMgold;      // for other linkers; empty: LLVM's
  std::string CacheFolder;   // of LLD's ThinLTO cache; may be empty
  std::string NoSplitOption; // an option that prevents splitting
  bool Version = false;      // LLD prints its version
  bool MayNotLink = false;   // LLD may only print that, or write index files
  std::vector<std::string> PluginPath; // DTLTO_PLUGIN_PATH
  std::string StatusFormat;            // DTLTO_STATUS, or the default
  std::string StatsFile;               // of Statistics.h; empty: none
  bool DumbTerminal = false;           // TERM
  std::string MakeFlags;               // MAKEFLAGS

  bool isPluginQuery() const { return ListPlugins || PluginHelp; }
  /// A store that machines share. A folder of that name is ./farm.
  bool keepsInFarm() const { return KeepIR == "farm"; }
  /// The first option of the command line that needs a plugin; may be empty.
  std::string FirstOption;
};

/// Sets the option \p Name (`thinlto-dist-timeout`, without dashes) to
/// \p Value, or to its default if there is none. Fails with a message that
/// names the option as \p Spelling, its form on the command line. \p Level and
/// \p Place are those of OptionUse.
llvm::Error setOption(Options &Opts, llvm::StringRef Name,
                      std::optional<llvm::StringRef> Value,
                      llvm::StringRef Spelling,
                      OptionLevel Level = OptionLevel::CommandLine,
                      llvm::StringRef Place = "command line");

/// Whether setOption() handles \p Name, rather than LLD: `thinlto-distribute`
/// and anything with the prefix `thinlto-dist-`. LLVM's `thinlto-distributor`
/// is LLD's.
bool isDistOption(llvm::StringRef Name);

/// Prints a description of each option, after the help of LLD.
void printHelp(llvm::raw_ostream &OS, bool IsCOFF);

/// Prints the values of all options and where they are set, one a line.
void printOptions(const Options &Opts, llvm::raw_ostream &OS);

/// Reads the environment. Fails with a message that names the variable.
llvm::Error readEnvironment(Options &Opts);

/// Returns the path of the user's file \p Name in \p Folder, a function of
/// sys::path, or in the folder \p Default of the home folder. Empty if the user
/// has none. Reads the environment.
std::string
userFile(llvm::function_ref<bool(llvm::SmallVectorImpl<char> &)> Folder,
         llvm::StringRef Default, llvm::StringRef Name);

/// Returns the file of the link's cost history (CostHistory.h): the user's
/// choice, or one in the user's cache folder. Empty if the user wants none or
/// has no such folder. Reads the environment.
std::string costHistoryPath(const Options &Opts);

} // namespace dtlto

#endif // DTLTO_RUN_OPTIONS_H
