//===- RunJobTest.cpp - Local jobs of a vendor's plugin -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests include/dtlto/sdk/RunJob.h, mostly with shell scripts instead of clang.
//
//===----------------------------------------------------------------------===//

#include "dtlto/sdk/RunJob.h"
#include "Processes.h"
#include "TempFolder.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include <functional>
#include <optional>
#include <thread>

using namespace dtlto::test;
using llvm::StringRef;

namespace {

/// The result of a job.
struct Outcome {
  int32_t Status;
  std::string Message; // "(null)" without one
  std::string Object;
};

class RunJobTest : public testing::Test {
protected:
  RunJobTest() {
    // Job folders go into a folder of their own.
    EXPECT_FALSE(llvm::sys::fs::create_directory(Top.path("jobs")));
    if (const char *Was = getenv("TMPDIR"))
      OldTmp = Was;
    setenv("TMPDIR", Top.path("jobs").c_str(), 1);
  }

  /// Runs a job with the test's inputs, and expects that it leaves no files.
  Outcome run(const std::string &Program, size_t TextSize = 4096) {
    dtlto_run Run = {Program.c_str(),
                     [](void *Stop) -> int {
                       return (*static_cast<std::function<bool()> *>(Stop))();
                     },
                     &Stop};
    std::vector<const dtlto_input *> Pointers;
    std::vector<dtlto_input> All;
    for (auto &[Path, Bytes] : Inputs)
      All.push_back({sizeof(dtlto_input),
                     DTLTO_ROLE_OTHER,
                     Path.c_str(),
                     {Bytes.data(), Bytes.size()},
                     {}});
    for (dtlto_input &In : All)
      Pointers.push_back(&In);
    std::vector<const char *> Words;
    for (const std::string &Arg : Args)
      Words.push_back(Arg.c_str());
    Words.push_back(nullptr);
    dtlto_job Job = {};
    Job.size = sizeof(Job);
    Job.fields = Parts;
    Job.name = "the job";
    Job.inputs = Pointers.data();
    Job.num_inputs = static_cast<uint32_t>(Pointers.size());
    Job.args = Words.data();
    Job.num_args = static_cast<uint32_t>(Args.size());
    Job.output = Output.c_str();

    std::string Text(TextSize, 'x');
    dtlto_result R = {};
    R.size = sizeof(R);
    R.object.size = 77; // must be overwritten
    EXPECT_EQ(dtlto_run_job(&Job, &Run, &R, Text.data(), TextSize), R.status);
    Outcome O = {R.status, R.message ? R.message : "(null)", ""};
    EXPECT_EQ(R.object.size != 0, R.status == DTLTO_OK);
    if (R.object.size != 0) {
      O.Object.assign(static_cast<const char *>(R.object.data), R.object.size);
      R.object.release(R.object.owner, R.object.data, R.object.size);
    }
    return O;
  }

  /// Creates an executable script, in which `$top` is the test's folder.
  std::string script(const std::string &Text) {
    std::string Name = "script" + std::to_string(NumScripts++);
    Top.write(Name, "#!/bin/sh\ntop='" + Top.path("") + "'\n" + Text);
    EXPECT_EQ(chmod(Top.path(Name).c_str(), 0700), 0);
    return Top.path(Name);
  }
  Outcome runScript(const std::string &Text) { return run(script(Text)); }

  bool exists(const std::string &Name) {
    return llvm::sys::fs::exists(Top.path(Name));
  }
  void TearDown() override {
    if (OldTmp)
      setenv("TMPDIR", OldTmp->c_str(), 1);
    else
      unsetenv("TMPDIR");
    std::error_code EC;
    llvm::sys::fs::directory_iterator Left(Top.path("jobs"), EC);
    EXPECT_EQ(Left, llvm::sys::fs::directory_iterator()) << Left->path();
  }

  TempFolder Top;
  std::optional<std::string> OldTmp;
  uint32_t Parts = DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS;
  std::vector<std::pair<std::string, std::string>> Inputs = {
      {"a/b/in", std::string("by\0tes\n", 7)}, {"a/empty", ""}};
  std::vector<std::string> Args = {"clang", "-o", "the output"};
  std::string Output = "out/here.o";
  std::function<bool()> Stop = [] { return false; };
  unsigned NumScripts = 0;
};

} // namespace

TEST_F(RunJobTest, RunsInAFolderWithTheInputs) {
  Outcome O = runScript("pwd > \"$top/where\"; for a; do echo \"$a\"; done > "
                        "\"$top/args\"\n"
                        "test -f a/empty && cp a/b/in out/here.o");
  EXPECT_EQ(O.Status, DTLTO_OK);
  EXPECT_EQ(O.Object, Inputs[0].second);
  EXPECT_EQ(O.Message, "(null)");
  EXPECT_TRUE(StringRef(Top.read("where"))
                  .starts_with(Top.path("jobs") + "/dtlto-job-"))
      << Top.read("where");
  EXPECT_EQ(Top.read("args"), "-o\nthe output\n");
}

TEST_F(RunJobTest, WarningsComeWithTheObject) {
  Outcome O = runScript("echo one >&2; echo two >&2; echo x > out/here.o");
  EXPECT_EQ(O.Status, DTLTO_OK);
  EXPECT_EQ(O.Message, "one\ntwo");
}

TEST_F(RunJobTest, ExitCodesOfACompilerAreItsVerdict) {
  for (const char *Code : {"1", "70", "125"}) {
    Outcome O = runScript("echo 'error: no' >&2; echo note >&2; "
                          "echo x > out/here.o; exit " +
                          std::string(Code));
    EXPECT_EQ(O.Status, DTLTO_ERROR_COMPILER);
    EXPECT_EQ(O.Message, "error: no\nnote");
  }
}

TEST_F(RunJobTest, OtherExitCodesAreNot) {
  for (const char *Code : {"126", "127", "137", "255"}) {
    Outcome O =
        runScript("echo words >&2; echo more >&2; exit " + std::string(Code));
    EXPECT_EQ(O.Status, DTLTO_ERROR_INFRASTRUCTURE);
    EXPECT_EQ(O.Message,
              "'" + Top.path("script" + std::to_string(NumScripts - 1)) +
                  "' ended with " + Code + ": words");
  }
}

TEST_F(RunJobTest, BeingKilledIsNotTheCompilersError) {
  Outcome O = runScript("echo x > out/here.o; kill -9 $$");
  EXPECT_EQ(O.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(O.Message, "'" + Top.path("script0") + "' was killed by signal 9");
}

TEST_F(RunJobTest, ProgramsThatAreMissing) {
  Outcome O = run(Top.path("nowhere"));
  EXPECT_EQ(O.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(O.Message, "cannot run '" + Top.path("nowhere") +
                           "': No such file or directory");
}

// The program would be searched in the job's folder.
TEST_F(RunJobTest, RelativePathsOfProgramsAreRefused) {
  Outcome O = run("bin/clang");
  EXPECT_EQ(O.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(O.Message, "neither a name nor an absolute path: 'bin/clang'");
}

// The checked program must be the one that runs.
TEST_F(RunJobTest, WhatIsCheckedIsWhatRuns) {
  for (const char *Folder : {"near", "far"}) {
    EXPECT_FALSE(llvm::sys::fs::create_directory(Top.path(Folder)));
    std::string Name = std::string(Folder) + "/cc";
    Top.write(Name, "#!/bin/sh\n: > '" + Top.path("") + "'/ran-" + Folder +
                        "\n[ \"$1\" = --version ] || echo x > out/here.o\n"
                        "echo clang version 19.1.7\n");
    EXPECT_EQ(chmod(Top.path(Name).c_str(), 0700), 0);
  }
  inProcesses(1, [&](unsigned) {
    char Text[4096];
    if (chdir(Top.path("").c_str()) != 0)
      return false;
    setenv("PATH", ("near:" + Top.path("far") + ":/usr/bin:/bin").c_str(), 1);
    return dtlto_run_check_clang("cc", "19.1.7", Text, sizeof(Text)) ==
               DTLTO_OK &&
           run("cc").Status == DTLTO_OK;
  });
  EXPECT_TRUE(exists("ran-far"));
  EXPECT_FALSE(exists("ran-near"));
  EXPECT_EQ(run("no-program-of-that-name").Message,
            "cannot run 'no-program-of-that-name': No such file or directory");
}

TEST_F(RunJobTest, WithoutStandardInput) {
  std::string Program = script("cat a/b/in > out/here.o");
  inProcesses(1, [&](unsigned) {
    close(STDIN_FILENO);
    return run(Program).Object == Inputs[0].second;
  });
}

TEST_F(RunJobTest, AnExitCodeIsNoObject) {
  for (const char *Text : {"true", ": > out/here.o", "mkdir out/here.o"}) {
    Outcome O = runScript(std::string("echo why >&2; echo x >&2; ") + Text);
    EXPECT_EQ(O.Status, DTLTO_ERROR_INFRASTRUCTURE) << Text;
    EXPECT_TRUE(StringRef(O.Message).contains("' wrote no object: why"))
        << O.Message << Text;
    EXPECT_EQ(O.Message.find('\n'), std::string::npos) << Text;
  }
}

TEST_F(RunJobTest, LongMessagesEndWithWhatIsMissing) {
  std::string Program =
      script("head -c 3000000 /dev/zero | tr '\\0' a >&2; echo x > out/here.o");
  Outcome O = run(Program);
  EXPECT_EQ(O.Status, DTLTO_OK);
  EXPECT_EQ(O.Message, std::string(4055, 'a') + "\n[and " +
                           std::to_string(3000000 - 4055) + " more bytes]");
  O = run(Program, 10); // no room for the note
  EXPECT_EQ(O.Message, "aaaaaaaaa");
  O = run(Program, 1);
  EXPECT_EQ(O.Status, DTLTO_OK);
  EXPECT_EQ(O.Message, "(null)");
}

TEST_F(RunJobTest, LastWordsAreHeard) {
  // Read only after the process has ended.
  Stop = [&] {
    siginfo_t Info;
    if (exists("runs"))
      waitid(P_PID, std::stoi(Top.read("runs")), &Info, WEXITED | WNOWAIT);
    return false;
  };
  Outcome O = run(script("echo $$ > \"$top/pid\"; mv \"$top/pid\" "
                         "\"$top/runs\"; echo x > out/here.o; "
                         "head -c 60000 /dev/zero >&2"),
                  1 << 16);
  EXPECT_EQ(O.Status, DTLTO_OK);
  EXPECT_EQ(O.Message, std::string(60000, ' '));
}

TEST_F(RunJobTest, ZerosInMessagesAreSpaces) {
  Outcome O = runScript("printf 'a\\0b\\n\\n' >&2; echo x > out/here.o");
  EXPECT_EQ(O.Message, "a b");
}

TEST_F(RunJobTest, ClosingStderrIsNotTheEnd) {
  Outcome O = runScript("exec >&- 2>&-; mkfifo f; (echo x > f) & "
                        "cat f > out/here.o");
  EXPECT_EQ(O.Status, DTLTO_OK);
  EXPECT_EQ(O.Object, "x\n");
}

TEST_F(RunJobTest, AProcessThatIsLeftBehindIsNotWaitedFor) {
  Outcome O = runScript("sleep 200 & echo $! > \"$top/pid\"; "
                        "echo said >&2; echo x > out/here.o");
  pid_t Left = std::stoi(Top.read("pid"));
  EXPECT_EQ(kill(Left, SIGKILL), 0);
  EXPECT_EQ(O.Status, DTLTO_OK);
  EXPECT_EQ(O.Message, "said");
}

TEST_F(RunJobTest, StopKillsWhatRuns) {
  Stop = [&] { return exists("runs"); };
  for (const char *Silent : {"", "exec >&- 2>&-; "}) {
    Outcome O = runScript(std::string(Silent) +
                          "echo $$ > \"$top/pid\"; "
                          "mv \"$top/pid\" \"$top/runs\"; exec sleep 200");
    EXPECT_EQ(O.Status, DTLTO_CANCELLED);
    EXPECT_NE(kill(std::stoi(Top.read("runs")), 0), 0);
    llvm::sys::fs::remove(Top.path("runs"));
  }
}

TEST_F(RunJobTest, StopIsHeardThroughMuchNoise) {
  Stop = [&] { return exists("runs"); };
  Outcome O = runScript("touch \"$top/runs\"; exec yes >&2");
  EXPECT_EQ(O.Status, DTLTO_CANCELLED);
}

TEST_F(RunJobTest, StopBeforeTheBeginning) {
  Stop = [] { return true; };
  Outcome O = runScript("touch \"$top/runs\"");
  EXPECT_EQ(O.Status, DTLTO_CANCELLED);
  EXPECT_EQ(O.Message, "(null)");
  EXPECT_FALSE(exists("runs"));
}

TEST_F(RunJobTest, CleanPaths) {
  for (const char *Path : {"a", "a/b", "...", "..a/.b", "a b/\n", "~", "C:"})
    EXPECT_TRUE(dtlto_run_is_clean_path(Path)) << Path;
  for (const char *Path : {"", "/", "/a", "a/", "a//b", ".", "./a", "a/./b",
                           "..", "../a", "a/..", "a/../b", "a/../../b"})
    EXPECT_FALSE(dtlto_run_is_clean_path(Path)) << Path;
}

TEST_F(RunJobTest, PathsThatLeaveTheFolderAreRefused) {
  std::string Program = script("touch \"$top/runs\"");
  auto Old = Inputs;
  Inputs.push_back({"../outside", "bytes"});
  Outcome O = run(Program);
  EXPECT_EQ(O.Status, DTLTO_ERROR_CALLER);
  EXPECT_EQ(O.Message, "an input outside of the job's folder: '../outside'");
  Inputs = Old;
  Output = Top.path("outside");
  O = run(Program);
  EXPECT_EQ(O.Status, DTLTO_ERROR_CALLER);
  EXPECT_EQ(O.Message,
            "an output outside of the job's folder: '" + Output + "'");
  EXPECT_FALSE(exists("runs") || exists("outside") || exists("jobs/outside"));
}

TEST_F(RunJobTest, AnInputIsNotTakenForTheObject) {
  Output = Inputs[0].first;
  Outcome O = runScript("true");
  EXPECT_EQ(O.Status, DTLTO_ERROR_CALLER);
  EXPECT_EQ(O.Message, "the output is also an input: 'a/b/in'");
}

TEST_F(RunJobTest, JobsWithoutACommandLine) {
  Parts = DTLTO_JOB_INPUTS;
  Outcome O = runScript("true");
  EXPECT_EQ(O.Status, DTLTO_ERROR_CALLER);
  EXPECT_TRUE(StringRef(O.Message).contains("DTLTO_JOB_ARGS")) << O.Message;
  EXPECT_TRUE(StringRef(O.Message).contains("'the job'")) << O.Message;
}

TEST_F(RunJobTest, InputsThatCannotBeWritten) {
  for (auto &[Path, Why] : std::vector<std::pair<std::string, std::string>>{
           {"a/b/in", "File exists"},
           {"a/b", "File exists"},
           {"a/empty/x", "Not a directory"},
           {std::string(300, 'x'), "File name too long"},
           {std::string(5000, 'x') + "/y", "File name too long"}}) {
    auto Old = Inputs;
    Inputs.push_back({Path, "bytes"});
    Outcome O = runScript("echo x > out/here.o");
    EXPECT_EQ(O.Status, DTLTO_ERROR_INFRASTRUCTURE) << Path;
    EXPECT_EQ(O.Message, "cannot write '" + Path.substr(0, 1000) + "': " + Why);
    Inputs = Old;
  }
}

TEST_F(RunJobTest, NoFolderForJobs) {
  setenv("TMPDIR", Top.path("nowhere").c_str(), 1);
  Outcome O = runScript("true");
  EXPECT_EQ(O.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_TRUE(StringRef(O.Message).starts_with(
      "cannot create the folder '" + Top.path("nowhere") + "/dtlto-job-"))
      << O.Message;
  EXPECT_TRUE(StringRef(O.Message).contains("': No such file or directory"))
      << O.Message;
}

TEST_F(RunJobTest, DescriptorsAreClosed) {
  auto NumOpen = [] {
    std::error_code EC;
    unsigned N = 0;
    for (llvm::sys::fs::directory_iterator I("/proc/self/fd", EC), E;
         I != E && !EC; I.increment(EC))
      ++N;
    return N;
  };
  unsigned Before = NumOpen();
  std::string Program = script("ls -l /proc/self/fd/ > out/here.o; exit $1");
  for (const char *Code : {"0", "1", "127"}) {
    Args = {"clang", Code};
    run(Program);
  }
  run(Top.path("nowhere"));
  EXPECT_EQ(NumOpen(), Before);
}

TEST_F(RunJobTest, ManyAtTheSameTime) {
  std::string Program = script("cat a/b/in a/b/in > out/here.o");
  std::vector<std::thread> Threads;
  for (int I = 0; I != 8; ++I)
    Threads.emplace_back([&] {
      for (int J = 0; J != 4; ++J) {
        Outcome O = run(Program);
        EXPECT_EQ(O.Status, DTLTO_OK) << O.Message;
        EXPECT_EQ(O.Object, Inputs[0].second + Inputs[0].second);
      }
    });
  for (std::thread &T : Threads)
    T.join();
}

// If SIGCHLD is ignored, exit codes are lost.
TEST_F(RunJobTest, ExitCodesThatAreLost) {
  inProcesses(1, [&](unsigned) {
    signal(SIGCHLD, SIG_IGN);
    Outcome O = runScript("echo x > out/here.o");
    return O.Status == DTLTO_ERROR_INFRASTRUCTURE &&
           O.Message.find("ended with an unknown status") != std::string::npos;
  });
}

TEST_F(RunJobTest, VersionsAreWhole) {
  EXPECT_TRUE(
      dtlto_run_is_version("clang version 19.1.7\nTarget: x", "19.1.7"));
  EXPECT_TRUE(dtlto_run_is_version("clang version 19.1.7", "19.1.7"));
  EXPECT_TRUE(dtlto_run_is_version(
      "Debian clang version 19.1.7 (3~deb12u1)\nTarget: x", "19.1.7"));
  EXPECT_FALSE(dtlto_run_is_version("clang version 19.1.70", "19.1.7"));
  EXPECT_FALSE(dtlto_run_is_version("clang version 19.1.7-rc1", "19.1.7"));
  EXPECT_FALSE(dtlto_run_is_version("clang version 19.1", "19.1.7"));
  EXPECT_FALSE(dtlto_run_is_version("gcc version 19.1.7", "19.1.7"));
  EXPECT_FALSE(dtlto_run_is_version("", "19.1.7"));
  EXPECT_FALSE(dtlto_run_is_version("clang version ", ""));
}

TEST_F(RunJobTest, ClangOfTheRightVersion) {
  char Text[4096] = "left alone";
  EXPECT_EQ(dtlto_run_check_clang(TEST_CLANG, LLVM_VERSION_STRING, Text,
                                  sizeof(Text)),
            DTLTO_OK);
  EXPECT_STREQ(Text, "left alone");
}

TEST_F(RunJobTest, ClangOfAnotherVersion) {
  char Text[4096];
  EXPECT_EQ(dtlto_run_check_clang(TEST_CLANG, "9.0.1", Text, sizeof(Text)),
            DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_TRUE(StringRef(Text).starts_with("'" TEST_CLANG
                                          "' is not clang 9.0.1, the "
                                          "linker's version: "))
      << Text;
  EXPECT_TRUE(StringRef(Text).contains("clang version " LLVM_VERSION_STRING))
      << Text;
  EXPECT_EQ(strchr(Text, '\n'), nullptr);
}

TEST_F(RunJobTest, NoClangAtAll) {
  char Text[4096];
  EXPECT_EQ(dtlto_run_check_clang("/bin/false", "19.1.7", Text, sizeof(Text)),
            DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_TRUE(StringRef(Text).starts_with("'/bin/false' is not clang 19.1.7"))
      << Text;
  std::string Missing = Top.path("nowhere");
  EXPECT_EQ(dtlto_run_check_clang(Missing.c_str(), "19.1.7", Text, 20),
            DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_STREQ(Text, ("cannot run '" + Missing).substr(0, 19).c_str());
}

// dtlto_run_check_clang() uses this to stop in time.
TEST_F(RunJobTest, LimitsPass) {
  struct timespec Now;
  clock_gettime(CLOCK_MONOTONIC, &Now);
  time_t Past = Now.tv_sec - 1, Future = Now.tv_sec + 1000;
  EXPECT_TRUE(dtlto_run_is_late(&Past));
  EXPECT_FALSE(dtlto_run_is_late(&Future));
}

TEST_F(RunJobTest, ARealCompiler) {
  Inputs = {{"dir/a.c", "int f(void) { return 1; }\n"}};
  Args = {"clang", "-c", "dir/a.c", "-o", "a.o"};
  Output = "a.o";
  Outcome O = run(TEST_CLANG);
  EXPECT_EQ(O.Status, DTLTO_OK);
  EXPECT_EQ(O.Object.substr(0, 4), "\x7f"
                                   "ELF");
  Inputs[0].second = "int f(void) { return }\n";
  O = run(TEST_CLANG);
  EXPECT_EQ(O.Status, DTLTO_ERROR_COMPILER);
  EXPECT_TRUE(
      StringRef(O.Message).contains("dir/a.c:1:22: error: expected expression"))
      << O.Message;
}
