//===- TokenFile.cpp - A bearer token that somebody else renews -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenFile.h"
#include "Settings.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"

using namespace dtlto::reapi;
using dtlto::quote;

static constexpr size_t MaxToken = size_t(64) << 10;
// A file that changes all the time must not keep a call that is refused alive.
static constexpr unsigned MaxRefused = 2;

std::string dtlto::reapi::readSettingsFile(const std::string &Name,
                                           const char *Setting, size_t Limit) {
  std::string Text, Error;
  if (Name.empty())
    return Text;
  if (!readSmallFile(Name, Limit, Text, Error))
    throw sdk::Error(DTLTO_ERROR_CALLER, std::string(Setting) + "=: " + Error);
  if (Text.empty())
    throw sdk::Error(DTLTO_ERROR_CALLER,
                     std::string(Setting) + "=: " + quote(Name) + " is empty");
  return Text;
}

std::string TokenFile::read(const std::string &Name) {
  std::string Token = readSettingsFile(Name, "token-file", MaxToken);
  Token.erase(Token.find_last_not_of(" \t\r\n") + 1);
  if (hasControl(Token))
    throw sdk::Error(DTLTO_ERROR_CALLER, "token-file=: " + quote(Name) +
                                             " holds more than one line");
  if (!isHeaderValue(Token))
    throw sdk::Error(DTLTO_ERROR_CALLER,
                     "token-file=: " + quote(Name) +
                         " has other characters than ASCII's printable ones");
  return Token.empty() ? "" : "Bearer " + Token;
}

TokenFile::TokenFile(std::string TheName)
    : Name(std::move(TheName)), Header(read(Name)) {}

std::string TokenFile::header() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Header;
}

void TokenFile::taken(const std::string &Used) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Used == Header)
    RefusedInRow = 0;
}

bool TokenFile::renew(const std::string &Used) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Used != Header) // another call has seen to it
    return RefusedInRow <= MaxRefused;
  if (++RefusedInRow > MaxRefused)
    return false;
  try {
    // What is wrong with it now is somebody else's, and may be over soon: the
    // server's own word says enough.
    std::string New = read(Name);
    if (New.empty())
      return false;
    Header.swap(New);
    return Header != Used;
  } catch (const sdk::Error &) {
    return false;
  }
}
