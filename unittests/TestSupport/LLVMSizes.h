//===- LLVMSizes.h - Sizes of LLVM's option structs -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests with tables of all fields of these structs. These quick checks come
// before the tests of each field, and their messages say what to do.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_LLVMSIZES_H
#define DTLTO_UNITTESTS_LLVMSIZES_H

#include "LLVM/Version.h"
#include "llvm/LTO/Config.h"
#include "llvm/Target/TargetOptions.h"

#if defined(__x86_64__) && defined(__GLIBCXX__)

namespace dtlto::test {

struct LLVMSizes {
  size_t Config, Target, MC, Tuning;
};
inline constexpr LLVMSizes KnownSizes = {
#if LLVM_VERSION_MAJOR >= 23
    1568, 440, 288, 28
#elif LLVM_VERSION_MAJOR >= 21
    1440, 432, 280, 28
#else
    1368, 360, 208, 28
#endif
};

} // namespace dtlto::test

#define DTLTO_KNOWN_SIZE(TYPE, FIELD)                                          \
  static_assert(sizeof(TYPE) == dtlto::test::KnownSizes.FIELD,                 \
                #TYPE " has other fields: see ConfigFields.h")
DTLTO_KNOWN_SIZE(llvm::lto::Config, Config);
DTLTO_KNOWN_SIZE(llvm::TargetOptions, Target);
DTLTO_KNOWN_SIZE(llvm::MCTargetOptions, MC);
DTLTO_KNOWN_SIZE(llvm::PipelineTuningOptions, Tuning);
#undef DTLTO_KNOWN_SIZE

#endif

#endif // DTLTO_UNITTESTS_LLVMSIZES_H
