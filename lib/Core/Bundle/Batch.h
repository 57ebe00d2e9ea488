//===- Batch.h - Several small jobs as one stream ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where each trip to a machine takes longer than code generation, several jobs
// make one trip. dtlto-codegen --batch reads, for each job,
//
//   size of the bundle     64 bits
//   the bundle
//
// and writes, for each, in the same order,
//
//   size of the frame      64 bits
//   microseconds           64 bits: what the job took there
//   the frame (ObjectFrame.h)
//
// Numbers are little-endian. Nothing follows. docs/BUNDLE.md has the same.
// Plugins write the first and take the second apart by themselves.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_BATCH_H
#define DTLTO_BUNDLE_BATCH_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// What dtlto-codegen takes at a time.
constexpr size_t MaxBatch = 64;

/// The bundles in \p Bytes, which may be any; they are borrowed, and not read.
/// Fails with one line unless there are from one to MaxBatch and nothing else.
llvm::Expected<llvm::SmallVector<llvm::StringRef, 0>>
readBatch(llvm::StringRef Bytes);

/// What goes before a frame of \p Size bytes.
llvm::SmallString<16> batchEntryHead(uint64_t Size, uint64_t Microseconds);

} // namespace dtlto

#endif // DTLTO_BUNDLE_BATCH_H
