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
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtlto {

/// Returns \p Text, for instance a file name, as printable UTF-8 in one line:
/// each unprintable byte becomes `\xNN`. For display only: the result is
/// ambiguous, since a backslash stays as it is.
std::string printable(llvm::StringRef Text);

/// Returns untrusted \p Text as one printable() line for a terminal, with
/// blanks for line breaks and tabs. Cut off after \p MaxSize bytes.
std::string sanitizedLine(llvm::StringRef Text, size_t MaxSize = 4096);

/// Like sanitizedLine(), but keeps line breaks and tabs.
std::string sanitizedLines(llvm::StringRef Text, size_t MaxSize = 65536);

/// Returns a worker's \p Text with \p Path, a module's name on the worker,
/// replaced by \p Name, the user's. Doesn't replace parts of longer file names.
std::string replacePath(llvm::StringRef Text, llvm::StringRef Path,
                        llvm::StringRef Name);

/// Returns \p Text shortened in the middle to \p Columns columns of a terminal;
/// 0: unknown, not shortened. Unprintable characters become `?`, except
/// sequences that set colors, which are all kept.
std::string fitToLine(llvm::StringRef Text, unsigned Columns);

/// Returns the one of \p Candidates that \p Word most likely means, or an empty
/// string. That is the first one that contains \p Word, otherwise the most
/// similar one, with at most a third changed. Ignores case.
llvm::StringRef nearestWord(llvm::StringRef Word,
                            llvm::ArrayRef<llvm::StringRef> Candidates);

/// Returns \p Rows as lines with aligned columns, \p Alignment[I] of which is
/// `l` for left or `r` for right.
std::string alignColumns(llvm::ArrayRef<std::vector<std::string>> Rows,
                         llvm::StringRef Alignment);

/// Returns \p N and \p Noun: "1 worker", "2 workers".
std::string formatCount(uint64_t N, llvm::StringRef Noun);

/// Flushes standard output. Fails if \p What, which was written, isn't there.
llvm::Error flushOutput(llvm::StringRef What);

} // namespace dtlto

#endif // DTLTO_SUPPORT_TEXT_H
