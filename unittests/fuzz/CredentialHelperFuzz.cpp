//===- CredentialHelperFuzz.cpp - Answers of credential helpers -----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the output of a credential helper. The headers must be valid for gRPC,
// which ends the process otherwise, and in one line, or HTTP would have others.
// They and the time are the same after writing them as JSON and reading it.
//
//===----------------------------------------------------------------------===//

#include "CredentialHelper.h"
#include "Fuzz.h"
#include "Text.h"
#include <ctime>

using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"{\"headers\":{\"Authorization\":[\"Bearer "
          "x\"],\"a.b\":[\"\",\"\\u0041\"]"
          "},\"expires\":\"2030-01-31T12:00:00.5+01:00\"}",
          "{}",
          "{\"headers\":{},\"expires\":\"9999-12-31T23:59:59Z\"}",
          "{\"headers\":{\"x-bin\":[\"\"]}}",
          "{\"headers\":{\"a\":[\"\\n\"]}}",
          "{\"headers\":{\"a\":\"b\"},\"expires\":1}",
          "{\"expires\":\"2028-02-29T23:59:59-11:30\",\"a\":[1e9,null]}",
          "[[[[[[[["};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Credentials C;
  std::string Error;
  if (!readCredentials({reinterpret_cast<const char *>(Data), Size}, C,
                       Error)) {
    check(isLine(Error) && Error.size() < 1000);
    check(C.Headers.empty() && !C.Expires);
    return 0;
  }
  std::map<std::string, std::string> Lists;
  for (const auto &[Name, Value] : C.Headers) {
    check(isHeaderName(Name) && !isBinaryHeader(Name) &&
          isPrintableAscii(Value));
    std::string &List = Lists[Name];
    List += List.empty() ? "\"" : ",\"";
    for (char L : Value)
      List += L == '"' || L == '\\' ? std::string("\\") + L : std::string(1, L);
    List += '"';
  }
  std::string Text = "{\"headers\":{";
  for (const auto &[Name, List] : Lists)
    Text += (Text.back() == '{' ? "\"" : ",\"") + Name + "\":[" + List + "]";
  Text += "}";
  if (C.Expires) {
    const std::time_t Seconds =
        std::chrono::system_clock::to_time_t(*C.Expires);
    std::tm T;
    char Time[64];
    std::strftime(Time, sizeof(Time), "%FT%TZ", ::gmtime_r(&Seconds, &T));
    Text += std::string(",\"expires\":\"") + Time + "\"";
  }
  Credentials Again;
  check(readCredentials(Text + "}", Again, Error));
  check(C.Expires == Again.Expires);
  std::sort(C.Headers.begin(), C.Headers.end());
  std::sort(Again.Headers.begin(), Again.Headers.end());
  check(C.Headers == Again.Headers);
  return 0;
}
