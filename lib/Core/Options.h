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
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_OPTIONS_H
#define DTLTO_CORE_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace dtlto {

enum class FallbackKind { Local, None };
enum class ProgressKind { Auto, Always, Never };

struct Options {
  std::string Plugin; // name or path; empty: in-process ThinLTO as ever
  std::vector<std::string> PluginArgs;
  FallbackKind Fallback = FallbackKind::Local;
  std::optional<unsigned> LocalJobs; // beside the plugin's; nothing: none
  unsigned TimeoutSeconds = 600;
  unsigned VerifyPercent = 0;
  ProgressKind Progress = ProgressKind::Auto;
  std::string SaveJobs; // a folder; empty: keep none
  bool Slim = true;     // jobs carry only what they import of other modules

  // From the rest of the command line and the environment.
  std::vector<std::string> LLVMOptions; // -mllvm and the like, a word each
  std::string OutputFile;               // for people; may be empty
  std::vector<std::string> PluginPath;  // DTLTO_PLUGIN_PATH

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

/// Reads the environment.
void readEnvironment(Options &Opts);

} // namespace dtlto

#endif // DTLTO_CORE_OPTIONS_H
