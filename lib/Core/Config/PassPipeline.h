//===- PassPipeline.h - Pass pipelines that other machines run --*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CONFIG_PASSPIPELINE_H
#define DTLTO_CONFIG_PASSPIPELINE_H

#include "llvm/ADT/StringRef.h"

namespace dtlto {

/// Whether \p Text, a pipeline of passes or of alias analyses, or empty, names
/// only passes that change the module and do nothing else: they print nothing,
/// and neither read nor write a file. Not whether LLVM can parse it.
bool isPlainPipeline(llvm::StringRef Text);

} // namespace dtlto

#endif // DTLTO_CONFIG_PASSPIPELINE_H
