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
#include "Support/JSONShape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

// The format of the file.
static constexpr int64_t FileVersion = 1;
static constexpr StringLiteral VersionKey = "dtlto-statistics";
static constexpr FileKind StatisticsFile = {
    "statistics", "{\"dtlto-statistics\":", "it has no statistics of dtlto",
    /*MaxSize=*/4 << 20};
static constexpr unsigned MaxDepth = 16;

JobCounts Statistics::jobs() const {
  JobCounts Sum;
  for (const auto &[Name, P] : Plugins)
    Sum += P.Jobs;
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

/// Adds \p New, the workers of \p Link by name, which become the first.
static void addWorkers(std::vector<WorkerStatistics> &Workers,
                       std::map<std::string, WorkerStatistics> New,
                       const LinkStatistics &Link) {
  erase_if(Workers, [&](const WorkerStatistics &Old) {
    auto It = New.find(Old.Name);
    if (It == New.end() || Old.Plugin != Link.Plugin)
      return false;
    It->second.Jobs += Old.Jobs;
    It->second.Failures += Old.Failures;
    It->second.Retries += Old.Retries;
    It->second.Seconds += Old.Seconds;
    return true;
  });
  std::vector<WorkerStatistics> All;
  for (auto &[Name, W] : New) {
    W.Plugin = Link.Plugin;
    W.Name = Name;
    W.LastUse = Link.Time;
    All.push_back(std::move(W));
  }
  llvm::move(Workers, std::back_inserter(All));
  All.resize(std::min(All.size(), MaxStatWorkers));
  Workers = std::move(All);
}

using ModuleSeconds = std::vector<std::pair<StringRef, double>>;

/// Adds the times of one output's modules. The last time of a module counts.
static void addModules(std::vector<ModuleTime> &Slowest, StringRef Output,
                       const ModuleSeconds &Times) {
  erase_if(Slowest, [&](const ModuleTime &M) {
    return M.Output == Output &&
           any_of(Times, [&](auto &T) { return T.first == M.Module; });
  });
  for (auto [Module, Seconds] : Times) {
    auto It = partition_point(
        Slowest, [S = Seconds](const ModuleTime &M) { return M.Seconds >= S; });
    if (It == Slowest.end() && Slowest.size() == MaxStatModules)
      continue;
    Slowest.insert(It, {Module.str(), Output.str(), Seconds});
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
  ModuleSeconds ModuleTimes;
  // Each round has all modules.
  const size_t LastRound = T.stages().back().FirstJob;
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
    if (&J >= T.jobs().data() + LastRound)
      ModuleTimes.push_back({J.Name, Seconds});
    if (J.From != JobRecord::Source::Worker)
      continue;
    S.BytesReceived += int64_t(J.ObjectBytes);
    if (Winner->Worker.empty())
      continue;
    WorkerStatistics &W = Workers[Winner->Worker];
    ++W.Jobs;
    W.Seconds += Seconds;
  }
  addWorkers(S.Workers, std::move(Workers), Link);
  addModules(S.Slowest, Output, ModuleTimes);

  if (S.Since == 0)
    S.Since = Link.Time;
  ++S.Links;
  S.FailedLinks += Link.HasFailed;
  S.Seconds += Link.Seconds;
  S.Work += Link.Work;
  PluginStatistics &P = S.Plugins[Link.Plugin];
  ++P.Links;
  P.Jobs += Link.Jobs;
  S.Last.insert(S.Last.begin(), std::move(Link));
  S.Last.resize(std::min(S.Last.size(), MaxStatLinks));
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

// Names may be any bytes.
static void write(json::OStream &J, const std::string &Text) {
  J.value(json::fixUTF8(Text));
}
static void write(json::OStream &J, int64_t N) { J.value(N); }
static void write(json::OStream &J, double N) { J.value(N); }
static void write(json::OStream &J, bool B) { J.value(B); }

template <typename T> static void writeFields(json::OStream &J, const T &All);

template <typename T> static void write(json::OStream &J, const T &All) {
  J.object([&] { writeFields(J, All); });
}
template <typename T>
static void write(json::OStream &J, const std::vector<T> &All) {
  J.array([&] {
    for (const T &Element : All)
      write(J, Element);
  });
}
template <typename T>
static void write(json::OStream &J, const std::map<std::string, T> &All) {
  J.object([&] {
    for (const auto &[Name, Element] : All) {
      J.attributeBegin(json::fixUTF8(Name));
      write(J, Element);
      J.attributeEnd();
    }
  });
}
template <typename T> static void writeFields(json::OStream &J, const T &All) {
  T::fields(All, [&](StringRef Name, const auto &Field) {
    J.attributeBegin(Name);
    write(J, Field);
    J.attributeEnd();
  });
}

std::string dtlto::formatStatistics(const Statistics &S) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS.SetBufferSize(16 << 10);
  json::OStream J(OS);
  J.object([&] {
    J.attribute(VersionKey, FileVersion);
    writeFields(J, S);
  });
  OS << '\n';
  OS.flush();
  return Text;
}

namespace dtlto {

// A file may have any numbers. Sums of these are valid.
static bool readField(json::ObjectMapper &O, StringLiteral Name, int64_t &N) {
  return O.map(Name, N) && N >= 0 && N <= int64_t(1) << 53;
}
static bool readField(json::ObjectMapper &O, StringLiteral Name,
                      double &Seconds) {
  return O.map(Name, Seconds) && Seconds >= 0 && Seconds <= 1e15;
}
template <typename T>
static bool readField(json::ObjectMapper &O, StringLiteral Name, T &Field) {
  return O.map(Name, Field);
}

// Found by argument-dependent lookup.
template <typename T, typename = decltype(&T::template fields<T, int>)>
static bool fromJSON(const json::Value &V, T &All, json::Path P) {
  json::ObjectMapper O(V, P);
  bool IsGood = bool(O);
  T::fields(All, [&](StringLiteral Name, auto &Field) {
    IsGood = IsGood && readField(O, Name, Field);
  });
  return IsGood;
}

} // namespace dtlto

Expected<Statistics> dtlto::parseStatistics(StringRef Text) {
  if (JSONShape(Text).Depth > MaxDepth)
    return failure("it is damaged: brackets are nested too deep");
  Expected<json::Value> Value = json::parse(Text);
  if (!Value)
    return failure("it is damaged: " + toString(Value.takeError()));
  const json::Object *All = Value->getAsObject();
  if (!All || !All->get(VersionKey))
    return failure(StatisticsFile.Other);
  if (All->getInteger(VersionKey) != FileVersion)
    return failure("it is of another version of dtlto");
  Statistics S;
  json::Path::Root Root("statistics");
  if (!fromJSON(*Value, S, Root))
    return failure("it is damaged: " + toString(Root.getError()));
  return S;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Expected<Statistics> dtlto::readStatistics(StringRef Path) {
  auto Text =
      readTextFile(Path, StatisticsFile.MaxSize, StatisticsFile.Content);
  if (!Text)
    return Text.takeError();
  return !*Text || (*Text)->empty() ? Statistics() : parseStatistics(**Text);
}

Error dtlto::updateStatistics(StringRef Path, std::chrono::milliseconds Wait,
                              function_ref<void(Statistics &)> Change) {
  return updateFile(Path, StatisticsFile, Wait, [&](StringRef Text) {
    Statistics S; // of a damaged file, too
    consumeError(parseStatistics(Text).moveInto(S));
    Change(S);
    return formatStatistics(S);
  });
}
