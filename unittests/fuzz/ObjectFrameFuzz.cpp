//===- ObjectFrameFuzz.cpp - Results in frames, of any bytes --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a frame of the job whose digest is zeros.
//
//===----------------------------------------------------------------------===//

#include "Bundle/ObjectFrame.h"
#include "Fuzz.h"
#include <cstdlib>

using namespace llvm;
using namespace dtlto;

static std::string frame(StringRef Result, uint8_t Job = 0) {
  return (frameHead(Result, {Job}) + Result).str();
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::string Much = frame("much");
  Much[23] = '\x7f';
  return {frame("object"),           frame(""),
          frame("long") + "er",      frame("short").substr(0, 90),
          frame("another job's", 1), Much};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Framed(reinterpret_cast<const char *>(Data), Size);
  // A frame of these bytes is accepted, but not with one bit changed.
  std::string Good = frame(Framed);
  Expected<StringRef> Same = readFrame(Good, {});
  if (!Same || *Same != Framed)
    abort();
  size_t At = Size ? (Data[0] + Data[Size - 1] * 256u) % (Good.size() * 8) : 0;
  Good[At / 8] = char(Good[At / 8] ^ (1 << At % 8));
  if (!errorToBool(readFrame(Good, {}).takeError()))
    abort();
  Expected<StringRef> Result = readFrame(Framed, {});
  if (!Result) {
    if (toString(Result.takeError()).empty())
      abort();
    return 0;
  }
  // A result of a job has only one frame.
  if (frame(*Result) != Framed)
    abort();
  return 0;
}
