//===- ObjectWatch.h - The files by which jobs begin and end ----*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_OBJECTWATCH_H
#define DTLTO_PLUGINS_OBJECTWATCH_H

#include "JobFolder.h"
#include <chrono>
#include <functional>
#include <map>

namespace dtlto {

/// Notices that a job's first file is read and that its last file is complete:
/// by inotify, and by a look at the files once a second, since inotify misses
/// writes by other machines on a network's file system. One thread.
class ObjectWatch {
public:
  /// \p Begun is called when a job has begun. \p Complete is called when a
  /// job's last file may be complete, and returns whether it was. Both may call
  /// remove().
  ObjectWatch(const JobFolder &Folder, std::function<void(uint64_t)> Begun,
              std::function<bool(uint64_t)> Complete);

  /// For poll(); -1 if the system has no inotify left.
  int fd() const { return Notify.get(); }
  /// Whether \p File begins or ends a job.
  bool has(const std::string &File) const { return ByName.count(File) != 0; }
  /// Watches the files of \p Job, whose folder exists.
  void add(uint64_t Job, const std::string &Begins, const std::string &Ends);
  /// A program has \p Job from now on. What happened to its files before, or
  /// before readEvents(), doesn't count.
  void start(uint64_t Job) { Jobs.at(Job).IsStarted = true; }
  void remove(uint64_t Job);

  void readEvents();
  /// Reports files that haven't changed since the last look, if one is due.
  void scan();

private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::string Begins, Ends;
    bool IsStarted = false;
    // Size and time of the last file at the last look, and when it was not
    // complete.
    std::pair<uint64_t, uint64_t> Seen{}, Refused{};
  };
  void event(const std::string &Name, bool IsOpened);

  const JobFolder &Folder;
  const std::function<void(uint64_t)> Begun;
  const std::function<bool(uint64_t)> Complete;
  const Descriptor Notify;
  std::map<int, std::string> Watched; // prefixes of names, by inotify's number
  std::map<uint64_t, Entry> Jobs;
  std::map<std::string, uint64_t> ByName; // jobs, by both files
  Clock::time_point NextScan{};
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_OBJECTWATCH_H
