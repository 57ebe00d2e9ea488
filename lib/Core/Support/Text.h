//===- Text.h - Text for a terminal -----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SUPPORT_TEXT_H
#define DTLTO_SUPPORT_TEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace dtlto {

/// Returns \p Text (a file may have any name) in one line of UTF-8: each byte
/// of what isn't printable becomes `\xNN`. For display: this can't be undone,
/// since a backslash stays as it is.
std::string printable(llvm::StringRef Text);

/// What a stranger says, for a terminal: as printable(), in one line, with
/// blanks for line breaks and tabs, and without what follows the first \p
/// MaxSize bytes.
std::string strangersLine(llvm::StringRef Text, size_t MaxSize = 4096);

/// The same of a text of several lines. These, and tabs, stay.
std::string strangersLines(llvm::StringRef Text, size_t MaxSize = 65536);

/// \p Text of a worker with \p Name, which the user knows, instead of \p Path,
/// a module's name there; but not where that is a part of a file's name.
std::string withName(llvm::StringRef Text, llvm::StringRef Path,
                     llvm::StringRef Name);

/// \p Text without its middle, in at most \p Columns columns of a terminal (0:
/// that isn't known, and nothing is left out). What isn't printable becomes a
/// `?`, but for the sequences that set colors: these all stay.
std::string fitToLine(llvm::StringRef Text, unsigned Columns);

/// The one of \p Known that somebody who wrote \p Word most likely meant, or
/// nothing: the first that \p Word is a part of, otherwise the nearest one of
/// which at most a third is different. Case doesn't matter.
llvm::StringRef nearestWord(llvm::StringRef Word,
                            llvm::ArrayRef<llvm::StringRef> Known);

/// "1 worker", "2 workers".
std::string counted(uint64_t N, llvm::StringRef Noun);

} // namespace dtlto

#endif // DTLTO_SUPPORT_TEXT_H
