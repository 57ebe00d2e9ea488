//===- Text.cpp - Text for a terminal -------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Text.h"
#include "Support/Failure.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <climits>
#include <vector>

using namespace llvm;
using namespace dtlto;

namespace {
struct Character {
  StringRef Bytes;
  int Width; // in columns; -1: a color, not a character
};
} // namespace

/// Returns the size of the color sequence (ESC [ ... m) at the start of
/// \p Text, or 0.
static size_t colorSize(StringRef Text) {
  if (!Text.starts_with("\x1b["))
    return 0;
  size_t End = Text.find_first_not_of("0123456789;:", 2);
  return End != StringRef::npos && Text[End] == 'm' ? End + 1 : 0;
}

/// Returns the first character of \p Text. An invalid byte is a character.
static Character firstCharacter(StringRef Text) {
  unsigned char C = Text.front();
  size_t Size = C < 0xC0 ? 1 : C < 0xE0 ? 2 : C < 0xF0 ? 3 : C < 0xF8 ? 4 : 1;
  StringRef Bytes = Text.take_front(Size);
  return {Bytes, sys::unicode::columnWidthUTF8(Bytes)};
}

static std::vector<Character> split(StringRef Text) {
  std::vector<Character> All;
  while (!Text.empty()) {
    size_t Size = colorSize(Text);
    Character C =
        Size ? Character{Text.take_front(Size), -1} : firstCharacter(Text);
    if (!Size && C.Width < 0) { // not printable, or invalid UTF-8
      C = {"?", 1};
      Size = 1;
    }
    All.push_back(C);
    Text = Text.drop_front(Size ? Size : C.Bytes.size());
  }
  return All;
}

static std::string join(ArrayRef<Character> Part, bool OnlyColors = false) {
  std::string Bytes;
  for (const Character &C : Part)
    if (!OnlyColors || C.Width < 0)
      Bytes += C.Bytes;
  return Bytes;
}

/// Returns \p Text as printable UTF-8 except for the characters in \p Allowed.
/// After \p MaxSize bytes, \p Ellipsis replaces the rest.
static std::string printablePrefix(StringRef Text, StringRef Allowed,
                                   size_t MaxSize, StringRef Ellipsis) {
  std::string Result;
  while (!Text.empty()) {
    Character C = firstCharacter(Text);
    std::string Escaped;
    if (C.Width < 0) {
      C.Bytes = Text.take_front();
      if (!Allowed.contains(C.Bytes))
        Escaped = "\\x" + toHex(C.Bytes, /*LowerCase=*/true);
    }
    StringRef Next = Escaped.empty() ? C.Bytes : Escaped;
    if (Result.size() + Next.size() > MaxSize)
      return Result + Ellipsis.str();
    Result += Next;
    Text = Text.drop_front(C.Bytes.size());
  }
  return Result;
}

std::string dtlto::printable(StringRef Text) {
  return printablePrefix(Text, "", SIZE_MAX, "");
}

std::string dtlto::sanitizedLine(StringRef Text, size_t MaxSize) {
  std::string Line = Text.rtrim("\r\n").str();
  for (char &C : Line)
    if (StringRef("\r\n\t").contains(C))
      C = ' ';
  return printablePrefix(Line, "", MaxSize, "...");
}

std::string dtlto::sanitizedLines(StringRef Text, size_t MaxSize) {
  return printablePrefix(Text, "\n\t", MaxSize, "\n[the rest was cut off]");
}

std::string dtlto::replacePath(StringRef Text, StringRef Path, StringRef Name) {
  auto IsPathChar = [](StringRef One) {
    return !One.empty() &&
           (isAlnum(One[0]) || StringRef("+,-./=_`~").contains(One));
  };
  std::string Out;
  for (size_t At; (At = Text.find(Path)) != StringRef::npos;) {
    StringRef Front = Text.take_front(At),
              Rest = Text.drop_front(At + Path.size());
    bool IsLonger =
        IsPathChar(Front.take_back()) || IsPathChar(Rest.take_front());
    Out += Front;
    Out += IsLonger ? Path : Name;
    Text = Rest;
  }
  return Out + Text.str();
}

std::string dtlto::fitToLine(StringRef Text, unsigned Columns) {
  std::vector<Character> All = split(Text);
  int Width = 0;
  for (const Character &C : All)
    Width += std::max(0, C.Width);
  if (Columns == 0 || Width <= static_cast<int>(Columns))
    return join(All);

  StringRef Gap = StringRef("...").take_front(Columns);
  int Room = static_cast<int>(Columns - Gap.size());
  // Keep about as much of both ends; a path's end says more.
  size_t Tail = All.size(), Head = 0;
  for (int Remaining = Room - Room / 2;
       Tail && All[Tail - 1].Width <= Remaining;)
    Remaining -= std::max(0, All[--Tail].Width);
  for (int Remaining = Room / 2; Head != Tail && All[Head].Width <= Remaining;)
    Remaining -= std::max(0, All[Head++].Width);
  ArrayRef<Character> Chars = All;
  return join(Chars.take_front(Head)) +
         join(Chars.slice(Head, Tail - Head), /*OnlyColors=*/true) + Gap.str() +
         join(Chars.drop_front(Tail));
}

// Shorter parts match too many names.
static constexpr size_t MinPart = 3;

StringRef dtlto::nearestWord(StringRef Word, ArrayRef<StringRef> Candidates) {
  if (Word.size() >= MinPart)
    for (StringRef K : Candidates)
      if (K.contains_insensitive(Word))
        return K;
  StringRef Best;
  unsigned BestDistance = UINT_MAX;
  for (StringRef K : Candidates) {
    const unsigned MaxDistance = std::max<unsigned>(1, unsigned(K.size() / 3));
    unsigned Distance = Word.edit_distance_insensitive(K, true, MaxDistance);
    if (Distance <= MaxDistance && Distance < BestDistance &&
        Distance < K.size()) {
      Best = K;
      BestDistance = Distance;
    }
  }
  return Best;
}

std::string dtlto::alignColumns(ArrayRef<std::vector<std::string>> Rows,
                                StringRef Alignment) {
  std::vector<size_t> Widths(Alignment.size());
  for (const auto &Row : Rows)
    for (size_t I = 0; I != Row.size(); ++I)
      Widths[I] = std::max(Widths[I], Row[I].size());
  std::string Text;
  for (const auto &Row : Rows) {
    std::string Line;
    for (size_t I = 0; I != Row.size(); ++I) {
      std::string Blanks(Widths[I] - Row[I].size(), ' ');
      Line += (Alignment[I] == 'r' ? Blanks + Row[I] : Row[I] + Blanks) + "  ";
    }
    Text += (StringRef(Line).rtrim() + "\n").str();
  }
  return Text;
}

std::string dtlto::formatCount(uint64_t N, StringRef Noun) {
  return std::to_string(N) + " " + Noun.str() + (N == 1 ? "" : "s");
}

Error dtlto::flushOutput(StringRef What) {
  outs().flush();
  if (!outs().has_error())
    return Error::success();
  std::string Why = outs().error().message();
  outs().clear_error();
  return failure("the " + What + " cannot be written: " + Why);
}
