//===- Program.cpp - A program that runs jobs -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "FolderSettings.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtlto;
using namespace dtlto::sdk;

// Of a line that has no end.
static constexpr size_t MaxLine = 4096;

static bool canRun(const std::string &Path) {
  struct stat Info;
  return ::stat(Path.c_str(), &Info) == 0 && S_ISREG(Info.st_mode) &&
         ::access(Path.c_str(), X_OK) == 0;
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

Program::Program(JobFolder &Folder, const std::vector<std::string> &Args,
                 const std::vector<std::string> &Env) {
  Process::Setup S;
  // The shell waits until the guard knows it: from its first moment on, the
  // program ends when the linker does.
  S.Args = {"/bin/sh", "-c", "read -r go || exit 1; exec \"$@\" </dev/null",
            "dtlto"};
  S.Args.insert(S.Args.end(), Args.begin(), Args.end());
  S.Env = Env;
  S.Folder = Folder.fd();
  S.Group = Process::Setup::Own;
  Descriptor In, TheirIn, TheirOut, TheirErr;
  int Why = openStream(In, TheirIn);
  if (!Why)
    Why = Out.open(TheirOut);
  if (!Why)
    Why = Err.open(TheirErr);
  S.In = TheirIn.get();
  S.Out = TheirOut.get();
  S.Err = TheirErr.get();
  if (!Why)
    Why = P.start(S, &Folder.guard());
  if (Why)
    throw Error(DTLTO_ERROR_INFRASTRUCTURE,
                "can't start " + quote(Args[0]) + ": " + std::strerror(Why));
  (void)::send(In.get(), "go\n", 3, MSG_NOSIGNAL);
}

void Program::listen(const std::function<void(std::string, bool)> &Line) {
  for (int I = 0; I != 2; ++I) {
    Output &From = I == 0 ? Out : Err;
    std::string Block;
    From.read(Block);
    for (char C : Block) {
      if (C != '\n' && C != '\r' && Rest[I].size() < MaxLine) {
        Rest[I] += C;
        continue;
      }
      if (!Rest[I].empty())
        Line(Rest[I], I == 1);
      Rest[I].clear();
    }
    if ((!From.isOpen() || Ended) && !Rest[I].empty()) {
      Line(Rest[I], I == 1);
      Rest[I].clear();
    }
  }
}

bool Program::hasEnded() {
  if (Ended || !P.hasEnded())
    return Ended;
  if (!P.how().empty())
    P.kill(SIGKILL); // what it has started
  return Ended = true;
}

std::string Program::how() const {
  return P.isLost() ? "ended, but how is lost" : P.how();
}

void Program::end() {
  if (!Ended)
    P.kill(Asked ? SIGKILL : SIGTERM);
  Asked = true;
}
