//===- MakePlugin.cpp - A makefile of jobs --------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each job is a rule of distr.makefile. make runs $(DIST_CC) followed by the
// job's command line. $(DIST_CC) is distcc, icecc, srun, a script, or nothing
// at all.
//
//===----------------------------------------------------------------------===//

#include "Description.h"
#include "FolderSession.h"
#include "Makefile.h"
#include "Text.h"
#include "dtlto/sdk/RunJob.h"
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::sdk;

static constexpr const char *FileName = "distr.makefile";
static constexpr const char *FolderSuffix = ".dtlto-make";

namespace {

struct Arguments {
  FolderSettings Settings;
  std::string DistCC;
  uint32_t NumJobs = 0; // 0: as many as the build's jobserver or cores allow

  Arguments() {
    Settings.Program = "make";
    Settings.SavesStderr = true;
  }
  ArgumentTable table() {
    return folderArguments(
        Settings,
        {{"cc", "TOOL",
          "Put before each command: distcc, icecc, a script, with options",
          [this](std::string_view Value) {
            DistCC = Value;
            return make::canBeWord(DistCC);
          }},
         numberArgument("jobs", "N", 1, 4096, NumJobs,
                        "Commands at the same time; by default, what make's "
                        "jobserver or --thinlto-jobs allows"),
         fileArgument("make", Settings.Program, "GNU make")},
        FolderSuffix);
  }
};

class MakeSession : public FolderSession {
public:
  MakeSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : MakeSession(Host, Params, readArguments(Params)) {}

  static void configure(const dtlto_session_params &Params,
                        dtlto_session_config &Config) {
    Config.needs = needs(readArguments(Params).Settings);
  }
  static const Description &description() {
    static const Description D = describePlugin(
        "Runs jobs with GNU make and a launcher such as distcc or icecc",
        Arguments().table(), {{"MAKEFLAGS", "The jobserver of a make"}});
    return D;
  }
  ~MakeSession() override {
    if (Fifo >= 0)
      ::close(Fifo);
  }

  void load(dtlto_load &Load) override;

protected:
  std::vector<std::string> describe(JobFolder &Folder,
                                    const std::vector<const FolderJob *> &Jobs,
                                    unsigned Number) override;
  std::vector<std::string> environment() override;
  std::string launcherProblem() const override;
  bool isNoise(const std::string &Line) const override {
    return Line.compare(0, 4, "*** ") == 0 ||
           Line.find("not remade because of errors") != std::string::npos;
  }

private:
  MakeSession(const dtlto_host &Host, const dtlto_session_params &Params,
              Arguments A)
      : FolderSession(Host, Params, std::move(A.Settings), FolderSuffix),
        DistCC(std::move(A.DistCC)), Jobserver(A.NumJobs ? "" : jobserver()),
        NumJobs(A.NumJobs ? A.NumJobs
                          : require<dtlto_local_codegen>(
                                Host, DTLTO_EXT_LOCAL_CODEGEN)
                                .slots) {}

  static Arguments readArguments(const dtlto_session_params &Params);
  std::string jobserver();

  const std::string DistCC;
  int Fifo = -1;               // the jobserver's, which each make inherits
  const std::string Jobserver; // its option in MAKEFLAGS, or empty
  const uint32_t NumJobs;
  std::map<std::string, std::string> Rules; // by target
};

} // namespace

Arguments MakeSession::readArguments(const dtlto_session_params &Params) {
  Arguments A;
  dtlto::readArguments(Params, A.table(), A.Settings);
  // make continues from the files that were kept.
  A.Settings.Fresh = !A.Settings.Keep;
  return A;
}

/// Returns the option for the build's jobserver in MAKEFLAGS, or nothing if the
/// jobserver can't be used. It can't if make doesn't know that the recipe runs
/// a make (`+` in the recipe).
std::string MakeSession::jobserver() {
  const char *Flags = ::getenv("MAKEFLAGS");
  std::string_view Rest = Flags ? Flags : "";
  std::string Option;
  while (!Rest.empty()) {
    size_t End = std::min(Rest.find(' '), Rest.size());
    std::string_view Word = Rest.substr(0, End);
    Rest.remove_prefix(std::min(End + 1, Rest.size()));
    if (Word == "--")
      break; // variables follow
    for (std::string_view Name : {"--jobserver-auth=", "--jobserver-fds="})
      if (Word.substr(0, Name.size()) == Name)
        Option = Word;
  }
  size_t Equals = Option.find('=');
  int Read, Write;
  if (Equals == std::string::npos)
    return Option;
  // make 4.3 and earlier do not support a FIFO, but all support descriptors.
  if (Option.compare(Equals + 1, 5, "fifo:") == 0) {
    Fifo = ::open(Option.c_str() + Equals + 6, O_RDWR);
    std::string Number = std::to_string(Fifo);
    return Fifo < 0 ? "" : "--jobserver-auth=" + Number + "," + Number;
  }
  // Without `+` in the recipe, make has closed them, and their numbers may have
  // been reused.
  auto IsPipe = [](int Fd) {
    struct stat St;
    return ::fstat(Fd, &St) == 0 && S_ISFIFO(St.st_mode);
  };
  if (std::sscanf(Option.c_str() + Equals + 1, "%d,%d", &Read, &Write) != 2 ||
      !IsPipe(Read) || !IsPipe(Write))
    return "";
  return Option;
}

/// Passes on only the jobserver of the user's own make: its other options and
/// variables are for other rules.
std::vector<std::string> MakeSession::environment() {
  std::vector<std::string> Env = {"MFLAGS", "GNUMAKEFLAGS", "MAKEOVERRIDES",
                                  "MAKEFILES", "MAKELEVEL",
                                  // clang's; it would change the objects.
                                  "CCC_OVERRIDE_OPTIONS"};
  Env.push_back(Jobserver.empty() ? "MAKEFLAGS" : "MAKEFLAGS= -j " + Jobserver);
  return Env;
}

/// Checks the first word of cc=, if that is the name of a program or a path.
/// Otherwise only the shell can find the program.
std::string MakeSession::launcherProblem() const {
  size_t Begin = std::min(DistCC.find_first_not_of(' '), DistCC.size());
  std::string Tool = DistCC.substr(Begin, DistCC.find(' ', Begin) - Begin);
  bool IsName = std::all_of(Tool.begin(), Tool.end(), [](unsigned char C) {
    return ::isalnum(C) || C >= 0x80 || ::strchr("._+-/@,:", C);
  });
  if (Tool.empty() || !IsName || !findProgram(Tool).empty())
    return "";
  // It may be a command of the shell, such as `exec`.
  const char *Args[] = {"sh", "-c", "command -v -- \"$0\"", Tool.c_str(),
                        nullptr};
  dtlto_run Run = {"/bin/sh", nullptr, nullptr};
  char Answer[256];
  if (dtlto_run_command(&Run, Args, DTLTO_RUN_HERE, Answer, sizeof(Answer)) ==
      DTLTO_OK)
    return "";
  return "the launcher " + quote(Tool) + ", which cc= names, is not installed";
}

void MakeSession::load(dtlto_load &Load) {
  Load.slots = NumJobs;
  Load.free = NumJobs - std::min<uint32_t>(NumJobs, numRunning());
  Load.local = DistCC.empty() ? NumJobs : 0;
}

std::vector<std::string>
MakeSession::describe(JobFolder &Folder,
                      const std::vector<const FolderJob *> &Jobs,
                      unsigned Number) {
  std::string Goal = "batch-" + std::to_string(Number);
  std::string Targets;
  for (const FolderJob *J : Jobs) {
    std::vector<std::string> Names = J->Inputs, Args = J->Args;
    Names.push_back(J->Output);
    Args.insert(Args.begin(), S.Compiler);
    for (const std::string &N : Names)
      if (!make::canBeName(N))
        throw Error(DTLTO_ERROR_CALLER,
                    "a makefile cannot name the file " + quote(N));
    for (const std::string &A : Args)
      if (!make::canBeWord(A))
        throw Error(DTLTO_ERROR_CALLER,
                    "a makefile cannot have the argument " + quote(A));
    // The index first, as it is what the rule is for.
    std::vector<std::string> Needs = {J->Inputs[1], J->Inputs[0]};
    Needs.insert(Needs.end(), J->Inputs.begin() + 2, J->Inputs.end());
    Rules[J->Output] = make::rule(J->Output, Needs, Args);
    Targets += " " + make::name(J->Output);
  }
  std::string Text = make::head(DistCC), All;
  for (const auto &[Target, Rule] : Rules) {
    Text += Rule + "\n";
    All += " " + make::name(Target);
  }
  Text += "all :" + All + "\n\n.PHONY : " + Goal + "\n" + Goal + " :" +
          Targets + "\n";
  Folder.write(FileName, Text);
  std::vector<std::string> Command = {"-f", FileName, "-k",
                                      "-r", "-s",     "--no-print-directory"};
  if (Jobserver.empty())
    Command.push_back("-j" + std::to_string(NumJobs));
  Command.insert(Command.end(),
                 {"DIST_CC=" + make::argument(DistCC),
                  "THEN=2>'$@.err' && mv -f '$@.err' '$@.words'", Goal});
  return Command;
}

DTLTO_PLUGIN(MakeSession, "make", DTLTO_VERSION,
             DTLTO_JOB_INPUTS | DTLTO_JOB_WHOLE_IMPORTS);
