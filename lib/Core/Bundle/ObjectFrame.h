//===- ObjectFrame.h - The result of one or more jobs -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dtlto-codegen --frame writes a frame. From the frame, the linker detects
// results that are truncated, damaged, or of another job:
//
//   "DTLTOOBJ"             8 bytes
//   version, 2             32 bits
//   size of the messages   32 bits
//   size of the result     64 bits
//   the job                32 bytes: the digest of its bundle
//   BLAKE3                 32 bytes: of all bytes that follow
//   the result: the object, or all outputs (JobOutputs.h)
//   the compiler's messages, each followed by a zero byte: LLVM's warnings and
//     remarks, as "warning: ..." or "remark: ..."
//
// Messages are in the frame, not on standard error: LLVM, the system and the
// build system also write to standard error, and some build systems lose it.
// Plugins transfer frames without reading them; the host reads them
// (HostCalls.cpp).
//
// If a round trip to a machine takes longer than code generation, plugins send
// several jobs at once. dtlto-codegen --batch reads, for each job,
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
// Numbers are little-endian. There are no further bytes. docs/BUNDLE.md
// specifies the same.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_OBJECTFRAME_H
#define DTLTO_BUNDLE_OBJECTFRAME_H

#include "Bundle/Bundle.h"
#include "llvm/ADT/SmallString.h"

namespace dtlto {

/// Returns the header of a frame of \p Result and \p Messages. \p Job is the
/// digest of the job's bundle.
llvm::SmallString<88> frameHead(llvm::StringRef Result, const BundleId &Job,
                                llvm::StringRef Messages = "");

/// Returns the result in the untrusted \p Frame, and sets \p Messages if not
/// null; both borrow \p Frame. Fails with a one-line reason unless the frame
/// is complete, undamaged, and of \p Job. Without \p Hashes, damage to the
/// result goes undetected.
llvm::Expected<llvm::StringRef> readFrame(llvm::StringRef Frame,
                                          const BundleId &Job,
                                          llvm::StringRef *Messages = nullptr,
                                          bool Hashes = true);

/// The maximum number of bundles in a batch of dtlto-codegen.
constexpr size_t MaxBatch = 64;

/// Returns the unchecked bundles in the untrusted batch \p Bytes, which they
/// borrow. Fails with a one-line reason unless the batch consists of 1 to
/// MaxBatch bundles.
llvm::Expected<llvm::SmallVector<llvm::StringRef, 0>>
readBatch(llvm::StringRef Bytes);

/// Returns the header of a frame of \p Size bytes in the result of a batch.
llvm::SmallString<16> batchEntryHead(uint64_t Size, uint64_t Microseconds);

} // namespace dtlto

#endif // DTLTO_BUNDLE_OBJECTFRAME_H
