//===- PathArgs.cpp - Files that arguments name ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/PathArgs.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtlto;

/// Where the value of \p Arg may begin, besides at its begin.
static SmallVector<size_t, 3> valuePlaces(StringRef Arg) {
  SmallVector<size_t, 3> Places = {0};
  if (Arg.size() > 2 && Arg.starts_with("-o"))
    Places.push_back(2);
  // A file's name may have one as well.
  for (size_t At = Arg.find('='); At != StringRef::npos; At = Arg.find('=', At))
    Places.push_back(++At);
  return Places;
}

/// Whether \p Arg is what an object calls itself, wherever it is made.
static bool isOwnName(StringRef Arg) {
  return Arg.starts_with("-object-file-name=");
}

size_t dtlto::findPath(StringRef Arg, StringRef Path) {
  for (size_t At : valuePlaces(Arg))
    if (Arg.drop_front(At) == Path)
      return At;
  return StringRef::npos;
}

std::vector<std::string>
dtlto::renamePaths(ArrayRef<std::string> Args,
                   const StringMap<std::string> &Paths) {
  std::vector<std::string> Result;
  for (StringRef Arg : Args) {
    std::string New = Arg.str();
    if (isOwnName(Arg)) {
      Result.push_back(std::move(New));
      continue;
    }
    for (size_t At : valuePlaces(Arg))
      if (auto It = Paths.find(Arg.drop_front(At)); It != Paths.end()) {
        New = Arg.take_front(At).str() + It->second;
        break;
      }
    Result.push_back(std::move(New));
  }
  return Result;
}

Error dtlto::checkPortable(ArrayRef<std::string> Args,
                           const StringMap<std::string> &Paths) {
  for (StringRef Arg : Args) {
    if (any_of(valuePlaces(Arg),
               [&](size_t At) { return Paths.contains(Arg.drop_front(At)); }))
      continue;
    if (isOwnName(Arg))
      continue;
    // A response file, or one that no input says anything of.
    auto IsFile = [&](size_t At) {
      StringRef Value = Arg.drop_front(At);
      return !Value.starts_with("-") && sys::fs::is_regular_file(Value);
    };
    if (Arg.starts_with("@") ||
        any_of(Arg, [](char C) { return sys::path::is_separator(C); }) ||
        any_of(valuePlaces(Arg), IsFile))
      return failure("an argument that may name a file, '" + printable(Arg) +
                     "'");
  }
  return Error::success();
}
