//===- AutoPlugin.h - The plugin "auto" -------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_AUTOPLUGIN_H
#define DTLTO_HOST_AUTOPLUGIN_H

#include "Host/HostContext.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// The name that lets chooseAutoPlugin() choose a plugin.
inline constexpr llvm::StringLiteral AutoPlugin = "auto";

struct AutoChoice {
  llvm::StringRef Name;
  const dtlto_plugin *Plugin = nullptr;
  /// Why this one, and why not those before it; for the user.
  std::string Why;
  /// Whether the plugin accepts the user's arguments. If not, they are for a
  /// plugin that has no farm.
  bool TakesArgs = true;
};

/// Chooses the first plugin that finds a farm by \p Opts: reapi, distcc, icecc,
/// or else local. \p Load loads a plugin by its name. Each plugin has a second
/// to answer. Fails only if local can't be loaded.
llvm::Expected<AutoChoice> chooseAutoPlugin(
    const JobOptions &Opts, Messages &Msg,
    llvm::function_ref<llvm::Expected<const dtlto_plugin *>(llvm::StringRef)>
        Load);

} // namespace dtlto

#endif // DTLTO_HOST_AUTOPLUGIN_H
