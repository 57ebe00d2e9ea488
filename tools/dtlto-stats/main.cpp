//===- main.cpp - Shows what a user's links did ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the user's statistics (Statistics.h) for people, as JSON, or in
// Prometheus' text format, for example for node exporter's textfile collector.
//
//===----------------------------------------------------------------------===//

#include "Report/Statistics.h"
#include "Run/Options.h"
#include "Support/Text.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;

static constexpr StringLiteral Program = "dtlto-stats";
// How long --zero waits for links that add their numbers.
static constexpr std::chrono::seconds MaxWait(5);

static int fail(const Twine &Why) {
  errs() << Program << ": error: " << Why << '\n';
  return 1;
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

static std::string date(int64_t Time) {
  sys::TimePoint<> Point = sys::toTimePoint(static_cast<std::time_t>(Time));
  return formatv("{0:%Y-%m-%d %H:%M}", Point);
}

static std::string duration(double Seconds) {
  auto N = static_cast<uint64_t>(Seconds);
  if (N < 60)
    return formatv("{0:f1} s", Seconds);
  if (N < 3600)
    return formatv("{0} min {1} s", N / 60, N % 60);
  return formatv("{0} h {1} min", N / 3600, N / 60 % 60);
}

static std::string bytes(int64_t N) {
  static constexpr StringLiteral Units[] = {"", "kB", "MB", "GB", "TB"};
  size_t Unit = 0;
  auto Value = static_cast<double>(N);
  for (; Value >= 1000 && Unit + 1 != std::size(Units); ++Unit)
    Value /= 1000;
  if (Unit == 0)
    return formatCount(N, "byte");
  return formatv("{0:f1} {1}", Value, Units[Unit]);
}

static std::string seconds(double S) { return formatv("{0:f1}", S); }

using Rows = std::vector<std::vector<std::string>>;

static void printPlugins(const Statistics &S, raw_ostream &OS) {
  Rows Table = {
      {"PLUGIN", "LINKS", "REMOTE", "LOCAL", "CACHED", "REMOTE CACHE"}};
  for (const auto &[Name, P] : S.Plugins)
    Table.push_back(
        {printable(Name), std::to_string(P.Links),
         std::to_string(P.Jobs.Remote), std::to_string(P.Jobs.Local),
         std::to_string(P.Jobs.Cached), std::to_string(P.Jobs.RemoteCache)});
  OS << '\n' << alignColumns(Table, "lrrrrr");
}

static void printWorkers(const Statistics &S, raw_ostream &OS) {
  if (S.Workers.empty())
    return;
  Rows Table = {{"WORKER", "PLUGIN", "JOBS", "FAILURES", "RETRIES", "WORK"}};
  for (const WorkerStatistics &W : S.Workers)
    Table.push_back({printable(W.Name), printable(W.Plugin),
                     std::to_string(W.Jobs), std::to_string(W.Failures),
                     std::to_string(W.Retries), duration(W.Seconds)});
  OS << '\n' << alignColumns(Table, "llrrrr");
}

static void printModules(const Statistics &S, raw_ostream &OS) {
  if (S.Slowest.empty())
    return;
  Rows Table = {{"SECONDS", "SLOWEST MODULE", "OUTPUT"}};
  for (const ModuleTime &M : S.Slowest)
    Table.push_back(
        {seconds(M.Seconds), printable(M.Module), printable(M.Output)});
  OS << '\n' << alignColumns(Table, "rll");
}

static void printLinks(const Statistics &S, raw_ostream &OS) {
  Rows Table = {{"LAST LINKS", "PLUGIN", "REMOTE", "LOCAL", "CACHED",
                 "REMOTE CACHE", "SECONDS", "WORK", "OUTPUT"}};
  for (const LinkStatistics &L : S.Last)
    Table.push_back(
        {date(L.Time), printable(L.Plugin), std::to_string(L.Jobs.Remote),
         std::to_string(L.Jobs.Local), std::to_string(L.Jobs.Cached),
         std::to_string(L.Jobs.RemoteCache), seconds(L.Seconds),
         seconds(L.Work),
         printable(L.Output) + (L.HasFailed ? " (failed)" : "")});
  OS << '\n' << alignColumns(Table, "llrrrrrrl");
}

static void printText(const Statistics &S, raw_ostream &OS) {
  if (S.Links == 0) {
    OS << "no link was counted yet\n";
    return;
  }
  const JobCounts Jobs = S.jobs();
  OS << "since " << date(S.Since) << ": " << formatCount(S.Links, "link")
     << ", " << S.FailedLinks << " failed\n"
     << formatCount(Jobs.all(), "job") << ": " << Jobs.Remote << " remote, "
     << Jobs.Local << " local, " << Jobs.Cached << " from LLVM's cache, "
     << Jobs.RemoteCache << " from the remote cache\n"
     << "time: " << duration(S.Seconds) << " for " << duration(S.Work)
     << " of work\n"
     << "bytes: " << bytes(S.BytesSent) << " sent, " << bytes(S.BytesReceived)
     << " received\n";
  printPlugins(S, OS);
  printWorkers(S, OS);
  printModules(S, OS);
  printLinks(S, OS);
}

//===----------------------------------------------------------------------===//
// For Prometheus
//===----------------------------------------------------------------------===//

/// Prints samples in the text format 0.0.4:
/// https://prometheus.io/docs/instrumenting/exposition_formats/
class MetricsWriter {
public:
  explicit MetricsWriter(raw_ostream &OS) : OS(OS) {}

  void begin(StringRef Metric, StringRef Type, StringRef Help) {
    Name = Metric;
    OS << "# HELP " << Name << ' ' << Help << "\n# TYPE " << Name << ' ' << Type
       << '\n';
  }
  using Labels = std::vector<std::pair<StringRef, StringRef>>;
  void sample(const Labels &All, double Value) {
    sampleText(All, formatv("{0:f6}", Value));
  }
  void sample(const Labels &All, int64_t Value) {
    sampleText(All, std::to_string(Value));
  }

private:
  void sampleText(const Labels &All, const std::string &Value) {
    OS << Name;
    char Before = '{';
    for (const auto &[Label, Text] : All) {
      OS << Before << Label << "=\"" << escaped(Text) << '"';
      Before = ',';
    }
    OS << (All.empty() ? " " : "} ") << Value << '\n';
  }
  static std::string escaped(StringRef Text) {
    std::string Result;
    for (char C : Text)
      if (C == '\n')
        Result += "\\n";
      else
        Result +=
            C == '"' || C == '\\' ? std::string("\\") + C : std::string(1, C);
    return Result;
  }

  raw_ostream &OS;
  StringRef Name;
};

static void printPrometheus(const Statistics &S, raw_ostream &OS) {
  MetricsWriter W(OS);
  W.begin("dtlto_links_total", "counter", "ThinLTO links with a plugin.");
  W.sample({{"result", "success"}}, S.Links - S.FailedLinks);
  W.sample({{"result", "failure"}}, S.FailedLinks);
  W.begin("dtlto_link_seconds_total", "counter",
          "Time of links from their first job to their last.");
  W.sample({}, S.Seconds);
  W.begin("dtlto_work_seconds_total", "counter",
          "Time of the compiles that made objects.");
  W.sample({}, S.Work);
  W.begin("dtlto_jobs_total", "counter", "Objects by where they came from.");
  for (const auto &[Name, P] : S.Plugins) {
    W.sample({{"plugin", Name}, {"source", "remote"}}, P.Jobs.Remote);
    W.sample({{"plugin", Name}, {"source", "local"}}, P.Jobs.Local);
    W.sample({{"plugin", Name}, {"source", "cache"}}, P.Jobs.Cached);
    W.sample({{"plugin", Name}, {"source", "remote_cache"}},
             P.Jobs.RemoteCache);
  }
  W.begin("dtlto_sent_bytes_total", "counter",
          "Inputs of jobs, before compression.");
  W.sample({}, S.BytesSent);
  W.begin("dtlto_received_bytes_total", "counter", "Objects of workers.");
  W.sample({}, S.BytesReceived);
  auto ForWorkers = [&](StringRef Metric, StringRef Help, auto Value) {
    if (S.Workers.empty())
      return;
    W.begin(Metric, "counter", Help);
    for (const WorkerStatistics &Worker : S.Workers)
      W.sample({{"plugin", Worker.Plugin}, {"worker", Worker.Name}},
               Value(Worker));
  };
  using Worker = WorkerStatistics;
  ForWorkers("dtlto_worker_jobs_total", "Objects of a worker.",
             [](const Worker &W) { return W.Jobs; });
  ForWorkers("dtlto_worker_failures_total", "Attempts that failed on a worker.",
             [](const Worker &W) { return W.Failures; });
  ForWorkers("dtlto_worker_retries_total",
             "Jobs that were tried again after they failed on a worker.",
             [](const Worker &W) { return W.Retries; });
  ForWorkers("dtlto_worker_seconds_total",
             "Time of a worker's compiles that made objects.",
             [](const Worker &W) { return W.Seconds; });
  W.begin("dtlto_statistics_start_time_seconds", "gauge",
          "When counting began, in seconds since 1970.");
  W.sample({}, S.Since);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

int main(int Argc, char **Argv) {
  enum { Text, JSON, Prometheus, Zero } Mode = Text;
  for (int I = 1; I != Argc; ++I) {
    StringRef Arg = Argv[I];
    if (Arg == "--help") {
      outs() << "usage: dtlto-stats [--json | --prometheus | --zero]\n\n"
                "Shows what this user's ThinLTO links with a plugin did.\n\n"
                "  --json        Print the numbers as a JSON object\n"
                "  --prometheus  Print them in Prometheus' text format\n"
                "  --zero        Start again from zero\n"
                "  --help, --version\n";
      return 0;
    }
    if (Arg == "--version") {
      outs() << Program << ' ' << DTLTO_VERSION << '\n';
      return 0;
    }
    if (Arg != "--json" && Arg != "--prometheus" && Arg != "--zero")
      return fail("unknown argument '" + printable(Arg) +
                  "'; --help shows the known ones");
    if (Mode != Text)
      return fail("more than one of --json, --prometheus and --zero");
    Mode = Arg == "--json" ? JSON : Arg == "--zero" ? Zero : Prometheus;
  }

  Options Opts;
  if (Error E = readEnvironment(Opts))
    return fail(toString(std::move(E)));
  const std::string &Path = Opts.StatsFile;
  if (Path.empty())
    return fail("there are no statistics: DTLTO_STATS is off, or this user has "
                "no cache folder");
  const std::string InFile = "'" + printable(Path) + "': ";
  if (Mode == Zero) {
    if (Error E = updateStatistics(Path, MaxWait,
                                   [](Statistics &S) { S = Statistics(); }))
      return fail(InFile + toString(std::move(E)));
    return 0;
  }
  Expected<Statistics> S = readStatistics(Path);
  if (!S)
    return fail(InFile + toString(S.takeError()));
  if (Mode == JSON)
    outs() << formatStatistics(*S);
  else if (Mode == Prometheus)
    printPrometheus(*S, outs());
  else
    printText(*S, outs());
  outs().flush();
  if (!outs().has_error())
    return 0;
  std::string Why = outs().error().message();
  outs().clear_error();
  return fail("standard output: " + Why);
}
