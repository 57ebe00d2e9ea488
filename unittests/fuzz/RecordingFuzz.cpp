//===- RecordingFuzz.cpp - Recordings of any bytes ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the `jobs` file of a recording whose objects have a thousand bytes.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Recording.h"
#include <cstdlib>

using namespace dtlto::replay;

static constexpr uint64_t ObjectsSize = 1000;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  Recording R;
  std::vector<std::string> Seeds = {writeRecording(R)};
  RecordedJob J;
  J.CpuNs = 123;
  J.Offset = 10;
  J.Size = 990;
  J.Digest.assign(32, '\x5a');
  J.Path = "m.libx";
  J.Name = "libx.a(a%b\n.o at 7)";
  R.Jobs = {J, J};
  Seeds.push_back(writeRecording(R));
  return Seeds;
}

static void check(bool Condition) {
  if (!Condition)
    abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Recording R, Again;
  std::string Error;
  if (!parseRecording({reinterpret_cast<const char *>(Data), Size}, ObjectsSize,
                      R, Error)) {
    check(!Error.empty());
    return 0;
  }
  for (const RecordedJob &J : R.Jobs)
    check(J.Offset <= ObjectsSize && J.Size <= ObjectsSize - J.Offset &&
          J.Digest.size() == 32 && !J.Name.empty());
  // A recording can be written, and is then read as the same.
  std::string Text = writeRecording(R);
  check(parseRecording(Text, ObjectsSize, Again, Error));
  check(writeRecording(Again) == Text);
  return 0;
}
