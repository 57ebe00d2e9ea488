//===- Arguments.h - The arguments of a plugin ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arguments that --thinlto-dist-plugin-arg= passes to a plugin, as a table.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_ARGUMENTS_H
#define DTLTO_PLUGINS_ARGUMENTS_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto {

/// An argument NAME=VALUE, or a switch NAME.
struct Argument {
  std::string_view Name;
  /// Sets the value. Returns false if it is invalid.
  std::function<bool(std::string_view Value)> Set;
  std::vector<std::string_view> Values = {}; // all valid ones, if few
  bool IsSwitch = false;
};
using ArgumentTable = std::vector<Argument>;

/// Returns an argument whose value is a number from \p Min to \p Max.
Argument numberArgument(std::string_view Name, uint32_t Min, uint32_t Max,
                        uint32_t &Value);
/// Returns an argument whose value is a text that is not empty.
Argument textArgument(std::string_view Name, std::string &Value);

/// Sets \p Arg. Returns false if its name is unknown or its value is invalid.
bool setArgument(const ArgumentTable &Table, std::string_view Arg);
/// Describes what is wrong with \p Arg, and suggests the nearest name or value.
std::string argumentProblem(const ArgumentTable &Table, std::string_view Arg);

} // namespace dtlto

#endif // DTLTO_PLUGINS_ARGUMENTS_H
