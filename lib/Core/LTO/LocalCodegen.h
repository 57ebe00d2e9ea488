//===- LocalCodegen.h - A backend compile in this process -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_LOCALCODEGEN_H
#define DTLTO_LTO_LOCALCODEGEN_H

#include "Host/CodegenResult.h"
#include "LTO/LinkContext.h"
#include <atomic>

namespace dtlto {

/// Does what in-process ThinLTO does for \p T, on the calling thread, with the
/// object into memory. Diagnostics go to the linker's handler, as ever.
///
/// Once \p Stop is true, nobody needs the object any more: what is left of the
/// optimisation is left out, nothing is generated, and the result has failed.
/// An end of code generation that has begun can only be waited for.
CodegenResult runLocalCodegen(const LinkContext &Ctx, const Task &T,
                              const std::atomic<bool> *Stop = nullptr);

} // namespace dtlto

#endif // DTLTO_LTO_LOCALCODEGEN_H
