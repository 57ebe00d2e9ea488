//===- CodegenData.h - What code generation tells of a module ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the first of two rounds of code generation, LLVM puts what it learnt of a
// module into two sections of an object that nobody needs otherwise. The result
// of such a job is what is in them:
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
// Numbers are little-endian. Nothing follows. docs/BUNDLE.md has the same.
//
// LLVM's own readers of the sections trust every byte. So what comes from
// elsewhere is checked here, for the forms that versions of LLVM with
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

/// LLVM ends a tree with a call for each level.
inline constexpr uint32_t MaxTreeDepth = 1 << 14;
/// More than a function has; LLVM's tables can't have the largest numbers.
inline constexpr uint32_t MaxMapInstructions = 1U << 31;

/// One of the sections, borrowed.
struct CodegenSection {
  enum KindTy : uint32_t { HashTree = 1, FunctionMap = 2 };
  KindTy Kind;
  llvm::StringRef Bytes;
};

using CodegenSections = llvm::SmallVector<CodegenSection, 2>;

/// One stream of the sections of one module.
llvm::SmallVector<char, 0>
packSections(llvm::ArrayRef<CodegenSection> Sections);

/// The way back, for bytes that may come from anywhere; they are borrowed.
/// Fails with one line unless LLVM can read each section: a tree that is one,
/// whose root is the first node; functions of the module \p ModuleName, with
/// names that are there.
llvm::Expected<CodegenSections> unpackSections(llvm::StringRef Bytes,
                                               llvm::StringRef ModuleName);

/// Fails with one line unless LLVM can read \p Bytes as a tree.
llvm::Error checkHashTree(llvm::StringRef Bytes);
/// Fails with one line unless LLVM can read \p Bytes as a map. Without
/// \p ModuleName it is one of any modules, and may have no functions.
llvm::Error checkFunctionMap(llvm::StringRef Bytes,
                             std::optional<llvm::StringRef> ModuleName);

} // namespace dtlto

#endif // DTLTO_BUNDLE_CODEGENDATA_H
