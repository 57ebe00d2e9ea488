//===- Reply.cpp - The reply of a distccd ---------------------------------===//
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

// The first allocation for a body. Further ones double what has arrived.
static constexpr size_t FirstAllocation = size_t(64) << 10;

static std::string quoteBytes(const std::vector<uint8_t> &Bytes, size_t Size) {
  return quote({reinterpret_cast<const char *>(Bytes.data()), Size});
}

static bool parseHex(const uint8_t *Digits, uint32_t &Value) {
  constexpr std::string_view HexDigits = "0123456789abcdef";
  Value = 0;
  for (size_t I = 0; I != 8; ++I) {
    size_t Digit = HexDigits.find(static_cast<char>(Digits[I]));
    if (Digit == HexDigits.npos)
      return false;
    Value = Value << 4 | uint32_t(Digit);
  }
  return true;
}

const ReplyParser::PartInfo ReplyParser::Parts[] = {
    {"DONE", nullptr, 0},
    {"STAT", nullptr, 0},
    {"SERR", &Reply::Stderr, MaxPackedText},
    {"SOUT", &Reply::Stdout, MaxPackedText},
    {"DOTO", &Reply::Object, MaxPackedObject},
    {"DOTD", &Reply::Dependencies, MaxPackedText},
    {"end of file", nullptr, 0}};

uint8_t *ReplyParser::space(size_t &Size) {
  if (NumReceived == Target->size()) {
    size_t NewSize =
        NumReceived + std::min(NumExpected - NumReceived,
                               std::max(NumReceived, FirstAllocation));
    Target->reserve(NewSize); // no more: resize() would round it up
    Target->resize(NewSize);
  }
  Size = Target->size() - NumReceived;
  return Target->data() + NumReceived;
}

bool ReplyParser::commit(size_t Size) {
  if (!Error.empty())
    return false;
  assert(Size != 0 && Size <= Target->size() - NumReceived);
  HasStarted = true;
  NumReceived += Size;
  if (Current == End)
    return fail("the reply continues after its end: " +
                quoteBytes(Token, NumReceived));
  return NumReceived != NumExpected ||
         (InBody ? beginNextPart() : parseToken());
}

bool ReplyParser::end() {
  if (!Error.empty())
    return false;
  if (!HasStarted)
    return fail("the connection was closed without a reply");
  if (InBody)
    return fail("the reply ends early, " +
                std::to_string(NumExpected - NumReceived) +
                " bytes before the end of " + part().Name);
  if (Current < Dotd || NumReceived != 0)
    return fail(std::string("the reply ends early, before ") + part().Name);
  return true;
}

bool ReplyParser::fail(std::string Text) {
  Error = std::move(Text);
  expect(Token, TokenSize); // a buffer for bytes that are ignored
  return false;
}

void ReplyParser::expect(std::vector<uint8_t> &To, size_t Size) {
  InBody = &To != &Token;
  Target = &To;
  NumReceived = 0;
  NumExpected = Size;
}

bool ReplyParser::beginNextPart() {
  Current = PartTy(Current + 1);
  expect(Token, TokenSize);
  return true;
}

bool ReplyParser::parseToken() {
  uint32_t Value;
  if (std::memcmp(Token.data(), part().Name, 4) != 0 ||
      !parseHex(Token.data() + 4, Value))
    return fail(std::string("the reply is wrong: expected ") + part().Name +
                ", but got " + quoteBytes(Token, TokenSize));
  if (Current == Done && Value != 3)
    return fail("the reply is of protocol " + std::to_string(Value) +
                " instead of 3");
  if (Current == Stat)
    Result.WaitStatus = Value;
  if (Current == Doto && Value != 0 && Result.WaitStatus != 0)
    return fail("the reply is wrong: an object after status " +
                std::to_string(Result.WaitStatus));
  if (!part().Body || Value == 0)
    return beginNextPart();
  if (Value > part().Max)
    return fail(std::string("the reply's ") + part().Name + " has " +
                std::to_string(Value) + " bytes, more than the " +
                std::to_string(part().Max) + " that are accepted");
  expect(Result.*part().Body, Value);
  return true;
}
