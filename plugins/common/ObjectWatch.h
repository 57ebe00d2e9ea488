//===- ObjectWatch.h - Detects when jobs begin and end ----------*- C++ -*-===//
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

/// Detects that a job's first file is read and that its last file is complete.
/// Uses inotify, and also scans the files once a second, since inotify misses
/// writes by other machines on a network file system. One thread.
class ObjectWatch {
public:
  /// Calls \p OnBegin when a job has begun, and \p OnComplete when a job's last
  /// file may be complete. \p OnComplete returns whether it was. Both may call
  /// remove().
  ObjectWatch(const JobFolder &Folder, std::function<void(uint64_t)> OnBegin,
              std::function<bool(uint64_t)> OnComplete);

  /// For poll(); -1 if the system has no inotify instance left.
  int fd() const { return Notify.get(); }
  /// Whether \p File begins or ends a job.
  bool has(const std::string &File) const { return ByName.count(File) != 0; }
  /// Watches the files of \p Job, whose folder exists.
  void add(uint64_t Job, const std::string &FirstFile,
           const std::string &LastFile);
  /// Starts watching \p Job, which a program has now. Ignores what happened to
  /// its files before; call readEvents() first to drop queued events.
  void start(uint64_t Job) { Jobs.at(Job).IsStarted = true; }
  void remove(uint64_t Job);

  void readEvents();
  /// Reports files that haven't changed since the last scan, if one is due.
  void scan();

private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::string FirstFile, LastFile;
    bool IsStarted = false;
    // Size and time of the last file: at the last scan, and when it was found
    // incomplete.
    std::pair<uint64_t, uint64_t> Stamp{}, RefusedStamp{};
  };
  void handleEvent(const std::string &Name, bool IsOpened);

  const JobFolder &Folder;
  const std::function<void(uint64_t)> OnBegin;
  const std::function<bool(uint64_t)> OnComplete;
  const Descriptor Notify;
  std::map<int, std::string>
      WatchPrefixes; // name prefixes, by inotify's number
  std::map<uint64_t, Entry> Jobs;
  std::map<std::string, uint64_t> ByName; // jobs, by both files
  Clock::time_point NextScan{};
};

} // namespace dtlto

#endif // DTLTO_PLUGINS_OBJECTWATCH_H
