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

const Argument *dtlto::findArgument(const ArgumentTable &Table,
                                    std::string_view Name) {
  for (const Argument &A : Table)
    if (A.Name == Name)
      return &A;
  return nullptr;
}

/// The one that \p Arg is written as, or null. \p Value: what it has.
static const Argument *match(const ArgumentTable &Table, std::string_view Arg,
                             std::string_view &Value) {
  size_t Equals = std::min(Arg.find('='), Arg.size());
  const Argument *A = findArgument(Table, Arg.substr(0, Equals));
  if (!A || A->IsSwitch != (Equals == Arg.size()))
    return nullptr;
  Value = A->IsSwitch ? "" : Arg.substr(Equals + 1);
  return A;
}

bool dtlto::setArgument(const ArgumentTable &Table, std::string_view Arg) {
  std::string_view Value;
  const Argument *A = match(Table, Arg, Value);
  return A && A->Set(Value);
}

std::string dtlto::argumentProblem(const ArgumentTable &Table,
                                   std::string_view Arg) {
  std::string_view Value;
  const Argument *A = match(Table, Arg, Value);
  if (!A)
    return "unknown argument " + quote(Arg) +
           nearArgument(Table, Arg.substr(0, Arg.find('=')));
  std::string Text = "invalid value in " + quote(Arg);
  if (std::string_view Near = nearest(Value, A->Values); !Near.empty())
    Text += ", did you mean " +
            quote(std::string(A->Name) + "=" + std::string(Near)) + "?";
  return Text;
}

std::string dtlto::nearArgument(const ArgumentTable &Table,
                                std::string_view Name) {
  std::vector<std::string_view> Names;
  for (const Argument &A : Table)
    Names.push_back(A.Name);
  std::string_view Near = nearest(Name, Names);
  if (Near.empty())
    return "";
  bool IsSwitch = findArgument(Table, Near)->IsSwitch;
  return ", did you mean " + quote(std::string(Near) + (IsSwitch ? "" : "=")) +
         "?";
}
