//===- DistccStatsFuzz.cpp - Statistics of any bytes ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the answer of a statistics port.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "StatsQuery.h"
#include <cstdio>

using namespace dtlto::distcc;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"HTTP/1.0 200 OK\r\n\r\nargv /distccd\n<distccstats>\n"
          "dcc_max_kids 4\ndcc_load1 0.25\n</distccstats>\n",
          "\ndcc_max_kids 4096\r\n\ndcc_load1 1000000.99\r\n",
          "\ndcc_load1 1.2\n\ndcc_max_kids 4.5\n",
          "\ndcc_load1 .\n\ndcc_max_kids 99999999999999999999\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Text(reinterpret_cast<const char *>(Data), Size);
  unsigned Slots = slotsFromStats(Text);
  uint32_t Load = loadFromStats(Text);
  check(Slots <= 4096 && (Load <= 100000099 || Load == UINT32_MAX));
  // The number is in the text, and is read again from a server's format.
  std::string Whole = std::to_string(Slots);
  char Hundredths[16];
  snprintf(Hundredths, sizeof(Hundredths), "%u.%02u", Load / 100, Load % 100);
  check(Slots == 0 ||
        (Text.find("dcc_max_kids ") != Text.npos &&
         Text.find(Whole + "\n") + Text.find(Whole + "\r") != 2 * Text.npos));
  check(slotsFromStats("x\ndcc_max_kids " + Whole + "\n") == Slots);
  if (Load != UINT32_MAX)
    check(Text.find(std::string("dcc_load1 ")) != Text.npos &&
          loadFromStats("\ndcc_load1 " + std::string(Hundredths) + "\n") ==
              Load);
  return 0;
}
