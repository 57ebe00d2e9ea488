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

/// Compiles \p T as in-process ThinLTO does, on the calling thread, with the
/// object in memory. The result has the diagnostics.
///
/// Once \p Stop is true, the object isn't needed any more: the compile skips
/// the rest of the optimisation and all code generation, and fails. Code
/// generation that has begun runs to its end.
CodegenResult runLocalCodegen(const LinkContext &Ctx, const Task &T,
                              const std::atomic<bool> *Stop = nullptr);

} // namespace dtlto

#endif // DTLTO_LTO_LOCALCODEGEN_H
