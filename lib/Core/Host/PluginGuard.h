//===- PluginGuard.h - Plugins that don't let the linker go on --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plugin lives in the linker's process. What it does to its session, the
// session sees. This is about the rest: a plugin that hangs or crashes while it
// is loaded, and one that calls exit(), which would look like a link that
// succeeded. (Against _exit(0) there is no help.)
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_PLUGINGUARD_H
#define DTLTO_HOST_PLUGINGUARD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/PrettyStackTrace.h"
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace dtlto {

/// While it lives, the plugin \p Plugin is being loaded. If that takes longer
/// than \p Limit or calls exit(), the process ends with an error of \p Program;
/// a crash's stack dump names the plugin. From then on, a crash reports where
/// users should report it (CrashReport.h), and names the plugin unless it
/// \p IsOurs. One in a process.
class LoadGuard {
public:
  LoadGuard(llvm::StringRef Program, llvm::StringRef Plugin,
            std::chrono::seconds Limit, bool IsOurs);
  ~LoadGuard();
  LoadGuard(const LoadGuard &) = delete;

private:
  struct State {      // with the thread that watches
    std::mutex Mutex; // guards IsLoaded
    std::condition_variable Changed;
    bool IsLoaded = false;
  };

  const std::string Plugin;
  llvm::PrettyStackTraceFormat InStackDump;
  const std::shared_ptr<State> Watch = std::make_shared<State>();
};

/// From here on, the plugin that was loaded may be called, and LLVM doesn't end
/// the process by exit(0) any more: an exit() is an error. Any thread.
void guardAgainstExit();

/// From here on, the linker reads objects that \p Workers made: the report of a
/// crash names them (CrashReport.h). Any thread.
void nameWorkersAtCrash(llvm::ArrayRef<std::string> Workers);

/// Gives the process the working folder and umask back that it had before the
/// plugin was loaded, so that the output is where the user wants it. Returns
/// what the plugin had changed; empty: nothing. When it isn't called any more.
std::string restoreProcess();

} // namespace dtlto

#endif // DTLTO_HOST_PLUGINGUARD_H
