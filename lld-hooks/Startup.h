//===- Startup.h - What precedes a link with a plugin -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LLD_HOOKS_STARTUP_H
#define DTLTO_LLD_HOOKS_STARTUP_H

#include "LTO/Linker.h"

namespace dtlto {

/// A linker as the user sees it.
struct Frontend {
  llvm::StringRef Program;  // begins its messages
  std::string PluginFolder; // of the plugins that come with it
  llvm::StringRef Dashes;   // before an option's name
  bool IsVerbose = false;
};

/// Reports \p E, if any, on standard error. Returns the exit code.
int endWith(llvm::Error E, llvm::StringRef Program);

/// Reads the environment, loads the plugin that \p TheLinker's options name,
/// and checks the files that the user wants. For --thinlto-dist-status, shows
/// the farm and ends the process.
llvm::Error startPlugin(Linker &TheLinker, const Frontend &TheFrontend);

/// Answers --thinlto-dist-plugin=list and --thinlto-dist-plugin-help on
/// standard output. Returns the exit code.
int showPlugins(Options &Opts, const Frontend &TheFrontend);

/// Prints the options on standard output, for --thinlto-dist-show-config.
/// Returns the exit code.
int showConfig(const Options &Opts, llvm::StringRef Program);

} // namespace dtlto

#endif // DTLTO_LLD_HOOKS_STARTUP_H
