//===- CommandLineTest.cpp - Our options in LLD's command line ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

namespace {

using Words = std::vector<std::string>;

class CommandLineTest : public testing::Test {
protected:
  /// Returns the words left for LLD, without the program's name.
  Words extract(const Words &Args, bool IsCOFF = false) {
    SmallVector<const char *, 256> Raw = {"ld.lld"};
    for (const std::string &Arg : Args)
      Raw.push_back(Arg.c_str());
    Opts = Options();
    Message = toString(extractOptions(Raw, IsCOFF, Saver, Opts));
    EXPECT_STREQ(Raw.front(), "ld.lld");
    return Words(Raw.begin() + 1, Raw.end());
  }
  Words extractCOFF(const Words &Args) { return extract(Args, true); }

  /// Creates a response file; returns its name with `@`.
  std::string responseFile(StringRef Text) {
    SmallString<128> Path;
    int FD = -1;
    EXPECT_FALSE(sys::fs::createTemporaryFile("dtlto-unit", "rsp", FD, Path));
    raw_fd_ostream(FD, /*shouldClose=*/true) << Text;
    Files.push_back(Path.str().str());
    return "@" + Files.back();
  }

  void TearDown() override {
    for (const std::string &File : Files)
      sys::fs::remove(File);
  }

  BumpPtrAllocator Alloc;
  StringSaver Saver{Alloc};
  Options Opts;
  std::string Message; // the error's message
  Words Files;
};

} // namespace

//===----------------------------------------------------------------------===//
// Spellings
//===----------------------------------------------------------------------===//

TEST_F(CommandLineTest, NothingOfOurs) {
  Words Args = {
      "-o", "app",         "--thinlto-jobs=3", "a.o", "-plugin-opt=O2",
      "--", "-plugin-opt", "thinlto-x"};
  EXPECT_EQ(extract(Args), Args);
  EXPECT_EQ(Message, "");
  EXPECT_EQ(Opts.Plugin, "");
  EXPECT_EQ(Opts.FirstOption, "");
}

TEST_F(CommandLineTest, NoArguments) {
  EXPECT_EQ(extract({}), Words());
  EXPECT_EQ(extractCOFF({}), Words());
}

TEST_F(CommandLineTest, EverySpelling) {
  for (const Words &Spelling :
       {Words{"--thinlto-dist-plugin=x"}, Words{"-thinlto-dist-plugin=x"},
        Words{"-plugin-opt=thinlto-dist-plugin=x"},
        Words{"--plugin-opt=thinlto-dist-plugin=x"},
        Words{"-plugin-opt=-thinlto-dist-plugin=x"},
        Words{"--plugin-opt=--thinlto-dist-plugin=x"},
        Words{"-plugin-opt", "thinlto-dist-plugin=x"},
        Words{"--plugin-opt", "-thinlto-dist-plugin=x"},
        Words{"--thinlto-distribute=x"}}) {
    Words Args = {"a.o"};
    Args.insert(Args.end(), Spelling.begin(), Spelling.end());
    Args.push_back("b.o");
    EXPECT_EQ(extract(Args), (Words{"a.o", "b.o"}));
    EXPECT_EQ(Message, "");
    EXPECT_EQ(Opts.Plugin, "x") << Spelling.front();
  }
}

TEST_F(CommandLineTest, EverySpellingOfCOFF) {
  for (StringRef Spelling :
       {"/thinlto-dist-plugin:x", "/thinlto-dist-plugin=x",
        "-thinlto-dist-plugin:x", "-thinlto-dist-plugin=x",
        "--thinlto-dist-plugin=x", "/thinlto-distribute:x",
        "/THINLTO-DIST-PLUGIN:x", "-ThinLTO-Dist-Plugin:x"}) {
    EXPECT_EQ(extractCOFF({"a.obj", Spelling.str(), "b.obj"}),
              (Words{"a.obj", "b.obj"}));
    EXPECT_EQ(Opts.Plugin, "x") << Spelling.str();
  }
}

TEST_F(CommandLineTest, ValuesKeepTheirSeparators) {
  extract({"--thinlto-dist-plugin=a=b:c"});
  EXPECT_EQ(Opts.Plugin, "a=b:c");
  extractCOFF({"/THINLTO-dist-plugin:C:\\Dir\\x.dll"});
  EXPECT_EQ(Opts.Plugin, "C:\\Dir\\x.dll");
  extractCOFF({"/thinlto-dist-plugin-arg:a=b", "/thinlto-dist-plugin-arg=a:b"});
  EXPECT_EQ(Opts.PluginArgs, (Words{"a=b", "a:b"}));
}

TEST_F(CommandLineTest, SlashesAreFilesWithoutCOFF) {
  Words Args = {"/thinlto-dist-plugin:x", "thinlto-dist-plugin=x"};
  EXPECT_EQ(extract(Args), Args);
  EXPECT_EQ(Opts.Plugin, "");
}

TEST_F(CommandLineTest, WithoutAValue) {
  EXPECT_EQ(extract({"--thinlto-distribute", "a.o"}), Words{"a.o"});
  EXPECT_EQ(Opts.Plugin, "local");
  extract({"--thinlto-dist-plugin", "x", "a.o"});
  EXPECT_NE(Message.find("--thinlto-dist-plugin needs a value"),
            std::string::npos);
}

TEST_F(CommandLineTest, AllOptions) {
  EXPECT_EQ(
      extract({"--thinlto-dist-plugin=p", "a.o", "--thinlto-dist-plugin-arg=1",
               "--thinlto-dist-fallback=none", "--thinlto-dist-local-jobs=3",
               "--thinlto-dist-timeout=4", "-o", "app",
               "--thinlto-dist-verify=5", "--thinlto-dist-progress=never",
               "--thinlto-dist-plugin-arg=2"}),
      (Words{"a.o", "-o", "app"}));
  EXPECT_EQ(Message, "");
  EXPECT_EQ(Opts.Plugin, "p");
  EXPECT_EQ(Opts.PluginArgs, (Words{"1", "2"}));
  EXPECT_EQ(Opts.Fallback, FallbackKind::None);
  EXPECT_EQ(Opts.LocalJobs, 3u);
  EXPECT_EQ(Opts.TimeoutSeconds, 4u);
  EXPECT_EQ(Opts.VerifyPercent, 5u);
  EXPECT_EQ(Opts.Progress, ProgressKind::Never);
}

TEST_F(CommandLineTest, Errors) {
  extract({"--thinlto-dist-timeout=soon"});
  EXPECT_NE(Message.find("'soon' for --thinlto-dist-timeout"),
            std::string::npos);
  extract({"-plugin-opt=thinlto-dist-timeout=soon"});
  EXPECT_NE(Message.find("'soon' for -plugin-opt=thinlto-dist-timeout"),
            std::string::npos);
  extractCOFF({"/thinlto-dist-timeout:soon"});
  EXPECT_NE(Message.find("'soon' for /thinlto-dist-timeout"),
            std::string::npos);
  extract({"--thinlto-dist-plugins=x"});
  EXPECT_NE(Message.find("did you mean --thinlto-dist-plugin?"),
            std::string::npos);
}

TEST_F(CommandLineTest, OptionsOfLaterVersionsAreLLDs) {
  Words Args = {"--thinlto-distributor=x", "--thinlto-distributor-arg=y",
                "--thinlto-remote-compiler=z"};
  EXPECT_EQ(extract(Args), Args);
  EXPECT_EQ(Message, "");
}

TEST_F(CommandLineTest, OptionsOfADistributor) {
  Words Options = {"--thinlto-distributor=x", "-thinlto-distributor-arg=y=z",
                   "--thinlto-remote-compiler=c",
                   "--thinlto-remote-compiler-arg=-a",
                   "--thinlto-remote-compiler-prepend-arg=p"};
  Words Meant = {"program=x", "arg=y=z", "compiler=c", "compiler-arg=-a",
                 "compiler-prepend-arg=p"};
  for (const char *Plugin : {"distributor", "libdtlto_distributor.so",
                             "/usr/lib/dtlto/libdtlto_distributor.so"}) {
    // The order doesn't matter.
    Words Args = Options;
    Args.push_back("a.o");
    Args.push_back(std::string("--thinlto-dist-plugin=") + Plugin);
    EXPECT_EQ(extract(Args), Words{"a.o"});
    EXPECT_EQ(Message, "");
    EXPECT_EQ(Opts.PluginArgs, Meant);
  }
  // The last plugin counts.
  Words Args = Options;
  Args.push_back("--thinlto-dist-plugin=distributor");
  Args.push_back("--thinlto-dist-plugin=local");
  EXPECT_EQ(extract(Args), Options);
  EXPECT_EQ(Opts.Plugin, "local");

  EXPECT_EQ(
      extractCOFF({"/thinlto-dist-plugin:distributor", "/thinlto-distributor:x",
                   "/thinlto-remote-compiler:c"}),
      Words());
  EXPECT_EQ(Opts.PluginArgs, (Words{"program=x", "compiler=c"}));
  extract({"--thinlto-dist-plugin=distributor", "--thinlto-distributor"});
  EXPECT_EQ(Message, "--thinlto-distributor needs a value: "
                     "--thinlto-distributor=<text>");
}

TEST_F(CommandLineTest, DistributeWithACompiler) {
  EXPECT_EQ(extract({"--thinlto-distribute", "--distribute-cc=distcc"}),
            Words());
  EXPECT_EQ(Opts.Plugin, "make");
  EXPECT_EQ(Opts.PluginArgs, Words{"cc=distcc"});
  EXPECT_EQ(extract({"--distribute-cc=", "--thinlto-distribute"}), Words());
  EXPECT_EQ(Opts.Plugin, "make");
  EXPECT_EQ(Opts.PluginArgs, Words{"cc="});
  // An error without the other option, or with another plugin.
  for (const Words &Args :
       {Words{"--distribute-cc=x"},
        Words{"--thinlto-distribute=local", "--distribute-cc=x"}}) {
    extract(Args);
    EXPECT_EQ(Message.find("--distribute-cc needs --thinlto-distribute"), 0u)
        << Message;
  }
}

TEST_F(CommandLineTest, PluginOptAtTheEnd) {
  Words Args = {"a.o", "-plugin-opt"};
  EXPECT_EQ(extract(Args), Args);
  Args = {"a.o", "-mllvm"};
  EXPECT_EQ(extract(Args), Args);
  Args = {"a.o", "-o"};
  EXPECT_EQ(extract(Args), Args);
}

TEST_F(CommandLineTest, EmptyWords) {
  Words Args = {"", "-",      "--", "-plugin-opt=", "-plugin-opt",
                "", "-mllvm", "",   "-o",           ""};
  EXPECT_EQ(extract(Args), Args);
  EXPECT_EQ(extractCOFF(Args), Args);
  EXPECT_EQ(Message, "");
}

//===----------------------------------------------------------------------===//
// LLD's options that we need to know
//===----------------------------------------------------------------------===//

TEST_F(CommandLineTest, OutputFile) {
  extract({"a.o", "-o", "app", "b.o"});
  EXPECT_EQ(Opts.OutputFile, "app");
  extract({"-o", "one", "-o", "two"});
  EXPECT_EQ(Opts.OutputFile, "two");
  for (const Words &Args :
       {Words{"-oapp"}, Words{"--output=app"}, Words{"--output", "app"}}) {
    extract(Args);
    EXPECT_EQ(Opts.OutputFile, "app") << Args.front();
  }
  // Other drivers have options with the same beginning.
  extract({"-m", "i386pep", "-o", "app", "-out-implib=x"});
  EXPECT_EQ(Opts.OutputFile, "app");
  extract({"-flavor", "darwin", "-o", "app", "-order_file", "x"});
  EXPECT_EQ(Opts.OutputFile, "app");
  extractCOFF({"/out:app.exe"});
  EXPECT_EQ(Opts.OutputFile, "app.exe");
  extractCOFF({"-OUT:App.exe"});
  EXPECT_EQ(Opts.OutputFile, "App.exe");
  extract({"a.o"});
  EXPECT_EQ(Opts.OutputFile, "");
}

TEST_F(CommandLineTest, Version) {
  for (const Words &Args : {Words{"--version"}, Words{"-version", "a.o"},
                            Words{responseFile("a.o --version")}}) {
    EXPECT_EQ(extract(Args), Args);
    EXPECT_TRUE(Opts.Version);
  }
  for (const Words &Args : {Words{"-v"}, Words{"--versions"}, Words{"version"},
                            Words{"-o", "--version"}}) {
    extract(Args);
    EXPECT_FALSE(Opts.Version) << Args.front();
  }
  extractCOFF({"--version"});
  EXPECT_TRUE(Opts.Version);
  extractCOFF({"-version"}); // unknown to this driver
  EXPECT_FALSE(Opts.Version);
}

TEST_F(CommandLineTest, CacheFolder) {
  extract({"a.o", "--thinlto-cache-dir=cache", "b.o"});
  EXPECT_EQ(Opts.CacheFolder, "cache");
  extract({"--thinlto-cache-dir=one", "--thinlto-cache-dir=two"});
  EXPECT_EQ(Opts.CacheFolder, "two");
  // Mach-O's option.
  extract({"-cache_path_lto", "cache", "-o", "app"});
  EXPECT_EQ(Opts.CacheFolder, "cache");
  EXPECT_EQ(Opts.OutputFile, "app");
  extract({"a.o", "-cache_path_lto"});
  EXPECT_EQ(Opts.CacheFolder, "");
  extractCOFF({"/lldltocache:cache"});
  EXPECT_EQ(Opts.CacheFolder, "cache");
  extractCOFF({"-LLDLTOCache:C:\\Cache", "/lldltocachepolicy:prune_after=1h"});
  EXPECT_EQ(Opts.CacheFolder, "C:\\Cache");
  extract({responseFile("a.o --thinlto-cache-dir=cache")});
  EXPECT_EQ(Opts.CacheFolder, "cache");
  // Values of other options, and options with the same beginning.
  extract({"-o", "--thinlto-cache-dir=x", "--thinlto-cache-policy=y",
           "thinlto-cache-dir=z"});
  EXPECT_EQ(Opts.CacheFolder, "");
}

TEST_F(CommandLineTest, LLVMOptions) {
  Words Args = {"-mllvm",
                "-one",
                "-mllvm=-two",
                "--mllvm",
                "-three=3",
                "-plugin-opt=-four",
                "-plugin-opt",
                "-five",
                "-plugin-opt=O2",
                "-mllvm",
                "-six",
                "-mllvm",
                "6"};
  EXPECT_EQ(extract(Args), Args); // LLD still parses these
  // In the order of LLD's ELF driver.
  EXPECT_EQ(Opts.LLVMOptions,
            (Words{"-four", "-five", "-one", "-two", "-three=3", "-six", "6"}));
  // GCC's driver passes these to every linker.
  extract({"-plugin-opt=-fresolution=f", "-plugin-opt=-pass-through=-lc",
           "-plugin-opt=-x"});
  EXPECT_EQ(Opts.LLVMOptions, Words{"-x"});
}

TEST_F(CommandLineTest, LLVMOptionsOfMinGW) {
  setenv("LINK", "/mllvm:-link /lldltocache:link", 1);
  Words Args = {"-m",
                "i386pep",
                "-Xlink=-mllvm:-xlink",
                "-plugin-opt=-plugin",
                "-mllvm",
                "-mllvm",
                "-o",
                "a.exe"};
  EXPECT_EQ(extract(Args), Args);
  EXPECT_EQ(Opts.LLVMOptions, (Words{"-link", "-mllvm", "-plugin", "-xlink"}));
  EXPECT_EQ(Opts.OutputFile, "a.exe");
  EXPECT_EQ(Opts.CacheFolder, "link");
  extract(
      {"-m", "i386pe", "-Xlink", "/lldltocache:x", "--thinlto-cache-dir=y"});
  EXPECT_EQ(Opts.CacheFolder, "x");
  unsetenv("LINK");
  extract({"-m", "elf_x86_64", "-Xlink=-mllvm:-x"});
  EXPECT_EQ(Opts.LLVMOptions, Words());
}

/// We read the words that LLD takes from the environment, and leave them there.
TEST_F(CommandLineTest, TheEnvironmentOfCOFF) {
  std::string File = responseFile("/lldltocache:file");
  setenv("LINK", ("/out:a.exe /mllvm:-x " + File).c_str(), 1);
  setenv("_LINK_", "/out:b.exe /lldltocache:\"a folder\"", 1);
  EXPECT_EQ(extractCOFF({"a.obj"}), Words({"a.obj"}));
  EXPECT_EQ(Opts.OutputFile, "a.exe");
  EXPECT_EQ(Opts.CacheFolder, "file");
  EXPECT_EQ(Opts.LLVMOptions, Words({"-x"}));
  extractCOFF({"/out:c.exe"});
  EXPECT_EQ(Opts.OutputFile, "c.exe");
  extractCOFF({"a.obj", "/LLDIgnoreEnv"});
  EXPECT_EQ(Opts.CacheFolder, "");
  extract({"a.o"});
  EXPECT_EQ(Opts.CacheFolder, "");
  unsetenv("LINK");
  extractCOFF({"a.obj"});
  EXPECT_EQ(Opts.CacheFolder, "a folder");
  unsetenv("_LINK_");
}

/// LLD would take our options for files.
TEST_F(CommandLineTest, OursInTheEnvironmentOfCOFF) {
  setenv("_LINK_", "/mllvm:-x /thinlto-dist-plugin:local", 1);
  extractCOFF({"a.obj"});
  const char *Why = "/thinlto-dist-plugin is in the environment variable "
                    "_LINK_: write it on the command line, or in a response "
                    "file that the command line names";
  EXPECT_EQ(Message, Why);
  extract({"-m", "i386pe", "a.o"});
  EXPECT_EQ(Message, Why);
  extractCOFF({"a.obj", "/lldignoreenv"});
  EXPECT_EQ(Message, "");
  extract({"a.o"});
  EXPECT_EQ(Message, "");
  setenv("_LINK_", responseFile("/thinlto-dist-plugin:local").c_str(), 1);
  extractCOFF({"a.obj"});
  EXPECT_EQ(Message, Why);
  extract({"-m", "i386pe", "a.o"});
  EXPECT_EQ(Message, Why);
  unsetenv("_LINK_");
}

TEST_F(CommandLineTest, LLVMOptionsOfCOFF) {
  Words Args = {"/mllvm:-one", "-mllvm:-two", "/MLLVM:-three"};
  EXPECT_EQ(extractCOFF(Args), Args);
  EXPECT_EQ(Opts.LLVMOptions, (Words{"-one", "-two", "-three"}));
  // The COFF driver has these prefixes, and ignores words with two dashes.
  extractCOFF({"/?mllvm:-one", "-?mllvm:-two", "--mllvm:-three"});
  EXPECT_EQ(Opts.LLVMOptions, (Words{"-one", "-two"}));
  extractCOFF({"/?lldltocache:one", "--lldltocache:two"});
  EXPECT_EQ(Opts.CacheFolder, "one");
}

TEST_F(CommandLineTest, OurOptionsAreNoLLVMOptions) {
  extract({"-plugin-opt=-thinlto-dist-plugin=x", "-plugin-opt=-other",
           "-plugin-opt", "-thinlto-dist-timeout=3"});
  EXPECT_EQ(Opts.Plugin, "x");
  EXPECT_EQ(Opts.TimeoutSeconds, 3u);
  EXPECT_EQ(Opts.LLVMOptions, Words{"-other"});
}

TEST_F(CommandLineTest, OursMayStandBeforeTheValueOfAnother) {
  const std::string Ours = "--thinlto-dist-plugin=x";
  EXPECT_EQ(extract({"-o", Ours, "app", "b.o"}), (Words{"-o", "app", "b.o"}));
  EXPECT_EQ(Opts.Plugin, "x");
  EXPECT_EQ(Opts.OutputFile, "app");
  extract({"-o", Ours, responseFile("app b.o")});
  EXPECT_EQ(Opts.OutputFile, "app");
  extract({"-o", responseFile(Ours + " app b.o")});
  EXPECT_EQ(Opts.OutputFile, "app");
  extract({"-mllvm", Ours, "-one"});
  EXPECT_EQ(Opts.LLVMOptions, Words{"-one"});
  extract({"-plugin-opt", "-plugin-opt=thinlto-dist-plugin=x", "-two"});
  EXPECT_EQ(Opts.LLVMOptions, Words{"-two"});
  EXPECT_EQ(extract({"-plugin-opt", "-plugin-opt=thinlto-dist-timeout=3",
                     "thinlto-dist-plugin=x"}),
            Words());
  EXPECT_EQ(Opts.Plugin, "x");
  // MinGW's driver has options with the same beginning as `-o`.
  extract({"-m", Ours, "i386pep", "-out-implib=y"});
  EXPECT_EQ(Opts.OutputFile, "");
}

//===----------------------------------------------------------------------===//
// Response files
//===----------------------------------------------------------------------===//

TEST_F(CommandLineTest, ResponseFileWithoutOursIsLeftAlone) {
  std::string File = responseFile("a.o -o app -mllvm -one");
  Words Args = {File, "b.o"};
  EXPECT_EQ(extract(Args), Args);
  // Its contents count nevertheless.
  EXPECT_EQ(Opts.OutputFile, "app");
  EXPECT_EQ(Opts.LLVMOptions, Words{"-one"});
}

TEST_F(CommandLineTest, ResponseFileBesideOurs) {
  // LLD expands the file itself, with all its own rules.
  std::string File = responseFile("a.o");
  EXPECT_EQ(extract({"--thinlto-dist-plugin=x", File}), Words{File});
  EXPECT_EQ(Opts.Plugin, "x");
}

TEST_F(CommandLineTest, ResponseFileWithOurs) {
  std::string File =
      responseFile("a.o --thinlto-dist-plugin=x\n'b c.o' -o app");
  EXPECT_EQ(extract({File, "d.o"}),
            (Words{"a.o", "b c.o", "-o", "app", "d.o"}));
  EXPECT_EQ(Opts.Plugin, "x");
  EXPECT_EQ(Opts.OutputFile, "app");
}

TEST_F(CommandLineTest, ResponseFileThatEndsWithinOurs) {
  std::string File = responseFile("a.o -plugin-opt");
  EXPECT_EQ(extract({File, "-thinlto-dist-plugin=x", "b.o"}),
            (Words{"a.o", "b.o"}));
  EXPECT_EQ(Opts.Plugin, "x");
  File = responseFile("-thinlto-dist-plugin=y b.o");
  EXPECT_EQ(extract({"a.o", "-plugin-opt", File}), (Words{"a.o", "b.o"}));
  EXPECT_EQ(Opts.Plugin, "y");
}

TEST_F(CommandLineTest, ResponseFileInAResponseFile) {
  std::string Inner = responseFile("--thinlto-dist-timeout=3 b.o");
  std::string Outer = responseFile("a.o " + Inner + " c.o");
  EXPECT_EQ(extract({Outer, "--thinlto-dist-plugin=x"}),
            (Words{"a.o", "b.o", "c.o"}));
  EXPECT_EQ(Opts.TimeoutSeconds, 3u);
}

TEST_F(CommandLineTest, ResponseFileThatIsNotThere) {
  // LLD reports the error.
  Words Args = {"@/no/such/file"};
  EXPECT_EQ(extract(Args), Args);
  EXPECT_EQ(Message, "");
  EXPECT_EQ(extract({"--thinlto-dist-plugin=x", "@/no/such/file"}), Args);
}

// We don't report the error, because LLD does.
TEST_F(CommandLineTest, ResponseFileThatNamesItself) {
  std::string File = responseFile("");
  std::error_code EC;
  raw_fd_ostream(StringRef(File).drop_front(), EC) << "a.o " << File;
  ASSERT_FALSE(EC);
  testing::internal::CaptureStderr();
  extract({File});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(Opts.Plugin, "");
}

TEST_F(CommandLineTest, QuotingOfResponseFiles) {
  // A backslash escapes a character, or separates folders.
  std::string File = responseFile("--thinlto-dist-plugin=x dir\\a.o \"b c.o\"");
  EXPECT_EQ(extract({File}), (Words{"dira.o", "b c.o"}));
  EXPECT_EQ(extract({"--rsp-quoting=windows", File}),
            (Words{"--rsp-quoting=windows", "dir\\a.o", "b c.o"}));
  EXPECT_EQ(extract({"--rsp-quoting=posix", File}),
            (Words{"--rsp-quoting=posix", "dira.o", "b c.o"}));
  EXPECT_EQ(extractCOFF({File}), (Words{"dir\\a.o", "b c.o"}));
  EXPECT_EQ(extractCOFF({"--rsp-quoting=posix", File}),
            (Words{"--rsp-quoting=posix", "dira.o", "b c.o"}));
}
