//===- Text.h - Words of users, and messages about them ---------*- C++ -*-===//
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

/// \p Text in quotes, fit for one line of a message: what isn't printable ASCII
/// is escaped, and what is longer than 200 characters is cut.
std::string quote(std::string_view Text);

/// Two hexadecimal digits for each byte.
std::string hexDigits(const uint8_t *Bytes, size_t Size);
std::string hex(uint8_t Byte);

/// Whether a control character is in \p Text.
bool hasControl(std::string_view Text);

/// Reads all of \p Text as a decimal number from \p Min to \p Max, without a
/// sign. Returns false, and leaves \p Value alone, if it is anything else.
bool parseNumber(std::string_view Text, uint32_t Min, uint32_t Max,
                 uint32_t &Value);

/// The first line of \p Text with \p Part in it; empty if there is none.
std::string_view findLine(std::string_view Text, std::string_view Part);

/// The line of \p Said, a clang's standard error, by which an index or a module
/// could not be read: clang says so, and ends with 0. Empty: there is none.
std::string_view unreadInput(std::string_view Said);

/// The line of \p Said by which the module can't import from another, an error
/// in the program: clang ends with 0, with an empty object. The linker makes an
/// error of what was said with such a result. Empty: there is none.
std::string_view importError(std::string_view Said);

/// Which of \p Known \p Word was meant to be; empty if it looks like none.
std::string_view nearest(std::string_view Word,
                         const std::vector<std::string_view> &Known);

} // namespace dtlto

#endif // DTLTO_PLUGINS_TEXT_H
