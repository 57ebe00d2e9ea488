//===- Text.cpp - Parsing user input, and text for messages ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include <algorithm>

namespace dtlto {

std::string hexDigits(const uint8_t *Bytes, size_t Size) {
  static constexpr char Digits[] = "0123456789abcdef";
  std::string Text;
  for (size_t I = 0; I != Size; ++I)
    (Text += Digits[Bytes[I] >> 4]) += Digits[Bytes[I] & 15];
  return Text;
}

std::string hex(uint8_t Byte) { return hexDigits(&Byte, 1); }

bool hasControl(std::string_view Text) {
  return std::any_of(Text.begin(), Text.end(),
                     [](unsigned char C) { return C < 0x20 || C == 0x7f; });
}

bool isPrintableAscii(std::string_view Text) {
  return std::all_of(Text.begin(), Text.end(),
                     [](char C) { return C >= 0x20 && C <= 0x7e; });
}

std::string quote(std::string_view Text) {
  constexpr size_t MaxLength = 200;
  std::string Result = "'";
  for (unsigned char C : Text.substr(0, MaxLength)) {
    if (C >= 0x20 && C < 0x7f)
      Result += char(C);
    else
      Result += "\\x" + hex(C);
  }
  if (Text.size() > MaxLength)
    Result += "...";
  return Result + "'";
}

bool parseNumber(std::string_view Text, uint32_t Min, uint32_t Max,
                 uint32_t &Value) {
  if (Text.empty())
    return false;
  uint64_t N = 0;
  for (char C : Text) {
    if (C < '0' || C > '9')
      return false;
    N = N * 10 + unsigned(C - '0');
    if (N > Max)
      return false; // before it overflows
  }
  if (N < Min)
    return false;
  Value = uint32_t(N);
  return true;
}

/// Returns the edit distance: how many characters to insert, remove, replace,
/// or swap with the next one.
static size_t distance(std::string_view A, std::string_view B) {
  std::vector<size_t> Before(B.size() + 1), Above(B.size() + 1),
      Row(B.size() + 1);
  for (size_t J = 0; J <= B.size(); ++J)
    Above[J] = J;
  for (size_t I = 1; I <= A.size(); ++I) {
    Row[0] = I;
    for (size_t J = 1; J <= B.size(); ++J) {
      Row[J] = std::min({Above[J] + 1, Row[J - 1] + 1,
                         Above[J - 1] + (A[I - 1] != B[J - 1])});
      if (I > 1 && J > 1 && A[I - 1] == B[J - 2] && A[I - 2] == B[J - 1])
        Row[J] = std::min(Row[J], Before[J - 2] + 1);
    }
    std::swap(Before, Above);
    std::swap(Above, Row);
  }
  return Above[B.size()];
}

std::string_view findLine(std::string_view Text, std::string_view Part) {
  size_t At = Text.find(Part);
  if (At == Text.npos)
    return {};
  size_t Begin = Text.rfind('\n', At) + 1; // npos: the first line
  return Text.substr(Begin, Text.find('\n', At) - Begin);
}

std::string_view inputError(std::string_view Stderr) {
  std::string_view Line = findLine(Stderr, "Error loading ");
  if (Line.empty() && importError(Stderr).empty())
    Line = findLine(Stderr, "Error running ThinLTO backend");
  return Line;
}

std::string_view importError(std::string_view Stderr) {
  return findLine(Stderr, "Error running ThinLTO backend: Function Import: ");
}

std::string_view nearest(std::string_view Word,
                         const std::vector<std::string_view> &Candidates) {
  // Prefer names that contain the word to similar ones.
  if (Word.size() >= 3)
    for (std::string_view K : Candidates)
      if (K.find(Word) != K.npos)
        return K;
  std::string_view Best;
  size_t BestDistance = SIZE_MAX;
  for (std::string_view K : Candidates) {
    // Accept up to a third of wrong characters.
    size_t MaxDistance = std::max<size_t>(1, K.size() / 3);
    if (Word.size() > K.size() + MaxDistance ||
        K.size() > Word.size() + MaxDistance)
      continue;
    size_t D = distance(Word, K);
    if (D <= MaxDistance && D < BestDistance) {
      Best = K;
      BestDistance = D;
    }
  }
  return Best;
}

} // namespace dtlto
