//===- PluginInfo.h - What plugins say about themselves ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's side of dtlto/ext/describe.h. A plugin's texts are not trusted:
// they are cleaned, and their number is limited.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_PLUGININFO_H
#define DTLTO_HOST_PLUGININFO_H

#include "dtlto/PluginAPI.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>
#include <vector>

namespace dtlto {

/// Texts for display, each one line.
struct PluginInfo {
  std::string Name, Version;
  std::string Summary, Vendor, Reports; // empty: unknown
  /// The form of an argument, such as "jobs=N", and a description.
  std::vector<std::pair<std::string, std::string>> Arguments;
  /// A variable's name, and a description.
  std::vector<std::pair<std::string, std::string>> Variables;
};

using LoadFunction =
    llvm::function_ref<llvm::Expected<const dtlto_plugin *>(llvm::StringRef)>;

/// Reads the description of \p Plugin, which has a second to return it. Without
/// one, only name and version are known.
llvm::Expected<PluginInfo> readPluginInfo(const dtlto_plugin &Plugin);

/// Returns lines about the plugin, its arguments and variables. \p Option
/// passes an argument.
std::string pluginHelp(const PluginInfo &Info, llvm::StringRef Option);

/// Returns a line for each plugin in \p Folders, and for each library of a
/// remote cache. \p Load loads one by its name; if that fails, the line has the
/// reason.
std::string pluginList(llvm::ArrayRef<std::string> Folders, LoadFunction Load);

} // namespace dtlto

#endif // DTLTO_HOST_PLUGININFO_H
