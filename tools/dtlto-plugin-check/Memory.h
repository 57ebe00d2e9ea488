//===- Memory.h - Memory that reports who touches it ------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the host lends a plugin lies in pages of its own: a struct ends where a
// page begins that can't be touched, and when a loan is over, its pages can't
// be touched either. What the plugin must not write to is read-only. A plugin
// that does any of it crashes, and the report of the crash names the loan.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_MEMORY_H
#define DTLTO_PLUGINCHECK_MEMORY_H

#include <csignal>
#include <cstddef>
#include <string>
#include <vector>

namespace dtlto::check {

/// From now on, a crash of this process writes which loan was touched, or else
/// the signal, to \p Fd as a report (CaseReport.h).
void catchCrashes(int Fd);

/// Sets the likely reason for a crash at a null pointer, which ends the
/// sentence "the plugin crashed with signal 11 at a null pointer; WHY". Empty:
/// unknown. \p Why is a literal.
void explainNull(const char *Why);

/// Memory for a plugin to read (or, before seal(), to write to). It is never
/// used again, so that late readers are found.
class Loan {
public:
  /// \p Name stands in sentences like "the plugin touched NAME". \p Mend is
  /// what to do if that was after the loan.
  Loan(std::string Name, std::string Mend);
  Loan(const Loan &) = delete;

  /// Returns a copy of \p Struct that ends at a page that can't be touched. It
  /// is followed by \p More bytes of a later ABI, which are Filler.
  template <typename T> T *addStruct(const T &Struct, size_t More) {
    std::string Bytes = withMore(Struct, More);
    return static_cast<T *>(addGuarded(Bytes.data(), Bytes.size()));
  }
  /// The same without such a page, for what there may be many of.
  template <typename T> T *addElement(const T &Struct, size_t More) {
    std::string Bytes = withMore(Struct, More);
    return static_cast<T *>(addBytes(Bytes.data(), Bytes.size()));
  }
  void *addBytes(const void *Bytes, size_t Size);
  const char *addString(const std::string &Text);

  /// What was added is read-only from now on.
  void seal();

  /// From now on, none of it may be touched, since \p Why, a literal such as
  /// "open() has returned".
  void end(const char *Why);

  static constexpr char Filler = 0x5a;

  /// The handler of signals.
  static void crashed(int Signal, siginfo_t *Info, void *);

private:
  struct Region;
  template <typename T>
  static std::string withMore(const T &Struct, size_t More) {
    return std::string(reinterpret_cast<const char *>(&Struct), sizeof(T)) +
           std::string(More, Filler);
  }
  void *addGuarded(const void *Bytes, size_t Size);
  Region &map(size_t Size);

  const std::string Name, Mend;
  std::vector<Region *> All;
  char *Next = nullptr; // room for small things
  size_t Left = 0;
};

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_MEMORY_H
