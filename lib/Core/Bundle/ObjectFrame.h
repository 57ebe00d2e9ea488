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
//   size of the messages   32 bits
//   size of the result     64 bits
//   the job                32 bytes: the digest of its bundle
//   BLAKE3                 32 bytes: of all that follows
//   the result: the object, or all outputs (JobOutputs.h)
//   the compiler's messages, each a text and a zero byte: LLVM's warnings and
//     remarks, as "warning: ..." or "remark: ..."
//
// Messages travel in the frame because standard error also has what LLVM, the
// system and the build system write there, and some build systems lose it.
// Numbers are little-endian. Nothing follows. docs/BUNDLE.md has the same.
// Plugins hand frames on unseen; the host reads them (HostCalls.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BUNDLE_OBJECTFRAME_H
#define DTLTO_BUNDLE_OBJECTFRAME_H

#include "Bundle/Bundle.h"
#include "llvm/ADT/SmallString.h"

namespace dtlto {

/// What goes before \p Result, which the job of the bundle \p Job came to, and
/// \p Messages.
llvm::SmallString<88> frameHead(llvm::StringRef Result, const BundleId &Job,
                                llvm::StringRef Messages = "");

/// The result in \p Framed, which may be any bytes; \p Messages, if it isn't
/// null, becomes the messages. Fails with one line unless the frame is whole,
/// undamaged, and \p Job's. \p Hashes: without, damage to the result is not
/// noticed.
llvm::Expected<llvm::StringRef> readFrame(llvm::StringRef Framed,
                                          const BundleId &Job,
                                          llvm::StringRef *Messages = nullptr,
                                          bool Hashes = true);

} // namespace dtlto

#endif // DTLTO_BUNDLE_OBJECTFRAME_H
