//===- Memory.h - Memory lent to the plugin ---------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plugin crashes when it writes to read-only memory, reads past the end of a
// struct, or touches memory whose loan is over. The report of the crash names
// the loan. Each loan therefore has pages of its own, and a struct ends at an
// inaccessible page.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINCHECK_MEMORY_H
#define DTLTO_PLUGINCHECK_MEMORY_H

#include <atomic>
#include <csignal>
#include <new>
#include <string>
#include <vector>

namespace dtlto::check {

/// From now on, a crash of this process reports to \p Fd (CaseReport.h) which
/// loan was touched, or else the signal.
void catchCrashes(int Fd);

/// The likely reason for a crash at a null pointer, which ends the sentence
/// "the plugin crashed with signal 11 at a null pointer; WHY"; or empty.
extern std::atomic<const char *> NullReason;

/// Memory for a plugin to read (or, before seal(), to write to). It is never
/// freed, so that late reads are detected. Allocate it with new, on one thread.
class Loan {
public:
  /// \p Size bytes. \p Name is used in sentences like "the plugin touched
  /// NAME". \p Fix says how to fix an access after the loan.
  Loan(std::string Name, std::string Fix, size_t Size = 4096);

  /// Returns a copy of \p Struct, followed by \p More bytes of a later ABI,
  /// which are Filler. The first struct ends where the memory does.
  template <typename T> T *addStruct(const T &Struct, size_t More) {
    return new (reserve(sizeof(T) + More)) T(Struct);
  }
  void *addBytes(const void *Bytes, size_t Size);
  template <typename T> T *addArray(const std::vector<T> &Array) {
    return static_cast<T *>(addBytes(Array.data(), Array.size() * sizeof(T)));
  }
  const char *addString(const std::string &Text) {
    return static_cast<const char *>(addBytes(Text.c_str(), Text.size() + 1));
  }
  /// Returns an array that ends with a null pointer.
  const char *const *addStrings(const std::vector<std::string> &Texts);

  /// Makes the memory read-only.
  void seal();
  /// Makes the memory inaccessible. \p Why is the reason, a literal such as
  /// "open() has returned".
  void end(const char *Why);

  static constexpr char Filler = 0x5a;
  /// The room that a string or array of \p Size bytes takes.
  static constexpr size_t room(size_t Size) { return (Size + 31) / 16 * 16; }

private:
  friend void catchCrashes(int Fd);
  static void onCrash(int Signal, siginfo_t *Info, void *);
  void *reserve(size_t Bytes); // at the end; filled with Filler

  const std::string Name, Fix;
  const size_t Size;
  char *Begin, *Next, *End;                     // Next to End is free
  std::atomic<const char *> EndReason{nullptr}; // null: not over
  Loan *Previous;
};

} // namespace dtlto::check

#endif // DTLTO_PLUGINCHECK_MEMORY_H
