//===- BundlePieces.h - Where a bundle's inputs lie -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_ICECC_BUNDLEPIECES_H
#define DTLTO_ICECC_BUNDLEPIECES_H

#include "dtlto/PluginAPI.h"
#include <vector>

namespace dtlto::icecc {

/// A part of a bundle.
struct BundlePiece {
  const char *Data;
  uint64_t Size;
  /// The address of these bytes in all jobs that import them; null: they are
  /// this job's own.
  const char *Content;
};

/// All of the bundle \p Bytes of \p Size bytes, in order. Imports that aren't
/// small are pieces of their own. Of a bundle that doesn't fit \p Job, nothing
/// is cut from there on.
std::vector<BundlePiece> bundlePieces(const void *Bytes, uint64_t Size,
                                      const dtlto_job &Job);

} // namespace dtlto::icecc

#endif // DTLTO_ICECC_BUNDLEPIECES_H
