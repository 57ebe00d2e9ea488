//===- PluginLoader.h - Finding and checking a plugin -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_PLUGINLOADER_H
#define DTLTO_HOST_PLUGINLOADER_H

#include "Link/Options.h"
#include "dtlto/PluginAPI.h"

namespace dtlto {

/// Loads the plugin that \p Opts names and checks its ABI; nothing of it is
/// called. A name with a `/` is a path. Any other, `x` or `libdtlto_x.so`, is
/// looked for in \p Folder, then in DTLTO_PLUGIN_PATH. The plugin stays loaded.
/// Fails with one line that names the plugin.
llvm::Expected<const dtlto_plugin *> loadPlugin(const Options &Opts,
                                                llvm::StringRef Folder);

/// Checks what a plugin exports, which may be of another major version and hold
/// no more than a size and a version. \p Name is for messages.
llvm::Error checkPlugin(const void *Exported, llvm::StringRef Name);

} // namespace dtlto

#endif // DTLTO_HOST_PLUGINLOADER_H
