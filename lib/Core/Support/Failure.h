//===- Failure.h - An error that is a text ----------------------*- C++ -*-===//
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

/// Returns an error with the message \p Text. It is no format, unlike a
/// `const char *` for llvm::createStringError(): names may have a `%`.
inline llvm::Error failure(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

} // namespace dtlto

#endif // DTLTO_SUPPORT_FAILURE_H
