//===- main.cpp - checks plugins against the ABI --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays the linker against a plugin, and reports which rules of PluginAPI.h it
// breaks. docs/PLUGIN-GUIDE.md explains how to use it.
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace llvm;
using namespace dtlto::check;
namespace fs = std::filesystem;

static const char Usage[] =
    R"(usage: dtlto-plugin-check [options] PLUGIN

Checks whether a plugin for dtlto follows the rules of dtlto/PluginAPI.h. PLUGIN
is a path. Each case runs in a process of its own.

  --plugin-arg=TEXT  an argument for the plugin, like the linker's
                     --thinlto-dist-plugin-arg; may be repeated
  --only=CASE        run this case; may be repeated
  --skip=CASE        do not run this case; may be repeated
  --list             list the cases
  --timeout=S        time limit of each case in seconds (default: 120); a job may
                     take a third of it
  --many=N           the number of jobs in cases with many (default: 48)
  --jobs=FOLDER      use these jobs: what the plugin lib/dtlto/check/libdtlto_keep.so
                     wrote to FOLDER in a link of yours, or --keep-jobs saved
  --keep-jobs=FOLDER save the jobs that are used to FOLDER
  --clang=PROGRAM    the clang that compiles the sources of jobs (default:
                     clang-N, otherwise clang)
  --junit=FILE       also write the results as JUnit XML
  --verbose          show what the plugin logs, even in cases that pass
  --debug            with one --only: run the case in this process, for a debugger

Exit code: 0 if all cases passed, 1 if some failed, 2 if nothing could be checked.
)";

namespace {
struct CommandLine {
  std::string Plugin, Jobs, KeepJobs, Clang, JUnit;
  std::vector<std::string> Only, Skip;
  Options Opts;
  bool List = false, Debug = false;
};

struct Result {
  const Case *C;
  Report R;
  bool WasRun;
};
} // namespace

[[noreturn]] static void giveUp(const Twine &Why) {
  std::fprintf(stderr, "dtlto-plugin-check: %s\n", Why.str().c_str());
  std::exit(2);
}

static unsigned number(StringRef Text, const char *Option) {
  unsigned N;
  if (Text.getAsInteger(10, N) || N < 1 || N > 100000)
    giveUp(Twine(Option) + "=" + Text + ": expected a number from 1");
  return N;
}

static CommandLine parse(ArrayRef<const char *> Args) {
  CommandLine C;
  using Text = const std::string &;
  const std::map<std::string, std::function<void(Text)>> Known = {
      {"--help", [](Text) { std::exit(std::fputs(Usage, stdout) < 0); }},
      {"--list", [&](Text) { C.List = true; }},
      {"--verbose", [&](Text) { C.Opts.Verbose = true; }},
      {"--debug", [&](Text) { C.Debug = true; }},
      {"--plugin-arg=", [&](Text V) { C.Opts.PluginArgs.push_back(V); }},
      {"--only=", [&](Text V) { C.Only.push_back(V); }},
      {"--skip=", [&](Text V) { C.Skip.push_back(V); }},
      {"--timeout=",
       [&](Text V) {
         C.Opts.CaseLimit = std::chrono::seconds(number(V, "--timeout"));
       }},
      {"--many=", [&](Text V) { C.Opts.NumJobs = number(V, "--many"); }},
      {"--jobs=", [&](Text V) { C.Jobs = V; }},
      {"--keep-jobs=", [&](Text V) { C.KeepJobs = V; }},
      {"--clang=", // a relative path would change with the folder
       [&](Text V) {
         C.Clang = V.find('/') == V.npos ? V : fs::absolute(V).string();
       }},
      {"--junit=", [&](Text V) { C.JUnit = V; }}};
  for (StringRef Arg : Args) {
    const size_t End = std::min(Arg.find('='), Arg.size() - 1) + 1;
    if (auto Option = Known.find(Arg.take_front(End).str());
        Option != Known.end())
      Option->second(Arg.drop_front(End).str());
    else if (Arg.size() > 1 && Arg[0] == '-')
      giveUp("unknown option '" + Arg + "'; --help lists them");
    else if (!C.Plugin.empty())
      giveUp("one plugin at a time: '" + C.Plugin + "' or '" + Arg + "'?");
    else
      C.Plugin = Arg.str();
  }
  return C;
}

static std::vector<Case> allCases() {
  std::vector<Case> All = PluginCases;
  for (auto *Cases : {&ExtensionCases, &JobCases, &ErrorCases})
    All.insert(All.end(), Cases->begin(), Cases->end());
  return All;
}

/// Returns the cases that \p C selects.
static std::vector<Case> chosenCases(const CommandLine &C) {
  std::vector<Case> Cases = allCases();
  for (auto *Names : {&C.Only, &C.Skip})
    for (const std::string &Name : *Names)
      if (none_of(Cases, [&](const Case &Item) { return Item.Name == Name; }))
        giveUp("no case '" + Name + "'; --list has their names");
  if (C.Debug && C.Only.size() != 1)
    giveUp("--debug needs one --only=CASE");
  erase_if(Cases, [&](const Case &Item) {
    return (!C.Only.empty() && !is_contained(C.Only, Item.Name)) ||
           is_contained(C.Skip, Item.Name);
  });
  if (Cases.empty())
    giveUp("--only and --skip leave no case");
  return Cases;
}

/// Runs a case in this process.
static void runInProcess(const CommandLine &C, const Case &Item,
                         const Samples &S) {
  // The linker's calls also come from a thread of their own.
  std::thread([&] {
    Item.Run(
        {loadPlugin(C.Plugin), C.Plugin, C.Opts, S.Good, S.Refused, S.Long});
  }).join();
  reportStage("end");
  std::fflush(nullptr);
}

static std::string sentence(const Result &Item, const Failure &F) {
  return std::string(Item.C->Promise) + " (" + F.Section + "): " + F.What +
         "; to fix this: " + F.Fix;
}

/// Escapes \p Text for XML.
static std::string escape(const std::string &Text) {
  std::string Out;
  raw_string_ostream OS(Out);
  printHTMLEscaped(oneLine(Text), OS);
  return Out;
}

static void writeJUnit(const CommandLine &C, const std::vector<Result> &Results,
                       unsigned NumFailed) {
  std::ofstream Out(C.JUnit);
  Out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\""
      << escape("dtlto-plugin-check " + C.Plugin) << "\" tests=\""
      << Results.size() << "\" failures=\"" << NumFailed << "\">\n";
  for (const Result &Item : Results) {
    Out << "  <testcase name=\"" << Item.C->Name << "\" time=\""
        << Item.R.Seconds << "\">\n";
    if (!Item.WasRun)
      Out << "    <skipped/>\n";
    for (const Failure &F : Item.R.Failures)
      Out << "    <failure message=\"" << escape(F.What) << "\">"
          << escape(sentence(Item, F)) << "</failure>\n";
    Out << "  </testcase>\n";
  }
  Out << "</testsuite>\n";
  if (!Out.flush())
    giveUp("cannot write '" + C.JUnit + "'");
}

/// The text for \p F: in full, unless three cases have reported the same. Then
/// only the first of these is named.
static std::string verdict(const Result &Item, const Failure &F,
                           const std::vector<Result> &Before) {
  auto HasSame = [&](const Result &Other) {
    return any_of(Other.R.Failures, [&](const Failure &Same) {
      return Same.Section == F.Section && Same.Fix == F.Fix;
    });
  };
  return count_if(Before, HasSame) < 3
             ? sentence(Item, F)
             : F.What + "; as in " + find_if(Before, HasSame)->C->Name;
}

static void show(const Result &Item, const std::vector<Result> &Before,
                 bool Verbose) {
  const std::vector<Failure> &Failures = Item.R.Failures;
  std::string Text = Failures.empty() ? "PASS " : "FAIL ";
  Text += Item.C->Name;
  if (Failures.empty() && !Item.R.Note.empty())
    Text += ": " + Item.R.Note;
  for (const Failure &F : Failures)
    Text += (&F == &Failures.front() ? ": " : "\n  also: ") +
            verdict(Item, F, Before);
  if (Verbose || !Failures.empty())
    // The end of the output matters.
    for (StringRef Rest = StringRef(Item.R.Errors).take_back(4000), Line;
         !Rest.empty();) {
      std::tie(Line, Rest) = Rest.split('\n');
      Text += "\n  | " + Line.str();
    }
  std::puts(Text.c_str());
  std::fflush(stdout);
}

static void flushOutput() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    giveUp("standard output cannot be written");
}

/// Makes C.Jobs unless the user gave some.
static void makeJobs(CommandLine &C, const std::string &Folder) {
  if (!C.Jobs.empty())
    return;
  C.Jobs = C.KeepJobs.empty() ? Folder + "/jobs" : C.KeepJobs;
  std::error_code EC;
  fs::create_directories(C.Jobs, EC);
  if (EC)
    giveUp("cannot create the folder '" + C.Jobs +
           "' for jobs: " + EC.message());
  std::string Error = makeSamples(fs::absolute(C.Jobs).string(), C.Clang);
  if (!Error.empty())
    giveUp(Error);
}

/// Runs each of \p Cases in a child process.
static int runAll(const CommandLine &C, const std::vector<Case> &Cases,
                  const Samples &S) {
  // Check this now rather than after all cases have run.
  if (!C.JUnit.empty() && !std::ofstream(C.JUnit, std::ios::app))
    giveUp("cannot write '" + C.JUnit + "'");
  std::vector<Result> Results;
  unsigned NumPassed = 0, NumFailed = 0;
  bool IsHopeless = false;
  for (const Case &Item : Cases) {
    Result New = {&Item, {}, !IsHopeless};
    if (!IsHopeless) {
      New.R = runCase(
          [&](int Fd) {
            openReport(Fd);
            catchCrashes(Fd);
            runInProcess(C, Item, S);
            ::_exit(0); // plugins are never unloaded
          },
          C.Opts.CaseLimit);
      ++(New.R.Failures.empty() ? NumPassed : NumFailed);
      IsHopeless = Item.IsBasic && !New.R.HasEnded;
      show(New, Results, C.Opts.Verbose);
    }
    Results.push_back(New);
  }
  if (!C.JUnit.empty())
    writeJUnit(C, Results, NumFailed);
  std::printf("%u passed, %u failed", NumPassed, NumFailed);
  if (size_t NumLeft = Results.size() - NumPassed - NumFailed)
    std::printf(", %zu not tried", NumLeft);
  std::printf("\n");
  flushOutput();
  return NumFailed ? 1 : 0;
}

int main(int Argc, char **Argv) {
  CommandLine C = parse(ArrayRef(Argv, Argc).drop_front());
  if (C.List) {
    for (const Case &Item : allCases())
      std::printf("%-18s %s\n", Item.Name, Item.Promise);
    flushOutput();
    return 0;
  }
  const std::vector<Case> Cases = chosenCases(C);
  if (C.Plugin.empty())
    giveUp("no plugin is given; --help has the usage");
  std::error_code EC;
  if (!fs::is_regular_file(C.Plugin, EC))
    giveUp("no file '" + C.Plugin + "'");
  C.Plugin = fs::absolute(C.Plugin).string();
  const std::string Folder = makeTempFolder();
  if (Folder.empty())
    giveUp("cannot create a folder in '" +
           fs::temp_directory_path(EC).string() + "'");
  makeJobs(C, Folder);
  std::string Error;
  const Samples S = readSamples(C.Jobs, Error);
  if (S.Good.empty())
    giveUp(Error);
  if (!C.Debug)
    return runAll(C, Cases, S);
  removeTempFolder(); // this process may not return
  openReport(2);
  runInProcess(C, Cases.front(), S);
  std::printf("%s %s\n", hasFailed() ? "FAIL" : "PASS", Cases.front().Name);
  std::fflush(nullptr);
  ::_exit(hasFailed());
}
