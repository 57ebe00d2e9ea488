//===- StructSize.h - Structs of the ABI may be smaller ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_STRUCTSIZE_H
#define DTLTO_HOST_STRUCTSIZE_H

namespace dtlto {

/// Whether \p Struct isn't null and has \p Field: a plugin built with another
/// minor version may have made it.
template <typename S, typename T> bool hasField(const S *Struct, T S::*Field) {
  return Struct &&
         reinterpret_cast<const char *>(&(Struct->*Field)) + sizeof(T) <=
             reinterpret_cast<const char *>(Struct) + Struct->size;
}

} // namespace dtlto

#endif // DTLTO_HOST_STRUCTSIZE_H
