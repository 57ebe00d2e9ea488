//===- Text.h - Parsing user input, and text for messages -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_PLUGINS_TEXT_H
#define DTLTO_PLUGINS_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto {

/// Quotes \p Text for one line of a message. Escapes everything but printable
/// ASCII, and cuts the text after 200 characters.
std::string quote(std::string_view Text);

/// Returns two hexadecimal digits for each byte.
std::string hexDigits(const uint8_t *Bytes, size_t Size);
std::string hex(uint8_t Byte);

/// Whether \p Text contains a control character.
bool hasControl(std::string_view Text);
/// Whether \p Text has no characters other than printable ASCII.
bool isPrintableAscii(std::string_view Text);

/// Reads all of \p Text as a decimal number from \p Min to \p Max, without a
/// sign. Returns false for any other text, and leaves \p Value alone.
bool parseNumber(std::string_view Text, uint32_t Min, uint32_t Max,
                 uint32_t &Value);

/// Returns the first line of \p Text that contains \p Part, or nothing.
std::string_view findLine(std::string_view Text, std::string_view Part);

/// Returns the line of \p Stderr, the standard error of a clang, that reports
/// an unreadable index or module, or nothing. clang exits with 0 in this case.
std::string_view inputError(std::string_view Stderr);

/// Returns the line of \p Stderr that reports a failed import, which is an
/// error in the program, or nothing. clang exits with 0 and an empty object in
/// this case, and the linker reports \p Stderr as an error.
std::string_view importError(std::string_view Stderr);

/// Returns the entry of \p Candidates that \p Word misspells, or nothing.
std::string_view nearest(std::string_view Word,
                         const std::vector<std::string_view> &Candidates);

} // namespace dtlto

#endif // DTLTO_PLUGINS_TEXT_H
