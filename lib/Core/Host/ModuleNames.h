//===- ModuleNames.h - Portable names of modules ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module's name in the linker is the path that the user gave, or for archive
// members `dir/libfoo.a(bar.o at 1234)`. A worker needs a name that
//
//   - is relative, and a valid file name on every file system, including those
//     that ignore case;
//   - is unique among the modules of a link;
//   - sorts exactly like the original: the function importer and the writer of
//     the index visit modules in the sorted order of their names, so another
//     order gives different code;
//   - is the same on every machine and in every link of the same inputs, and
//     doesn't change when an unrelated input is added, or when another member
//     of its archive grows: caches identify a job by its files and their names.
//
// So a member's place in its archive (1234) becomes a 0. If an archive has
// several members of one name, they are numbered in the sorted order of their
// original names.
//
// The rest is a pure function of the original name and the working directory: a
// prefix-free code that maps each byte separately and keeps the order. The
// characters `-`, `.` and `/` are adjacent in ASCII. Each moves down by one,
// which frees a character for the folder separator:
//
//   00-2c   +00 to +2c          0-9     as it is       _ ` a-z  as it is
//   -       ,                   3a-40   =0 to =6       7b-ff    ~7b to ~ff
//   .       -                   A-Z     =a to =z
//   /       .                   5b-5e   =~0 to =~3
//
//   src/foo.o                   m.src.foo-o
//   lib/libz.a(inflate.o at 8)  m.lib.libz-a+28inflate-o+20at+200+29
//
// Absolute paths begin with `.` and a digit: the path sorts before (1), is in
// (2), or sorts after (3) the working directory. In the second case the working
// directory is omitted. A code longer than a file system's limit for a name is
// cut into folders at fixed places. Each folder ends in `+`, which codes never
// do, and the rest begins with `m`, so no component is `.`.
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

/// The name of an archive member in LLD: `a.a(b.o at 123)` with ELF and wasm,
/// `a.a(b.o)123` with Mach-O, `a.libb.obj123` with COFF.
struct MemberName {
  llvm::StringRef Front, End; // the digits between them are its place, in bytes

  /// Returns nothing if \p Original has no such form.
  static std::optional<MemberName> parse(llvm::StringRef Original);
};

/// Maps modules' original names to portable names. Thread-safe.
class ModuleNames {
public:
  /// \p WorkingDirectory is absolute, or empty if unknown. \p Modules are all
  /// modules of a link; other archive members keep their places in their names.
  explicit ModuleNames(llvm::StringRef WorkingDirectory,
                       std::vector<llvm::StringRef> Modules = {});
  /// For the current working directory of this process.
  explicit ModuleNames(std::vector<llvm::StringRef> Modules = {});

  /// Returns the portable name, or nothing if it would be longer than MaxLength
  /// bytes: then the module must be compiled locally.
  std::optional<std::string> encode(llvm::StringRef Original) const;

  /// The longest name that encode() returns, in bytes.
  static constexpr size_t MaxLength = 2000;
  /// The longest component of a name, in bytes. Below 255, with room for
  /// suffixes.
  static constexpr size_t MaxComponent = 200;

private:
  void countMembers(std::vector<llvm::StringRef> Modules);

  std::string Prefix; // the working directory with a trailing `/`
  llvm::StringMap<std::string> NumberedMembers; // members, numbered
};

} // namespace dtlto

#endif // DTLTO_HOST_MODULENAMES_H
