//===- Makefile.h - Jobs as rules of make -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How to write text so that make and its shell read it unchanged:
//
//   a name in a rule     a backslash before ` `, `#` and `:`, and one more for
//                        each backslash before these; $(equals) for `=`, or
//                        the rule would be a variable; `$$` for `$`
//   a word of a recipe   'word', with '\'' for `'` and `$$` for `$`
//
// Wildcards, `%`, tabs and newlines can't be written in a rule, nor a newline
// in a recipe. See "Rule Syntax", "Using Wildcard Characters" and "Recipe
// Syntax" in GNU make's manual.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_MAKE_MAKEFILE_H
#define DTLTO_MAKE_MAKEFILE_H

#include <string>
#include <string_view>
#include <vector>

namespace dtlto::make {

/// Whether \p Text can be a file in a rule, or a word of a recipe.
bool canBeName(std::string_view Text);
bool canBeWord(std::string_view Text);

/// Returns \p Text as it is written in a rule.
std::string name(std::string_view Text);
/// Returns \p Text as it is written in a recipe.
std::string word(std::string_view Text);
/// Returns the value of a variable that expands to \p Text: in a makefile, and
/// as an argument of make.
std::string value(std::string_view Text);
std::string argument(std::string_view Text);

/// Returns a rule whose recipe is $(DIST_CC) followed by \p Args.
std::string rule(std::string_view Target,
                 const std::vector<std::string> &Prerequisites,
                 const std::vector<std::string> &Args);

/// Returns the text before all rules.
std::string head(std::string_view DistCC);

} // namespace dtlto::make

#endif // DTLTO_MAKE_MAKEFILE_H
