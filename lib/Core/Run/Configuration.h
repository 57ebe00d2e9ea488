//===- Configuration.h - Options from files and variables -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linker's options may also be set for a user or a machine. From the lowest
// precedence to the highest:
//
//   /etc/dtlto.conf              on Windows, %ProgramData%\dtlto.conf
//   $XDG_CONFIG_HOME/dtlto.conf  by default ~/.config/dtlto.conf
//   DTLTO_OPTIONS
//   the command line
//
// Files have lines `name = value`, empty lines, and comments that begin with
// `#`. DTLTO_OPTIONS has such lines, or options as on the command line. Names
// may begin with two dashes, and may leave out `thinlto-dist-`. No file of the
// current folder is read: a checkout must not choose who compiles.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_CONFIGURATION_H
#define DTLTO_RUN_CONFIGURATION_H

#include "Host/PluginInfo.h"
#include "Run/Options.h"

namespace dtlto {

/// Reads DTLTO_DISABLE, both files, DTLTO_OPTIONS and DTLTO_CHECK_PLUGIN. Call
/// it before the options of the command line are set. A file that can't be read
/// is a note, a wrong line an error that names file and line.
llvm::Error readConfiguration(Options &Opts);

/// Reads the text of a configuration file. \p Path is for messages.
llvm::Error readConfigurationText(Options &Opts, llvm::StringRef Text,
                                  llvm::StringRef Path, OptionLevel Level);

/// Reads the value of DTLTO_OPTIONS.
llvm::Error readOptionsVariable(Options &Opts, llvm::StringRef Text);

/// Removes arguments that were set next to another plugin than the one in use.
void selectPluginArgs(Options &Opts);

/// Call it after the options of the command line are set. Calls
/// selectPluginArgs(), and removes the plugin if DTLTO_DISABLE is set. Fails if
/// an option of the command line needs a plugin and none is set. \p Dashes
/// precede an option's name in messages.
llvm::Error finishOptions(Options &Opts, llvm::StringRef Dashes);

/// Returns the folders that have plugins: \p Own, then those of the user.
std::vector<std::string> pluginFolders(const Options &Opts,
                                       llvm::StringRef Own);

/// Loads the plugin that \p Opts name, by \p Load. For "auto", chooses one,
/// replaces the name in \p Opts, and adds a note. If \p Opts ask for checks,
/// returns the layer that makes them.
llvm::Expected<const dtlto_plugin *>
loadNamedPlugin(Options &Opts, Messages &Msg, LoadFunction Load);

/// Answers --thinlto-dist-plugin=list or --thinlto-dist-plugin-help on standard
/// output. \p Load loads plugins from \p Folders.
llvm::Error showPlugins(Options &Opts, llvm::ArrayRef<std::string> Folders,
                        llvm::StringRef Dashes, Messages &Msg,
                        LoadFunction Load);

/// Loads the library of the remote cache that \p Opts name, by \p Load; null if
/// they name none.
llvm::Expected<const dtlto_plugin *> loadStorePlugin(const Options &Opts,
                                                     LoadFunction Load);

/// Shows the notes of \p Opts.
void showNotes(const Options &Opts, Messages &Msg);

} // namespace dtlto

#endif // DTLTO_RUN_CONFIGURATION_H
