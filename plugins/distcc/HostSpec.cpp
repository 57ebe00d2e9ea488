//===- HostSpec.cpp - Host specifications, as distcc has them -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostSpec.h"
#include "System.h"
#include "Text.h"
#include <algorithm>
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

namespace {

/// The host of an item, and what its options ask for.
struct ParsedHost {
  HostSpec Spec;
  bool Down = false;
  bool Auth = false;
  bool Zstd = false;
};

/// Reads one item that names a host, from left to right.
class ItemParser {
public:
  explicit ItemParser(std::string_view Item) : Rest(Item) {}

  /// Returns false with what is wrong in \p Problem.
  bool parse(ParsedHost &Host, std::string &Problem) {
    bool Good = parseHost(Host);
    Problem = std::move(this->Problem);
    return Good;
  }

private:
  bool fail(std::string Text) {
    Problem = std::move(Text);
    return false;
  }
  bool accept(char C) {
    if (Rest.empty() || Rest.front() != C)
      return false;
    Rest.remove_prefix(1);
    return true;
  }
  /// All up to the first of \p Ends, or to the end of the item.
  std::string_view until(const char *Ends) {
    std::string_view Word = Rest.substr(0, Rest.find_first_of(Ends));
    Rest.remove_prefix(Word.size());
    return Word;
  }

  bool parseHost(ParsedHost &Host);
  bool parseUser(HostSpec &Spec);
  bool parseName(HostSpec &Spec);
  bool parseLimit(HostSpec &Spec);
  bool parsePort(HostSpec &Spec);
  bool parseCommand(HostSpec &Spec);
  bool parseOption(ParsedHost &Host);

  std::string_view Rest;
  std::string Problem;
};

} // namespace

static bool isNameChar(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
         (C >= '0' && C <= '9') || C == '.' || C == '-' || C == '_';
}

/// The first character of \p Name that no host name has, in quotes; else empty.
static std::string wrongChar(std::string_view Name) {
  auto Wrong = std::find_if_not(Name.begin(), Name.end(), isNameChar);
  return Wrong == Name.end() ? "" : quote(std::string_view(&*Wrong, 1));
}

/// Whether \p Text is an IPv6 address, perhaps with an interface.
static bool isIPv6(std::string_view Text) {
  in6_addr Address;
  std::string Number(Text.substr(0, Text.find('%')));
  return Number.find('\0') == std::string::npos &&
         inet_pton(AF_INET6, Number.c_str(), &Address) == 1;
}

/// If \p Item begins with an IPv6 address without brackets, returns what it
/// should be. zeroconf has the port behind the address: fe80::1:3632/16.
static std::string withBrackets(std::string_view Item) {
  std::string_view Host = Item.substr(0, Item.find_first_of("/,"));
  std::string Rest(Item.substr(Host.size()));
  size_t Colon = Host.rfind(':');
  uint32_t Port;
  bool HasPort = Colon != std::string_view::npos &&
                 isIPv6(Host.substr(0, Colon)) &&
                 parseNumber(Host.substr(Colon + 1), 1024, 65535, Port);
  std::string Right, Whole = "[" + std::string(Host) + "]" + Rest;
  if (HasPort)
    Right = "[" + std::string(Host.substr(0, Colon)) + "]" +
            std::string(Host.substr(Colon)) + Rest;
  // The name of an interface has no colon.
  if (!isIPv6(Host) || (HasPort && Host.find('%') < Colon))
    return Right;
  return HasPort ? Right + ", or " + Whole + " if there is no port in it"
                 : Whole;
}

bool ItemParser::parseHost(ParsedHost &Host) {
  HostSpec &Spec = Host.Spec;
  size_t At = Rest.find('@');
  // An @ further to the right is a part of a command, or of a principal's name.
  if (At != std::string_view::npos && At < Rest.find_first_of(":/,")) {
    Spec.Kind = HostKind::Ssh;
    if (!parseUser(Spec))
      return false;
  }
  bool MayBeLocal = Spec.Kind == HostKind::Tcp && Rest.front() != '[';
  if (!parseName(Spec))
    return false;

  bool HasLimit = false, HasPort = false;
  while (!Rest.empty() && Rest.front() != ',') {
    if (!HasLimit && accept('/')) {
      if (!parseLimit(Spec))
        return false;
      HasLimit = true;
    } else if (!HasPort && accept(':')) {
      if (Spec.Kind == HostKind::Ssh ? !parseCommand(Spec) : !parsePort(Spec))
        return false;
      HasPort = true;
    } else {
      return fail(quote(Rest) + " is left over");
    }
  }
  if (MayBeLocal && Rest.empty() && !HasPort && Spec.Name == "localhost")
    Spec.Kind = HostKind::Local;

  while (accept(','))
    if (!parseOption(Host))
      return false;
  return Rest.empty() || fail(quote(Rest) + " is left over");
}

bool ItemParser::parseUser(HostSpec &Spec) {
  Spec.User = until("@");
  Rest.remove_prefix(1);
  // ssh would take it for an option.
  if (!Spec.User.empty() && Spec.User.front() == '-')
    return fail("a user's name doesn't begin with '-'");
  if (hasControl(Spec.User))
    return fail("a user's name has no control characters");
  return true;
}

bool ItemParser::parseName(HostSpec &Spec) {
  if (accept('[')) {
    Spec.Name = until("]");
    if (!accept(']'))
      return fail("the ']' after the IPv6 address is missing");
    // "%eth0" says by which interface a link-local address is reached.
    size_t Percent = std::min(Spec.Name.find('%'), Spec.Name.size());
    in6_addr Address;
    bool HasZero = Spec.Name.find('\0') != std::string::npos;
    if (HasZero ||
        inet_pton(AF_INET6, Spec.Name.substr(0, Percent).c_str(), &Address) !=
            1 ||
        Percent + 1 == Spec.Name.size())
      return fail(quote(Spec.Name) + " is no IPv6 address");
    if (Percent != Spec.Name.size()) {
      std::string Wrong =
          wrongChar(std::string_view(Spec.Name).substr(Percent + 1));
      if (!Wrong.empty())
        return fail("an interface's name has no " + Wrong);
    }
    return true;
  }

  std::string_view Whole = Rest;
  Spec.Name = until(":/,");
  if (Spec.Kind == HostKind::Tcp)
    if (std::string Right = withBrackets(Whole); !Right.empty())
      return fail("an IPv6 address needs brackets: " + Right);
  if (Spec.Name.empty())
    return fail("the name of the host is missing");
  if (Spec.Name.front() == '-')
    return fail("a host's name doesn't begin with '-'");
  std::string Wrong = wrongChar(Spec.Name);
  if (Wrong == "';'")
    return fail("a host's name has no ';' (hosts are separated by spaces)");
  if (!Wrong.empty())
    return fail("a host's name has no " + Wrong);
  if (Spec.Name.size() > 255)
    return fail("a host's name has at most 255 characters");
  return true;
}

bool ItemParser::parseLimit(HostSpec &Spec) {
  uint32_t N;
  if (!parseNumber(until("/:,"), 1, MaxSlots, N))
    return fail("the limit must be a number from 1 to " +
                std::to_string(MaxSlots));
  Spec.Limit = N;
  return true;
}

bool ItemParser::parsePort(HostSpec &Spec) {
  uint32_t N;
  if (!parseNumber(until("/:,"), 1, 65535, N))
    return fail("the port must be a number from 1 to 65535");
  Spec.Port = uint16_t(N);
  return true;
}

bool ItemParser::parseCommand(HostSpec &Spec) {
  Spec.Command = until(",");
  if (Spec.Command.empty())
    return fail("the path of distccd after ':' is missing");
  if (hasControl(Spec.Command))
    return fail("a path has no control characters");
  return true;
}

bool ItemParser::parseOption(ParsedHost &Host) {
  std::string_view Option = until(",");
  if (Option == "lzo" || Option == "cpp")
    return true; // the protocol has both anyway
  if (Option == "down")
    return Host.Down = true;
  if (Option == "zstd")
    return Host.Zstd = true;
  if (Option == "auth" || Option.substr(0, 5) == "auth=")
    return Host.Auth = true;
  if (Option.empty())
    return fail("an option after ',' is missing");
  std::string Problem = "unknown option " + quote(Option);
  std::string_view Near =
      nearest(Option, {"lzo", "cpp", "down", "auth", "zstd"});
  if (!Near.empty())
    return fail(Problem + ", did you mean '," + std::string(Near) + "'?");
  return fail(Problem + ", expected lzo, cpp or down (hosts are separated by "
                        "spaces)");
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

namespace {

/// Builds a list from its items.
class ListParser {
public:
  explicit ListParser(HostList &List) : List(List) {}

  /// Returns false with what is wrong in \p Problem.
  bool add(std::string_view Item, std::string &Problem);
  /// After the last item.
  void finish();

private:
  bool addKeyword(std::string_view Item, std::string &Problem);

  HostList &List;
  bool Slots = false, SlotsCpp = false, Zeroconf = false, Zstd = false;
  std::vector<std::string> Auth; // the hosts
};

} // namespace

bool ListParser::add(std::string_view Item, std::string &Problem) {
  if (Item.front() == '+' ||
      (Item.front() == '-' && Item.find('@') == std::string_view::npos))
    return addKeyword(Item, Problem);
  ParsedHost Host;
  if (!ItemParser(Item).parse(Host, Problem))
    return false;
  Zstd |= Host.Zstd;
  if (Host.Down)
    return true;
  if (Host.Auth)
    Auth.push_back(Host.Spec.display());
  else
    List.Hosts.push_back(std::move(Host.Spec));
  return true;
}

bool ListParser::addKeyword(std::string_view Item, std::string &Problem) {
  std::string_view Word = Item.substr(0, Item.find('='));
  bool HasValue = Word.size() != Item.size();
  if (Item == "--randomize")
    return List.Randomize = true;
  if (Item == "+zeroconf")
    return Zeroconf = true;
  if (Word == "--localslots" || Word == "--localslots_cpp") {
    uint32_t N;
    if (!HasValue ||
        !parseNumber(Item.substr(Word.size() + 1), 0, INT32_MAX, N)) {
      Problem = "a number must follow: " + std::string(Word) + "=N";
      return false;
    }
    (Word == "--localslots" ? Slots : SlotsCpp) = true;
    return true;
  }
  std::string_view Near = nearest(
      Word, {"--randomize", "--localslots", "--localslots_cpp", "+zeroconf"});
  if (Near == Word)
    Problem = std::string(Word) + " takes no value";
  else if (!Near.empty())
    Problem = "unknown, did you mean " + quote(Near) + "?";
  else
    Problem = "unknown, expected a host or --randomize";
  return false;
}

void ListParser::finish() {
  if (Slots)
    List.Remarks.push_back(
        "--localslots means nothing here; "
        "--thinlto-dist-local-jobs=N limits the jobs that run "
        "on this machine");
  if (SlotsCpp)
    List.Remarks.push_back("--localslots_cpp means nothing here, as nothing is "
                           "preprocessed; --thinlto-jobs=N limits the linker's "
                           "own threads");
  if (Zeroconf)
    List.Notes.push_back(
        "+zeroconf means nothing here, as hosts are not looked "
        "for; name them in the list");
  if (Zstd)
    List.Notes.push_back("the option ',zstd' means nothing here; lzo is used");
  if (!Auth.empty()) {
    std::string Names;
    constexpr size_t MaxNames = 3;
    for (size_t I = 0; I != std::min(Auth.size(), MaxNames); ++I)
      Names += (I ? ", " : "") + quote(Auth[I]);
    if (Auth.size() > MaxNames)
      Names += " and " + std::to_string(Auth.size() - MaxNames) + " more";
    List.Notes.push_back(
        "left out " + Names +
        ": this plugin can't authenticate itself (the option ',auth'); reach "
        "such hosts over ssh: @host");
  }
}

/// What separates items.
static bool isSpace(char C) {
  return C == ' ' || C == '\t' || C == '\r' || C == '\n' || C == '\f';
}

bool parseHostList(std::string_view Text, std::string_view Source,
                   HostList &List, std::string &Error) {
  List = HostList();
  ListParser Parser(List);
  // A newline at the very end is not yet a second line.
  bool HasLines = Text.find('\n') < Text.size() - 1 && !Text.empty();
  size_t Line = 1;
  for (size_t I = 0; I != Text.size();) {
    if (Text[I] == '#') {
      I = std::min(Text.find('\n', I), Text.size());
    } else if (isSpace(Text[I])) {
      Line += Text[I] == '\n';
      ++I;
    } else {
      size_t Begin = I;
      while (I != Text.size() && Text[I] != '#' && !isSpace(Text[I]))
        ++I;
      std::string_view Item = Text.substr(Begin, I - Begin);
      std::string Problem;
      if (!Parser.add(Item, Problem)) {
        Error = std::string(Source);
        if (HasLines)
          Error += ", line " + std::to_string(Line);
        Error += ": " + quote(Item) + ": " + Problem;
        return false;
      }
    }
  }
  Parser.finish();
  return true;
}

} // namespace dtlto::distcc
