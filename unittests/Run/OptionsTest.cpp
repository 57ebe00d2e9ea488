//===- OptionsTest.cpp - The --thinlto-dist-... options -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/SplitPlan.h"
#include "Run/Configuration.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace llvm;
using namespace dtlto;

namespace {

class OptionsTest : public testing::Test {
protected:
  /// Returns setOption()'s error; empty if it accepts.
  std::string set(StringRef Name, std::optional<StringRef> Value) {
    return toString(setOption(Opts, Name, Value, ("--" + Name).str()));
  }
  /// Expects that the value is refused. The message must have the option, the
  /// value, and \p Expected.
  void expectWrong(StringRef Name, StringRef Value, StringRef Expected) {
    std::string Message = set(Name, Value);
    for (StringRef Part : {Name, Value, Expected})
      EXPECT_NE(Message.find(Part), std::string::npos)
          << Part.str() << " is not in: " << Message;
    EXPECT_EQ(Message.find('\n'), std::string::npos);
  }

  Options Opts;
};

} // namespace

TEST_F(OptionsTest, Defaults) {
  EXPECT_EQ(Opts.Plugin, "");
  EXPECT_TRUE(Opts.PluginArgs.empty());
  EXPECT_EQ(Opts.Fallback, FallbackKind::Local);
  EXPECT_FALSE(Opts.LocalJobs.has_value());
  EXPECT_EQ(Opts.TimeoutSeconds, 600u);
  EXPECT_EQ(Opts.VerifyPercent, 0u);
  EXPECT_EQ(Opts.Progress, ProgressKind::Auto);
  EXPECT_EQ(Opts.FirstOption, "");
}

TEST_F(OptionsTest, Plugin) {
  EXPECT_EQ(set("thinlto-dist-plugin", "distcc"), "");
  EXPECT_EQ(Opts.Plugin, "distcc");
  EXPECT_EQ(set("thinlto-dist-plugin", "./a/b.so"), "");
  EXPECT_EQ(Opts.Plugin, "./a/b.so"); // the last one counts
}

TEST_F(OptionsTest, PluginNeedsAValue) {
  EXPECT_NE(set("thinlto-dist-plugin", std::nullopt)
                .find("--thinlto-dist-plugin needs a value"),
            std::string::npos);
  EXPECT_NE(set("thinlto-dist-plugin", "").find("needs a value"),
            std::string::npos);
  EXPECT_EQ(Opts.Plugin, "");
}

TEST_F(OptionsTest, Distribute) {
  EXPECT_EQ(set("thinlto-distribute", std::nullopt), "");
  EXPECT_EQ(Opts.Plugin, "local");
  EXPECT_EQ(set("thinlto-distribute", "icecc"), "");
  EXPECT_EQ(Opts.Plugin, "icecc");
  EXPECT_NE(set("thinlto-distribute", ""), "");
}

TEST_F(OptionsTest, PluginArgs) {
  EXPECT_EQ(set("thinlto-dist-plugin-arg", "one=1"), "");
  EXPECT_EQ(set("thinlto-dist-plugin-arg", "two=a=b:c"), "");
  EXPECT_EQ(set("thinlto-dist-plugin-arg", "one=1"), "");
  EXPECT_EQ(set("thinlto-dist-plugin-arg", ""), ""); // unchanged
  EXPECT_EQ(Opts.PluginArgs,
            (std::vector<std::string>{"one=1", "two=a=b:c", "one=1", ""}));
  EXPECT_NE(set("thinlto-dist-plugin-arg", std::nullopt), "");
}

TEST_F(OptionsTest, Fallback) {
  EXPECT_EQ(set("thinlto-dist-fallback", "none"), "");
  EXPECT_EQ(Opts.Fallback, FallbackKind::None);
  EXPECT_EQ(set("thinlto-dist-fallback", "local"), "");
  EXPECT_EQ(Opts.Fallback, FallbackKind::Local);
  for (StringRef Value : {"Local", "0", "yes", "locals", " local"})
    expectWrong("thinlto-dist-fallback", Value, "'local' or 'none'");
  EXPECT_EQ(Opts.Fallback, FallbackKind::Local);
}

TEST_F(OptionsTest, NearestValue) {
  for (const auto &[Value, Near] :
       {std::pair("Local", "local"), std::pair("locals", "local"),
        std::pair("NONE", "none"), std::pair("locl", "local")})
    EXPECT_EQ(set("thinlto-dist-fallback", Value),
              "invalid value '" + std::string(Value) +
                  "' for --thinlto-dist-fallback: expected 'local' or 'none', "
                  "did you mean '" +
                  Near + "'?");
  EXPECT_EQ(set("thinlto-dist-fallback", "whatever"),
            "invalid value 'whatever' for --thinlto-dist-fallback: expected "
            "'local' or 'none'");
  EXPECT_EQ(set("thinlto-dist-slim", "1K"),
            "invalid value '1K' for --thinlto-dist-slim: expected 'on', 'off' "
            "or a number of bytes from 0 to 1000000000");
}

TEST_F(OptionsTest, LocalJobs) {
  EXPECT_EQ(set("thinlto-dist-local-jobs", "0"), "");
  EXPECT_EQ(Opts.LocalJobs, 0u);
  EXPECT_EQ(set("thinlto-dist-local-jobs", "4096"), "");
  EXPECT_EQ(Opts.LocalJobs, 4096u);
  for (StringRef Value :
       {"-1", "4097", "1.5", "0x10", "two", "1 ", "+1", "99999999999999999999"})
    expectWrong("thinlto-dist-local-jobs", Value, "from 0 to 4096");
  EXPECT_EQ(Opts.LocalJobs, 4096u);
}

TEST_F(OptionsTest, Timeout) {
  EXPECT_EQ(set("thinlto-dist-timeout", "1"), "");
  EXPECT_EQ(Opts.TimeoutSeconds, 1u);
  EXPECT_EQ(set("thinlto-dist-timeout", "1000000"), "");
  EXPECT_EQ(Opts.TimeoutSeconds, 1000000u);
  for (StringRef Value : {"0", "-5", "1000001", "10s", "soon"})
    expectWrong("thinlto-dist-timeout", Value, "from 1 to 1000000");
  EXPECT_EQ(Opts.TimeoutSeconds, 1000000u);
}

TEST_F(OptionsTest, Verify) {
  EXPECT_EQ(set("thinlto-dist-verify", "100"), "");
  EXPECT_EQ(Opts.VerifyPercent, 100u);
  EXPECT_EQ(set("thinlto-dist-verify", "7%"), "");
  EXPECT_EQ(Opts.VerifyPercent, 7u);
  EXPECT_EQ(set("thinlto-dist-verify", "0"), "");
  EXPECT_EQ(Opts.VerifyPercent, 0u);
  for (StringRef Value : {"101", "-1", "some", "7.5"})
    expectWrong("thinlto-dist-verify", Value, "from 0 to 100");
  EXPECT_NE(set("thinlto-dist-verify", "%"), "");
  EXPECT_EQ(Opts.VerifySeed, std::nullopt);
  EXPECT_EQ(set("thinlto-dist-verify", "7%:18446744073709551615"), "");
  EXPECT_EQ(Opts.VerifyPercent, 7u);
  EXPECT_EQ(Opts.VerifySeed, UINT64_MAX);
  for (StringRef Value : {"5:", "5:x", "5:-1", "5:1:2"})
    expectWrong("thinlto-dist-verify", Value, "a number after the colon");
  EXPECT_EQ(set("thinlto-dist-verify", "5"), "");
  EXPECT_EQ(Opts.VerifySeed, std::nullopt);
}

TEST_F(OptionsTest, Cache) {
  EXPECT_EQ(Opts.Cache, CacheKind::Separate);
  EXPECT_EQ(set("thinlto-dist-cache", "shared"), "");
  EXPECT_EQ(Opts.Cache, CacheKind::Shared);
  EXPECT_EQ(set("thinlto-dist-cache", "separate"), "");
  EXPECT_EQ(Opts.Cache, CacheKind::Separate);
  expectWrong("thinlto-dist-cache", "on", "'separate' or 'shared'");
}

TEST_F(OptionsTest, Slim) {
  EXPECT_EQ(Opts.SlimThreshold, DefaultSlimThreshold);
  EXPECT_EQ(set("thinlto-dist-slim", "off"), "");
  EXPECT_EQ(Opts.SlimThreshold, std::nullopt);
  EXPECT_EQ(set("thinlto-dist-slim", "0"), "");
  EXPECT_EQ(Opts.SlimThreshold, 0u);
  EXPECT_EQ(set("thinlto-dist-slim", "on"), "");
  EXPECT_EQ(Opts.SlimThreshold, DefaultSlimThreshold);
  EXPECT_EQ(set("thinlto-dist-slim", "off"), "");
  EXPECT_EQ(set("thinlto-dist-slim", "65536"), "");
  EXPECT_EQ(Opts.SlimThreshold, 65536u);
  for (const char *Value : {"yes", "1K", "ON", "on ", "-1"})
    expectWrong("thinlto-dist-slim", Value, "'on', 'off' or a number of bytes");
}

TEST_F(OptionsTest, KeepIR) {
  EXPECT_EQ(Opts.KeepIR, "");
  EXPECT_EQ(set("thinlto-dist-keep-ir", "a folder"), "");
  EXPECT_EQ(Opts.KeepIR, "a folder");
  EXPECT_FALSE(Opts.keepsInFarm());
  EXPECT_EQ(set("thinlto-dist-keep-ir", "farm"), "");
  EXPECT_TRUE(Opts.keepsInFarm());
  EXPECT_EQ(set("thinlto-dist-keep-ir", "./farm"), "");
  EXPECT_FALSE(Opts.keepsInFarm());
}

TEST_F(OptionsTest, Split) {
  EXPECT_EQ(Opts.Split, 0u);
  EXPECT_EQ(set("thinlto-dist-split", "auto"), "");
  EXPECT_FALSE(Opts.Split.has_value());
  EXPECT_EQ(set("thinlto-dist-split", "500"), "");
  EXPECT_EQ(Opts.Split, 500u);
  EXPECT_EQ(set("thinlto-dist-split", "off"), "");
  EXPECT_EQ(Opts.Split, 0u);
  for (const char *Value : {"yes", "0", "-1", "1000000001", "10k"})
    expectWrong("thinlto-dist-split", Value,
                "'off', 'auto' or a number from 1 to 1000000000");
}

TEST_F(OptionsTest, AutoPartsOfALargeLinkAreLarger) {
  EXPECT_EQ(autoPartSize(0), MinAutoPart);
  EXPECT_EQ(autoPartSize(10009999), 10000u);
  EXPECT_EQ(autoPartSize(10010000), 20000u);
  EXPECT_EQ(autoPartSize(20019999), 20000u);
  EXPECT_EQ(autoPartSize(20020000), 40000u);
  EXPECT_EQ(autoPartSize(~0ull), 40000u);
}

TEST_F(OptionsTest, Progress) {
  EXPECT_EQ(set("thinlto-dist-progress", "always"), "");
  EXPECT_EQ(Opts.Progress, ProgressKind::Always);
  EXPECT_EQ(set("thinlto-dist-progress", "never"), "");
  EXPECT_EQ(Opts.Progress, ProgressKind::Never);
  EXPECT_EQ(set("thinlto-dist-progress", "auto"), "");
  EXPECT_EQ(Opts.Progress, ProgressKind::Auto);
  for (StringRef Value : {"yes", "Always", "none"})
    expectWrong("thinlto-dist-progress", Value, "'auto', 'always' or 'never'");
}

TEST_F(OptionsTest, Costs) {
  EXPECT_FALSE(Opts.Costs.has_value());
  EXPECT_EQ(set("thinlto-dist-costs", "some/file"), "");
  EXPECT_EQ(Opts.Costs, "some/file");
  EXPECT_EQ(set("thinlto-dist-costs", "off"), "");
  EXPECT_EQ(Opts.Costs, "");
  EXPECT_EQ(set("thinlto-dist-costs", "./off"), "");
  EXPECT_EQ(Opts.Costs, "./off");
  EXPECT_NE(set("thinlto-dist-costs", ""), "");
}

TEST_F(OptionsTest, Report) {
  EXPECT_EQ(set("thinlto-dist-report", "a/link.html"), "");
  EXPECT_EQ(Opts.Report, "a/link.html");
  EXPECT_EQ(set("thinlto-dist-report", "link.json"), "");
  EXPECT_EQ(Opts.Report, "link.json");
  for (StringRef Value : {"link", "link.htm", "link.html ", "html", "link.txt"})
    expectWrong("thinlto-dist-report", Value, ".html or .json");
  EXPECT_EQ(Opts.Report, "link.json");
}

TEST_F(OptionsTest, EveryOptionNeedsAValue) {
  for (StringRef Name :
       {"thinlto-dist-plugin", "thinlto-dist-plugin-arg",
        "thinlto-dist-fallback", "thinlto-dist-local-jobs",
        "thinlto-dist-timeout", "thinlto-dist-verify", "thinlto-dist-progress",
        "thinlto-dist-costs", "thinlto-dist-report"})
    EXPECT_NE(
        set(Name, std::nullopt).find((" needs a value: --" + Name + "=").str()),
        std::string::npos)
        << set(Name, std::nullopt);
}

TEST_F(OptionsTest, UnknownOptions) {
  EXPECT_EQ(set("thinlto-dist-timeuot", "1"),
            "unknown option --thinlto-dist-timeuot, did you mean "
            "--thinlto-dist-timeout?");
  EXPECT_EQ(set("thinlto-dist-fall-back", std::nullopt),
            "unknown option --thinlto-dist-fall-back, did you mean "
            "--thinlto-dist-fallback?");
  EXPECT_EQ(set("thinlto-dist-something-else", "1"),
            "unknown option --thinlto-dist-something-else");
  // The message has the user's spelling.
  EXPECT_EQ(toString(setOption(Opts, "thinlto-dist-timeuot", "1",
                               "/thinlto-dist-timeuot")),
            "unknown option /thinlto-dist-timeuot, did you mean "
            "/thinlto-dist-timeout?");
}

TEST_F(OptionsTest, MessagesHaveTheSpellingOfTheCommandLine) {
  EXPECT_EQ(toString(setOption(Opts, "thinlto-dist-timeout", "x",
                               "-plugin-opt=thinlto-dist-timeout"))
                .find("invalid value 'x' for -plugin-opt=thinlto-dist-timeout"),
            0u);
}

TEST_F(OptionsTest, WhichOptionsAreOurs) {
  for (StringRef Name :
       {"thinlto-dist-plugin", "thinlto-dist-", "thinlto-dist-nonsense",
        "thinlto-dist", "thinlto-distribute"})
    EXPECT_TRUE(isDistOption(Name)) << Name.str();
  // LLD's own options, and possible ones of later versions.
  for (StringRef Name :
       {"thinlto-distributor", "thinlto-distributor-arg", "thinlto-jobs",
        "thinlto-distribute-x", "thinlto-dis", "thinlto", "",
        "Thinlto-dist-plugin", "-thinlto-dist-plugin"})
    EXPECT_FALSE(isDistOption(Name)) << Name.str();
}

TEST_F(OptionsTest, OptionsThatMeanNothingWithoutAPlugin) {
  EXPECT_EQ(set("thinlto-dist-timeout", "5"), "");
  EXPECT_EQ(set("thinlto-dist-verify", "5"), "");
  EXPECT_EQ(Opts.FirstOption, "--thinlto-dist-timeout");
  EXPECT_EQ(toString(finishOptions(Opts, "--")),
            "--thinlto-dist-timeout needs --thinlto-dist-plugin=<name>");
  EXPECT_EQ(set("thinlto-dist-plugin", "local"), "");
  EXPECT_EQ(toString(finishOptions(Opts, "--")), "");
}

TEST_F(OptionsTest, Environment) {
  setenv("DTLTO_PLUGIN_PATH", "/one:relative/two::/three:", 1);
  EXPECT_EQ(toString(readEnvironment(Opts)), "");
  EXPECT_EQ(Opts.PluginPath,
            (std::vector<std::string>{"/one", "relative/two", "/three"}));
}

TEST_F(OptionsTest, NoEnvironment) {
  unsetenv("DTLTO_PLUGIN_PATH");
  EXPECT_EQ(toString(readEnvironment(Opts)), "");
  EXPECT_TRUE(Opts.PluginPath.empty());
  setenv("DTLTO_PLUGIN_PATH", "", 1);
  EXPECT_EQ(toString(readEnvironment(Opts)), "");
  EXPECT_TRUE(Opts.PluginPath.empty());
}

TEST_F(OptionsTest, StatusFormat) {
  unsetenv("DTLTO_STATUS");
  EXPECT_EQ(toString(readEnvironment(Opts)), "");
  EXPECT_EQ(Opts.StatusFormat, "[%f/%t] ");
  setenv("DTLTO_STATUS", "%u%%/%r ", 1);
  EXPECT_EQ(toString(readEnvironment(Opts)), "");
  EXPECT_EQ(Opts.StatusFormat, "%u%%/%r ");
  setenv("DTLTO_STATUS", "", 1);
  EXPECT_EQ(toString(readEnvironment(Opts)), "");
  EXPECT_EQ(Opts.StatusFormat, "");
  setenv("DTLTO_STATUS", "[%f/%n]\n", 1);
  EXPECT_EQ(toString(readEnvironment(Opts))
                .find("DTLTO_STATUS '[%f/%n]\\x0a': unknown placeholder "
                      "'%n': "),
            0u);
  unsetenv("DTLTO_STATUS");
}

TEST_F(OptionsTest, DumbTerminal) {
  for (const char *Terminal : {"dumb", "xterm", ""}) {
    setenv("TERM", Terminal, 1);
    EXPECT_EQ(toString(readEnvironment(Opts)), "");
    EXPECT_EQ(Opts.DumbTerminal, StringRef(Terminal) == "dumb") << Terminal;
  }
  unsetenv("TERM");
  EXPECT_EQ(toString(readEnvironment(Opts)), "");
  EXPECT_FALSE(Opts.DumbTerminal);
}

TEST_F(OptionsTest, CostHistoryIsInTheUsersCacheFolder) {
  setenv("HOME", "/home/me", 1);
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(costHistoryPath(Opts), "/home/me/.cache/dtlto/costs-1.txt");
  setenv("XDG_CACHE_HOME", "/caches/me", 1);
  EXPECT_EQ(costHistoryPath(Opts), "/caches/me/dtlto/costs-1.txt");
  for (const char *NoFolder : {"caches", ".", ""}) {
    setenv("XDG_CACHE_HOME", NoFolder, 1);
    EXPECT_EQ(costHistoryPath(Opts), "/home/me/.cache/dtlto/costs-1.txt")
        << NoFolder;
  }
  setenv("HOME", "home", 1);
  EXPECT_EQ(costHistoryPath(Opts), "");
}

TEST_F(OptionsTest, CostHistoryIsNotInTheCacheOfTheLink) {
  setenv("XDG_CACHE_HOME", "/caches/me", 1);
  Opts.CacheFolder = "/a/cache/";
  EXPECT_EQ(costHistoryPath(Opts), "/caches/me/dtlto/costs-1.txt");
}

TEST_F(OptionsTest, CostHistoryIsWhereTheUserSays) {
  setenv("XDG_CACHE_HOME", "/caches/me", 1);
  Opts.CacheFolder = "cache";
  EXPECT_EQ(set("thinlto-dist-costs", "file"), "");
  EXPECT_EQ(costHistoryPath(Opts), "file");
  EXPECT_EQ(set("thinlto-dist-costs", "off"), "");
  EXPECT_EQ(costHistoryPath(Opts), "");
}

TEST_F(OptionsTest, Help) {
  for (bool IsCOFF : {false, true}) {
    std::string Text;
    raw_string_ostream OS(Text);
    printHelp(OS, IsCOFF);
    SmallVector<StringRef, 64> Lines;
    StringRef(OS.str()).trim().split(Lines, '\n');
    // A heading, then pairs of lines: an option and its description.
    ASSERT_EQ(Lines.size() % 2, 1u);
    for (size_t I = 1; I < Lines.size(); I += 2) {
      StringRef Name = Lines[I].ltrim();
      EXPECT_TRUE(Name.consume_front(IsCOFF ? "/" : "--")) << Text;
      EXPECT_TRUE(isDistOption(Name.take_while([](char C) {
        return isAlpha(C) || C == '-';
      }))) << Name.str();
      if (Name != "thinlto-dist-show-config")
        EXPECT_NE(Name.find(IsCOFF ? ':' : '='), StringRef::npos) << Name.str();
      // At most about the width of a screen.
      EXPECT_LE(Lines[I + 1].size(), 120u) << Lines[I + 1].str();
    }
  }
}
