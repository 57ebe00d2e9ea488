//===- Json.h - Texts in a JSON file ----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTRIBUTOR_JSON_H
#define DTLTO_DISTRIBUTOR_JSON_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto {

/// Returns \p Text as a JSON string of ASCII, so the file's encoding doesn't
/// matter. Invalid UTF-8 becomes what Python's surrogateescape makes of it, so
/// that a program in Python gets the same bytes again.
inline std::string json(std::string_view Text) {
  std::string Out = "\"";
  auto Unit = [&](uint32_t U) {
    char Hex[8];
    std::snprintf(Hex, sizeof(Hex), "\\u%04x", U);
    Out += Hex;
  };
  for (size_t I = 0; I != Text.size();) {
    auto Byte = [&](size_t At) {
      return At < Text.size() ? static_cast<unsigned char>(Text[At]) : 0u;
    };
    uint32_t C = Byte(I);
    size_t Length = C < 0x80 ? 1 : C >> 5 == 6 ? 2 : C >> 4 == 14 ? 3 : 4;
    uint32_t Value = C < 0x80 ? C : C & (0xffu >> (Length + 1));
    bool IsGood = C < 0x80 || (C >= 0xc2 && C < 0xf5);
    for (size_t K = 1; K < Length; ++K) {
      IsGood &= Byte(I + K) >> 6 == 2;
      Value = Value << 6 | (Byte(I + K) & 0x3f);
    }
    constexpr uint32_t Least[] = {0, 0, 0x80, 0x800, 0x10000};
    IsGood &= Value >= Least[Length] && Value < 0x110000 &&
              (Value < 0xd800 || Value > 0xdfff);
    if (!IsGood) {
      Unit(0xdc00 + C);
      ++I;
      continue;
    }
    I += Length;
    if (Value == '"' || Value == '\\')
      (Out += '\\') += char(Value);
    else if (Value >= 0x20 && Value < 0x7f)
      Out += char(Value);
    else if (Value < 0x10000)
      Unit(Value);
    else {
      Unit(0xd800 + ((Value - 0x10000) >> 10));
      Unit(0xdc00 + ((Value - 0x10000) & 0x3ff));
    }
  }
  return Out + '"';
}

inline std::string json(const std::vector<std::string> &Texts) {
  std::string Out = "[";
  for (const std::string &T : Texts)
    Out += (Out.size() == 1 ? "" : ", ") + json(T);
  return Out + "]";
}

} // namespace dtlto

#endif // DTLTO_DISTRIBUTOR_JSON_H
