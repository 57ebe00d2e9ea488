//===- Statistics.cpp - What a user's links did, added up -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Statistics.h"
#include "Report/TimelineSummary.h"
#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

// The format of the file.
static constexpr int64_t FileVersion = 1;
static constexpr StringLiteral VersionKey = "dtlto-statistics";
// The most that a file of the largest size has.
static constexpr size_t MaxFileSize = 4 << 20;

JobCounts Statistics::jobs() const {
  JobCounts Sum;
  for (const auto &[Name, P] : Plugins) {
    Sum.Remote += P.Jobs.Remote;
    Sum.Local += P.Jobs.Local;
    Sum.Cached += P.Jobs.Cached;
    Sum.RemoteCache += P.Jobs.RemoteCache;
  }
  return Sum;
}

//===----------------------------------------------------------------------===//
// Adding a link
//===----------------------------------------------------------------------===//

static void add(JobCounts &Counts, JobRecord::Source From) {
  if (From == JobRecord::Source::Worker)
    ++Counts.Remote;
  else if (From == JobRecord::Source::Local)
    ++Counts.Local;
  else if (From == JobRecord::Source::Cache)
    ++Counts.Cached;
  else if (From == JobRecord::Source::RemoteCache)
    ++Counts.RemoteCache;
}

/// Adds \p New, which becomes the first.
static void addWorker(std::vector<WorkerStatistics> &Workers,
                      const WorkerStatistics &New) {
  auto It = find_if(Workers, [&](const WorkerStatistics &W) {
    return W.Name == New.Name && W.Plugin == New.Plugin;
  });
  if (It == Workers.end())
    It = Workers.insert(It, {New.Plugin, New.Name});
  It->Jobs += New.Jobs;
  It->Failures += New.Failures;
  It->Retries += New.Retries;
  It->Seconds += New.Seconds;
  It->LastUse = New.LastUse;
  std::rotate(Workers.begin(), It, std::next(It));
}

/// Adds the times of one output's modules. The last time of a module counts.
static void addModules(std::vector<ModuleTime> &Slowest, StringRef Output,
                       const StringMap<double> &Times) {
  erase_if(Slowest, [&](const ModuleTime &M) {
    return M.Output == Output && Times.contains(M.Module);
  });
  for (const auto &Entry : Times) {
    auto It = partition_point(Slowest, [&](const ModuleTime &M) {
      return M.Seconds >= Entry.second;
    });
    if (It == Slowest.end() && Slowest.size() == MaxStatModules)
      continue;
    Slowest.insert(It, {Entry.first().str(), Output.str(), Entry.second});
    Slowest.resize(std::min(Slowest.size(), MaxStatModules));
  }
}

void dtlto::addLink(Statistics &S, const Timeline &T, StringRef Output,
                    StringRef Plugin) {
  LinkStatistics Link;
  Link.Time = std::chrono::system_clock::to_time_t(T.date());
  Link.Output = Output.str();
  Link.Plugin = Plugin.str();
  Link.HasFailed = T.hasFailed();
  Link.Seconds = std::max(0.0, T.end());
  std::map<std::string, WorkerStatistics> Workers;
  StringMap<double> ModuleTimes;
  for (const JobRecord &J : T.jobs()) {
    add(Link.Jobs, J.From);
    for (size_t I = 0; I != J.Attempts.size(); ++I) {
      const AttemptRecord &A = J.Attempts[I];
      if (A.Accepted != NoTime && !A.RanLocally)
        S.BytesSent += int64_t(J.PrimaryBytes + J.ImportBytes + J.ShardBytes);
      if (!hasFailed(A) || A.Worker.empty())
        continue;
      WorkerStatistics &W = Workers[A.Worker];
      ++W.Failures;
      W.Retries += I + 1 != J.Attempts.size() &&
                   J.Attempts[I + 1].TheKind == AttemptRecord::Kind::Retry;
    }
    const AttemptRecord *Winner = winner(J);
    if (!Winner)
      continue;
    double Seconds = runSeconds(*Winner);
    Link.Work += Seconds;
    ModuleTimes[J.Name] = Seconds;
    if (J.From != JobRecord::Source::Worker)
      continue;
    S.BytesReceived += int64_t(J.ObjectBytes);
    if (Winner->Worker.empty())
      continue;
    WorkerStatistics &W = Workers[Winner->Worker];
    ++W.Jobs;
    W.Seconds += Seconds;
  }
  // The first name becomes the first worker.
  for (auto &[Name, Worker] : reverse(Workers)) {
    Worker.Plugin = Link.Plugin;
    Worker.Name = Name;
    Worker.LastUse = Link.Time;
    addWorker(S.Workers, Worker);
  }
  S.Workers.resize(std::min(S.Workers.size(), MaxStatWorkers));
  addModules(S.Slowest, Output, ModuleTimes);

  if (S.Since == 0)
    S.Since = Link.Time;
  ++S.Links;
  S.FailedLinks += Link.HasFailed;
  S.Seconds += Link.Seconds;
  S.Work += Link.Work;
  PluginStatistics &P = S.Plugins[Link.Plugin];
  ++P.Links;
  P.Jobs.Remote += Link.Jobs.Remote;
  P.Jobs.Local += Link.Jobs.Local;
  P.Jobs.Cached += Link.Jobs.Cached;
  P.Jobs.RemoteCache += Link.Jobs.RemoteCache;
  S.Last.insert(S.Last.begin(), std::move(Link));
  S.Last.resize(std::min(S.Last.size(), MaxStatLinks));
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace dtlto {

// A file may have any numbers. Sums of these are valid.
static bool mapNumber(json::ObjectMapper &O, StringLiteral Name, int64_t &N) {
  return O.map(Name, N) && N >= 0 && N <= int64_t(1) << 53;
}
static bool mapNumber(json::ObjectMapper &O, StringLiteral Name,
                      double &Seconds) {
  return O.map(Name, Seconds) && Seconds >= 0 && Seconds <= 1e15;
}

// Found by argument-dependent lookup. Names in files may be any bytes.

static json::Value toJSON(const JobCounts &C) {
  return json::Object{{"remote", C.Remote},
                      {"local", C.Local},
                      {"cached", C.Cached},
                      {"remote_cache", C.RemoteCache}};
}
static bool fromJSON(const json::Value &V, JobCounts &C, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && mapNumber(O, "remote", C.Remote) &&
         mapNumber(O, "local", C.Local) && mapNumber(O, "cached", C.Cached) &&
         mapNumber(O, "remote_cache", C.RemoteCache);
}

static json::Value toJSON(const LinkStatistics &L) {
  return json::Object{{"time", L.Time},
                      {"output", json::fixUTF8(L.Output)},
                      {"plugin", json::fixUTF8(L.Plugin)},
                      {"failed", L.HasFailed},
                      {"jobs", toJSON(L.Jobs)},
                      {"seconds", L.Seconds},
                      {"work_seconds", L.Work}};
}
static bool fromJSON(const json::Value &V, LinkStatistics &L, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && mapNumber(O, "time", L.Time) && O.map("output", L.Output) &&
         O.map("plugin", L.Plugin) && O.map("failed", L.HasFailed) &&
         O.map("jobs", L.Jobs) && mapNumber(O, "seconds", L.Seconds) &&
         mapNumber(O, "work_seconds", L.Work);
}

static json::Value toJSON(const PluginStatistics &S) {
  return json::Object{{"links", S.Links}, {"jobs", toJSON(S.Jobs)}};
}
static bool fromJSON(const json::Value &V, PluginStatistics &S, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && mapNumber(O, "links", S.Links) && O.map("jobs", S.Jobs);
}

static json::Value toJSON(const WorkerStatistics &W) {
  return json::Object{{"plugin", json::fixUTF8(W.Plugin)},
                      {"name", json::fixUTF8(W.Name)},
                      {"jobs", W.Jobs},
                      {"failures", W.Failures},
                      {"retries", W.Retries},
                      {"seconds", W.Seconds},
                      {"last_use", W.LastUse}};
}
static bool fromJSON(const json::Value &V, WorkerStatistics &W, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && O.map("plugin", W.Plugin) && O.map("name", W.Name) &&
         mapNumber(O, "jobs", W.Jobs) && mapNumber(O, "failures", W.Failures) &&
         mapNumber(O, "retries", W.Retries) &&
         mapNumber(O, "seconds", W.Seconds) &&
         mapNumber(O, "last_use", W.LastUse);
}

static json::Value toJSON(const ModuleTime &M) {
  return json::Object{{"module", json::fixUTF8(M.Module)},
                      {"output", json::fixUTF8(M.Output)},
                      {"seconds", M.Seconds}};
}
static bool fromJSON(const json::Value &V, ModuleTime &M, json::Path P) {
  json::ObjectMapper O(V, P);
  return O && O.map("module", M.Module) && O.map("output", M.Output) &&
         mapNumber(O, "seconds", M.Seconds);
}

} // namespace dtlto

template <typename T> static json::Array arrayOf(const std::vector<T> &All) {
  json::Array Array;
  for (const T &Element : All)
    Array.push_back(toJSON(Element));
  return Array;
}

std::string dtlto::formatStatistics(const Statistics &S) {
  json::Object Plugins;
  for (const auto &[Name, P] : S.Plugins)
    Plugins[json::fixUTF8(Name)] = toJSON(P);
  json::Object All{{VersionKey, FileVersion},
                   {"since", S.Since},
                   {"links", S.Links},
                   {"failed_links", S.FailedLinks},
                   {"sent_bytes", S.BytesSent},
                   {"received_bytes", S.BytesReceived},
                   {"seconds", S.Seconds},
                   {"work_seconds", S.Work},
                   {"plugins", std::move(Plugins)},
                   {"workers", arrayOf(S.Workers)},
                   {"slowest_modules", arrayOf(S.Slowest)},
                   {"last_links", arrayOf(S.Last)}};
  std::string Text;
  raw_string_ostream OS(Text);
  OS << json::Value(std::move(All)) << '\n';
  return OS.str();
}

Expected<Statistics> dtlto::parseStatistics(StringRef Text) {
  Expected<json::Value> Value = json::parse(Text);
  if (!Value)
    return failure("it is damaged: " + toString(Value.takeError()));
  const json::Object *All = Value->getAsObject();
  if (!All || !All->get(VersionKey))
    return failure("it has no statistics of dtlto");
  if (All->getInteger(VersionKey) != FileVersion)
    return failure("it is of another version of dtlto");
  Statistics S;
  json::Path::Root Root("statistics");
  json::ObjectMapper O(*Value, Root);
  if (!O || !mapNumber(O, "since", S.Since) ||
      !mapNumber(O, "links", S.Links) ||
      !mapNumber(O, "failed_links", S.FailedLinks) ||
      !mapNumber(O, "sent_bytes", S.BytesSent) ||
      !mapNumber(O, "received_bytes", S.BytesReceived) ||
      !mapNumber(O, "seconds", S.Seconds) ||
      !mapNumber(O, "work_seconds", S.Work) || !O.map("plugins", S.Plugins) ||
      !O.map("workers", S.Workers) || !O.map("slowest_modules", S.Slowest) ||
      !O.map("last_links", S.Last))
    return failure("it is damaged: " + toString(Root.getError()));
  return S;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Expected<std::string> readText(StringRef Path) {
  Expected<std::optional<std::string>> Text =
      readSmallFile(Path.str(), MaxFileSize);
  if (!Text)
    return Text.takeError();
  if (*Text && (*Text)->size() > MaxFileSize)
    return failure("it is larger than statistics can be");
  return Text->value_or("");
}

Expected<Statistics> dtlto::readStatistics(StringRef Path) {
  Expected<std::string> Text = readText(Path);
  if (!Text)
    return Text.takeError();
  return Text->empty() ? Statistics() : parseStatistics(*Text);
}

/// Returns the text of the file \p Path, which will be replaced. Fails if the
/// file may be something that the user wants to keep.
static Expected<std::string> readToReplace(StringRef Path) {
  Expected<std::string> Text = readText(Path);
  // A failed file system may leave a file full of zeros.
  if (Text && Text->find_first_not_of('\0') == std::string::npos)
    return "";
  if (Text && !StringRef(*Text).contains(VersionKey))
    return failure("it has no statistics of dtlto");
  return Text;
}

Error dtlto::updateStatistics(StringRef Path, std::chrono::milliseconds Wait,
                              function_ref<void(Statistics &)> Change) {
  if (StringRef Folder = sys::path::parent_path(Path); !Folder.empty())
    if (std::error_code EC = sys::fs::create_directories(Folder))
      return failure("its folder cannot be created: " + EC.message());
  // Before the lock file is made: /dev/null must not get one.
  if (Expected<std::string> Text = readToReplace(Path); !Text)
    return Text.takeError();
  auto Lock = lockFile((Path + ".lock").str(), Wait);
  if (!Lock)
    return Lock.takeError();
  Expected<std::string> Text = readToReplace(Path);
  if (!Text)
    return Text.takeError();
  Expected<Statistics> S =
      Text->empty() ? Statistics() : parseStatistics(*Text);
  if (!S) { // damaged
    consumeError(S.takeError());
    S = Statistics();
  }
  Change(*S);
  if (Error E = replaceFile(
          Path, [&](raw_ostream &OS) { OS << formatStatistics(*S); }))
    return failure("it cannot be written: " + toString(std::move(E)));
  return Error::success();
}
