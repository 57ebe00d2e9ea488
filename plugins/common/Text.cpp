//===- Text.cpp - Text for messages --------------------------------------===//
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

bool hasControl(std::string_view Text) {
  return std::any_of(Text.begin(), Text.end(),
                     [](unsigned char C) { return C < 0x20 || C == 0x7f; });
}

bool isPrintableAscii(std::string_view Text) {
  return std::all_of(Text.begin(), Text.end(),
                     [](char C) { return C >= 0x20 && C <= 0x7e; });
}

std::string lowerCase(std::string_view Text) {
  std::string Low(Text);
  for (char &C : Low)
    if (C >= 'A' && C <= 'Z')
      C = char(C - 'A' + 'a');
  return Low;
}

std::string withoutKey(std::string_view Url) {
  std::string Text(Url);
  // A password may contain any character, but only a scheme ends in the first
  // of these.
  size_t At = Text.rfind('@'), Begin = Text.find_first_of(":/@");
  if (At == Text.npos)
    return Text;
  Begin = Text.compare(Begin, 3, "://") == 0 ? Begin + 3 : 0;
  return Text.replace(Begin, At - Begin, "...");
}

std::string urlForMessage(std::string_view Url) {
  std::string Text = withoutKey(Url);
  if (size_t Query = Text.find_first_of("?#"); Query != Text.npos)
    Text.replace(Query, Text.npos, "?...");
  return quote(Text);
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

} // namespace dtlto
