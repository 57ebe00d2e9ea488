//===- MakeSamples.cpp - A small link whose jobs are kept -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtlto::check;
namespace fs = std::filesystem;

namespace {

/// Modules that import from each other, of different sizes, and without
/// headers. `many` has code enough that a job of it doesn't end at once.
const struct {
  const char *Name, *Text;
} Sources[] = {
    {"main",
     "int first(int), many(int, int); int Shared = 3;\n"
     "void _start(void) { Shared = first(Shared) + many(Shared, 1); }\n"},
    {"first", "extern int Shared; int second(int, const char *);\n"
              "static int twice(int x) { return 2 * x + Shared; }\n"
              "int first(int x) { return second(twice(x), \"first\"); }\n"},
    {"second", "int Count; static int length(const char *s) {\n"
               "  int n = 0; while (s[n]) ++n; return n; }\n"
               "int second(int x, const char *s) {\n"
               "  return x < 0 ? Count++ : x + length(s); }\n"},
    {"many",
     "int second(int, const char *); unsigned Table[256];\n"
     "#define F(n) int f##n(int a, int b) { int s = n;\\\n"
     "  for (int i = 0; i < a; ++i) { Table[(i + n) & 255] += b * i;\\\n"
     "    s += second(s ^ Table[i & 255], \"x\"); } return s; }\n"
     "#define T(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4)\n"
     "T(1) T(2) T(3) T(4)\n"
     "int many(int a, int b) { return f10(a, b) + f24(b, a) + f33(a, a)"
     " + f41(b, b); }\n"}};

/// What no compiler can do, and none sees before the code generation.
const char Refused[] =
    "void _start(void) { __asm__(\"no_such_instruction\"); }\n";

} // namespace

std::string dtlto::check::ownPath() {
  char Path[PATH_MAX];
  ssize_t N = ::readlink("/proc/self/exe", Path, sizeof(Path));
  return N > 0 ? std::string(Path, static_cast<size_t>(N)) : "";
}

bool dtlto::check::runProgram(const std::vector<std::string> &Args,
                              const std::string &Folder, std::string &Output) {
  std::vector<char *> Raw;
  for (const std::string &Arg : Args)
    Raw.push_back(const_cast<char *>(Arg.c_str()));
  Raw.push_back(nullptr);
  std::string Log = Folder + "/output.txt";
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_addopen(&Actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&Actions, 1, Log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&Actions, 1, 2);
  posix_spawn_file_actions_addchdir_np(&Actions, Folder.c_str());
  pid_t Pid;
  int Why =
      ::posix_spawnp(&Pid, Raw[0], &Actions, nullptr, Raw.data(), environ);
  posix_spawn_file_actions_destroy(&Actions);
  if (Why) {
    Output = std::strerror(Why);
    return false;
  }
  int Status = -1;
  while (::waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
    ;
  Output = readFile(Log);
  return WIFEXITED(Status) && WEXITSTATUS(Status) == 0;
}

/// The first of \p Names below \p Folder that is there, or an empty string. A
/// link stays one: the linker looks at the name that it was called by.
static std::string findBelow(const fs::path &Folder,
                             std::initializer_list<const char *> Names) {
  std::error_code EC;
  for (const char *Name : Names)
    if (fs::exists(Folder / Name, EC))
      return fs::canonical(Folder, EC) / Name;
  return "";
}

/// Makes a job in \p Folder that the compiler says no to, as the link does.
static bool makeRefused(const std::string &Folder, const std::string &Clang,
                        std::vector<std::string> Link, std::string &Error) {
  std::error_code EC;
  fs::create_directories(Folder, EC);
  std::ofstream(Folder + "/refused.c") << Refused;
  std::string Output;
  for (std::string &Arg : Link)
    if (Arg.rfind("--thinlto-dist-plugin-arg=", 0) == 0)
      Arg = "--thinlto-dist-plugin-arg=" + Folder;
  Link.push_back("refused.bc");
  if (runProgram({Clang, "-O2", "-flto=thin", "-ffreestanding", "-fno-pic",
                  "-c", "refused.c", "-o", "refused.bc"},
                 Folder, Output) &&
      !runProgram(Link, Folder, Output) &&
      !readSamples(Folder, Error, false).empty())
    return true;
  Error = "no job that can't be compiled: " + Output;
  return false;
}

bool dtlto::check::makeSamples(const std::string &Folder,
                               const std::string &Clang, std::string &Error) {
  fs::path Prefix = fs::path(ownPath()).parent_path() / "..";
  std::string Linker =
      findBelow(Prefix, {"lib/dtlto/bin/ld.lld", "bin/ld.lld"});
  std::string Keeper = findBelow(Prefix, {"lib/dtlto/check/libdtlto_keep.so"});
  if (Linker.empty() || Keeper.empty()) {
    Error =
        "no linker (bin/ld.lld) or no lib/dtlto/check/libdtlto_keep.so in '" +
        Prefix.lexically_normal().string() + "': dtlto isn't whole there";
    return false;
  }
  std::vector<std::string> Compilers = {Clang};
  if (Clang.empty()) {
    std::string Version = llvmVersion();
    Compilers = {"clang-" + Version.substr(0, Version.find('.')), "clang"};
  }
  std::string Output;
  std::vector<std::string> Link = {Linker,
                                   "-o",
                                   "linked",
                                   "--thinlto-dist-plugin=" + Keeper,
                                   "--thinlto-dist-plugin-arg=" + Folder,
                                   "--thinlto-dist-fallback=none",
                                   "--thinlto-dist-local-jobs=0",
                                   "--thinlto-dist-duplicate=0",
                                   "--thinlto-dist-costs=off"};
  const std::vector<std::string> Options = Link;
  for (auto &Source : Sources) {
    std::string Name = Source.Name;
    std::ofstream(Folder + "/" + Name + ".c") << Source.Text;
    bool Done = false;
    while (!Done && !Compilers.empty()) {
      Done =
          runProgram({Compilers.front(), "-O2", "-flto=thin", "-ffreestanding",
                      "-fno-pic", "-c", Name + ".c", "-o", Name + ".bc"},
                     Folder, Output);
      if (!Done)
        Compilers.erase(Compilers.begin());
    }
    if (!Done) {
      Error = "no clang that compiles the jobs' sources (" + Output +
              "); name one with --clang=PROGRAM, or a folder of jobs with "
              "--jobs=FOLDER";
      return false;
    }
    Link.push_back(Name + ".bc");
  }
  if (!runProgram(Link, Folder, Output)) {
    Error = "the link that makes the jobs failed: " + Output;
    return false;
  }
  return makeRefused(refusedJobs(Folder), Compilers.front(), Options, Error);
}
