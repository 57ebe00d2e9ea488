//===- HostSpec.cpp - Host specifications, as in distcc -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostSpec.h"
#include "System.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>
#include <set>
#ifndef _WIN32
#include <arpa/inet.h>
#endif

namespace dtlto::distcc {

static constexpr uint16_t DefaultPort = 3632;

std::string HostSpec::display() const {
  std::string Host =
      Name.find(':') == std::string::npos ? Name : "[" + Name + "]";
  switch (Kind) {
  case HostKind::Local:
    return Host;
  case HostKind::Ssh:
    return User + "@" + Host;
  case HostKind::Tcp:
    break;
  }
  return Port == DefaultPort ? Host : Host + ":" + std::to_string(Port);
}

[[noreturn]] static void fail(const std::string &Text) {
  throw sdk::Error(DTLTO_ERROR_CALLER, Text);
}

namespace {

/// Reads one item that names a host, from left to right.
class ItemParser {
public:
  explicit ItemParser(std::string_view Item) : Rest(Item) {}

  void parse();

  HostSpec Spec;
  bool IsDown = false, Auth = false, Zstd = false; // options

private:
  bool accept(char C) {
    if (Rest.empty() || Rest.front() != C)
      return false;
    Rest.remove_prefix(1);
    return true;
  }
  /// Takes everything up to the first of \p Ends, or to the item's end.
  std::string_view until(const char *Ends) {
    std::string_view Word = Rest.substr(0, Rest.find_first_of(Ends));
    Rest.remove_prefix(Word.size());
    return Word;
  }
  void parseUser();
  void parseName();
  void parseAddress();
  void parsePort();
  void parseCommand();
  void parseOption();

  std::string_view Rest;
};

} // namespace

static bool isNameChar(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
         (C >= '0' && C <= '9') || C == '.' || C == '-' || C == '_';
}

/// Returns the first character of \p Name that host names can't have, in
/// quotes, or nothing.
static std::string invalidChar(std::string_view Name) {
  auto Wrong = std::find_if_not(Name.begin(), Name.end(), isNameChar);
  return Wrong == Name.end() ? "" : quote(std::string_view(&*Wrong, 1));
}

/// Whether a message can't show \p Text as it is.
static bool hasOddChar(std::string_view Text) {
  return quote(Text) != "'" + std::string(Text) + "'";
}

/// Whether \p Text is an IPv6 address, perhaps with an interface.
static bool isIPv6(std::string_view Text) {
  in6_addr Address;
  std::string Number(Text.substr(0, Text.find('%')));
  return Number.find('\0') == std::string::npos &&
         inet_pton(AF_INET6, Number.c_str(), &Address) == 1;
}

/// If \p Item begins with an IPv6 address without brackets, returns the
/// corrected item. zeroconf puts the port after the address: fe80::1:3632/16.
static std::string withBrackets(std::string_view Item) {
  std::string_view Host = Item.substr(0, Item.find_first_of("/,"));
  std::string Rest(Item.substr(Host.size()));
  size_t Colon = Host.rfind(':');
  uint32_t Port;
  bool HasPort = Colon != std::string_view::npos &&
                 isIPv6(Host.substr(0, Colon)) &&
                 parseNumber(Host.substr(Colon + 1), 1024, 65535, Port);
  std::string Correction, Whole = "[" + std::string(Host) + "]" + Rest;
  if (HasPort)
    Correction = "[" + std::string(Host.substr(0, Colon)) + "]" +
                 std::string(Host.substr(Colon)) + Rest;
  // The name of an interface has no colon.
  if (!isIPv6(Host) || (HasPort && Host.find('%') < Colon))
    return Correction;
  return HasPort ? Correction + ", or " + Whole + " if there is no port in it"
                 : Whole;
}

void ItemParser::parse() {
  size_t At = Rest.find('@');
  // An @ further to the right is part of a command or of a principal's name.
  if (At != std::string_view::npos && At < Rest.find_first_of(":/,"))
    parseUser();
  bool MayBeLocal = Spec.Kind == HostKind::Tcp && Rest.front() != '[';
  parseName();

  bool HasLimit = false, HasPort = false;
  while (!Rest.empty() && Rest.front() != ',') {
    if (!HasLimit && accept('/')) {
      HasLimit = true;
      if (!parseNumber(until("/:,"), 1, MaxSlots, Spec.Limit))
        fail("the limit must be a number from 1 to " +
             std::to_string(MaxSlots));
    } else if (!HasPort && accept(':')) {
      if (Spec.Kind == HostKind::Ssh)
        parseCommand();
      else
        parsePort();
      HasPort = true;
    } else {
      fail("unexpected " + quote(Rest));
    }
  }
  if (MayBeLocal && Rest.empty() && !HasPort && Spec.Name == "localhost")
    Spec.Kind = HostKind::Local;

  while (accept(','))
    parseOption();
  if (!Rest.empty())
    fail("unexpected " + quote(Rest));
}

void ItemParser::parseUser() {
  Spec.Kind = HostKind::Ssh;
  Spec.User = until("@");
  Rest.remove_prefix(1);
  // ssh would treat it as an option.
  if (!Spec.User.empty() && Spec.User.front() == '-')
    fail("a user's name cannot begin with '-'");
  if (hasControl(Spec.User))
    fail("a user's name cannot have control characters");
}

void ItemParser::parseAddress() {
  Spec.Name = until("]");
  if (!accept(']'))
    fail("the ']' after the IPv6 address is missing");
  // "%eth0" names the interface of a link-local address.
  size_t Percent = std::min(Spec.Name.find('%'), Spec.Name.size());
  if (!isIPv6(Spec.Name) || Spec.Name.find('\0') != std::string::npos ||
      Percent + 1 == Spec.Name.size())
    fail(quote(Spec.Name) + " is not an IPv6 address");
  std::string Wrong = invalidChar(std::string_view(Spec.Name).substr(
      std::min(Percent + 1, Spec.Name.size())));
  if (!Wrong.empty())
    fail("an interface's name cannot have " + Wrong);
}

void ItemParser::parseName() {
  if (accept('['))
    return parseAddress();
  std::string_view Whole = Rest;
  Spec.Name = until(":/,");
  if (Spec.Kind == HostKind::Tcp && !hasOddChar(Whole))
    if (std::string Correction = withBrackets(Whole); !Correction.empty())
      fail("an IPv6 address needs brackets: " + Correction);
  if (Spec.Name.empty())
    fail("the name of the host is missing");
  if (Spec.Name.front() == '-')
    fail("a host's name cannot begin with '-'");
  std::string Wrong = invalidChar(Spec.Name);
  if (Wrong == "';'")
    fail("a host's name cannot have ';' (hosts are separated by spaces)");
  if (!Wrong.empty())
    fail("a host's name cannot have " + Wrong);
  if (Spec.Name.size() > 255)
    fail("a host's name cannot have more than 255 characters");
}

void ItemParser::parsePort() {
  uint32_t N;
  if (!parseNumber(until("/:,"), 1, 65535, N))
    fail("the port must be a number from 1 to 65535");
  Spec.Port = uint16_t(N);
}

void ItemParser::parseCommand() {
  Spec.Command = until(",");
  if (Spec.Command.empty())
    fail("the path of distccd after ':' is missing");
  if (hasControl(Spec.Command))
    fail("a path cannot have control characters");
}

void ItemParser::parseOption() {
  std::string_view Option = until(",");
  if (Option == "lzo" || Option == "cpp")
    return; // the protocol always uses both
  if (Option.empty())
    fail("an option after ',' is missing");
  bool &Set = Option == "down" ? IsDown : Option == "zstd" ? Zstd : Auth;
  if (Option == "down" || Option == "zstd" || Option == "auth" ||
      Option.substr(0, 5) == "auth=") {
    Set = true;
    return;
  }
  std::string Problem = "unknown option " + quote(Option);
  std::string_view Suggestion =
      nearest(Option, {"lzo", "cpp", "down", "auth", "zstd"});
  if (!Suggestion.empty())
    fail(Problem + ", did you mean '," + std::string(Suggestion) + "'?");
  fail(Problem + ", expected lzo, cpp or down (hosts are separated by "
                 "spaces)");
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

/// Items without an effect, and what to report of them.
static constexpr struct {
  std::string_view Item;
  bool IsNote;
  const char *Text;
} IgnoredItems[] = {
    {"--localslots", false,
     "--localslots has no effect; --thinlto-dist-local-jobs=N limits the jobs "
     "that run on this machine"},
    {"--localslots_cpp", false,
     "--localslots_cpp has no effect, as nothing is preprocessed; "
     "--thinlto-jobs=N limits the linker's own threads"},
    {"+zeroconf", true,
     "+zeroconf has no effect, as the plugin does not search for hosts; name "
     "them in the list"},
    {",zstd", true, "the option ',zstd' has no effect; lzo is used"}};

namespace {

/// Builds a list from its items.
class ListParser {
public:
  void add(std::string_view Item);
  /// Returns the list of all items.
  HostList take();

private:
  void addKeyword(std::string_view Item);

  HostList List;
  std::set<std::string_view> Ignored; // of IgnoredItems
  std::vector<std::string> Auth;      // the hosts
};

} // namespace

void ListParser::add(std::string_view Item) {
  if (Item.front() == '+' ||
      (Item.front() == '-' && Item.find('@') == std::string_view::npos))
    return addKeyword(Item);
  ItemParser Host(Item);
  Host.parse();
  if (Host.Zstd)
    Ignored.insert(",zstd");
  if (Host.IsDown)
    return;
  if (Host.Auth)
    Auth.push_back(Host.Spec.display());
  else
    List.Hosts.push_back(std::move(Host.Spec));
}

void ListParser::addKeyword(std::string_view Item) {
  std::string_view Word = Item.substr(0, Item.find('='));
  if (Word == "--localslots" || Word == "--localslots_cpp") {
    uint32_t N;
    if (Word == Item ||
        !parseNumber(Item.substr(Word.size() + 1), 0, INT32_MAX, N))
      fail("a number must follow: " + std::string(Word) + "=N");
    Ignored.insert(Word);
    return;
  }
  std::string_view Suggestion = nearest(
      Word, {"--randomize", "--localslots", "--localslots_cpp", "+zeroconf"});
  if (Item == "--randomize")
    List.Randomize = true;
  else if (Item == "+zeroconf")
    Ignored.insert(Item);
  else if (Suggestion == Word)
    fail(std::string(Word) + " takes no value");
  else if (!Suggestion.empty())
    fail("unknown, did you mean " + quote(Suggestion) + "?");
  else
    fail("unknown, expected a host or --randomize");
}

HostList ListParser::take() {
  for (const auto &I : IgnoredItems)
    if (Ignored.count(I.Item))
      (I.IsNote ? List.Notes : List.Remarks).push_back(I.Text);
  if (!Auth.empty()) {
    std::string Names;
    constexpr size_t MaxNames = 3;
    for (size_t I = 0; I != std::min(Auth.size(), MaxNames); ++I)
      Names += (I ? ", " : "") + quote(Auth[I]);
    if (Auth.size() > MaxNames)
      Names += " and " + std::to_string(Auth.size() - MaxNames) + " more";
    List.Notes.push_back(
        "left out " + Names +
        ": this plugin cannot authenticate itself (the option ',auth'); reach "
        "such hosts over ssh: @host");
  }
  return std::move(List);
}

HostList parseHostList(std::string_view Text, std::string_view Source) {
  ListParser Parser;
  constexpr std::string_view Spaces = " \t\r\n\f", Ends = "# \t\r\n\f";
  // A newline at the very end doesn't begin a second line.
  bool HasLines = Text.find('\n') < Text.size() - 1 && !Text.empty();
  for (size_t I = 0;
       (I = Text.find_first_not_of(Spaces, I)) != std::string_view::npos;) {
    size_t End =
        Text[I] == '#' ? Text.find('\n', I) : Text.find_first_of(Ends, I);
    End = std::min(End, Text.size());
    std::string_view Item = Text.substr(I, End - I);
    try {
      if (Item.front() != '#')
        Parser.add(Item);
    } catch (const sdk::Error &E) {
      auto Line = std::count(Text.begin(), Text.begin() + ptrdiff_t(I), '\n');
      fail(std::string(Source) +
           (HasLines ? ", line " + std::to_string(Line + 1) : "") + ": " +
           quote(Item) + ": " + E.what());
    }
    I = End;
  }
  return Parser.take();
}

} // namespace dtlto::distcc
