//===- CompilerWords.cpp - What compilers elsewhere say -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/CompilerWords.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace dtlto;

static std::string lineInLLDsWords(StringRef Line, StringRef Module) {
  if (Line.starts_with("<inline asm>:"))
    for (StringRef Kind : {"error: ", "warning: ", "note: "})
      if (auto [Where, What] = Line.split((": " + Kind).str()); !What.empty())
        return (Kind + Module + " " + Where + ": " + What).str();
  return Line.str();
}

std::string dtlto::inLLDsWords(StringRef Said, StringRef Module) {
  std::string Text;
  for (StringRef Line : split(Said, '\n'))
    Text += (Text.empty() ? "" : "\n") + lineInLLDsWords(Line, Module);
  return Text;
}

/// Whether \p Line is clang's sum of the lines before, as "2 warnings
/// generated."
static bool isSum(StringRef Line) {
  StringRef Words = Line.ltrim("0123456789");
  return Words.size() != Line.size() &&
         (Words == " warning generated." || Words == " warnings generated.");
}

void dtlto::showWords(Messages &Msg, StringRef Said, StringRef Module,
                      StringRef Title) {
  MessageLevel Level = MessageLevel::Note;
  std::string Text;
  auto Show = [&] {
    StringRef Words = StringRef(Text).rtrim();
    bool IsNamed = Words.starts_with((Module + " <inline asm>:").str());
    if (!Words.empty())
      Msg.emit(Level, (IsNamed ? "" : Title + ": ") + Words);
    Text.clear();
  };
  for (StringRef Raw : split(Said, '\n')) {
    if (isSum(Raw))
      continue;
    std::string Line = lineInLLDsWords(Raw, Module);
    StringRef Words = Line;
    bool IsRemark =
        Words.starts_with("remark: ") || Words.starts_with("note: ");
    bool IsWarning =
        Words.consume_front("warning: ") || Words.contains(": warning: ");
    if (IsRemark || IsWarning) {
      Show();
      Level = IsRemark ? MessageLevel::Note : MessageLevel::Diagnostic;
    }
    Text += (Text.empty() ? "" : "\n") + Words.str();
  }
  Show();
}
