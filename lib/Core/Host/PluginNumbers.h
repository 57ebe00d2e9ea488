//===- PluginNumbers.h - Numbers that a plugin reports ----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_PLUGINNUMBERS_H
#define DTLTO_HOST_PLUGINNUMBERS_H

#include "Support/Text.h"
#include "dtlto/ext/numbers.h"
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dtlto {

/// A number of dtlto.numbers/1, for display.
struct PluginNumber {
  std::string Name;                 // one line, safe for terminals
  uint32_t Unit = DTLTO_UNIT_COUNT; // a known unit
  uint64_t Value = 0;
};

/// The numbers of a session or of a job, in the order of their first values.
/// Ignores new names beyond \p Max. Not thread-safe.
class PluginNumbers {
public:
  static constexpr size_t MaxPerSession = 64, MaxPerJob = 16, MaxName = 64;

  explicit PluginNumbers(size_t Max) : Max(Max) {}

  /// \p Name is from the plugin: null, or any bytes.
  void set(const char *Name, uint32_t Unit, uint64_t Value) {
    std::string Line = sanitizedLine(Name ? Name : "", MaxName);
    if (Line.empty())
      return;
    auto It = std::find_if(List.begin(), List.end(),
                           [&](const auto &N) { return N.Name == Line; });
    if (It == List.end() && List.size() == Max)
      return;
    if (It == List.end())
      It = List.insert(It, PluginNumber{std::move(Line)});
    It->Unit =
        Unit <= DTLTO_UNIT_MICROSECONDS ? Unit : uint32_t(DTLTO_UNIT_COUNT);
    It->Value = Value;
  }
  const std::vector<PluginNumber> &list() const { return List; }
  std::vector<PluginNumber> take() { return std::exchange(List, {}); }

private:
  size_t Max;
  std::vector<PluginNumber> List;
};

} // namespace dtlto

#endif // DTLTO_HOST_PLUGINNUMBERS_H
