//===- CodegenDataFile.h - Files of what code generation learnt -*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What -codegen-data-use-path names, and what jobs of a second round have as an
// input: what code generation learnt of many modules, as llvm-cgdata writes it.
//
//   magic number, ff "cgdata" 81   8 bytes
//   version                        32 bits
//   what is there                  32 bits: 1 a tree, 2 a map
//   where the tree begins          64 bits
//   where the map begins           64 bits, from version 2 on
//   the tree, the map              as in CodegenData.h
//
// Or a text: lines of comments (#) and of names (:outlined_hash_tree,
// :stable_function_map), then a YAML document for each.
//
// LLVM refuses a file of another kind or of a later version. In all others, its
// reader trusts each byte.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_CODEGENDATAFILE_H
#define DTLTO_BUNDLE_CODEGENDATAFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// Fails with one line if LLVM's reader would run into trouble with \p File.
/// What it refuses by itself is no failure.
llvm::Error checkCodegenDataFile(llvm::StringRef File);

} // namespace dtlto

#endif // DTLTO_BUNDLE_CODEGENDATAFILE_H
