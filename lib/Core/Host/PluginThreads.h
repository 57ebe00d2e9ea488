//===- PluginThreads.h - Threads and faults of a plugin ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For PluginCheck.h: what a plugin's threads do wrong with memory, and which of
// them are left. Only on Linux.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_PLUGINTHREADS_H
#define DTLTO_HOST_PLUGINTHREADS_H

#include <optional>
#include <set>
#include <string>
#include <utility>

namespace dtlto {

/// From now on, records wrong accesses to loans (Rules/Loan.h), and makes them
/// possible. Call this after the plugin is loaded: run-time libraries install
/// handlers of their own then.
void recordMisuses();
/// From now on, a crash at a null pointer writes \p Note, a whole line or "",
/// which is never destroyed.
void noteNullPointer(const std::string &Note);

/// A recorded access, and where the instruction is, for addr2line.
struct RecordedMisuse {
  std::string What;
  const char *Fix;
};
/// Returns the next one. One thread at a time.
std::optional<RecordedMisuse> takeMisuse();

/// Gives the calling thread the name of threads \p Of the plugin, or of the
/// linker. Those that it starts inherit the name, and so on, unless they change
/// it.
class ThreadName {
public:
  enum Owner { Linker, Plugin };
  explicit ThreadName(Owner Of);
  ~ThreadName();

private:
  char Previous[16] = {};
};

/// Threads that have called the host, and may have changed their names.
class PluginThreads {
public:
  void addCaller();
  /// Returns how many of these run, and others with the name of the plugin's.
  unsigned count() const;

private:
  // With the time when it began: ids are used again.
  std::set<std::pair<int, std::string>> Callers;
};

} // namespace dtlto

#endif // DTLTO_HOST_PLUGINTHREADS_H
