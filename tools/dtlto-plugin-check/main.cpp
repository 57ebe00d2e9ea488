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

#include "CaseReport.h"
#include "Cases.h"
#include "Runner.h"
#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <thread>
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
struct Options {
  std::string Plugin, Jobs, KeepJobs, Clang, JUnit, RunCase;
  std::vector<std::string> Only, Skip;
  Wishes W;
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

static unsigned number(const std::string &Text, const char *Option) {
  char *End = nullptr;
  unsigned long N = std::strtoul(Text.c_str(), &End, 10);
  if (Text.empty() || Text[0] < '0' || Text[0] > '9' || *End || N < 1 ||
      N > 100000)
    giveUp(std::string(Option) + "=" + Text + ": expected a number from 1");
  return static_cast<unsigned>(N);
}

static Options parse(int Argc, char **Argv) {
  Options O;
  for (int I = 1; I != Argc; ++I) {
    std::string Arg = Argv[I], Value;
    auto Is = [&](const char *Name) {
      size_t N = std::strlen(Name);
      if (Arg.compare(0, N, Name) != 0 || Arg[N] != '=')
        return false;
      Value = Arg.substr(N + 1);
      return true;
    };
    if (Arg == "--help") {
      std::fputs(Usage, stdout);
      std::exit(0);
    } else if (Arg == "--list")
      O.List = true;
    else if (Arg == "--verbose")
      O.W.Verbose = true;
    else if (Arg == "--debug")
      O.Debug = true;
    else if (Is("--plugin-arg"))
      O.W.PluginArgs.push_back(Value);
    else if (Is("--only"))
      O.Only.push_back(Value);
    else if (Is("--skip"))
      O.Skip.push_back(Value);
    else if (Is("--timeout"))
      O.W.CaseLimit = std::chrono::seconds(number(Value, "--timeout"));
    else if (Is("--many"))
      O.W.NumJobs = number(Value, "--many");
    else if (Is("--jobs"))
      O.Jobs = Value;
    else if (Is("--keep-jobs"))
      O.KeepJobs = Value;
    else if (Is("--clang"))
      // It is run in another folder.
      O.Clang =
          Value.find('/') == Value.npos ? Value : fs::absolute(Value).string();
    else if (Is("--junit"))
      O.JUnit = Value;
    else if (Is("--run-case")) // ours, for the process of a case
      O.RunCase = Value;
    else if (Arg.size() > 1 && Arg[0] == '-')
      giveUp("unknown option '" + Arg + "'; --help lists them");
    else if (!O.Plugin.empty())
      giveUp("one plugin at a time: '" + O.Plugin + "' or '" + Arg + "'?");
    else
      O.Plugin = Arg;
  }
  for (auto *Names : {&O.Only, &O.Skip})
    for (const std::string &Name : *Names) {
      auto All = allCases();
      if (std::none_of(All.begin(), All.end(),
                       [&](const Case &C) { return C.Name == Name; }))
        giveUp("no case '" + Name + "'; --list has their names");
    }
  if (O.Debug && O.Only.size() != 1)
    giveUp("--debug needs one --only=CASE");
  return O;
}

/// In the process of a case, or of all; then \p OwnFolder is removed.
static int runHere(const Options &O, const Case &C, bool Debug,
                   const std::string &OwnFolder) {
  if (Debug)
    openReport(2);
  else {
    openReport(3);
    catchCrashes(3);
  }
  Bench B;
  B.Path = O.Plugin;
  B.W = O.W;
  std::string Error;
  B.Samples = readSamples(O.Jobs, Error);
  // Those of a user have none.
  std::string NoMatter;
  B.Refused = readSamples(refusedJobs(O.Jobs), NoMatter, false);
  std::error_code EC;
  if (!OwnFolder.empty()) // this process doesn't come back
    fs::remove_all(OwnFolder, EC);
  if (B.Samples.empty())
    failAndExit("--jobs", Error, "make them anew");
  std::sort(B.Samples.begin(), B.Samples.end(),
            [](const Sample &L, const Sample &R) {
              return L.Object.size() > R.Object.size();
            });
  // The linker's calls come from a thread of their own, too.
  std::thread([&] { C.Run(B); }).join();
  reportEnd();
  if (Debug)
    std::printf("%s %s\n", hasFailed() ? "FAIL" : "PASS", C.Name);
  std::fflush(nullptr);
  ::_exit(Debug && hasFailed()); // plugins are never unloaded
}

static std::string escape(const std::string &Text) {
  std::string Out;
  for (char C : Text)
    switch (C) {
    case '&':
      Out += "&amp;";
      break;
    case '<':
      Out += "&lt;";
      break;
    case '>':
      Out += "&gt;";
      break;
    case '"':
      Out += "&quot;";
      break;
    default:
      Out += static_cast<unsigned char>(C) < ' ' ? ' ' : C;
    }
  return Out;
}

static std::string sentence(const Line &L, const Failure &F) {
  return std::string(L.C->Promise) + " (" + F.Section + "): " + F.What +
         "; to mend it: " + F.Mend;
}

static void writeJUnit(const Options &O, const std::vector<Line> &Lines,
                       unsigned NumFailed) {
  std::ofstream Out(O.JUnit);
  Out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\""
      << escape("dtlto-plugin-check " + O.Plugin) << "\" tests=\""
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
    giveUp("can't write '" + O.JUnit + "'");
}

/// What to say of \p F: all, but of what three cases have said before, no more
/// than which of them was the first.
static std::string verdict(const Line &L, const Failure &F,
                           const std::vector<Line> &Before) {
  constexpr unsigned Enough = 3;
  unsigned N = 0;
  const char *First = nullptr;
  for (const Line &Other : Before)
    for (const Failure &Same : Other.R.Failures)
      if (Same.Section == F.Section && Same.Mend == F.Mend) {
        if (N++ == 0)
          First = Other.C->Name;
        break;
      }
  return N < Enough ? sentence(L, F) : F.What + "; as in " + First;
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

static int runAll(Options &O, const std::string &Folder) {
  std::string Error;
  if (O.Jobs.empty()) {
    O.Jobs = O.KeepJobs.empty() ? Folder + "/jobs" : O.KeepJobs;
    std::error_code EC;
    fs::create_directories(O.Jobs, EC);
    if (EC)
      giveUp("can't make the folder '" + O.Jobs +
             "' for jobs: " + EC.message());
    if (!makeSamples(fs::absolute(O.Jobs).string(), O.Clang, Error))
      giveUp(Error);
  }
  if (readSamples(O.Jobs, Error).empty())
    giveUp(Error);
  // Not at the end, when much has been run for nothing.
  if (!O.JUnit.empty() && !std::ofstream(O.JUnit, std::ios::app))
    giveUp("can't write '" + O.JUnit + "'");

  std::vector<std::string> Args = {ownPath(), "--jobs=" + O.Jobs, O.Plugin};
  for (const std::string &Arg : O.W.PluginArgs)
    Args.push_back("--plugin-arg=" + Arg);
  Args.push_back("--timeout=" + std::to_string(O.W.CaseLimit.count() / 1000));
  Args.push_back("--many=" + std::to_string(O.W.NumJobs));
  if (O.W.Verbose)
    Args.push_back("--verbose");

  auto Has = [](const std::vector<std::string> &Names, const char *Name) {
    return std::find(Names.begin(), Names.end(), Name) != Names.end();
  };
  std::vector<Line> Lines;
  const std::vector<Case> Cases = allCases();
  unsigned NumPassed = 0, NumFailed = 0, NumLeft = 0;
  bool Hopeless = false;
  for (const Case &C : Cases) {
    if ((!O.Only.empty() && !Has(O.Only, C.Name)) || Has(O.Skip, C.Name))
      continue;
    Line L = {&C, {}, !Hopeless};
    if (Hopeless) {
      ++NumLeft;
    } else {
      std::vector<std::string> Own = Args;
      Own.push_back(std::string("--run-case=") + C.Name);
      L.R = runCase(Own, O.W.CaseLimit, Folder);
      ++(L.R.Failures.empty() ? NumPassed : NumFailed);
      Hopeless = C.IsBasic && !L.R.Ended;
      show(L, Lines, O.W.Verbose);
    }
    Lines.push_back(L);
  }
  if (Lines.empty())
    giveUp("--only and --skip leave no case");
  if (!O.JUnit.empty())
    writeJUnit(O, Lines, NumFailed);
  std::printf("%u passed, %u failed", NumPassed, NumFailed);
  if (NumLeft)
    std::printf(", %u not tried", NumLeft);
  std::printf("\n");
  flushOutput();
  return NumFailed ? 1 : 0;
}

static int Wake[2] = {-1, -1};

static void onSignal(int Number) {
  char Byte = static_cast<char>(Number);
  (void)!::write(Wake[1], &Byte, 1);
}

/// Removes \p Folder when a signal ends the process, after the case that runs.
static void removeOnSignals(const std::string &Folder) {
  if (::pipe2(Wake, O_CLOEXEC) != 0)
    return;
  std::thread([Folder] {
    char Number;
    while (::read(Wake[0], &Number, 1) != 1)
      ;
    killCase();
    std::error_code EC;
    fs::remove_all(Folder, EC);
    std::signal(Number, SIG_DFL);
    std::raise(Number);
  }).detach();
  for (int Number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(Number, onSignal) == SIG_IGN)
      std::signal(Number, SIG_IGN);
}

int main(int Argc, char **Argv) {
  Options O = parse(Argc, Argv);
  if (O.List) {
    for (const Case &C : allCases())
      std::printf("%-18s %s\n", C.Name, C.Promise);
    flushOutput();
    return 0;
  }
  if (O.Plugin.empty())
    giveUp("which plugin? --help has the usage");
  std::error_code EC;
  if (!fs::is_regular_file(O.Plugin, EC))
    giveUp("no file '" + O.Plugin + "'");
  O.Plugin = fs::absolute(O.Plugin).string();
  for (const Case &C : allCases())
    if (C.Name == O.RunCase)
      return runHere(O, C, false, "");

  char Name[PATH_MAX];
  std::snprintf(Name, sizeof(Name), "%s/dtlto-plugin-check-XXXXXX",
                fs::temp_directory_path(EC).c_str());
  if (!::mkdtemp(Name))
    giveUp(std::string("can't make a folder '") + Name + "'");
  // Also when giveUp() ends the process.
  static const std::string Own = Name;
  removeOnSignals(Own);
  std::atexit([] {
    std::error_code EC;
    fs::remove_all(Own, EC);
  });
  if (O.Debug) {
    std::string Error;
    if (O.Jobs.empty()) {
      O.Jobs = Name;
      if (!makeSamples(Name, O.Clang, Error))
        giveUp(Error);
    }
    for (const Case &C : allCases())
      if (C.Name == O.Only.front())
        return runHere(O, C, true, Name);
  }
  return runAll(O, Name);
}
