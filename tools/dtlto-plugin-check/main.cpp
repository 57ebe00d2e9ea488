//===- main.cpp - dtlto-plugin-check: does a plugin keep the ABI? ---------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays the linker for a plugin, in many ways, and says which promise of
// PluginAPI.h it doesn't keep. docs/PLUGIN-GUIDE.md shows its use.
//
//===----------------------------------------------------------------------===//

#include "Runner.h"
#include "Session.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

using namespace dtlto::check;
namespace fs = std::filesystem;

static const char Usage[] =
    R"(usage: dtlto-plugin-check [options] PLUGIN

Checks whether a plugin for dtlto keeps the promises of dtlto/PluginAPI.h. PLUGIN
is a path. Each case runs in a process of its own.

  --plugin-arg=TEXT  an argument for the plugin, like the linker's
                     --thinlto-dist-plugin-arg; may be repeated
  --only=CASE        run this case; may be repeated
  --skip=CASE        don't run this case; may be repeated
  --list             list the cases
  --timeout=S        time limit of each case in seconds (default: 120); a job may
                     take a third of it
  --many=N           the number of jobs in cases with many (default: 48)
  --jobs=FOLDER      use these jobs: what the plugin lib/dtlto/check/libdtlto_keep.so
                     wrote to FOLDER in a link of yours, or --keep-jobs saved
  --keep-jobs=FOLDER save the jobs that are used to FOLDER
  --clang=PROGRAM    the clang that compiles the sources of jobs (default:
                     clang-N, else clang)
  --junit=FILE       also write the results as JUnit XML
  --verbose          show what the plugin logs, even in cases that pass
  --debug            with one --only: run the case in this process, for a debugger

Exit code: 0 if all cases passed, 1 if some failed, 2 if nothing could be checked.
)";

namespace {
struct CommandLine {
  std::string Plugin, Jobs, KeepJobs, Clang, JUnit;
  std::vector<std::string> Only, Skip;
  Options O;
  bool List = false, Debug = false;
};

struct Line {
  const Case *C;
  CaseResult R;
  bool WasRun;
};
} // namespace

[[noreturn]] static void giveUp(const std::string &Why) {
  std::fprintf(stderr, "dtlto-plugin-check: %s\n", Why.c_str());
  std::exit(2);
}

static unsigned number(const std::string &Text, const std::string &Option) {
  char *End = nullptr;
  unsigned long N = std::strtoul(Text.c_str(), &End, 10);
  if (Text.empty() || Text[0] < '0' || Text[0] > '9' || *End || N < 1 ||
      N > 100000)
    giveUp(Option + "=" + Text + ": expected a number from 1");
  return static_cast<unsigned>(N);
}

static CommandLine parse(int Argc, char **Argv) {
  CommandLine C;
  using Text = const std::string &;
  const std::map<std::string, std::function<void(Text)>> Known = {
      {"--help", [](Text) { std::exit(std::fputs(Usage, stdout) < 0); }},
      {"--list", [&](Text) { C.List = true; }},
      {"--verbose", [&](Text) { C.O.Verbose = true; }},
      {"--debug", [&](Text) { C.Debug = true; }},
      {"--plugin-arg=", [&](Text V) { C.O.PluginArgs.push_back(V); }},
      {"--only=", [&](Text V) { C.Only.push_back(V); }},
      {"--skip=", [&](Text V) { C.Skip.push_back(V); }},
      {"--timeout=",
       [&](Text V) {
         C.O.CaseLimit = std::chrono::seconds(number(V, "--timeout"));
       }},
      {"--many=", [&](Text V) { C.O.NumJobs = number(V, "--many"); }},
      {"--jobs=", [&](Text V) { C.Jobs = V; }},
      {"--keep-jobs=", [&](Text V) { C.KeepJobs = V; }},
      {"--clang=", // which runs in another folder
       [&](Text V) {
         C.Clang = V.find('/') == V.npos ? V : fs::absolute(V).string();
       }},
      {"--junit=", [&](Text V) { C.JUnit = V; }}};
  for (int I = 1; I != Argc; ++I) {
    const std::string Arg = Argv[I];
    const size_t End =
        Arg.find('=') == Arg.npos ? Arg.size() : Arg.find('=') + 1;
    if (auto Option = Known.find(Arg.substr(0, End)); Option != Known.end())
      Option->second(Arg.substr(End));
    else if (Arg.size() > 1 && Arg[0] == '-')
      giveUp("unknown option '" + Arg + "'; --help lists them");
    else if (!C.Plugin.empty())
      giveUp("one plugin at a time: '" + C.Plugin + "' or '" + Arg + "'?");
    else
      C.Plugin = Arg;
  }
  return C;
}

static std::vector<Case> allCases() {
  std::vector<Case> All = PluginCases;
  All.insert(All.end(), JobCases.begin(), JobCases.end());
  return All;
}

/// The cases that \p C asks for.
static std::vector<Case> chosenCases(const CommandLine &C) {
  const std::vector<Case> All = allCases();
  for (auto *Names : {&C.Only, &C.Skip})
    for (const std::string &Name : *Names)
      if (std::none_of(All.begin(), All.end(),
                       [&](const Case &Its) { return Its.Name == Name; }))
        giveUp("no case '" + Name + "'; --list has their names");
  if (C.Debug && C.Only.size() != 1)
    giveUp("--debug needs one --only=CASE");
  auto Has = [](const std::vector<std::string> &Names, const char *Name) {
    return std::find(Names.begin(), Names.end(), Name) != Names.end();
  };
  std::vector<Case> Chosen;
  for (const Case &Its : All)
    if ((C.Only.empty() || Has(C.Only, Its.Name)) && !Has(C.Skip, Its.Name))
      Chosen.push_back(Its);
  if (Chosen.empty())
    giveUp("--only and --skip leave no case");
  return Chosen;
}

/// In the process of a case, or of all.
static void runHere(const CommandLine &C, const Case &Its,
                    const std::vector<Sample> &Samples,
                    const std::vector<Sample> &Refused) {
  // The linker's calls come from a thread of their own, too.
  std::thread([&] {
    Its.Run({loadPlugin(C.Plugin), C.Plugin, C.O, Samples, Refused});
  }).join();
  reportStage("end");
  std::fflush(nullptr);
}

/// \p Text for XML.
static std::string escape(const std::string &Text) {
  std::string Out;
  for (char C : oneLine(Text))
    if (std::strchr("&<>\"", C))
      Out += "&#" + std::to_string(C) + ";";
    else
      Out += C;
  return Out;
}

static std::string sentence(const Line &L, const Failure &F) {
  return std::string(L.C->Promise) + " (" + F.Section + "): " + F.What +
         "; to mend it: " + F.Mend;
}

static void writeJUnit(const CommandLine &C, const std::vector<Line> &Lines,
                       unsigned NumFailed) {
  std::ofstream Out(C.JUnit);
  Out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\""
      << escape("dtlto-plugin-check " + C.Plugin) << "\" tests=\""
      << Lines.size() << "\" failures=\"" << NumFailed << "\">\n";
  for (const Line &L : Lines) {
    Out << "  <testcase name=\"" << L.C->Name << "\" time=\"" << L.R.Seconds
        << "\">\n";
    if (!L.WasRun)
      Out << "    <skipped/>\n";
    for (const Failure &F : L.R.Failures)
      Out << "    <failure message=\"" << escape(F.What) << "\">"
          << escape(sentence(L, F)) << "</failure>\n";
    Out << "  </testcase>\n";
  }
  Out << "</testsuite>\n";
  if (!Out.flush())
    giveUp("can't write '" + C.JUnit + "'");
}

/// What to say of \p F: all, but of what three cases have said before, no more
/// than which of them was the first.
static std::string verdict(const Line &L, const Failure &F,
                           const std::vector<Line> &Before) {
  constexpr unsigned Enough = 3;
  std::vector<const char *> Cases;
  for (const Line &Other : Before)
    if (std::any_of(Other.R.Failures.begin(), Other.R.Failures.end(),
                    [&](const Failure &Same) {
                      return Same.Section == F.Section && Same.Mend == F.Mend;
                    }))
      Cases.push_back(Other.C->Name);
  return Cases.size() < Enough ? sentence(L, F)
                               : F.What + "; as in " + Cases.front();
}

static void show(const Line &L, const std::vector<Line> &Before, bool Verbose) {
  const std::vector<Failure> &Failures = L.R.Failures;
  std::printf("%s %s", Failures.empty() ? "PASS" : "FAIL", L.C->Name);
  if (!Failures.empty())
    std::printf(": %s", verdict(L, Failures.front(), Before).c_str());
  else if (!L.R.Note.empty())
    std::printf(": %s", L.R.Note.c_str());
  std::printf("\n");
  for (size_t I = 1; I < Failures.size(); ++I)
    std::printf("  also: %s\n", verdict(L, Failures[I], Before).c_str());
  if (Verbose || !Failures.empty()) {
    // The end is what matters.
    size_t At = L.R.Output.size() > 4000 ? L.R.Output.size() - 4000 : 0;
    for (; At < L.R.Output.size();) {
      size_t End = std::min(L.R.Output.find('\n', At), L.R.Output.size());
      std::printf("  | %s\n", L.R.Output.substr(At, End - At).c_str());
      At = End + 1;
    }
  }
  std::fflush(stdout);
}

static void flushOutput() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    giveUp("standard output can't be written");
}

/// Makes C.Jobs if the user has none.
static void makeJobs(CommandLine &C, const std::string &Folder) {
  if (!C.Jobs.empty())
    return;
  C.Jobs = C.KeepJobs.empty() ? Folder + "/jobs" : C.KeepJobs;
  std::error_code EC;
  fs::create_directories(C.Jobs, EC);
  if (EC)
    giveUp("can't make the folder '" + C.Jobs + "' for jobs: " + EC.message());
  std::string Error;
  if (!makeSamples(fs::absolute(C.Jobs).string(), C.Clang, Error))
    giveUp(Error);
}

/// Runs each of \p Cases in a process of its own.
static int runAll(const CommandLine &C, const std::vector<Case> &Cases,
                  const std::vector<Sample> &Samples,
                  const std::vector<Sample> &Refused) {
  // Not at the end, when much has been run for nothing.
  if (!C.JUnit.empty() && !std::ofstream(C.JUnit, std::ios::app))
    giveUp("can't write '" + C.JUnit + "'");
  std::vector<Line> Lines;
  unsigned NumPassed = 0, NumFailed = 0, NumLeft = 0;
  bool Hopeless = false;
  for (const Case &Its : Cases) {
    Line L = {&Its, {}, !Hopeless};
    if (Hopeless) {
      ++NumLeft;
    } else {
      L.R = runCase(
          [&](int Fd) {
            openReport(Fd);
            catchCrashes(Fd);
            runHere(C, Its, Samples, Refused);
            ::_exit(0); // plugins are never unloaded
          },
          C.O.CaseLimit);
      ++(L.R.Failures.empty() ? NumPassed : NumFailed);
      Hopeless = Its.IsBasic && !L.R.Ended;
      show(L, Lines, C.O.Verbose);
    }
    Lines.push_back(L);
  }
  if (!C.JUnit.empty())
    writeJUnit(C, Lines, NumFailed);
  std::printf("%u passed, %u failed", NumPassed, NumFailed);
  if (NumLeft)
    std::printf(", %u not tried", NumLeft);
  std::printf("\n");
  flushOutput();
  return NumFailed ? 1 : 0;
}

int main(int Argc, char **Argv) {
  CommandLine C = parse(Argc, Argv);
  if (C.List) {
    for (const Case &Its : allCases())
      std::printf("%-18s %s\n", Its.Name, Its.Promise);
    flushOutput();
    return 0;
  }
  const std::vector<Case> Cases = chosenCases(C);
  if (C.Plugin.empty())
    giveUp("which plugin? --help has the usage");
  std::error_code EC;
  if (!fs::is_regular_file(C.Plugin, EC))
    giveUp("no file '" + C.Plugin + "'");
  C.Plugin = fs::absolute(C.Plugin).string();
  const std::string Folder = makeOwnFolder();
  if (Folder.empty())
    giveUp("can't make a folder in '" + fs::temp_directory_path(EC).string() +
           "'");
  makeJobs(C, Folder);
  std::string Error, NoMatter;
  const std::vector<Sample> Samples = readSamples(C.Jobs, Error);
  // Those of a user have none.
  const std::vector<Sample> Refused =
      readSamples(refusedJobs(C.Jobs), NoMatter, false);
  if (Samples.empty())
    giveUp(Error);
  if (!C.Debug)
    return runAll(C, Cases, Samples, Refused);
  removeOwnFolder(); // this process may not come back
  openReport(2);
  runHere(C, Cases.front(), Samples, Refused);
  std::printf("%s %s\n", hasFailed() ? "FAIL" : "PASS", Cases.front().Name);
  std::fflush(nullptr);
  ::_exit(hasFailed());
}
