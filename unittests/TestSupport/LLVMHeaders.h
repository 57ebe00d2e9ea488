//===- LLVMHeaders.h - Fields in LLVM's headers -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests that define LLVM_INCLUDE, the folder of LLVM's headers.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_LLVMHEADERS_H
#define DTLTO_UNITTESTS_TESTSUPPORT_LLVMHEADERS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <set>
#include <string>
#include <utility>

namespace dtlto::test {

/// Returns the names of the data members of a struct or class in one of LLVM's
/// headers. Parses just enough C++ for these headers.
inline std::set<std::string> membersOf(llvm::StringRef Header,
                                       llvm::StringRef Class) {
  using namespace llvm;
  std::set<std::string> Result;
  auto File = MemoryBuffer::getFile((LLVM_INCLUDE "/" + Header).str());
  if (!File)
    return Result;
  SmallVector<StringRef, 0> Lines;
  (*File)->getBuffer().split(Lines, '\n');
  int Depth = -1; // -1: before the struct
  std::string Statement;
  for (StringRef Line : Lines) {
    Line = Line.split("//").first.trim();
    if (Depth < 0) {
      if (Line == ("struct " + Class + " {").str() ||
          Line == ("class " + Class + " {").str())
        Depth = 0;
      continue;
    }
    for (char C : Line) {
      if (C == '{') {
        ++Depth;
      } else if (C == '}') {
        if (--Depth < 0)
          return Result;
      } else if (C == ';' && Depth == 0) {
        std::string Whole = std::exchange(Statement, {});
        StringRef S = StringRef(Whole).trim();
        if (S.starts_with("using ") || S.starts_with("enum "))
          continue;
        S = S.split('=').first.rtrim();
        // A parameter list, split at the `=` of a default argument.
        if (S.count('(') != S.count(')'))
          continue;
        // Remove the width of a bit-field. The `::` of a type has no spaces.
        size_t Colon = S.rfind(" : ");
        S = S.take_front(Colon).rtrim();
        // Skip functions, but not members whose type is a function.
        if (S.ends_with(")") || S.ends_with("const"))
          continue;
        S = S.take_back(S.size() - (S.find_last_of(" *&>") + 1));
        Result.insert(S.str());
      } else if (Depth == 0) {
        Statement += C;
        StringRef S = StringRef(Statement).trim();
        if (S == "public:" || S == "private:")
          Statement.clear();
      }
    }
    // The end of a function's body or of a braced initializer.
    if (Depth == 0 && Line.ends_with("}"))
      Statement.clear();
    Statement += ' ';
  }
  return Result;
}

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_LLVMHEADERS_H
