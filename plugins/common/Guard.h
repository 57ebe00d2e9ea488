//===- Guard.h - Cleans up when the linker is killed ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_GUARD_H
#define DTLTO_PLUGINS_GUARD_H

#include "Process.h"
#include <memory>

namespace dtlto {

/// A shell that waits for the linker to end, even by a signal. It then ends the
/// programs that the plugin has started and removes the plugin's folder. One
/// thread.
class Guard {
public:
  /// Starts a guard that removes \p Folder, which may be empty. The guard keeps
  /// the descriptor \p Lock open, unless that is -1. Returns null with an errno
  /// in \p Errno on failure.
  static std::unique_ptr<Guard> start(const std::string &Folder, int Lock,
                                      int &Errno);
  /// Stops the guard. Programs and the folder stay.
  ~Guard();
  Guard(const Guard &) = delete;

  /// From now on, the guard will end the process group \p Group: SIGTERM, then
  /// SIGKILL.
  void watch(pid_t Group);
  /// Must be called before the group's first process is reaped: its number may
  /// be reused afterwards.
  void unwatch(pid_t Group);

private:
  Guard() = default;
  void writeLine(const std::string &Line);
  Descriptor Stream;
  Process Shell;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_GUARD_H
