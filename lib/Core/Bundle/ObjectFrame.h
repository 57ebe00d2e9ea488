//===- ObjectFrame.h - The result of one or more jobs -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dtlto-codegen --frame writes a frame, by which the linker detects a result
// that was cut or damaged on its way, or is another job's:
//
//   "DTLTOOBJ"             8 bytes
//   version, 2             32 bits
//   size of the messages   32 bits
//   size of the result     64 bits
//   the job                32 bytes: the digest of its bundle
//   BLAKE3                 32 bytes: of all that follows
//   the result: the object, or all outputs (JobOutputs.h)
//   the compiler's messages, each a text and a zero byte: LLVM's warnings and
//     remarks, as "warning: ..." or "remark: ..."
//
// Messages travel in the frame because LLVM, the system and the build system
// also write to standard error, and some build systems lose it. Plugins pass on
// frames without reading them; the host reads them (HostCalls.cpp).
//
// If a trip to a machine takes longer than code generation, several jobs make
// one trip. dtlto-codegen --batch reads, for each job,
//
//   size of the bundle     64 bits
//   the bundle
//
// and writes, for each, in the same order,
//
//   size of the frame      64 bits
//   microseconds           64 bits: the time that the job took
//   the frame
//
// Plugins write batches and read their results themselves.
//
// Numbers are little-endian. Nothing follows. docs/BUNDLE.md has the same.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_OBJECTFRAME_H
#define DTLTO_BUNDLE_OBJECTFRAME_H

#include "Bundle/Bundle.h"
#include "llvm/ADT/SmallString.h"

namespace dtlto {

/// Returns the head of a frame around \p Result and \p Messages of the job of
/// the bundle \p Job.
llvm::SmallString<88> frameHead(llvm::StringRef Result, const BundleId &Job,
                                llvm::StringRef Messages = "");

/// Returns the result in \p Framed, which may be any bytes, and sets \p
/// Messages unless it is null; both borrow \p Framed. Fails with one line
/// unless the frame is whole, undamaged, and \p Job's. \p Hashes: without,
/// damage to the result is not noticed.
llvm::Expected<llvm::StringRef> readFrame(llvm::StringRef Framed,
                                          const BundleId &Job,
                                          llvm::StringRef *Messages = nullptr,
                                          bool Hashes = true);

/// The most bundles that dtlto-codegen accepts in a batch.
constexpr size_t MaxBatch = 64;

/// Returns the bundles in the batch \p Bytes, which may be any; they borrow it
/// and are unchecked. Fails with one line unless there are from one to MaxBatch
/// and nothing else.
llvm::Expected<llvm::SmallVector<llvm::StringRef, 0>>
readBatch(llvm::StringRef Bytes);

/// Returns what precedes a frame of \p Size bytes in the result of a batch.
llvm::SmallString<16> batchEntryHead(uint64_t Size, uint64_t Microseconds);

} // namespace dtlto

#endif // DTLTO_BUNDLE_OBJECTFRAME_H
