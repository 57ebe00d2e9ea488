//===- DistccStatsFuzz.cpp - Statistics of any bytes ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: what a statistics port answers.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "StatsQuery.h"
#include <cstdlib>

using namespace dtlto::distcc;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"HTTP/1.0 200 OK\r\n\r\nargv /distccd\n<distccstats>\n"
          "dcc_max_kids 4\ndcc_load1 0.25\n</distccstats>\n",
          "\ndcc_max_kids 4096\r\n\ndcc_load1 1000000.99\r\n",
          "\ndcc_load1 1.2\n\ndcc_max_kids 4.5\n",
          "\ndcc_load1 .\n\ndcc_max_kids 99999999999999999999\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Text(reinterpret_cast<const char *>(Data), Size);
  uint32_t Load = loadFromStats(Text);
  if (slotsFromStats(Text) > 4096 || (Load > 100000099 && Load != UINT32_MAX))
    abort();
  return 0;
}
