//===- PluginGuard.h - Plugins that hang, crash or exit ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plugin runs in the linker's process. The session handles errors of its
// calls. PluginGuard handles the rest: a plugin that hangs or crashes while it
// is loaded, and one that calls exit(), which would look like a successful
// link. (_exit(0) can't be detected.)
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_PLUGINGUARD_H
#define DTLTO_HOST_PLUGINGUARD_H

#include "dtlto/PluginAPI.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace dtlto {

/// Loads the plugin \p Name from \p Folders (PluginLoader.h), of which the
/// first has dtlto's own plugins. If loading takes longer than \p Limit
/// seconds, or a minute, or calls exit(), the process ends with an error of \p
/// Program; a crash's stack dump names the plugin. From then on, a crash prints
/// where to report it (CrashReport.h), and names the plugin unless it is
/// dtlto's own. \p LimitsInterrupts: also calls limitInterrupts().
llvm::Expected<const dtlto_plugin *>
loadGuarded(llvm::StringRef Program, llvm::StringRef Name,
            llvm::ArrayRef<std::string> Folders, unsigned Limit,
            bool LimitsInterrupts = false);

/// Call this before calls into the loaded plugin. From then on, LLVM doesn't
/// end the process by exit(0) any more, and exit() is an error. Thread-safe.
void guardAgainstExit();

/// Ends what guardAgainstExit() began, for linkers that end by exit(). The
/// plugin must not be called any more.
void endGuard();

/// Gives destructors at exit() 2 s, for linkers that end by it. Call this when
/// the plugin is loaded.
void limitDestructors();

/// Call this before the linker reads objects from \p Workers: a crash report
/// then names them (CrashReport.h). Doesn't return if there is a crash already.
/// Thread-safe.
void nameWorkersAtCrash(llvm::ArrayRef<std::string> Workers);

/// Restores the working folder and umask from before the plugin was loaded, so
/// that the output goes where the user wants it. Returns what the plugin had
/// changed, or "". Call this when the plugin isn't called any more.
std::string restoreProcess();

} // namespace dtlto

#endif // DTLTO_HOST_PLUGINGUARD_H
