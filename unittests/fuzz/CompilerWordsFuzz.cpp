//===- CompilerWordsFuzz.cpp - What a compiler says, any bytes ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: what a farm says that a compiler has said. No line gets lost, but
// clang's sums, and each message begins with the module's name.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Run/CompilerWords.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"warning: <unknown>:0:0: stack frame size (136) exceeds limit (16) "
          "in function 'f' [-Wframe-larger-than]\n"
          "<inline asm>:1:2: warning: mind the gap\n"
          "\t.warning \"mind the gap\"\n        ^\n2 warnings generated.\n",
          "remark: <unknown>:0:0: loop not vectorized\nnote: why\n",
          "clang: warning: argument unused\nwarning: a.o <inline asm>:1:2: "
          "no\n\n\n1 warning generated.\n",
          "<inline asm>:1:2: error: no\n<inline asm>:1:2: note: here\n\n x",
          "'x' is not a recognized processor\na.c:1:2: warning: no\n"};
}

namespace {

struct Recorder : Messages {
  void emit(MessageLevel Level, const Twine &Text) override {
    All.push_back({Level, Text.str()});
  }
  void progress(StringRef) override {}
  std::optional<unsigned> columns() const override { return std::nullopt; }
  bool verbose() const override { return false; }

  std::vector<std::pair<MessageLevel, std::string>> All;
};

} // namespace

/// What stays as it is of a line, whatever is made of its beginning.
static StringRef endOf(StringRef Line) {
  size_t At = Line.rfind(": ");
  return (At == StringRef::npos ? Line : Line.drop_front(At + 2)).rtrim();
}

static bool isSum(StringRef Line) {
  static const Regex Sum("^[0-9]+ warnings? generated\\.$");
  return Sum.match(Line);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string Said =
      strangersLines({reinterpret_cast<const char *>(Data), Size});
  std::string Error = inLLDsWords(Said, "a.o");
  check(inLLDsWords(Error, "a.o") == Error);

  Recorder Msg;
  showWords(Msg, Said, "a.o", "a.o [1/2]");
  std::string Shown;
  for (auto &[Level, Text] : Msg.All) {
    check(Level == MessageLevel::Diagnostic || Level == MessageLevel::Note);
    StringRef Words = Text;
    check(Words.consume_front("a.o [1/2]: ") ||
          Words.starts_with("a.o <inline asm>:"));
    bool IsRemark =
        Words.starts_with("remark: ") || Words.starts_with("note: ");
    check(!Words.trim().empty());
    check(Level == MessageLevel::Diagnostic || IsRemark ||
          !Words.split('\n').first.contains(": warning: "));
    Shown += Words.str() + "\n";
  }
  size_t At = 0;
  for (StringRef Line : split(Said, '\n')) {
    StringRef End = endOf(Line);
    if (isSum(Line) || End.empty())
      continue;
    At = Shown.find(End.str(), At);
    check(At != std::string::npos);
    At += End.size();
  }
  return 0;
}
