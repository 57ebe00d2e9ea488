//===- PluginLoader.h - Finding and checking a plugin -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_PLUGINLOADER_H
#define DTLTO_HOST_PLUGINLOADER_H

#include "dtlto/PluginAPI.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// Loads the plugin \p Name and checks its ABI, without calling it. A name with
/// a `/` is a path. Any other, `x` or `libdtlto_x.so`, is searched in
/// \p Folders, in order. The plugin stays loaded. Fails with one line that
/// names the plugin.
llvm::Expected<const dtlto_plugin *>
loadPlugin(llvm::StringRef Name, llvm::ArrayRef<std::string> Folders);

/// A library in a plugin folder.
struct PluginFile {
  std::string Name, Path;
};

/// Returns the plugins in \p Folders and the libraries of remote caches, by
/// name. Of several with one name, loadPlugin() loads the first.
std::vector<PluginFile> findPlugins(llvm::ArrayRef<std::string> Folders);

/// Whether \p Name is that of a library for remote caches (dtlto/ext/store.h).
bool isStoreName(llvm::StringRef Name);

/// Checks a plugin's exported struct, which may have another major version and
/// only a size and a version. \p Name is for messages.
llvm::Error checkPlugin(const void *Exported, llvm::StringRef Name);

/// Returns `x` for `x`, `libdtlto_x.so`, and a path of such a file.
llvm::StringRef shortPluginName(llvm::StringRef Name);

/// Whether \p Name is a plugin of dtlto itself, and is found in \p Folder,
/// where dtlto's own plugins are installed.
bool isShippedPlugin(llvm::StringRef Name, llvm::StringRef Folder);

} // namespace dtlto

#endif // DTLTO_HOST_PLUGINLOADER_H
