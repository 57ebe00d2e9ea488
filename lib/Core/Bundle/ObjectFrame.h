//===- ObjectFrame.h - A result that names its job --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dtlto-codegen writes with --frame, so that the linker notices a result
// that was cut or damaged on its way, or that is another job's:
//
//   "DTLTOOBJ"             8 bytes
//   version, 2             32 bits
//   flags, 0               32 bits
//   size of the result     64 bits
//   the job                32 bytes: the digest of its bundle
//   BLAKE3 of the result   32 bytes
//   the result: the object, or all outputs (JobOutputs.h)
//
// Numbers are little-endian. Nothing follows. docs/BUNDLE.md has the same.
// Plugins hand frames on unseen; the host reads them (HostCalls.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_OBJECTFRAME_H
#define DTLTO_BUNDLE_OBJECTFRAME_H

#include "Bundle/Bundle.h"
#include "llvm/ADT/SmallString.h"

namespace dtlto {

/// What goes before \p Result, which the job of the bundle \p Job came to.
llvm::SmallString<88> frameHead(llvm::StringRef Result, const BundleId &Job);

/// The result in \p Framed, which may be any bytes. Fails with one line unless
/// it is whole, undamaged, and \p Job's.
llvm::Expected<llvm::StringRef> readFrame(llvm::StringRef Framed,
                                          const BundleId &Job);

} // namespace dtlto

#endif // DTLTO_BUNDLE_OBJECTFRAME_H
