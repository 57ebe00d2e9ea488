//===- PluginCheckFuzz.cpp - The input of dtlto-plugin-check --------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the lines written by the process of a case. They may be anything,
// because a plugin can write to any descriptor.
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "Fuzz.h"
#include <cstdlib>

using namespace dtlto::check;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  Report R = readReport("fail\ta\tb\tc\nfail\ta\tb\td\nend\n");
  if (R.Failures.size() != 2 || !R.HasEnded)
    abort();
  return {"fail\tsection\twhat\thow\nend\n", "fail\t\t\t\t\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string Bytes(reinterpret_cast<const char *>(Data), Size);
  Report R = readReport(Bytes);
  if (R.Failures.size() > 4 ||
      (R.HasEnded && Bytes.find("end") == std::string::npos))
    abort();
  return 0;
}
