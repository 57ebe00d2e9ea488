//===- StoreArguments.cpp - The URL and arguments of a store --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreArguments.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <algorithm>

using namespace dtlto;

void dtlto::readStoreArguments(const dtlto_store_params &Params,
                               const ArgumentTable &Table) {
  for (uint32_t I = 0; I != Params.num_args; ++I) {
    const std::string Arg = Params.args[I];
    if (setArgument(Table, Arg))
      continue;
    const std::string Name = Arg.substr(0, Arg.find('='));
    bool IsKnown =
        std::any_of(Table.begin(), Table.end(),
                    [&](const Argument &A) { return A.Name == Name; });
    throw sdk::Error(
        DTLTO_ERROR_CALLER,
        argumentProblem(Table, IsKnown || Name == Arg ? Arg : Name + "=..."));
  }
}

std::string dtlto::urlForMessage(std::string_view Url) {
  std::string Text(Url);
  // A password may contain any character.
  if (size_t At = Text.rfind('@'); At != Text.npos) {
    size_t Scheme = Text.find("://");
    size_t Begin = Scheme < At ? Scheme + 3 : 0;
    Text.replace(Begin, At - Begin, "...");
  }
  if (size_t Query = Text.find_first_of("?#"); Query != Text.npos)
    Text.replace(Query, Text.npos, "?...");
  return quote(Text);
}
