//===- ConfigurationTest.cpp - Options from files and variables -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Configuration.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace dtlto;

namespace {

class ConfigurationTest : public testing::Test {
protected:
  std::string machine(StringRef Text) {
    return toString(
        readConfigurationText(Opts, Text, "/m", OptionLevel::MachineFile));
  }
  std::string user(StringRef Text) {
    return toString(
        readConfigurationText(Opts, Text, "/u", OptionLevel::UserFile));
  }
  std::string variable(StringRef Text) {
    return toString(readOptionsVariable(Opts, Text));
  }
  std::string commandLine(StringRef Name, std::optional<StringRef> Value) {
    return toString(setOption(Opts, Name, Value, ("--" + Name).str()));
  }
  std::string finish() { return toString(finishOptions(Opts, "--")); }
  std::string shown() {
    std::string Text;
    raw_string_ostream OS(Text);
    printOptions(Opts, OS);
    return OS.str();
  }

  Options Opts;
};

using Args = std::vector<std::string>;

} // namespace

TEST_F(ConfigurationTest, Lines) {
  EXPECT_EQ(machine("# a comment\r\n\r\n  plugin = distcc \r\n"
                    "thinlto-dist-fallback=none\n"
                    "--thinlto-dist-plugin-arg = hosts=a/4 b=c # d\n"
                    "\tverify\t=\t5:3"),
            "");
  EXPECT_EQ(Opts.Plugin, "distcc");
  EXPECT_EQ(Opts.Fallback, FallbackKind::None);
  EXPECT_EQ(Opts.PluginArgs, Args{"hosts=a/4 b=c # d"});
  EXPECT_EQ(Opts.VerifyPercent, 5u);
  // Options of a file don't need a plugin.
  EXPECT_EQ(Opts.FirstOption, "");
}

TEST_F(ConfigurationTest, WrongLines) {
  EXPECT_EQ(machine("\nplugn = x"),
            "/m:2: unknown option plugn, did you mean plugin?");
  EXPECT_EQ(machine("thinlto-dist-plugn = x"),
            "/m:1: unknown option thinlto-dist-plugn, did you mean "
            "thinlto-dist-plugin?");
  EXPECT_EQ(machine("fallback = never"),
            "/m:1: invalid value 'never' for fallback: expected 'local' or "
            "'none'");
  EXPECT_EQ(machine("plugin"), "/m:1: plugin needs a value: "
                               "plugin=<name or path>");
  EXPECT_EQ(machine("= 5"), "/m:1: unknown option ");
  EXPECT_EQ(machine("a\x01"
                    "b = 5"),
            "/m:1: unknown option a\\x01b");
  EXPECT_EQ(machine("status = table"),
            "/m:1: status is for the command line alone");
  EXPECT_EQ(machine("show-config"),
            "/m:1: show-config is for the command line alone");
  EXPECT_EQ(machine("plugin = list"),
            "/m:1: plugin=list is for the command line alone");
  EXPECT_EQ(machine("plugin-help = local"),
            "/m:1: plugin-help is for the command line alone");
}

TEST_F(ConfigurationTest, PluginQueries) {
  EXPECT_EQ(commandLine("thinlto-dist-plugin", "list"), "");
  EXPECT_TRUE(Opts.ListPlugins);
  EXPECT_EQ(Opts.Plugin, "");
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(commandLine("thinlto-dist-plugin-help", std::nullopt), "");
  EXPECT_EQ(Opts.PluginHelp, "");
  EXPECT_EQ(commandLine("thinlto-dist-plugin-help", "local"), "");
  EXPECT_EQ(Opts.PluginHelp, "local");
  EXPECT_EQ(commandLine("thinlto-dist-plugin-help", ""),
            "--thinlto-dist-plugin-help needs a value: "
            "--thinlto-dist-plugin-help=<name>");
  EXPECT_EQ(finish(), "");
  std::string Text = shown();
  EXPECT_EQ(Text.find("list"), std::string::npos) << Text;
  EXPECT_EQ(Text.find("plugin-help"), std::string::npos) << Text;
}

TEST_F(ConfigurationTest, VariableOfWords) {
  EXPECT_EQ(variable("--thinlto-dist-plugin=distcc -verify=5 "
                     "'plugin-arg=hosts=a b' timeout=7"),
            "");
  EXPECT_EQ(Opts.Plugin, "distcc");
  EXPECT_EQ(Opts.VerifyPercent, 5u);
  EXPECT_EQ(Opts.PluginArgs, Args{"hosts=a b"});
  EXPECT_EQ(Opts.TimeoutSeconds, 7u);
}

TEST_F(ConfigurationTest, VariableOfLines) {
  EXPECT_EQ(variable("plugin = distcc\n# none\n\n"
                     "plugin-arg = hosts=a b\ntimeout=7 verify=5"),
            "");
  EXPECT_EQ(Opts.Plugin, "distcc");
  EXPECT_EQ(Opts.PluginArgs, Args{"hosts=a b"});
  EXPECT_EQ(Opts.TimeoutSeconds, 7u);
  EXPECT_EQ(Opts.VerifyPercent, 5u);
}

TEST_F(ConfigurationTest, WrongVariable) {
  EXPECT_EQ(variable("plugin=distcc --order=fast"),
            "DTLTO_OPTIONS: invalid value 'fast' for --order: expected 'cost' "
            "or 'link'");
  EXPECT_EQ(variable("-status"),
            "DTLTO_OPTIONS: -status is for the command line alone");
}

TEST_F(ConfigurationTest, TheLastLevelCounts) {
  EXPECT_EQ(machine("timeout = 1\nverify = 1\norder = link\nsplit = 9"), "");
  EXPECT_EQ(user("timeout = 2\nverify = 2\norder = cost"), "");
  EXPECT_EQ(variable("timeout=3 verify=3 plugin=local"), "");
  EXPECT_EQ(commandLine("thinlto-dist-timeout", "4"), "");
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(Opts.TimeoutSeconds, 4u);
  EXPECT_EQ(Opts.VerifyPercent, 3u);
  EXPECT_EQ(Opts.Order, OrderKind::Cost);
  EXPECT_EQ(Opts.Split, 9u);
  std::string Text = shown();
  for (StringRef Line :
       {"(DTLTO_OPTIONS) thinlto-dist-plugin = local\n",
        "(command line) thinlto-dist-timeout = 4\n",
        "(DTLTO_OPTIONS) thinlto-dist-verify = 3\n",
        "(/u:3) thinlto-dist-order = cost\n", "(/m:4) thinlto-dist-split = 9\n",
        "(default) thinlto-dist-fallback = local\n",
        "(default) thinlto-dist-report =\n"})
    EXPECT_NE(Text.find(Line), std::string::npos) << Line.str() << Text;
  EXPECT_EQ(Text.find("thinlto-distribute"), std::string::npos);
  EXPECT_EQ(Text.find("show-config"), std::string::npos);
}

TEST_F(ConfigurationTest, ArgumentsBelongToAPlugin) {
  EXPECT_EQ(machine("plugin = distcc\nplugin-arg = hosts=a"), "");
  EXPECT_EQ(user("plugin-arg = compiler=c"), "");
  Options Configured = Opts;
  // The same plugin, by another name.
  EXPECT_EQ(commandLine("thinlto-dist-plugin", "./libdtlto_distcc.so"), "");
  EXPECT_EQ(commandLine("thinlto-dist-plugin-arg", "stats-port=0"), "");
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(Opts.PluginArgs, (Args{"hosts=a", "compiler=c", "stats-port=0"}));
  // Another plugin.
  Opts = Configured;
  EXPECT_EQ(commandLine("thinlto-dist-plugin", "local"), "");
  EXPECT_EQ(commandLine("thinlto-dist-plugin-arg", "jobs=1"), "");
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(Opts.PluginArgs, Args{"jobs=1"});
  EXPECT_EQ(shown().find("hosts="), std::string::npos);
}

TEST_F(ConfigurationTest, ArgumentsOfNoPlugin) {
  EXPECT_EQ(machine("plugin-arg = jobs=1"), "");
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(Opts.Plugin, ""); // the link is the stock linker's
  EXPECT_EQ(commandLine("thinlto-dist-plugin", "local"), "");
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(Opts.PluginArgs, Args{"jobs=1"});
}

TEST_F(ConfigurationTest, Disabled) {
  Opts.IsDisabled = true;
  EXPECT_EQ(commandLine("thinlto-dist-timeout", "4"), "");
  EXPECT_EQ(commandLine("thinlto-dist-plugin", "local"), "");
  Options Status = Opts;
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(Opts.Plugin, "");
  EXPECT_NE(shown().find("# DTLTO_DISABLE is set"), std::string::npos);
  // A status isn't a link.
  Opts = Status;
  EXPECT_EQ(commandLine("thinlto-dist-status", "table"), "");
  EXPECT_EQ(finish(), "");
  EXPECT_EQ(Opts.Plugin, "local");
}

TEST_F(ConfigurationTest, ShowConfigTakesNoValue) {
  EXPECT_EQ(commandLine("thinlto-dist-show-config", "all"),
            "--thinlto-dist-show-config takes no value");
}
