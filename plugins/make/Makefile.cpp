//===- Makefile.cpp - Jobs as rules of make -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Makefile.h"

using namespace dtlto;

bool make::canBeName(std::string_view Text) {
  // A backslash doesn't escape a wildcard if the file doesn't exist yet. A
  // tilde means a home folder. A percent sign makes the target a pattern.
  return !Text.empty() && Text[0] != '~' && Text.back() != '\\' &&
         Text.find_first_of(std::string_view("\0\t\r\n*?[;|&%", 12)) ==
             std::string_view::npos;
}

bool make::canBeWord(std::string_view Text) {
  return Text.find_first_of(std::string_view("\0\r\n", 3)) ==
         std::string_view::npos;
}

std::string make::name(std::string_view Text) {
  std::string Out;
  size_t Backslashes = 0; // right before
  for (char C : Text) {
    if (C == '$')
      Out += "$$";
    else if (C == '=')
      Out += "$(equals)";
    else if (std::string_view(" #:").find(C) != std::string_view::npos)
      (Out += std::string(Backslashes + 1, '\\')) += C;
    else
      Out += C;
    Backslashes = C == '\\' ? Backslashes + 1 : 0;
  }
  return Out;
}

/// Quotes \p Text for the shell; make's `$` is not escaped yet.
static std::string quoteForShell(std::string_view Text) {
  constexpr std::string_view Plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+./:,@%";
  if (!Text.empty() && Text.find_first_not_of(Plain) == std::string_view::npos)
    return std::string(Text);
  std::string Out = "'";
  for (char C : Text)
    Out += C == '\'' ? "'\\''" : std::string(1, C);
  return Out + "'";
}

std::string make::argument(std::string_view Text) {
  std::string Out;
  for (char C : Text)
    Out += C == '$' ? "$$" : std::string(1, C);
  return Out;
}

std::string make::word(std::string_view Text) {
  return argument(quoteForShell(Text));
}

std::string make::value(std::string_view Text) {
  std::string Out;
  size_t Backslashes = 0;
  for (char C : argument(Text)) {
    if (C == '#')
      Out += std::string(Backslashes + 1, '\\');
    Out += C;
    Backslashes = C == '\\' ? Backslashes + 1 : 0;
  }
  return Out;
}

std::string make::rule(std::string_view Target,
                       const std::vector<std::string> &Prerequisites,
                       const std::vector<std::string> &Args) {
  std::string Out = name(Target) + " :";
  for (const std::string &P : Prerequisites)
    Out += " " + name(P);
  Out += "\n\t$(DIST_CC)";
  for (const std::string &Arg : Args)
    Out += " " + word(Arg);
  return Out + " $(THEN)\n";
}

std::string make::head(std::string_view DistCC) {
  return "# Written by dtlto's plugin make. To run it again:\n"
         "#   make -j8 -f distr.makefile DIST_CC=distcc\n"
         "DIST_CC = " +
         value(DistCC) +
         "\nequals := =\n"
         ".SUFFIXES :\n.DELETE_ON_ERROR :\n\n.PHONY : all\nall :\n\n";
}
