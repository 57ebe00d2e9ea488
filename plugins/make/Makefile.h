//===- Makefile.h - Jobs as rules of make -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What make and its shell have to read as it is:
//
//   a name in a rule     a backslash before ` `, `#` and `:`, and one more for
//                        each that stands there; $(equals) for `=`, or the rule
//                        would be a variable; `$$` for `$`
//   a word of a recipe   'word', with '\'' for `'` and `$$` for `$`
//
// Wildcards, `%`, tabs and newlines have no spelling in a rule, and a newline
// none in a recipe. GNU make's manual has it under "Rule Syntax", "Using
// Wildcard Characters" and "Recipe Syntax".
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

/// As it stands in a rule.
std::string name(std::string_view Text);
/// As it stands in a recipe.
std::string word(std::string_view Text);
/// The value of a variable that becomes \p Text: in a makefile, and as an
/// argument of make.
std::string value(std::string_view Text);
std::string argument(std::string_view Text);

/// A rule whose recipe is \p Args after $(DIST_CC).
std::string rule(std::string_view Target,
                 const std::vector<std::string> &Prerequisites,
                 const std::vector<std::string> &Args);

/// What stands before all rules.
std::string head(std::string_view DistCC);

} // namespace dtlto::make

#endif // DTLTO_MAKE_MAKEFILE_H
