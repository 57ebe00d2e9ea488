//===- dtlto/sdk/Text.hpp - Parsing, and text for messages ------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_TEXT_HPP
#define DTLTO_SDK_TEXT_HPP

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::sdk {

/// Quotes \p Text for one line of a message. Escapes everything but printable
/// ASCII, and cuts the text after 200 characters.
inline std::string quote(std::string_view Text) {
  constexpr size_t MaxLength = 200;
  constexpr char Digits[] = "0123456789abcdef";
  std::string Result = "'";
  for (unsigned char C : Text.substr(0, MaxLength)) {
    if (C >= 0x20 && C < 0x7f)
      Result += char(C);
    else
      ((Result += "\\x") += Digits[C >> 4]) += Digits[C & 15];
  }
  if (Text.size() > MaxLength)
    Result += "...";
  return Result + "'";
}

/// Reads all of \p Text as a decimal number from \p Min to \p Max, without a
/// sign. Returns false for any other text, and leaves \p Value alone.
inline bool parseNumber(std::string_view Text, uint32_t Min, uint32_t Max,
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

namespace detail {
/// Returns the edit distance: how many characters to insert, remove, replace,
/// or swap with the next one.
inline size_t distance(std::string_view A, std::string_view B) {
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
} // namespace detail

/// Returns the entry of \p Candidates that \p Word misspells, or nothing.
inline std::string_view
nearest(std::string_view Word,
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
    size_t D = detail::distance(Word, K);
    if (D <= MaxDistance && D < BestDistance) {
      Best = K;
      BestDistance = D;
    }
  }
  return Best;
}

} // namespace dtlto::sdk

#endif // DTLTO_SDK_TEXT_HPP
