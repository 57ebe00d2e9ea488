//===- MakeSamples.cpp - A small link whose jobs are kept -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"
#include "Samples.h"
#include <filesystem>
#include <fstream>

using namespace dtlto::check;
namespace fs = std::filesystem;

/// Modules that import from each other, of different sizes, and without
/// headers. `many` has code enough that a job of it doesn't end at once. No
/// compiler can compile `refused`, and none sees that before the code
/// generation.
static const struct {
  const char *Name, *Text;
} Sources[] = {
    {"main.c", R"(
int first(int), many(int, int);
int Shared = 3;
void _start(void) { Shared = first(Shared) + many(Shared, 1); }
)"},
    {"first.c", R"(
extern int Shared;
int second(int, const char *);
static int twice(int x) { return 2 * x + Shared; }
int first(int x) { return second(twice(x), "first"); }
)"},
    {"second.c", R"(
int Count;
static int length(const char *s) { int n = 0; while (s[n]) ++n; return n; }
int second(int x, const char *s) { return x < 0 ? Count++ : x + length(s); }
)"},
    {"many.c", R"(
int second(int, const char *);
unsigned Table[256];
#define F(n) int f##n(int a, int b) { int s = n; \
  for (int i = 0; i < a; ++i) { Table[(i + n) & 255] += b * i; \
    s += second(s ^ Table[i & 255], "x"); } return s; }
#define T(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4)
T(1) T(2) T(3) T(4)
int many(int a, int b) { return f10(a, b) + f24(b, a) + f33(a, a) + f41(b, b); }
)"},
    {"refused.c", "void _start(void) { __asm__(\"no_such_instruction\"); }\n"}};

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

/// Writes and compiles all sources in \p Folder.
static bool compileSources(const std::string &Folder, const std::string &Clang,
                           std::string &Error) {
  const std::string Version = llvmVersion();
  std::vector<std::string> Compilers = {Clang};
  if (Clang.empty())
    Compilers = {"clang-" + Version.substr(0, Version.find('.')), "clang"};
  std::vector<std::string> Args = {
      "", "-O2", "-flto=thin", "-ffreestanding", "-fno-pic", "-c"};
  for (auto &Source : Sources) {
    Args.push_back(Source.Name);
    std::ofstream(Folder + "/" + Args.back()) << Source.Text;
  }
  std::string Output;
  for (const std::string &Compiler : Compilers) {
    Args[0] = Compiler;
    if (runProgram(Args, Folder, Output))
      return true;
  }
  Error = "no clang that compiles the jobs' sources (" + Output +
          "); name one with --clang=PROGRAM, or a folder of jobs with "
          "--jobs=FOLDER";
  return false;
}

bool dtlto::check::makeSamples(const std::string &Folder,
                               const std::string &Clang, std::string &Error) {
  std::error_code EC;
  fs::path Prefix = fs::read_symlink("/proc/self/exe", EC).parent_path() / "..";
  std::string Linker =
      findBelow(Prefix, {"lib/dtlto/bin/ld.lld", "bin/ld.lld"});
  std::string Keeper = findBelow(Prefix, {"lib/dtlto/check/libdtlto_keep.so"});
  if (Linker.empty() || Keeper.empty()) {
    Error =
        "no linker (bin/ld.lld) or no lib/dtlto/check/libdtlto_keep.so in '" +
        Prefix.lexically_normal().string() + "': dtlto isn't whole there";
    return false;
  }
  if (!compileSources(Folder, Clang, Error))
    return false;
  std::string Output;
  auto Link = [&](const std::string &Jobs, std::vector<const char *> Modules) {
    std::vector<std::string> Args = {Linker,
                                     "-o",
                                     "linked",
                                     "--thinlto-dist-plugin=" + Keeper,
                                     "--thinlto-dist-plugin-arg=" + Jobs,
                                     "--thinlto-dist-fallback=none",
                                     "--thinlto-dist-local-jobs=0",
                                     "--thinlto-dist-duplicate=0",
                                     "--thinlto-dist-costs=off"};
    Args.insert(Args.end(), Modules.begin(), Modules.end());
    return runProgram(Args, Folder, Output);
  };
  if (!Link(Folder, {"main.o", "first.o", "second.o", "many.o"})) {
    Error = "the link that makes the jobs failed: " + Output;
    return false;
  }
  fs::create_directories(refusedJobs(Folder), EC);
  if (!Link(refusedJobs(Folder), {"refused.o"}) &&
      !readSamples(refusedJobs(Folder), Error, false).empty())
    return true;
  Error = "no job that can't be compiled: " + Output;
  return false;
}
