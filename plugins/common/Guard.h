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

/// A shell that waits for the end of the linker, even by a signal. It then ends
/// the programs that the plugin has started and removes the plugin's folder.
/// One thread.
class Guard {
public:
  /// \p Folder: what to remove; may be empty. \p Lock: a descriptor that the
  /// guard keeps open, or -1. Returns null with an errno in \p Why.
  static std::unique_ptr<Guard> start(const std::string &Folder, int Lock,
                                      int &Why);
  /// Ends the guard. It ends no program and removes nothing.
  ~Guard();
  Guard(const Guard &) = delete;

  /// From now on the guard ends the process group \p Group: SIGTERM, then
  /// SIGKILL.
  void watch(pid_t Group);
  /// To be called before the group's first process is waited for: its number
  /// may be another process's afterwards.
  void unwatch(pid_t Group);

private:
  Guard() = default;
  void tell(const std::string &Line);
  Descriptor Stream;
  Process Shell;
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_GUARD_H
