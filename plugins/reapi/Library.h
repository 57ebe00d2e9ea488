//===- Library.h - The lifetime of gRPC's library ---------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_LIBRARY_H
#define DTLTO_REAPI_LIBRARY_H

namespace dtlto::reapi {

/// Keeps gRPC's library initialized. Its threads end with the last of these
/// objects.
struct Library {
  /// Throws sdk::Error if too few threads may still start.
  Library();
  ~Library();
  Library(const Library &) = delete;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_LIBRARY_H
