//===- Reply.cpp - What a distccd answers ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reply.h"
#include "Text.h"
#include <algorithm>
#include <cassert>
#include <cstring>

using namespace dtlto;
using namespace dtlto::distcc;

// Memory for a body that arrives: so much at once, then as much again as has
// arrived.
static constexpr size_t FirstPiece = size_t(64) << 10;

static std::string quoted(const uint8_t *Data, size_t Size) {
  return quote({reinterpret_cast<const char *>(Data), Size});
}

static bool parseHex(const uint8_t *Digits, uint32_t &Value) {
  constexpr std::string_view Known = "0123456789abcdef";
  Value = 0;
  for (size_t I = 0; I != 8; ++I) {
    size_t Digit = Known.find(static_cast<char>(Digits[I]));
    if (Digit == Known.npos)
      return false;
    Value = Value << 4 | uint32_t(Digit);
  }
  return true;
}

const char *ReplyParser::name() const {
  static const char *const Names[] = {"DONE", "STAT", "SERR",       "SOUT",
                                      "DOTO", "DOTD", "end of file"};
  return Names[size_t(Current)];
}

uint8_t *ReplyParser::space(size_t &Size) {
  if (!Error.empty() || Current == Part::End) {
    // A place for what must not come.
    Size = TokenSize;
    return Token;
  }
  if (Left == 0) {
    Size = TokenSize - Have;
    return Token + Have;
  }
  std::vector<uint8_t> *Target = target();
  if (!Target) {
    Unwanted.resize(std::min(Left, FirstPiece));
    Size = Unwanted.size();
    return Unwanted.data();
  }
  if (Have == Target->size()) {
    size_t NewSize = Have + std::min(Left, std::max(Have, FirstPiece));
    Target->reserve(NewSize); // no more: resize() would round it up
    Target->resize(NewSize);
  }
  Size = Target->size() - Have;
  return Target->data() + Have;
}

bool ReplyParser::commit(size_t Size) {
  if (!Error.empty())
    return false;
  if (Size == 0)
    return true;
  Started = true;
  if (Current == Part::End)
    return fail("the reply goes on after its end: " +
                quoted(Token, std::min(Size, TokenSize)));
  Have += Size;
  if (Left == 0) {
    assert(Have <= TokenSize);
    return Have != TokenSize || token();
  }
  assert(Size <= Left);
  Left -= Size;
  if (Left == 0)
    next();
  return true;
}

bool ReplyParser::end() {
  if (!Error.empty())
    return false;
  if (!Started)
    return fail("the connection was closed without a reply");
  if (Left != 0)
    return fail("the reply ends early, " + std::to_string(Left) +
                " bytes before the end of " + name());
  if (Current < Part::Dotd || Have != 0)
    return fail(std::string("the reply ends early, before ") + name());
  return true;
}

bool ReplyParser::fail(std::string Text) {
  Error = std::move(Text);
  return false;
}

void ReplyParser::next() {
  Current = Part(size_t(Current) + 1);
  Have = 0;
}

bool ReplyParser::body(uint32_t Length, uint64_t Max) {
  if (Length > Max)
    return fail(std::string("the reply's ") + name() + " has " +
                std::to_string(Length) + " bytes, more than the " +
                std::to_string(Max) + " that are accepted");
  Have = 0;
  Left = Length;
  if (Length == 0)
    next();
  return true;
}

/// Where the body goes. Null for dependencies, which are dropped.
std::vector<uint8_t> *ReplyParser::target() {
  return Current == Part::Serr   ? &Result.Stderr
         : Current == Part::Sout ? &Result.Stdout
         : Current == Part::Doto ? &Result.Object
                                 : nullptr;
}

bool ReplyParser::token() {
  uint32_t Value;
  if (std::memcmp(Token, name(), 4) != 0 || !parseHex(Token + 4, Value))
    return fail(std::string("the reply is wrong: expected ") + name() +
                ", but got " + quoted(Token, TokenSize));
  switch (Current) {
  case Part::Done:
    if (Value != 3)
      return fail("the reply is of protocol " + std::to_string(Value) +
                  " instead of 3");
    next();
    return true;
  case Part::Stat:
    Result.WaitStatus = Value;
    next();
    return true;
  case Part::Serr:
  case Part::Sout:
  case Part::Dotd:
    return body(Value, MaxPackedText);
  case Part::Doto:
    if (Value != 0 && Result.WaitStatus != 0)
      return fail("the reply is wrong: an object after status " +
                  std::to_string(Result.WaitStatus));
    return body(Value, MaxPackedObject);
  case Part::End:
    break;
  }
  return false;
}
