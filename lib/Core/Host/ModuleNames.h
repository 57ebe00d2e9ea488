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
//     does not change when an unrelated input is added, or when another member
//     of its archive grows: caches know a job by its files and their names.
//
// So the 1234, a member's place in its archive, becomes a 0. Where one archive
// has more members of a name, they are counted in the sorted order of their
// original names.
//
// The rest is a pure function of the original name and the working directory: a
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
//   lib/libz.a(inflate.o at 8)  m.lib.libz-a+28inflate-o+20at+200+29
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

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace dtlto {

/// The name of an archive's member in LLD: `a.a(b.o at 123)` with ELF and wasm,
/// `a.a(b.o)123` with Mach-O, `a.libb.obj123` with COFF.
struct MemberName {
  llvm::StringRef Front, End; // between them, digits: its place, in bytes

  /// Nothing, if \p Original is no such name.
  static std::optional<MemberName> parse(llvm::StringRef Original);
};

/// Maps original module names to names that travel. Any thread.
class ModuleNames {
public:
  /// \p WorkingDirectory is absolute, or empty if it isn't known. \p Modules
  /// are all that a link has; members of archives that are not among them keep
  /// their places in their names.
  explicit ModuleNames(llvm::StringRef WorkingDirectory,
                       std::vector<llvm::StringRef> Modules = {});
  /// For this process, in the folder where it is now.
  explicit ModuleNames(std::vector<llvm::StringRef> Modules = {});

  /// Returns the name that travels, or nothing where no portable name is short
  /// enough (over MaxLength bytes): then the module must be compiled here.
  std::optional<std::string> encode(llvm::StringRef Original) const;

  /// The longest name that encode() returns, in bytes.
  static constexpr size_t MaxLength = 2000;
  /// The longest component of it, in bytes. Below 255, with room for suffixes.
  static constexpr size_t MaxComponent = 200;

private:
  void countMembers(std::vector<llvm::StringRef> Modules);

  std::string Prefix; // the working directory with a `/` at its end
  llvm::StringMap<std::string> Counted; // members, with numbers for places
};

} // namespace dtlto

#endif // DTLTO_HOST_MODULENAMES_H
