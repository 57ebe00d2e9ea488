//===- Loan.h - Memory lent to the plugin -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plugin gets a signal when it writes to read-only memory, reads past the end
// of a struct, or touches memory whose loan is over. Each loan therefore has
// pages of its own, and a struct ends at an inaccessible page. On Windows, the
// memory is not protected.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RULES_LOAN_H
#define DTLTO_RULES_LOAN_H

#include <array>
#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace dtlto {

/// A wrong access to a loan, as the pieces of a sentence: a signal handler
/// can't join them. Ends "the plugin ...".
struct Misuse {
  std::array<const char *, 4> What;
  const char *Fix;
};

/// Memory for a plugin to read (or, before seal(), to write to). It is kept for
/// long after its end, so that late reads are detected. Allocate it with new.
class Loan {
public:
  /// \p Size bytes. \p Name is used in sentences like "the plugin touched
  /// NAME". \p Fix says how to fix an access after the loan.
  Loan(std::string Name, std::string Fix, size_t Size = 4096);

  /// Returns a copy of \p Struct, followed by \p More bytes of a later ABI,
  /// which are Filler. The first struct ends where the memory does.
  template <typename T> T *addStruct(const T &Struct, size_t More = 0) {
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
  /// "open() has returned". Thread-safe.
  void end(const char *Why);

  /// Returns what is wrong with an access to \p Address that raised a signal;
  /// nothing if it is in no loan. Async-signal-safe.
  static std::optional<Misuse> judge(const void *Address);
  /// Makes that access possible. Returns false if it is in no loan.
  /// Async-signal-safe.
  static bool reopen(const void *Address);

  static constexpr char Filler = 0x5a;
  /// The room that a string or array of \p Size bytes takes.
  static constexpr size_t room(size_t Size) { return (Size + 31) / 16 * 16; }

private:
  static Loan *find(const void *Address);
  bool protect(size_t From, size_t To, int Access) const;
  void *reserve(size_t Bytes); // at the end; filled with Filler

  const std::string Name, Fix;
  const size_t Size;
  char *Begin, *Next, *End;                     // Next to End is free
  std::atomic<const char *> EndReason{nullptr}; // null: not over
  std::atomic<bool> IsReadable{true};
  std::atomic<bool> IsMapped; // and not freed, or from malloc()
  Loan *Previous;
};

} // namespace dtlto

#endif // DTLTO_RULES_LOAN_H
