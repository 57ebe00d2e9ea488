//===- JobListFuzz.cpp - Job lists of any bytes ---------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: a file. A valid list is the same after writing and reading it. An
// error is one line that names the file.
//
//===----------------------------------------------------------------------===//

#include "Files/JobList.h"
#include "Fuzz.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;
using dtlto::test::check;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {
      R"({"common":{"linker_output":"o","args":["c"],"inputs":[]},"jobs":[]})",
      R"({"common":{"linker_output":"o","args":["c","-c"],"inputs":["p"]},)"
      R"("jobs":[{"args":["a","-i=b","-o","d"],"inputs":["a","b","c"],)"
      R"("outputs":["d","\u00e9"]}]})"};
}

static std::string print(const JobList &List) {
  std::string Text;
  raw_string_ostream OS(Text);
  json::OStream JOS(OS, 2);
  auto Texts = [&](StringRef Key, ArrayRef<std::string> Values) {
    JOS.attributeArray(Key, [&] {
      for (const std::string &Value : Values)
        JOS.value(Value);
    });
  };
  JOS.object([&] {
    JOS.attributeObject("common", [&] {
      JOS.attribute("linker_output", List.LinkerOutput);
      Texts("args", List.Args);
      Texts("inputs", List.Inputs);
    });
    JOS.attributeArray("jobs", [&] {
      for (const FileJob &J : List.Jobs)
        JOS.object([&] {
          Texts("args", J.Args);
          Texts("inputs", J.Inputs);
          Texts("outputs", J.Outputs);
        });
    });
  });
  return OS.str();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  StringRef Text(reinterpret_cast<const char *>(Data), Size);
  Expected<JobList> List = parseJobList(Text, "list.json");
  if (!List) {
    std::string Why = toString(List.takeError());
    check(StringRef(Why).starts_with("'list.json': ") &&
          dtlto::test::isLine(Why));
    return 0;
  }
  check(!List->Args.empty());
  check(List->UnknownKeys.size() <= MaxUnknownKeys);
  for (const std::string &Key : List->UnknownKeys)
    check(dtlto::test::isLine(Key));
  for (const FileJob &J : List->Jobs)
    check(J.Inputs.size() >= 2 && !J.Outputs.empty() &&
          J.module() != J.object());
  std::string Printed = print(*List);
  Expected<JobList> Again = parseJobList(Printed, "again.json");
  check(bool(Again) && print(*Again) == Printed && Again->UnknownKeys.empty());
  return 0;
}
