//===- DistributorPlugin.cpp - A distributor of LLVM's DTLTO --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the programs that were written for LLD's --thinlto-distributor=. Such a
// program gets a JSON file as its last argument
// (https://llvm.org/docs/DTLTO.html):
//
//   {"common": {"linker_output": TEXT,
//               "args": [COMPILER, TEXT...],    the beginning of all commands
//               "inputs": [FILE...]},
//    "jobs": [{"args": [TEXT...],               the rest of this command
//              "inputs": [MODULE, INDEX, FILE...],
//              "outputs": [OBJECT]}...]}
//
// All names are relative to the folder that the program runs in.
//
//===----------------------------------------------------------------------===//

#include "Description.h"
#include "FolderSession.h"
#include "Json.h"
#include "Text.h"
#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::sdk;

static constexpr const char *FolderSuffix = ".dtlto-distributor";

/// Makes the path of an existing file absolute, since the program runs in
/// another folder. A folder's name alone stays: it may have another meaning.
static std::string makeAbsolute(const std::string &Word) {
  struct stat S;
  if (::stat(Word.c_str(), &S) != 0)
    return Word;
  bool IsName = Word.find('/') == std::string::npos;
  return absolutePath(IsName && S_ISREG(S.st_mode) ? "./" + Word : Word);
}

namespace {

struct Arguments {
  FolderSettings Settings;
  std::vector<std::string> ProgramArgs; // before the JSON file

  Arguments() { Settings.Programs = 2; }
  ArgumentTable table() {
    Argument Batch =
        numberArgument("batch", "N", 1, 1000000, Settings.Batch,
                       "Describe all jobs to one run of the program, or N");
    Batch.Default = "all";
    Batch.Choices = {"all"};
    Batch.Set = [this](std::string_view Value) {
      if (Value == "all") {
        Settings.Batch = UINT32_MAX;
        return true;
      }
      Settings.Programs = std::max(2u, std::thread::hardware_concurrency());
      return parseNumber(Value, 1, 1000000, Settings.Batch);
    };
    return folderArguments(
        Settings,
        {fileArgument("program", Settings.Program,
                      "The program, as for LLD's --thinlto-distributor"),
         {"arg", "TEXT", "A word before the JSON file; may be repeated",
          [this](std::string_view Value) {
            ProgramArgs.push_back(makeAbsolute(std::string(Value)));
            return true;
          }},
         std::move(Batch)},
        FolderSuffix);
  }
};

class DistributorSession : public FolderSession {
public:
  DistributorSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : DistributorSession(Host, Params, readArguments(Params)) {}

  static void configure(const dtlto_session_params &Params,
                        dtlto_session_config &Config) {
    Config.needs = needs(readArguments(Params).Settings);
  }
  static const Description &description() {
    static const Description D = describePlugin(
        "Runs jobs with a distributor of LLVM's DTLTO", Arguments().table());
    return D;
  }

protected:
  std::vector<std::string> describe(JobFolder &Folder,
                                    const std::vector<const FolderJob *> &Jobs,
                                    unsigned Number) override;

private:
  DistributorSession(const dtlto_host &Host, const dtlto_session_params &Params,
                     Arguments A)
      : FolderSession(Host, Params, std::move(A.Settings), FolderSuffix),
        ProgramArgs(std::move(A.ProgramArgs)) {}

  static Arguments readArguments(const dtlto_session_params &Params);

  const std::vector<std::string> ProgramArgs;
};

} // namespace

Arguments
DistributorSession::readArguments(const dtlto_session_params &Params) {
  Arguments A;
  dtlto::readArguments(Params, A.table(), A.Settings);
  if (A.Settings.Program.empty())
    throw Error(DTLTO_ERROR_CALLER, "no program to run the jobs: name one with "
                                    "--thinlto-dist-plugin-arg=program=PATH");
  return A;
}

/// Returns the number of words of \p J before the first that names its files.
static size_t numWithoutFiles(const FolderJob &J) {
  auto NamesFile = [&](const std::string &Arg) {
    auto Names = [&](const std::string &File) {
      return Arg.find(File) != std::string::npos;
    };
    return Arg == "-o" || Names(J.Output) ||
           std::any_of(J.Inputs.begin(), J.Inputs.end(), Names);
  };
  return static_cast<size_t>(
      std::find_if(J.Args.begin(), J.Args.end(), NamesFile) - J.Args.begin());
}

std::vector<std::string>
DistributorSession::describe(JobFolder &Folder,
                             const std::vector<const FolderJob *> &Jobs,
                             unsigned Number) {
  // The words that all command lines share, to keep the file short. Words that
  // name a job's files are its own, as in LLD, even if there is only one job.
  size_t NumCommon = numWithoutFiles(*Jobs[0]);
  for (const FolderJob *J : Jobs)
    NumCommon = static_cast<size_t>(
        std::mismatch(J->Args.begin(), J->Args.end(), Jobs[0]->Args.begin(),
                      Jobs[0]->Args.begin() + static_cast<ptrdiff_t>(NumCommon))
            .first -
        J->Args.begin());
  auto Split = [&](const FolderJob &J) {
    return J.Args.begin() + static_cast<ptrdiff_t>(NumCommon);
  };
  std::vector<std::string> Common(Jobs[0]->Args.begin(), Split(*Jobs[0]));
  Common.insert(Common.begin(), S.Compiler);
  std::string Text = "{\"common\": {\"linker_output\": " + json(Output) +
                     ",\n \"args\": " + json(Common) +
                     ",\n \"inputs\": []},\n"
                     "\"jobs\": [";
  for (const FolderJob *J : Jobs) {
    if (J != Jobs[0])
      Text += ',';
    Text += "\n{\"args\": " +
            json(std::vector<std::string>(Split(*J), J->Args.end())) +
            ",\n \"inputs\": " + json(J->Inputs) +
            ",\n \"outputs\": " + json(std::vector{J->Output}) + "}";
  }
  std::string Name = Number == 1
                         ? "jobs.dist-file.json"
                         : "jobs-" + std::to_string(Number) + ".dist-file.json";
  Folder.write(Name, Text + "]}\n");
  std::vector<std::string> Command = ProgramArgs;
  Command.push_back(Folder.path() + "/" + Name);
  return Command;
}

DTLTO_PLUGIN(DistributorSession, "distributor", DTLTO_VERSION,
             DTLTO_JOB_INPUTS | DTLTO_JOB_WHOLE_IMPORTS);
