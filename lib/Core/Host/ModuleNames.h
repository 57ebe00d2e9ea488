//===- ModuleNames.h - Module names that travel -----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module's name in the linker is the path that the user gave, or for members
// of archives `dir/libfoo.a(bar.o at 1234)`. A worker needs a name that
//
//   - is relative, and a file name that every file system takes, also those
//     that don't tell upper from lower case;
//   - is unique among the modules of a link;
//   - sorts exactly as the original does: the function importer visits source
//     modules in the sorted order of their names, and so does the writer of the
//     index, so another order is other code;
//   - is the same on every machine and in every link of the same inputs, and
//     does not change when an unrelated input is added.
//
// So it is a pure function of the original name and the working directory: a
// code that maps each byte on its own, prefix-free and in order. The characters
// `-`, `.` and `/` stand side by side in ASCII, so each moves down by one,
// which frees a character for the folder's separator:
//
//   00-2c   +00 to +2c          0-9     as it is       _ ` a-z  as it is
//   -       ,                   3a-40   =0 to =6       7b-ff    ~7b to ~ff
//   .       -                   A-Z     =a to =z
//   /       .                   5b-5e   =~0 to =~3
//
//   src/foo.o                   m.src.foo-o
//   lib/libz.a(inflate.o at 8)  m.lib.libz-a+28inflate-o+20at+208+29
//
// Absolute paths begin with `.` and a digit that says whether the path sorts
// before (1), lies in (2), or sorts after (3) the working directory; in the
// second case the working directory is left out. A code longer than a file
// system's limit for a name is cut into folders at fixed places; these end in
// `+`, which no code does, and what follows begins with `m`, so that no
// component is `.`.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_MODULENAMES_H
#define DTLTO_HOST_MODULENAMES_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace dtlto {

/// Maps original module names to names that travel. Any thread.
class ModuleNames {
public:
  /// \p WorkingDirectory is absolute, or empty if it isn't known.
  explicit ModuleNames(llvm::StringRef WorkingDirectory);
  /// For this process, in the folder where it is now.
  ModuleNames();

  /// Returns the name that travels, or nothing where no portable name is short
  /// enough (over MaxLength bytes): then the module must be compiled here.
  std::optional<std::string> encode(llvm::StringRef Original) const;

  /// The longest name that encode() returns, in bytes.
  static constexpr size_t MaxLength = 2000;
  /// The longest component of it, in bytes. Below 255, with room for suffixes.
  static constexpr size_t MaxComponent = 200;

private:
  std::string Prefix; // the working directory with a `/` at its end
};

} // namespace dtlto

#endif // DTLTO_HOST_MODULENAMES_H
