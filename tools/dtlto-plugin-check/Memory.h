//===- Memory.h - Memory that tells who touches it --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the host lends a plugin lies in pages of its own: a struct ends where a
// page ends that can't be touched, and when a loan is over, its pages can't be
// touched either. What it has no business to write to is read-only. A plugin
// that does any of it dies of it, and the last words of its process name the
// loan.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_MEMORY_H
#define DTLTO_PLUGINCHECK_MEMORY_H

#include <cstddef>
#include <string>
#include <vector>

namespace dtlto::check {

/// From now on, a crash of this process writes what was touched, and otherwise
/// the signal, to \p Fd as a report (CaseReport.h).
void catchCrashes(int Fd);

/// What a crash at a null pointer may come from, in a sentence like "the plugin
/// crashed with signal 11; WHY"; empty: nothing that we know of. The text lives
/// for ever.
void explainNull(const char *Why);

/// Bytes for a plugin to read (or to write: load). The memory is never used
/// again, so that late readers are found.
class Loan {
public:
  /// \p Name says what it is, in a sentence like "the plugin touched NAME".
  /// \p Mend is what to do if that was after the loan.
  Loan(std::string Name, std::string Mend);
  Loan(const Loan &) = delete;

  /// Returns a copy of \p Size bytes, whose end is followed by a page that
  /// can't be touched. The size is a multiple of 8.
  void *addStruct(const void *Bytes, size_t Size);
  /// Returns a copy of these bytes, or of the string.
  void *addBytes(const void *Bytes, size_t Size);
  const char *addString(const std::string &Text);

  /// What was added can only be read from now on.
  void seal();

  /// From now on, nobody may touch any of it, since \p Why, a literal such as
  /// "open() has returned".
  void end(const char *Why);

private:
  struct Pages {
    char *Begin;
    size_t Size;
  };
  char *map(size_t Size);

  const std::string Name, Mend;
  std::vector<Pages> All;
  char *Next = nullptr; // room for small things
  size_t Left = 0;
};

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_MEMORY_H
