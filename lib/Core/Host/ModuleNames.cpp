//===- ModuleNames.cpp - Portable names of modules ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/ModuleNames.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace dtlto;

static void appendHex(std::string &Out, char Escape, unsigned char C) {
  Out += Escape;
  Out += hexdigit(C >> 4, /*LowerCase=*/true);
  Out += hexdigit(C & 15, /*LowerCase=*/true);
}

static void appendCode(std::string &Out, unsigned char C) {
  if (C < '-')
    appendHex(Out, '+', C);
  else if (C <= '/')
    Out += static_cast<char>(C - 1);
  else if (C <= '9' || (C >= '_' && C <= 'z'))
    Out += static_cast<char>(C);
  else if (C > 'z')
    appendHex(Out, '~', C);
  else if (C < 'A') {
    Out += '=';
    Out += static_cast<char>('0' + (C - ':'));
  } else if (C <= 'Z') {
    Out += '=';
    Out += static_cast<char>(C - 'A' + 'a');
  } else {
    Out += "=~";
    Out += static_cast<char>('0' + (C - '['));
  }
}

static std::string workingDirectory() {
  SmallString<256> Path;
  if (sys::fs::current_path(Path))
    return {};
  return Path.str().str();
}

std::optional<MemberName> MemberName::parse(StringRef Original) {
  StringRef Rest = Original;
  StringRef End = Rest.consume_back(")") ? ")" : "";
  StringRef Front = Rest.rtrim("0123456789");
  if (Front.size() == Rest.size())
    return std::nullopt;
  bool IsMember = !End.empty()
                      ? Front.ends_with(" at ")
                      : Front.ends_with(")") ||
                            Front.ends_with_insensitive(".obj") ||
                            Front.ends_with(".o") || Front.ends_with(".bc");
  if (!IsMember)
    return std::nullopt;
  return MemberName{Front, End};
}

ModuleNames::ModuleNames(std::vector<StringRef> Modules)
    : ModuleNames(workingDirectory(), std::move(Modules)) {}

ModuleNames::ModuleNames(StringRef WorkingDirectory,
                         std::vector<StringRef> Modules)
    : Prefix(WorkingDirectory.str()) {
  if (!Prefix.empty() && Prefix.back() != '/')
    Prefix += '/';
  countMembers(std::move(Modules));
}

/// Returns \p N as text that sorts in numeric order.
static std::string sortableNumber(unsigned N) {
  std::string Digits = std::to_string(N);
  return Digits.size() == 1 ? Digits : char('a' + Digits.size() - 2) + Digits;
}

void ModuleNames::countMembers(std::vector<StringRef> Modules) {
  llvm::sort(Modules);
  StringMap<unsigned> Members; // number of members with this name
  std::optional<std::string> Last;
  for (StringRef Original : Modules) {
    std::string Name = Original.str();
    if (std::optional<MemberName> M = MemberName::parse(Original)) {
      unsigned N = Members[(M->Front + M->End).str()]++;
      Name = (M->Front + sortableNumber(N) + M->End).str();
      NumberedMembers[Original] = Name;
    }
    // Names such as `x at 5` and `x` for two members would sort differently.
    if (Last && Name <= *Last) {
      NumberedMembers.clear();
      return;
    }
    Last = std::move(Name);
  }
}

std::optional<std::string> ModuleNames::encode(StringRef Original) const {
  if (auto It = NumberedMembers.find(Original); It != NumberedMembers.end())
    Original = It->second;
  std::string Code = "m.";
  StringRef Rest = Original;
  if (Rest.consume_front("/")) {
    appendCode(Code, '/');
    // Names with a common prefix are adjacent in sorted order, so any other
    // name sorts before or after all of them.
    if (!Prefix.empty() && Original.starts_with(Prefix)) {
      Code += '2';
      Rest = Original.drop_front(Prefix.size());
    } else {
      Code += Original < StringRef(Prefix) ? '1' : '3';
    }
  }
  for (unsigned char C : Rest)
    appendCode(Code, C);

  std::string Name;
  StringRef Tail = Code;
  size_t Room = MaxComponent;
  while (Tail.size() > Room) {
    Name += Tail.take_front(Room);
    Name += "+/m";
    Tail = Tail.drop_front(Room);
    Room = MaxComponent - 1;
  }
  Name += Tail;
  if (Name.size() > MaxLength)
    return std::nullopt;
  return Name;
}
