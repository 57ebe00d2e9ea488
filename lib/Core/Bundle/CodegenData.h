//===- CodegenData.h - Results of a first code generation -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the first of two rounds of code generation, LLVM writes what it learnt of
// a module to two sections of an otherwise unused object. The result of such a
// job is their contents:
//
//   "DTLTOCGD"              8 bytes
//   version, 1              32 bits
//   number of sections      32 bits, 2 at most
//   for each, in the order of the object:
//     kind                  32 bits: 1 tree of outlined sequences,
//                                    2 map of functions that may be merged
//     0                     32 bits
//     size                  64 bits
//   their bytes, in the same order
//
// Jobs of the second round have a file as an input, which llvm-cgdata and LLVM
// write, and -codegen-data-use-path names:
//
//   magic number, ff "cgdata" 81   8 bytes
//   version                        32 bits
//   contents                       32 bits: 1 a tree, 2 a map
//   where the tree begins          64 bits
//   where the map begins           64 bits, from version 2 on
//   the tree, the map              as in the sections
//
// It may also be a text: lines of comments (#) and of names
// (:outlined_hash_tree, :stable_function_map), then a YAML document for each.
//
// Numbers are little-endian. Nothing follows. docs/BUNDLE.md has the same.
//
// LLVM's own readers trust every byte. So these functions check sections and
// files from elsewhere, in the forms that versions of LLVM with HasCodegenData
// (LLVM/CodegenData.h) write.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_CODEGENDATA_H
#define DTLTO_BUNDLE_CODEGENDATA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace dtlto {

/// LLVM destroys a tree recursively, with a call for each level.
inline constexpr uint32_t MaxTreeDepth = 1 << 14;
/// Real functions have fewer; LLVM's tables can't hold the largest numbers.
inline constexpr uint32_t MaxMapInstructions = 1U << 31;

/// One of the sections, borrowed.
struct CodegenSection {
  enum KindTy : uint32_t { HashTree = 1, FunctionMap = 2 };
  KindTy Kind;
  llvm::StringRef Bytes;
};

using CodegenSections = llvm::SmallVector<CodegenSection, 2>;

/// Returns the sections of one module as one stream.
llvm::SmallVector<char, 0>
packSections(llvm::ArrayRef<CodegenSection> Sections);

/// Reads such a stream, which may come from anywhere; the result borrows \p
/// Bytes. Fails with one line unless LLVM can read each section: a tree whose
/// root is the first node; functions of the module \p ModuleName, with existing
/// names.
llvm::Expected<CodegenSections> unpackSections(llvm::StringRef Bytes,
                                               llvm::StringRef ModuleName);

/// Fails with one line unless LLVM can read \p Bytes as a tree.
llvm::Error checkHashTree(llvm::StringRef Bytes);
/// Fails with one line unless LLVM can read \p Bytes as a map. Without
/// \p ModuleName, it may be of any modules and have no functions.
llvm::Error checkFunctionMap(llvm::StringRef Bytes,
                             std::optional<llvm::StringRef> ModuleName);

/// Fails with one line if LLVM's reader would misbehave with the file \p File.
/// Succeeds for a file that LLVM refuses: another kind, or a later version.
llvm::Error checkCodegenDataFile(llvm::StringRef File);

} // namespace dtlto

#endif // DTLTO_BUNDLE_CODEGENDATA_H
