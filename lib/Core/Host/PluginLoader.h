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

namespace dtlto {

/// Loads the plugin \p Name and checks its ABI; nothing of it is called. A name
/// with a `/` is a path. Any other, `x` or `libdtlto_x.so`, is looked for in
/// \p Folders, in their order. The plugin stays loaded. Fails with one line
/// that names the plugin.
llvm::Expected<const dtlto_plugin *>
loadPlugin(llvm::StringRef Name, llvm::ArrayRef<std::string> Folders);

/// Checks what a plugin exports, which may be of another major version and hold
/// no more than a size and a version. \p Name is for messages.
llvm::Error checkPlugin(const void *Exported, llvm::StringRef Name);

/// Whether \p Name is that of a plugin which comes with dtlto, and is found in
/// \p Folder, where dtlto's own plugins are installed.
bool isOwnPlugin(llvm::StringRef Name, llvm::StringRef Folder);

} // namespace dtlto

#endif // DTLTO_HOST_PLUGINLOADER_H
