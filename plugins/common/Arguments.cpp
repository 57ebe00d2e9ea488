//===- Arguments.cpp - The arguments of a plugin --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Text.h"
#include <algorithm>

using namespace dtlto;

Argument dtlto::numberArgument(std::string_view Name, uint32_t Min,
                               uint32_t Max, uint32_t &Value) {
  return {Name, [Min, Max, &Value](std::string_view Text) {
            return parseNumber(Text, Min, Max, Value);
          }};
}

Argument dtlto::textArgument(std::string_view Name, std::string &Value) {
  return {Name, [&Value](std::string_view Text) {
            if (!Text.empty())
              Value = Text;
            return !Text.empty();
          }};
}

/// Returns the entry for \p Arg, or null, and sets \p Value to its value.
static const Argument *match(const ArgumentTable &Table, std::string_view Arg,
                             std::string_view &Value) {
  size_t Equals = std::min(Arg.find('='), Arg.size());
  for (const Argument &A : Table)
    if (A.Name == Arg.substr(0, Equals) &&
        A.IsSwitch == (Equals == Arg.size())) {
      Value = A.IsSwitch ? "" : Arg.substr(Equals + 1);
      return &A;
    }
  return nullptr;
}

bool dtlto::setArgument(const ArgumentTable &Table, std::string_view Arg) {
  std::string_view Value;
  const Argument *A = match(Table, Arg, Value);
  return A && A->Set(Value);
}

/// Returns ", did you mean 'NAME='?" with the name nearest to \p Name, or
/// nothing.
static std::string suggestName(const ArgumentTable &Table,
                               std::string_view Name) {
  std::vector<std::string_view> Names;
  for (const Argument &A : Table)
    Names.push_back(A.Name);
  std::string_view Suggestion = nearest(Name, Names);
  for (const Argument &A : Table)
    if (!Suggestion.empty() && A.Name == Suggestion)
      return ", did you mean " +
             quote(std::string(Suggestion) + (A.IsSwitch ? "" : "=")) + "?";
  return "";
}

std::string dtlto::argumentProblem(const ArgumentTable &Table,
                                   std::string_view Arg) {
  std::string_view Value;
  const Argument *A = match(Table, Arg, Value);
  if (!A)
    return "unknown argument " + quote(Arg) +
           suggestName(Table, Arg.substr(0, Arg.find('=')));
  std::string Text = "invalid value in " + quote(Arg);
  if (std::string_view Suggestion = nearest(Value, A->Values);
      !Suggestion.empty())
    Text += ", did you mean " +
            quote(std::string(A->Name) + "=" + std::string(Suggestion)) + "?";
  return Text;
}
