//===- Statistics.h - What a user's links did, added up ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each link adds itself to one small file in the user's cache folder, which
// dtlto-stats shows. The file is a JSON object, and is replaced atomically
// under a lock. A link waits for the lock no longer than 10 ms, and otherwise
// isn't counted.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_STATISTICS_H
#define DTLTO_REPORT_STATISTICS_H

#include "Report/Timeline.h"
#include "llvm/Support/Error.h"
#include <map>

namespace dtlto {

// Each struct lists its fields for files: fields() calls F(name, field).

/// Numbers of jobs by where their objects came from.
struct JobCounts {
  int64_t Remote = 0, Local = 0, Cached = 0, RemoteCache = 0;
  int64_t all() const { return Remote + Local + Cached + RemoteCache; }
  void operator+=(const JobCounts &O) {
    Remote += O.Remote;
    Local += O.Local;
    Cached += O.Cached;
    RemoteCache += O.RemoteCache;
  }
  template <typename T, typename FnT> static void fields(T &C, FnT F) {
    F("remote", C.Remote);
    F("local", C.Local);
    F("cached", C.Cached);
    F("remote_cache", C.RemoteCache);
  }
};

/// A link. Times are in seconds.
struct LinkStatistics {
  int64_t Time = 0; // its beginning, since 1970
  std::string Output, Plugin;
  bool HasFailed = false;
  JobCounts Jobs;
  double Seconds = 0; // from its first job to its last
  double Work = 0;    // of the attempts that made objects

  template <typename T, typename FnT> static void fields(T &L, FnT F) {
    F("time", L.Time);
    F("output", L.Output);
    F("plugin", L.Plugin);
    F("failed", L.HasFailed);
    F("jobs", L.Jobs);
    F("seconds", L.Seconds);
    F("work_seconds", L.Work);
  }
};

struct PluginStatistics {
  int64_t Links = 0;
  JobCounts Jobs;

  template <typename T, typename FnT> static void fields(T &P, FnT F) {
    F("links", P.Links);
    F("jobs", P.Jobs);
  }
};

struct WorkerStatistics {
  std::string Plugin, Name;
  int64_t Jobs = 0;     // with objects from this worker
  int64_t Failures = 0; // failed attempts
  int64_t Retries = 0;  // failed attempts after which the job was tried again
  double Seconds = 0;   // of the attempts that made objects
  int64_t LastUse = 0;  // since 1970

  template <typename T, typename FnT> static void fields(T &W, FnT F) {
    F("plugin", W.Plugin);
    F("name", W.Name);
    F("jobs", W.Jobs);
    F("failures", W.Failures);
    F("retries", W.Retries);
    F("seconds", W.Seconds);
    F("last_use", W.LastUse);
  }
};

struct ModuleTime {
  std::string Module, Output;
  double Seconds = 0;

  template <typename T, typename FnT> static void fields(T &M, FnT F) {
    F("module", M.Module);
    F("output", M.Output);
    F("seconds", M.Seconds);
  }
};

struct Statistics {
  int64_t Since = 0; // since 1970
  int64_t Links = 0, FailedLinks = 0;
  int64_t BytesSent = 0, BytesReceived = 0;
  double Seconds = 0, Work = 0; // of all links
  std::map<std::string, PluginStatistics> Plugins;
  std::vector<WorkerStatistics> Workers; // the last used first
  std::vector<ModuleTime> Slowest;       // in falling order
  std::vector<LinkStatistics> Last;      // the latest first

  JobCounts jobs() const;

  template <typename T, typename FnT> static void fields(T &S, FnT F) {
    F("since", S.Since);
    F("links", S.Links);
    F("failed_links", S.FailedLinks);
    F("sent_bytes", S.BytesSent);
    F("received_bytes", S.BytesReceived);
    F("seconds", S.Seconds);
    F("work_seconds", S.Work);
    F("plugins", S.Plugins);
    F("workers", S.Workers);
    F("slowest_modules", S.Slowest);
    F("last_links", S.Last);
  }
};

/// The most workers, slow modules and links that are kept.
constexpr size_t MaxStatWorkers = 200, MaxStatModules = 10, MaxStatLinks = 10;

/// Adds the link with the record \p T.
void addLink(Statistics &S, const Timeline &T, llvm::StringRef Output,
             llvm::StringRef Plugin);

/// Returns the content of a file with \p S.
std::string formatStatistics(const Statistics &S);
/// Returns the statistics of a file with \p Text. Fails with a reason if the
/// file is damaged, or is none.
llvm::Expected<Statistics> parseStatistics(llvm::StringRef Text);

/// Reads the file \p Path. Without a file, there are no statistics.
llvm::Expected<Statistics> readStatistics(llvm::StringRef Path);

/// Lets \p Change modify the statistics of the file \p Path, under its lock.
/// Creates the file and its folder. Starts again from nothing if the file is
/// damaged, but fails if it holds anything else, or if another process keeps
/// the lock for longer than \p Wait.
llvm::Error updateStatistics(llvm::StringRef Path,
                             std::chrono::milliseconds Wait,
                             llvm::function_ref<void(Statistics &)> Change);

} // namespace dtlto

#endif // DTLTO_REPORT_STATISTICS_H
