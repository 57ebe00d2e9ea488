//===- Program.cpp - A program that runs jobs -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::sdk;
using namespace std::chrono_literals;

// Longer lines are split.
static constexpr size_t MaxLine = 4096;
// How long a program may continue once all its jobs have results, and after
// SIGTERM.
static constexpr std::chrono::milliseconds EndPatience = 2s, KillPatience = 1s;
// A pause this long ends a message of several lines.
static constexpr auto MessagePause = 500ms;
// Limits for the output of one run.
static constexpr size_t MaxErrorLines = 100, MaxExcerpt = 300,
                        MaxErrorOutput = 8192;

static bool canRun(const std::string &Path) {
  struct stat Info;
  return ::stat(Path.c_str(), &Info) == 0 && S_ISREG(Info.st_mode) &&
         ::access(Path.c_str(), X_OK) == 0;
}

std::string dtlto::absolutePath(const std::string &Path) {
  char WorkingDir[PATH_MAX];
  if (Path.find('/') == std::string::npos || Path[0] == '/' ||
      !::getcwd(WorkingDir, sizeof(WorkingDir)))
    return Path;
  return std::string(WorkingDir) + "/" + Path;
}

std::string dtlto::findProgram(const std::string &Name) {
  if (Name.empty())
    return "";
  if (Name.find('/') != std::string::npos) {
    std::string Path = absolutePath(Name);
    return canRun(Path) ? Path : "";
  }
  const char *All = ::getenv("PATH");
  std::string_view Rest = All ? All : "/usr/bin:/bin";
  while (!Rest.empty()) {
    size_t End = std::min(Rest.find(':'), Rest.size());
    std::string Path = std::string(Rest.substr(0, End)) + "/" + Name;
    if (Path[0] == '/' && End != 0 && canRun(Path))
      return Path;
    Rest.remove_prefix(std::min(End + 1, Rest.size()));
  }
  return "";
}

Program::Program(JobFolder *Folder, const std::vector<std::string> &Args,
                 const std::vector<std::string> &Env) {
  Process::Setup S;
  // The shell waits until the guard knows its group, so the program always ends
  // when the linker does.
  S.Args = {"/bin/sh", "-c", "read -r go || exit 1; exec \"$@\" </dev/null",
            "dtlto"};
  S.Args.insert(S.Args.end(), Args.begin(), Args.end());
  S.Env = Env;
  S.Folder = Folder ? Folder->fd() : -1;
  S.Group = Process::Setup::NewGroup;
  Descriptor In, ChildIn, ChildOut, ChildErr;
  int Errno = openStream(In, ChildIn);
  if (!Errno)
    Errno = Out.open(ChildOut);
  if (!Errno)
    Errno = Err.open(ChildErr);
  S.In = ChildIn.get();
  S.Out = ChildOut.get();
  S.Err = ChildErr.get();
  if (!Errno)
    Errno = Child.start(S, Folder ? &Folder->guard() : nullptr);
  if (Errno)
    throw Error(DTLTO_ERROR_INFRASTRUCTURE,
                "cannot start " + quote(Args[0]) + ": " + std::strerror(Errno));
  (void)::send(In.get(), "go\n", 3, MSG_NOSIGNAL);
}

void Program::listen(const std::function<void(std::string, bool)> &Line) {
  for (int I = 0; I != 2; ++I) {
    Output &From = I == 0 ? Out : Err;
    auto EndLine = [&] {
      if (!Rest[I].empty())
        Line(std::exchange(Rest[I], ""), I == 1);
    };
    std::string Block;
    From.read(Block);
    for (char C : Block) {
      bool IsEnd = C == '\n' || C == '\r';
      if (!IsEnd)
        Rest[I] += C;
      if (IsEnd || Rest[I].size() == MaxLine)
        EndLine();
    }
    if (!From.isOpen() || HasEnded)
      EndLine();
  }
}

bool Program::hasEnded() {
  if (HasEnded || !Child.hasEnded())
    return HasEnded;
  if (!Child.describeExit().empty())
    Child.kill(SIGKILL); // kill its children
  return HasEnded = true;
}

std::string Program::describeExit() const {
  return Child.isLost() ? "ended with an unknown status" : Child.describeExit();
}

void Program::end() {
  if (!HasEnded)
    Child.kill(WasSignaled ? SIGKILL : SIGTERM);
  WasSignaled = true;
}

//===----------------------------------------------------------------------===//
// All programs of a session
//===----------------------------------------------------------------------===//

std::shared_ptr<ProgramRun>
ProgramRuns::start(JobFolder &Folder, const std::vector<std::string> &Args,
                   const std::vector<std::string> &Env,
                   std::set<std::string> Outputs) {
  auto R = std::make_shared<ProgramRun>(Folder, Args, Env);
  R->NumPending = Outputs.size();
  R->Outputs = std::move(Outputs);
  Runs.push_back(R);
  return R;
}

void ProgramRuns::wait(std::vector<pollfd> Fds) const {
  // poll() does not report the end of a program that has closed its output.
  bool IsQuiet = true;
  for (const auto &R : Runs) {
    Fds.push_back({R->Child.out(), POLLIN, 0});
    Fds.push_back({R->Child.err(), POLLIN, 0});
    IsQuiet &= R->Child.out() >= 0 || R->Child.err() >= 0;
  }
  ::poll(Fds.data(), Fds.size(), IsQuiet ? 100 : 5);
}

bool ProgramRuns::listen(ProgramRun &R) {
  bool HasOutput = false;
  R.Child.listen([&](std::string Line, bool IsError) {
    HasOutput = true;
    // The linker adds the plugin's name.
    if (Line.compare(0, Prefix.size(), Prefix) == 0)
      Line.erase(0, Prefix.size());
    IsError &= !IsNoise(Line);
    if (IsError && R.NumErrorLines++ < MaxErrorLines)
      R.UnloggedErrors += Line + "\n";
    else
      TheLog(DTLTO_LOG_DEBUG, Line);
    if (IsError || R.LastError.empty())
      (IsError ? R.LastError : R.LastLine) = Line.substr(0, MaxExcerpt);
    if (IsError && R.ErrorOutput.size() + Line.size() < MaxErrorOutput)
      R.ErrorOutput += Line + "\n";
  });
  if (HasOutput)
    R.LastOutput = ProgramRun::Clock::now();
  else if (ProgramRun::Clock::now() - R.LastOutput >= MessagePause)
    logNewErrors(R);
  return HasOutput;
}

/// Logs the collected lines. The lines of a compiler's message may arrive one
/// by one, and are logged together when the program pauses.
void ProgramRuns::logNewErrors(ProgramRun &R) {
  if (!R.UnloggedErrors.empty())
    TheLog(DTLTO_LOG_COMPILER, std::exchange(R.UnloggedErrors, ""));
}

ProgramRuns::List ProgramRuns::takeEnded() {
  List EndedRuns;
  for (auto It = Runs.begin(); It != Runs.end();)
    if ((*It)->Child.hasEnded()) {
      EndedRuns.push_back(*It);
      It = Runs.erase(It);
    } else {
      ++It;
    }
  for (const auto &R : EndedRuns) {
    listen(*R);
    logNewErrors(*R);
  }
  return EndedRuns;
}

void ProgramRuns::endIdle() {
  for (const auto &R : Runs) {
    auto Patience = R->WasAskedToEnd  ? KillPatience
                    : R->HasCancelled ? 0ms
                                      : EndPatience;
    if (R->NumPending != 0 ||
        ProgramRun::Clock::now() - R->LastResult < Patience)
      continue;
    R->Child.end();
    R->WasAskedToEnd = true;
    R->LastResult = ProgramRun::Clock::now();
  }
}

void ProgramRuns::endAll() {
  auto Deadline = ProgramRun::Clock::now();
  for (const auto &R : Runs)
    if (!R->HasCancelled)
      Deadline = std::max(Deadline, R->LastResult + EndPatience);
  auto HaveEnded = [&] {
    bool All = true;
    for (const auto &R : Runs) {
      listen(*R);
      All &= R->Child.hasEnded();
    }
    return All;
  };
  for (unsigned Step = 0; Step != 2; ++Step) {
    while (!HaveEnded() && ProgramRun::Clock::now() < Deadline)
      std::this_thread::sleep_for(2ms);
    if (HaveEnded())
      break;
    for (const auto &R : Runs)
      R->Child.end();
    Deadline = ProgramRun::Clock::now() + KillPatience;
  }
  for (const auto &R : Runs)
    logNewErrors(*R);
  Runs.clear(); // kills the rest
}
