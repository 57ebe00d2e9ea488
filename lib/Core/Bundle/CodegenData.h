//===- CodegenData.h - Results of a first code generation -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job may return codegen data: what LLVM learns about a module while it
// generates code, and writes into two sections of an otherwise unused object.
// The job returns the contents of these sections:
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
// A job that uses the merged data of all modules has one more input file, in
// the format of llvm-cgdata and LLVM, which -codegen-data-use-path names:
//
//   magic number, ff "cgdata" 81   8 bytes
//   version                        32 bits
//   contents                       32 bits: 1 a tree, 2 a map
//   offset of the tree             64 bits
//   offset of the map              64 bits, from version 2 on
//   the tree, the map              as in the sections
//
// The file may also be text: lines of comments (#) and of names
// (:outlined_hash_tree, :stable_function_map), then one YAML document for each.
//
// Numbers are little-endian. There are no further bytes. docs/BUNDLE.md
// specifies the same.
//
// LLVM's own readers don't validate their input. So these functions check
// sections and files from other machines, in the forms that LLVM versions with
// HasCodegenData (LLVM/CodegenData.h) write.
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

/// A limit because LLVM destroys a tree recursively, one call per level.
inline constexpr uint32_t MaxTreeDepth = 1 << 14;
/// Real functions have fewer; LLVM's tables can't hold the highest numbers.
inline constexpr uint32_t MaxMapInstructions = 1U << 31;

/// One of the sections; borrows its contents.
struct CodegenSection {
  enum KindTy : uint32_t { HashTree = 1, FunctionMap = 2 };
  KindTy Kind;
  llvm::StringRef Bytes;
};

using CodegenSections = llvm::SmallVector<CodegenSection, 2>;

/// Packs the sections of one module into one stream.
llvm::SmallVector<char, 0>
packSections(llvm::ArrayRef<CodegenSection> Sections);

/// Reads an untrusted stream of sections; the result borrows \p Bytes. Fails
/// with a one-line reason unless LLVM can read each section: a tree whose root
/// is the first node; functions of the module \p ModuleName with existing
/// names.
llvm::Expected<CodegenSections> unpackSections(llvm::StringRef Bytes,
                                               llvm::StringRef ModuleName);

/// Fails with a one-line reason unless LLVM can read \p Bytes as a tree.
llvm::Error checkHashTree(llvm::StringRef Bytes);
/// Fails with a one-line reason unless LLVM can read \p Bytes as a map. If
/// \p ModuleName is set, all functions must be of this module. Otherwise, they
/// may be of any module, and there may be none.
llvm::Error checkFunctionMap(llvm::StringRef Bytes,
                             std::optional<llvm::StringRef> ModuleName);

/// Fails with a one-line reason if LLVM's reader would misbehave with \p File.
/// Succeeds for files that LLVM refuses: another kind, or a later version.
llvm::Error checkCodegenDataFile(llvm::StringRef File);

} // namespace dtlto

#endif // DTLTO_BUNDLE_CODEGENDATA_H
