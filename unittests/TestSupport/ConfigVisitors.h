//===- ConfigVisitors.h - Visitors of the table of fields -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_CONFIGVISITORS_H
#define DTLTO_UNITTESTS_TESTSUPPORT_CONFIGVISITORS_H

#include "Config/ConfigFields.h"
#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>

namespace dtlto::test {

/// The sections, in the order of the text.
inline constexpr llvm::StringLiteral Sections[] = {"config", "target", "mc",
                                                   "tuning"};

template <class Visitor, class Conf>
void visitSection(Visitor &Visit, Conf &C, llvm::StringRef Section) {
  if (Section == "config")
    visitConfig(Visit, C);
  else if (Section == "target")
    visitTarget(Visit, C.Options);
  else if (Section == "mc")
    visitMC(Visit, C.Options.MCOptions);
  else
    visitTuning(Visit, C.PTO);
}

template <class Visitor, class Conf> void visitAll(Visitor &Visit, Conf &C) {
  for (llvm::StringRef Section : Sections)
    visitSection(Visit, C, Section);
}

/// Collects the names of the fields in three lists.
struct Names : FieldVisitor {
  template <class... T> void flag(llvm::StringRef Name, T &&...) {
    addTextField(Name);
  }
  template <class... T> void number(llvm::StringRef Name, T &&...) {
    addTextField(Name);
  }
  template <class... T> void pair(llvm::StringRef Name, T &&...) {
    addTextField(Name);
  }
  template <class... T> void optional(llvm::StringRef Name, T &&...) {
    addTextField(Name);
  }
  template <class... T> void text(llvm::StringRef Name, T &&...) {
    addTextField(Name);
  }
  template <class... T> void texts(llvm::StringRef Name, T &&...) {
    addTextField(Name);
  }
  void fixed(llvm::StringRef Name, bool, llvm::StringRef) {
    Fixed.insert(Name.str());
  }
  void unused(llvm::StringRef Name) { Unused.insert(Name.str()); }

  void addTextField(llvm::StringRef Name) { TextFields.insert(Name.str()); }
  std::multiset<std::string> all() const {
    std::multiset<std::string> All = TextFields;
    All.insert(Fixed.begin(), Fixed.end());
    All.insert(Unused.begin(), Unused.end());
    return All;
  }
  std::multiset<std::string> TextFields, Fixed, Unused;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_CONFIGVISITORS_H
