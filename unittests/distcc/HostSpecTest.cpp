//===- HostSpecTest.cpp - Host specifications in distcc's syntax ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostSpec.h"
#include "dtlto/sdk/Result.hpp"
#include "gtest/gtest.h"

using namespace dtlto::distcc;

namespace {

HostList parse(std::string_view Text) {
  return parseHostList(Text, "$DISTCC_HOSTS");
}

HostSpec parseOne(std::string_view Text) {
  HostList List = parse(Text);
  EXPECT_EQ(List.Hosts.size(), 1u) << Text;
  EXPECT_TRUE(List.Notes.empty()) << Text;
  return List.Hosts.empty() ? HostSpec() : List.Hosts.front();
}

std::string error(std::string_view Text,
                  std::string_view Source = "$DISTCC_HOSTS") {
  try {
    parseHostList(Text, Source);
  } catch (const dtlto::sdk::Error &E) {
    EXPECT_EQ(E.what(), dtlto::sdk::oneLine(E.what()));
    return E.what();
  }
  ADD_FAILURE() << Text;
  return "";
}

void expectTcp(std::string_view Text, const std::string &Name, uint16_t Port,
               unsigned Limit) {
  SCOPED_TRACE(std::string(Text));
  HostSpec H = parseOne(Text);
  EXPECT_EQ(H.Kind, HostKind::Tcp);
  EXPECT_EQ(H.Name, Name);
  EXPECT_EQ(H.Port, Port);
  EXPECT_EQ(H.Limit, Limit);
}

void expectSsh(std::string_view Text, const std::string &User,
               const std::string &Name, unsigned Limit,
               const std::string &Command) {
  SCOPED_TRACE(std::string(Text));
  HostSpec H = parseOne(Text);
  EXPECT_EQ(H.Kind, HostKind::Ssh);
  EXPECT_EQ(H.User, User);
  EXPECT_EQ(H.Name, Name);
  EXPECT_EQ(H.Limit, Limit);
  EXPECT_EQ(H.Command, Command);
}

void expectLocal(std::string_view Text, unsigned Limit) {
  SCOPED_TRACE(std::string(Text));
  HostSpec H = parseOne(Text);
  EXPECT_EQ(H.Kind, HostKind::Local);
  EXPECT_EQ(H.Name, "localhost");
  EXPECT_EQ(H.Limit, Limit);
}

std::string names(const HostList &List) {
  std::string Names;
  for (const HostSpec &H : List.Hosts)
    Names += (Names.empty() ? "" : " ") + H.display();
  return Names;
}

} // namespace

TEST(HostSpecTest, Tcp) {
  expectTcp("node1", "node1", 3632, 0);
  expectTcp("node1:4000", "node1", 4000, 0);
  expectTcp("node1/8", "node1", 3632, 8);
  expectTcp("node1:4000/8", "node1", 4000, 8);
  expectTcp("node1/8:4000", "node1", 4000, 8); // the old syntax
  expectTcp("10.0.0.1:65535/4096", "10.0.0.1", 65535, 4096);
  expectTcp("a-b_c.example.:1/1", "a-b_c.example.", 1, 1);
  expectTcp("node1:0004000", "node1", 4000, 0);
}

TEST(HostSpecTest, Options) {
  expectTcp("node1,lzo", "node1", 3632, 0);
  expectTcp("node1:4000/2,cpp,lzo", "node1", 4000, 2);
  expectTcp("node1/2:4000,lzo,lzo", "node1", 4000, 2);
}

TEST(HostSpecTest, IPv6) {
  expectTcp("[::1]", "::1", 3632, 0);
  expectTcp("[::1]:4000/2,lzo", "::1", 4000, 2);
  expectTcp("[2001:db8::1]/2:4000", "2001:db8::1", 4000, 2);
  expectTcp("[fe80::1%eth0]", "fe80::1%eth0", 3632, 0);
}

TEST(HostSpecTest, Localhost) {
  expectLocal("localhost", 0);
  expectLocal("localhost/3", 3);
  expectTcp("localhost:4000", "localhost", 4000, 0);
  expectTcp("localhost:3632", "localhost", 3632, 0);
  expectTcp("localhost/3:4000", "localhost", 4000, 3);
  expectTcp("localhost,lzo", "localhost", 3632, 0);
  expectTcp("localhostess", "localhostess", 3632, 0);
  expectTcp("127.0.0.1", "127.0.0.1", 3632, 0);
  expectSsh("@localhost", "", "localhost", 0, "");
}

TEST(HostSpecTest, Ssh) {
  expectSsh("@bigman/16:/opt/bin/distccd", "", "bigman", 16,
            "/opt/bin/distccd");
  expectSsh("me@node3", "me", "node3", 0, "");
  expectSsh("me@node3:/x/distccd,lzo", "me", "node3", 0, "/x/distccd");
  expectSsh("me@[::1]/2:d,cpp,lzo", "me", "::1", 2, "d");
  // Everything up to the comma belongs to the command.
  expectSsh("@node3:/opt/4/d", "", "node3", 0, "/opt/4/d");
}

TEST(HostSpecTest, Display) {
  EXPECT_EQ(parseOne("node3/4,lzo").display(), "node3");
  EXPECT_EQ(parseOne("node3:3632").display(), "node3");
  EXPECT_EQ(parseOne("node3:4000/4").display(), "node3:4000");
  EXPECT_EQ(parseOne("[::1]:4000").display(), "[::1]:4000");
  EXPECT_EQ(parseOne("[::1]").display(), "[::1]");
  EXPECT_EQ(parseOne("user@node3/2:/x").display(), "user@node3");
  EXPECT_EQ(parseOne("@node3").display(), "@node3");
  EXPECT_EQ(parseOne("localhost/4").display(), "localhost");
}

TEST(HostSpecTest, Lists) {
  EXPECT_EQ(names(parse("")), "");
  EXPECT_EQ(names(parse(" \t\r\n\f")), "");
  EXPECT_EQ(names(parse("# nothing")), "");
  EXPECT_EQ(names(parse("a b\tc\nd\fe")), "a b c d e");
  EXPECT_EQ(names(parse("localhost/2 @bigman/16:/opt/bin/distccd old:4200/1\n"
                        "# cartman is down\n"
                        "distant/3,lzo\n")),
            "localhost @bigman old:4200 distant");
  EXPECT_EQ(names(parse("# first\r\na#b\r\n  c # d\r\n\r\n#")), "a c");
  EXPECT_EQ(names(parse("a a")), "a a"); // as in distcc, twice the same
}

TEST(HostSpecTest, Randomize) {
  EXPECT_FALSE(parse("a").Randomize);
  HostList List = parse("a --randomize b");
  EXPECT_TRUE(List.Randomize);
  EXPECT_EQ(names(List), "a b"); // shuffled by the caller
}

TEST(HostSpecTest, DownIsLeftOutSilently) {
  HostList List = parse("a,down b,lzo,down c d,auth,down");
  EXPECT_EQ(names(List), "c");
  EXPECT_TRUE(List.Notes.empty());
}

TEST(HostSpecTest, Auth) {
  HostList List = parse("a,auth b,auth=name@REALM c d,lzo,auth e,auth f,auth");
  EXPECT_EQ(names(List), "c");
  ASSERT_EQ(List.Notes.size(), 1u);
  EXPECT_NE(List.Notes[0].find("'a', 'b', 'd' and 2 more"), std::string::npos)
      << List.Notes[0];
  EXPECT_NE(List.Notes[0].find("authenticate"), std::string::npos);
}

TEST(HostSpecTest, NotesComeOnce) {
  HostList List =
      parse("--localslots=2 --localslots_cpp=3 +zeroconf a,zstd b,zstd,lzo "
            "--localslots=2 --localslots_cpp=3 +zeroconf");
  EXPECT_EQ(names(List), "a b");
  ASSERT_EQ(List.Remarks.size(), 2u);
  EXPECT_EQ(List.Remarks[0].find("--localslots has"), 0u);
  EXPECT_NE(List.Remarks[0].find("--thinlto-dist-local-jobs"),
            std::string::npos);
  EXPECT_EQ(List.Remarks[1].find("--localslots_cpp has"), 0u);
  EXPECT_NE(List.Remarks[1].find("--thinlto-jobs"), std::string::npos);
  ASSERT_EQ(List.Notes.size(), 2u);
  EXPECT_EQ(List.Notes[0].find("+zeroconf has"), 0u);
  EXPECT_NE(List.Notes[0].find("name them"), std::string::npos);
  EXPECT_NE(List.Notes[1].find("zstd"), std::string::npos);
  for (const std::string &Note : List.Notes)
    EXPECT_EQ(Note.find('\n'), std::string::npos);
}

TEST(HostSpecTest, OddBytesAreNotShown) {
  EXPECT_EQ(error("fe80::1%\x88/3").find('\x88'), std::string::npos);
}

/// Zeroconf writes addresses without the brackets that a port needs.
TEST(HostSpecTest, IPv6WithoutBrackets) {
  auto Right = [](const std::string &Item) {
    std::string Text = error(Item), Before = "an IPv6 address needs brackets: ";
    size_t At = Text.find(Before);
    EXPECT_NE(At, std::string::npos) << Text;
    return At == std::string::npos ? "" : Text.substr(At + Before.size());
  };
  EXPECT_EQ(Right("2001:db8::11/16"), "[2001:db8::11]/16");
  EXPECT_EQ(Right("fe80::1:3632/16,lzo"),
            "[fe80::1]:3632/16,lzo, or [fe80::1:3632]/16,lzo if there is no "
            "port in it");
  EXPECT_EQ(Right("2001:db8:1:2:3:4:5:6:3632"), "[2001:db8:1:2:3:4:5:6]:3632");
  EXPECT_EQ(Right("fe80::1%eth0:4000/2"), "[fe80::1%eth0]:4000/2");
  EXPECT_EQ(Right("fe80::1%eth0"), "[fe80::1%eth0]");
}

TEST(HostSpecTest, TheHighestLimit) {
  EXPECT_EQ(parse("a/4096").Hosts[0].Limit, MaxSlots);
  EXPECT_NE(error("a/4097").find("1 to 4096"), std::string::npos);
}

TEST(HostSpecTest, WrongNumbers) {
  EXPECT_EQ(error("node1:99999"),
            "$DISTCC_HOSTS: 'node1:99999': the port must be a number from 1 to "
            "65535");
  for (const char *Item : {"a:", "a:0", "a:65536", "a:-1", "a:+1", "a:4x",
                           "a:18446744073709551617", "a:,lzo", "[::1]:x"})
    EXPECT_NE(error(Item).find("the port must be"), std::string::npos) << Item;
  for (const char *Item : {"a/", "a/0", "a/4097", "a/-1", "a/2x", "a/,lzo",
                           "a/4294967297", "localhost/", "@a/x:c"})
    EXPECT_NE(error(Item).find("the limit must be a number from 1 to 4096"),
              std::string::npos)
        << Item;
  EXPECT_NE(error("--localslots").find("--localslots=N"), std::string::npos);
  EXPECT_NE(error("--localslots_cpp=x").find("--localslots_cpp=N"),
            std::string::npos);
}

TEST(HostSpecTest, LeftOver) {
  for (const char *Item :
       {"a/2/3", "a:1:2", "a:1/2:3", "a/1:2/3", "[::1]x", "@a/1/2", "@[::1]x"})
    EXPECT_NE(error(Item).find("unexpected "), std::string::npos) << Item;
}

TEST(HostSpecTest, WrongNames) {
  for (const char *Item : {",lzo", ":4000", "/2", "@", "u@:x", "@,lzo"})
    EXPECT_NE(error(Item).find("the name of the host is missing"),
              std::string::npos)
        << Item;
  EXPECT_NE(error("::1").find("needs brackets: [::1]"), std::string::npos);
  EXPECT_NE(error("2001:db8::1,lzo").find("[2001:db8::1]"), std::string::npos);
  EXPECT_NE(error("[::1").find("']'"), std::string::npos);
  for (const char *Item : {"[]", "[a]", "[::1%]", "[1.2.3.4]", "[::1::]"})
    EXPECT_NE(error(Item).find("not an IPv6 address"), std::string::npos)
        << Item;
  EXPECT_NE(error("a;b").find("separated by spaces"), std::string::npos);
  EXPECT_NE(error("a$b").find("'$'"), std::string::npos);
  EXPECT_NE(error("u@b@c").find("'@'"), std::string::npos);
  EXPECT_NE(error(std::string(300, 'a')).find("255"), std::string::npos);
}

TEST(HostSpecTest, NothingBecomesAnOptionOfSsh) {
  EXPECT_NE(error("@-oProxyCommand=x").find("'-'"), std::string::npos);
  EXPECT_NE(error("-oProxyCommand=x@a").find("'-'"), std::string::npos);
}

TEST(HostSpecTest, WrongOptions) {
  EXPECT_EQ(error("a,lzo2"), "$DISTCC_HOSTS: 'a,lzo2': unknown option 'lzo2', "
                             "did you mean ',lzo'?");
  EXPECT_NE(error("a,dwon").find("',down'"), std::string::npos);
  EXPECT_NE(error("node1,node2").find("separated by spaces"),
            std::string::npos);
  EXPECT_NE(error("a,").find("missing"), std::string::npos);
  EXPECT_NE(error("a,lzo,,cpp").find("missing"), std::string::npos);
  EXPECT_NE(error("a,lzo:4000").find("unknown option 'lzo:4000'"),
            std::string::npos);
}

TEST(HostSpecTest, WrongKeywords) {
  EXPECT_EQ(error("a --randomise"),
            "$DISTCC_HOSTS: '--randomise': unknown, did you mean "
            "'--randomize'?");
  EXPECT_NE(error("-randomize").find("'--randomize'"), std::string::npos);
  EXPECT_NE(error("--randomize=1").find("takes no value"), std::string::npos);
  EXPECT_NE(error("--localslot=1").find("'--localslots'"), std::string::npos);
  EXPECT_NE(error("+zeroconfig").find("'+zeroconf'"), std::string::npos);
  EXPECT_NE(error("--verbose").find("expected a host"), std::string::npos);
}

TEST(HostSpecTest, ErrorsNameTheLine) {
  EXPECT_EQ(error("a\n\n# x\n  b c:0\n", "/etc/distcc/hosts"),
            "/etc/distcc/hosts, line 4: 'c:0': the port must be a number from "
            "1 to 65535");
  EXPECT_EQ(error("a\r\nc:0", "f").find("f, line 2: 'c:0'"), 0u);
  // One line, although it ends in a newline.
  EXPECT_EQ(error("a c:0\n", "f").find("f: 'c:0'"), 0u);
}

TEST(HostSpecTest, ErrorsAreOnePrintableLine) {
  EXPECT_EQ(error("a\x1b[2Jb").find("$DISTCC_HOSTS: 'a\\x1b[2Jb': "), 0u);
  EXPECT_EQ(error(std::string_view("a\0b", 3)).find("$DISTCC_HOSTS: 'a\\x00b'"),
            0u);
  EXPECT_NE(error("\xc3\xa4").find("'\\xc3\\xa4'"), std::string::npos);
  std::string Long = error("a:" + std::string(100000, 'x'));
  EXPECT_LT(Long.size(), 400u);
  EXPECT_NE(Long.find("x...'"), std::string::npos);
}
