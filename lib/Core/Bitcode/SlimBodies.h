//===- SlimBodies.h - What records of function bodies ask for ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BITCODE_SLIMBODIES_H
#define DTLTO_BITCODE_SLIMBODIES_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// What bodies and variables refer to of the tables in front of them.
struct BodyUses {
  llvm::DenseSet<uint64_t> Attributes; // lists, from 1 on
  llvm::DenseSet<uint64_t> Kinds;      // of attached metadata
  bool AllKinds = false;               // they aren't known
  bool Bundles = false;                // operand bundles

  /// Adds what the function block has that \p In stands before.
  llvm::Error add(llvm::BitstreamCursor In);

private:
  llvm::Error addAttachments(llvm::BitstreamCursor In);
};

} // namespace dtlto

#endif // DTLTO_BITCODE_SLIMBODIES_H
