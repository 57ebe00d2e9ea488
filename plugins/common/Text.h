//===- Text.h - Parsing user input, and text for messages -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_TEXT_H
#define DTLTO_PLUGINS_TEXT_H

#include "dtlto/sdk/Text.hpp"

namespace dtlto {

using sdk::nearest;
using sdk::parseNumber;
using sdk::quote;

/// Returns two hexadecimal digits for each byte.
std::string hexDigits(const uint8_t *Bytes, size_t Size);

/// Whether \p Text contains a control character.
bool hasControl(std::string_view Text);
/// Whether \p Text has no characters other than printable ASCII.
bool isPrintableAscii(std::string_view Text);
std::string lowerCase(std::string_view Text); // of ASCII

/// Returns \p Url, which may be invalid, with "..." in place of the text
/// between its scheme and its last '@'.
std::string withoutKey(std::string_view Url);
/// Quotes \p Url, which may be invalid, without the credentials in it.
std::string urlForMessage(std::string_view Url);

/// Returns the first line of \p Text that contains \p Part, or nothing.
std::string_view findLine(std::string_view Text, std::string_view Part);

/// Returns the line of \p Stderr, the standard error of a clang, that reports
/// an unreadable index or module, or nothing. clang exits with 0 in this case.
std::string_view inputError(std::string_view Stderr);

/// Returns the line of \p Stderr that reports a failed import, which is an
/// error in the program, or nothing. clang exits with 0 and an empty object in
/// this case, and the linker reports \p Stderr as an error.
std::string_view importError(std::string_view Stderr);

} // namespace dtlto

#endif // DTLTO_PLUGINS_TEXT_H
