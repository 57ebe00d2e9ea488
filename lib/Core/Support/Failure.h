//===- Failure.h - An error with a message ----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_FAILURE_H
#define DTLTO_SUPPORT_FAILURE_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace dtlto {

/// Returns an error with the message \p Text. Unlike a `const char *` for
/// llvm::createStringError(), \p Text isn't a format: names may contain `%`.
inline llvm::Error failure(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

} // namespace dtlto

#endif // DTLTO_SUPPORT_FAILURE_H
