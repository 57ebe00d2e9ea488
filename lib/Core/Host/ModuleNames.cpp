//===- ModuleNames.cpp - Module names that travel -------------------------===//
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

ModuleNames::ModuleNames() : ModuleNames(workingDirectory()) {}

ModuleNames::ModuleNames(StringRef WorkingDirectory)
    : Prefix(WorkingDirectory.str()) {
  if (!Prefix.empty() && Prefix.back() != '/')
    Prefix += '/';
}

std::optional<std::string> ModuleNames::encode(StringRef Original) const {
  std::string Code = "m.";
  StringRef Rest = Original;
  if (Rest.consume_front("/")) {
    appendCode(Code, '/');
    // Names with a common prefix form a run in the sorted order, so what is not
    // in the run sorts before or after all of it.
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
