//===- Samples.cpp - Real jobs with their objects -------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "Bundle/Bundle.h"
#include "CaseReport.h"
#include "llvm/Config/llvm-config.h"
#include <filesystem>
#include <fstream>
#include <map>

using namespace dtlto::check;
namespace fs = std::filesystem;

/// Reads the job \p Name. Returns false with \p Error on failure.
static bool readSample(const fs::path &Name, bool HasObject, Sample &S,
                       std::string &Error) {
  llvm::Expected<dtlto::Bundle> B =
      dtlto::readBundle(readFile(Name.string()), LLVM_VERSION_STRING);
  if (!B) {
    Error =
        "cannot read '" + Name.string() + "': " + llvm::toString(B.takeError());
    return false;
  }
  S = {B->Name, B->Triple, B->Output, B->Config, B->Args, {}, {}, false};
  for (const dtlto::Bundle::Input &In : B->Inputs)
    S.Inputs.push_back({In.Path, In.Role, {In.Bytes.begin(), In.Bytes.end()}});
  S.Object = readFile(fs::path(Name).replace_extension("o").string());
  if (HasObject && S.Object.empty())
    Error = "no object next to '" + Name.string() + "'";
  return Error.empty();
}

/// The jobs of \p Folder, in the order of their names.
static std::vector<Sample> readFolder(const std::string &Folder,
                                      bool HaveObjects, std::string &Error) {
  std::vector<Sample> All;
  std::vector<fs::path> Names;
  std::error_code EC;
  for (auto &Entry : fs::directory_iterator(Folder, EC))
    if (Entry.path().extension() == ".tar")
      Names.push_back(Entry.path());
  std::sort(Names.begin(), Names.end());
  for (const fs::path &Name : Names)
    if (!readSample(Name, HaveObjects, All.emplace_back(), Error))
      return {};
  if (All.empty())
    Error = "no jobs in '" + Folder + "'";
  return All;
}

Samples dtlto::check::readSamples(const std::string &Folder,
                                  std::string &Error) {
  std::string IgnoredError; // a user's jobs include no others
  Samples S = {readFolder(Folder, true, Error),
               readFolder(Folder + "/refused", false, IgnoredError),
               readFolder(Folder + "/long", false, IgnoredError)};
  for (Sample &Job : S.Long)
    Job.IsLong = true;
  std::map<std::string, std::string> Whole;
  for (const Sample &Job : S.Good)
    for (const Sample::Input &In : Job.Inputs)
      if (In.Role == DTLTO_ROLE_PRIMARY)
        Whole[In.Path] = In.Bytes;
  for (Sample &Job : S.Good)
    for (Sample::Input &In : Job.Inputs)
      if (In.Role == DTLTO_ROLE_IMPORT)
        In.Whole = Whole[In.Path];
  std::sort(S.Good.begin(), S.Good.end(),
            [](const Sample &Left, const Sample &Right) {
              return Left.Object.size() > Right.Object.size();
            });
  return S;
}

/// Modules that import from each other, of different sizes, without includes.
/// `many` has so much code that its job takes a while. `refused` can't be
/// compiled, which is noticed only in code generation. There, `long` takes
/// about a minute, in an assembler's loop.
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
    {"refused.c", "void _start(void) { __asm__(\"no_such_instruction\"); }\n"},
    {"long.c", R"(
void _start(void) {
  __asm__(".rept 8000\n.rept 1000000\n.endr\n.endr");
}
)"}};

/// Writes and compiles all sources in \p Folder. Returns false with the last
/// compiler's \p Output if no compiler can.
static bool compileSources(const std::string &Folder, const std::string &Clang,
                           std::string &Output) {
  std::vector<std::string> Compilers = {Clang};
  if (Clang.empty())
    Compilers = {
        "clang-" + llvm::StringRef(LLVM_VERSION_STRING).split('.').first.str(),
        "clang"};
  std::vector<std::string> Args = {
      "", "-O2", "-flto=thin", "-ffreestanding", "-fno-pic", "-c"};
  for (auto &Source : Sources) {
    Args.push_back(Source.Name);
    std::ofstream(Folder + "/" + Source.Name) << Source.Text;
  }
  return std::any_of(Compilers.begin(), Compilers.end(),
                     [&](const std::string &Compiler) {
                       Args[0] = Compiler;
                       return runProgram(Args, Folder, Output);
                     });
}

std::string dtlto::check::makeSamples(const std::string &Folder,
                                      const std::string &Clang) {
  std::error_code EC;
  const fs::path Prefix =
      fs::canonical("/proc/self/exe", EC).parent_path().parent_path();
  const fs::path Keeper = Prefix / "lib/dtlto/check/libdtlto_keep.so";
  // Under its own name: the linker checks how it was called.
  fs::path Linker = Prefix / "lib/dtlto/bin/ld.lld";
  if (!fs::exists(Linker, EC))
    Linker = Prefix / "bin/ld.lld";
  if (!fs::exists(Linker, EC) || !fs::exists(Keeper, EC))
    return "no linker (bin/ld.lld) or no lib/dtlto/check/libdtlto_keep.so in "
           "'" +
           Prefix.string() + "': the installation of dtlto is incomplete";
  std::string Output;
  if (!compileSources(Folder, Clang, Output))
    return "no clang that compiles the jobs' sources (" + Output +
           "); name one with --clang=PROGRAM, or a folder of jobs with "
           "--jobs=FOLDER";
  auto Link = [&](const std::string &Jobs, std::vector<std::string> Args) {
    std::error_code EC;
    fs::create_directories(Jobs, EC);
    Args.insert(Args.begin(), Linker.string());
    Args.insert(Args.end(),
                {"-o", "linked", "--thinlto-dist-plugin=" + Keeper.string(),
                 "--thinlto-dist-plugin-arg=" + Jobs,
                 "--thinlto-dist-fallback=none", "--thinlto-dist-local-jobs=0",
                 "--thinlto-dist-duplicate=0", "--thinlto-dist-costs=off"});
    return runProgram(Args, Folder, Output);
  };
  if (!Link(Folder, {"main.o", "first.o", "second.o", "many.o"}))
    return "the link that makes the jobs failed: " + Output;
  std::string Error;
  const std::string Refused = Folder + "/refused", Long = Folder + "/long";
  if (Link(Refused, {"refused.o"}) || readFolder(Refused, false, Error).empty())
    return "no job that fails to compile: " + Output;
  if (Link(Long, {"long.o", "--thinlto-dist-plugin-arg=no-objects"}) ||
      readFolder(Long, false, Error).empty())
    return "no job that takes long: " + Output;
  return "";
}
