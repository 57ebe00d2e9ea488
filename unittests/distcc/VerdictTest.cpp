//===- VerdictTest.cpp - The meaning of replies ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"
#include "Lzo.h"
#include "gtest/gtest.h"

using namespace dtlto::distcc;

static std::vector<uint8_t> packed(const std::string &Text) {
  return lzoCompress(Text);
}

static Reply reply(uint32_t Status, const std::string &Stderr,
                   const std::string &Object = "",
                   const std::string &Stdout = "") {
  Reply R;
  R.WaitStatus = Status;
  R.Stderr = packed(Stderr);
  R.Stdout = packed(Stdout);
  R.Object = packed(Object);
  return R;
}

static Reply exited(int Code, const std::string &Stderr) {
  return reply(uint32_t(Code) << 8, Stderr);
}

static void expect(const Reply &R, int32_t Status, bool IsHostAtFault,
                   const std::string &Message) {
  Verdict V = judge(R);
  EXPECT_EQ(V.Status, Status) << V.Message;
  EXPECT_EQ(V.IsHostAtFault, IsHostAtFault) << V.Message;
  EXPECT_EQ(V.Message, Message);
  EXPECT_EQ(V.Object.size(), 0u);
}
static void expectInfrastructure(const Reply &R, bool IsHostAtFault,
                                 const std::string &Message) {
  expect(R, DTLTO_ERROR_INFRASTRUCTURE, IsHostAtFault, Message);
}
static void expectCompiler(const Reply &R, const std::string &Message) {
  expect(R, DTLTO_ERROR_COMPILER, false, Message);
}

TEST(VerdictTest, Success) {
  std::string Object = "\x7f"
                       "ELF" +
                       std::string(100000, '\0');
  Verdict V = judge(reply(0, "", Object));
  EXPECT_EQ(V.Status, DTLTO_OK);
  EXPECT_FALSE(V.IsHostAtFault);
  EXPECT_EQ(V.Message, "");
  EXPECT_EQ(std::string(V.Object.data(), V.Object.data() + V.Object.size()),
            Object);
}

TEST(VerdictTest, SuccessWithWarnings) {
  Verdict V = judge(reply(0, "m.main: warning: w\n\n", "object"));
  EXPECT_EQ(V.Status, DTLTO_OK);
  EXPECT_EQ(V.Message, "m.main: warning: w");
  EXPECT_EQ(V.Object.size(), 6u);
}

TEST(VerdictTest, StatusZeroIsNotEnough) {
  expectInfrastructure(reply(0, ""), true,
                       "the compiler wrote an empty object");
  expectInfrastructure(reply(0, "\nwhy\nmore\n"), true,
                       "the compiler wrote an empty object: why");
  // Messages of clang 19.
  for (const auto &[Line, IsHostAtFault] :
       {std::pair<std::string, bool>(
            "Error loading index file 'index.thinlto.bc': Invalid bitcode",
            false),
        {"Error loading imported file m.other : No such file or directory",
         true},
        {"Error loading imported file m.other : Malformed block", false},
        {"Error running ThinLTO backend: Could not open it", true}}) {
    for (const char *Object : {"", "object"})
      expectInfrastructure(
          reply(0, "warning: w\n" + Line + "\nafter\n", Object), IsHostAtFault,
          "the compiler could not read its inputs: " + Line);
  }
}

/// clang exits with 0 without an object. The linker judges its message.
TEST(VerdictTest, ImportError) {
  std::string Words = "warning: w\nError running ThinLTO backend: Function "
                      "Import: link error: no";
  Verdict V = judge(reply(0, Words + "\n"));
  EXPECT_EQ(V.Status, DTLTO_OK);
  EXPECT_FALSE(V.IsHostAtFault);
  EXPECT_EQ(V.Message, Words);
  EXPECT_EQ(V.Object.size(), 0u);
}

TEST(VerdictTest, Signals) {
  expectInfrastructure(reply(9, ""), false,
                       "the compiler was killed by signal 9 (out of memory?)");
  for (uint32_t Signal : {1, 2, 15})
    expectInfrastructure(reply(Signal, "ignored"), false,
                         "the compiler was killed by signal " +
                             std::to_string(Signal));
  expectCompiler(reply(11, ""), "it crashed with signal 11");
  expectCompiler(reply(0x80 | 6, ""), "it crashed with signal 6");
  expectCompiler(reply(4, "PLEASE submit m.main\n"), "PLEASE submit m.main");
  // The same, as reported by a shell or a driver.
  expectInfrastructure(exited(137, ""), false,
                       "the compiler was killed by signal 9 (out of memory?)");
  for (int Signal : {4, 6, 11})
    expectCompiler(exited(128 + Signal, ""),
                   "it crashed with signal " + std::to_string(Signal));
  // Stopped processes, and more than 16 bits.
  for (uint32_t Status : {0x137fu, 0x10000u, 0xffffffffu})
    expectInfrastructure(reply(Status, ""), true,
                         "the reply has an invalid exit status, " +
                             std::to_string(Status));
}

TEST(VerdictTest, CompilerErrors) {
  expectCompiler(exited(1, "error: bad\n  line 2\n\n\n"),
                 "error: bad\n  line 2");
  expectCompiler(exited(70, "fatal"), "fatal");
  expectCompiler(exited(1, ""), "exit code 1, without an error message");
  expectCompiler(exited(255, " \n"), "exit code 255, without an error message");
  expectCompiler(exited(99, "x"), "x");
  expectCompiler(exited(128, "x"), "x");
}

TEST(VerdictTest, MachineTroubles) {
  std::string Full = "error: unable to open output file 'out.o': 'No space "
                     "left on device'";
  expectInfrastructure(exited(1, "1 warning\n" + Full + "\n1 error\n"), true,
                       "the compiler cannot work on this host: " + Full);
  std::string Lost = "clang: error: no such file or directory: 'm.main'";
  expectInfrastructure(exited(1, Lost), true,
                       "the compiler cannot work on this host: " + Lost);
  expectInfrastructure(exited(1, "LLVM ERROR: out of memory\nAllocation"),
                       false, "the compiler ran out of memory");
}

TEST(VerdictTest, DistccsOwnCodes) {
  expectInfrastructure(exited(110, "distccd: no clang-19"), true,
                       "the compiler is allowed but not installed: install it");
  expectInfrastructure(exited(118, ""), false,
                       "distccd ended the job: it took longer than its "
                       "--job-lifetime");
  expectInfrastructure(exited(105, ""), false,
                       "distccd failed with exit code 105 (out of memory)");
  expectInfrastructure(exited(107, "\nwrite failed\nmore"), true,
                       "distccd failed with exit code 107 (I/O error, is its "
                       "disk full?): write failed");
  expectInfrastructure(exited(100, ""), true,
                       "distccd failed with exit code 100 (general failure)");
  expectInfrastructure(exited(127, ""), true,
                       "distccd failed with exit code 127 (general failure)");
}

TEST(VerdictTest, DamagedParts) {
  for (int Part : {0, 1, 2}) {
    Reply R = reply(0, "e", "o", "s");
    (Part == 0 ? R.Stderr : Part == 1 ? R.Stdout : R.Object).pop_back();
    Verdict V = judge(R);
    EXPECT_EQ(V.Status, DTLTO_ERROR_INFRASTRUCTURE);
    EXPECT_TRUE(V.IsHostAtFault);
    const char *Names[] = {"standard error", "standard output", "object"};
    EXPECT_NE(V.Message.find(Names[Part]), std::string::npos) << V.Message;
    EXPECT_NE(V.Message.find("damaged LZO data"), std::string::npos)
        << V.Message;
    EXPECT_EQ(V.Object.size(), 0u);
  }
}

TEST(VerdictTest, TextHasBounds) {
  expectInfrastructure(reply(1 << 8, std::string(MaxText + 1, 'x')), true,
                       "the reply's standard error cannot be read: becomes "
                       "larger than 64 MiB");
}

TEST(VerdictTest, ObjectHasABound) {
  std::string Object(1 << 20, 'x');
  EXPECT_EQ(judge(reply(0, "", Object), 1 << 20).Status, DTLTO_OK);
  Verdict V = judge(reply(0, "", Object), (1 << 20) - 1024);
  EXPECT_EQ(V.Status, DTLTO_ERROR_INFRASTRUCTURE);
  EXPECT_EQ(V.Object.size(), 0u);
  EXPECT_NE(V.Message.find("the object cannot be read: becomes larger than"),
            std::string::npos)
      << V.Message;
}

static std::string message(const std::string &Stderr) {
  Verdict V = judge(exited(1, Stderr));
  EXPECT_EQ(V.Status, DTLTO_ERROR_COMPILER);
  return V.Message;
}

/// The linker escapes the rest, and cuts long texts.
TEST(VerdictTest, TextHasNoEnd) {
  EXPECT_EQ(message(std::string("\x1b[31mred\r\n\ttab\x00\x7f", 16)),
            "\x1b[31mred\r\n\ttab \x7f");
}

static std::string probed(const Reply &R) {
  std::string Line;
  return judgeProbe(R, "clang-19", "19.1.7", Line);
}
static std::string probedText(const std::string &Stdout) {
  return probed(reply(0, "", "", Stdout));
}

TEST(VerdictTest, ProbeOfTheRightVersion) {
  EXPECT_EQ(probedText("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x\n"),
            "");
  EXPECT_EQ(probedText("clang version 19.1.7"), "");
  std::string Line;
  EXPECT_EQ(judgeProbe(reply(0, "", "", "clang version 20.0.0git (\x1b)\nx"),
                       "c", "20.0.0git", Line),
            "");
  EXPECT_EQ(Line, "clang version 20.0.0git ( )");
}

TEST(VerdictTest, ProbeOfAnotherVersion) {
  EXPECT_EQ(probedText("Debian clang version 19.1.5 (1)\n"),
            "clang-19 is version 19.1.5, but this linker needs 19.1.7: "
            "install the same version");
  for (const char *Other :
       {"19.1.70", "19.1.7.1", "19.1", "119.1.7", "", "x19.1.7", "19.1.7-rc1",
        "19.1.7git", "19.1.7-1ubuntu", "19.1.7.vendor (19.1.7)"})
    EXPECT_NE(probedText(std::string("clang version ") + Other + "\n"), "")
        << Other;
  std::string Line;
  for (const char *Other : {"20.0.0", "20.0.0git", "20.0.0-rc2"})
    EXPECT_NE(judgeProbe(reply(0, "", "",
                               std::string("clang version ") + Other + "\n"),
                         "c", "20.0.0-rc1", Line),
              "")
        << Other;
}

TEST(VerdictTest, ProbeOfAWorker) {
  auto probe = [](const std::string &Stdout) {
    std::string Line;
    return judgeProbe(reply(0, "", "", Stdout), "/opt/bin/dtlto-codegen",
                      "19.1.7", Line);
  };
  std::string Version = "dtlto-codegen " DTLTO_VERSION ", LLVM version ";
  EXPECT_EQ(probe(Version + "19.1.7\n"), "");
  EXPECT_EQ(probe(Version + "19.1.7 (https://example.com 0123)\n"), "");
  EXPECT_NE(probe(Version + "19.1.7-rc1\n"), "");
  EXPECT_EQ(probe("dtlto-codegen 0.0.1, LLVM version 19.1.7\n"),
            "/opt/bin/dtlto-codegen is 'dtlto-codegen 0.0.1, LLVM "
            "version 19.1.7', but this linker has dtlto " DTLTO_VERSION
            ": install the same version");
}

TEST(VerdictTest, BuildsOfOneVersion) {
  for (auto [Line, Linker] :
       {std::pair("clang version 19.1.7", "LLD 19.1.7"),
        std::pair("Debian clang version 19.1.7 (3+b1)", "Debian LLD 19.1.7"),
        std::pair("clang version 19.1.7 (Fedora 19.1.7-1.fc41)", "LLD 19.1.7"),
        std::pair("clang version 23.0.0git (https://a.b/c 11)",
                  "LLD 23.0.0git (https://a.b/c 11)"),
        std::pair("dtlto-codegen 1.0, LLVM version 19.1.7",
                  "Debian LLD 19.1.7"),
        std::pair(
            "dtlto-codegen 1.0, LLVM version 23.0.0git (https://a.b/c 11)",
            "LLD 23.0.0git (https://a.b/c 11)")})
    EXPECT_TRUE(isBuildOf(Line, Linker)) << Line << ", " << Linker;
  for (auto [Line, Linker] :
       {std::pair("AMD clang version 19.1.7 (rocm fork)", "LLD 19.1.7"),
        std::pair("clang version 19.1.7", "Debian LLD 19.1.7"),
        std::pair("Apple clang version 19.1.7", "Debian LLD 19.1.7"),
        std::pair("clang version 23.0.0git (https://a.b/c 12)",
                  "LLD 23.0.0git (https://a.b/c 11)"),
        std::pair("clang version 23.0.0git",
                  "LLD 23.0.0git (https://a.b/c 11)"),
        std::pair(
            "dtlto-codegen 1.0, LLVM version 23.0.0git (https://a.b/c 12)",
            "LLD 23.0.0git (https://a.b/c 11)")})
    EXPECT_FALSE(isBuildOf(Line, Linker)) << Line << ", " << Linker;
}

TEST(VerdictTest, ProbeOfSomethingElse) {
  EXPECT_EQ(probedText("gcc (Debian) 12.2.0\nclang version 19.1.7\n"),
            "clang-19 is not clang: its --version says 'gcc (Debian) "
            "12.2.0'");
  EXPECT_EQ(probedText(""), "clang-19 is not clang: its --version says ''");
}

TEST(VerdictTest, ProbeThatFails) {
  EXPECT_EQ(probed(exited(110, "x")),
            "clang-19 is allowed but not installed: install it (Debian: "
            "apt install clang-19)");
  EXPECT_EQ(probed(exited(1, "\nno\x1b\nmore")),
            "clang-19 --version failed with exit code 1: no ");
  EXPECT_EQ(probed(exited(107, "")),
            "distccd failed with exit code 107 (I/O error, is its disk full?)");
  EXPECT_EQ(probed(reply(9, "")), "clang-19 --version was killed by signal 9");
  // A failed probe is never right, whatever its output.
  EXPECT_NE(probed(reply(1, "", "", "clang version 19.1.7\n")), "");
  EXPECT_NE(probed(reply(1 << 8, "", "", "clang version 19.1.7\n")), "");
  EXPECT_NE(probed(reply(1 << 16, "", "", "clang version 19.1.7\n")), "");
  Reply R = reply(0, "", "", "clang version 19.1.7");
  R.Stdout.pop_back();
  EXPECT_NE(probed(R).find("damaged LZO data"), std::string::npos);
}
