//===- ReportFuzz.cpp - A report of any names and messages ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: choices of texts. The page's own code shows them; test/report has that
// in a browser.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Report/Report.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  return {"\2\x0e</script><b>x.o\5<!--x",
          "\1\7\xff\xc3\\\"\n\t\x1f\xc]]> <script>",
          "\3\x30\\u003c/script><SCRIPT\t<!-- --> &lt; \\\\\xe2\x80\xa8"};
}

static std::string html(const Timeline &T, const ReportFacts &Facts) {
  std::string Text;
  raw_string_ostream OS(Text);
  writeReportHTML(OS, T, Facts);
  return OS.str();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Choices C(Data, Size);
  std::vector<JobRecord> Jobs(C.below(4));
  std::vector<std::string> Texts;
  auto text = [&] {
    Texts.push_back(C.text(48));
    return Texts.back();
  };
  ReportFacts Facts{text(), text(), text(), 1};
  for (JobRecord &J : Jobs) {
    J.Name = text();
    J.WhyHere = text();
    J.Ended = 1;
    AttemptRecord A;
    A.Worker = text();
    A.Message = text();
    A.Done = 1;
    A.Numbers = {{text(), C.below(5), 1}};
    J.Attempts = {A};
  }
  Timeline T(Jobs, {}, 0, 2);
  const PluginNumber Told{text(), C.below(5), UINT64_MAX};
  T.sessionNumbers(Told);

  std::string Text;
  raw_string_ostream OS(Text);
  writeReportJSON(OS, T, Facts, /*Indent=*/0);
  OS.flush();
  json::Value Report = nullptr;
  if (Expected<json::Value> V = json::parse(Text))
    Report = *V;
  else
    abort();
  const json::Array *Written = Report.getAsObject()->getArray("jobs");
  check(Written && Written->size() == Jobs.size());
  for (size_t I = 0; I != Jobs.size(); ++I)
    check(*(*Written)[I].getAsObject()->getString("name") ==
          json::fixUTF8(Jobs[I].Name));

  const json::Object &Number =
      *Report.getAsObject()->getArray("numbers")->front().getAsObject();
  check(*Number.getString("name") == json::fixUTF8(Told.Name));
  check(Number.get("value")->getAsNumber().has_value());

  // Whatever they are, the page has its own markup and no other.
  std::string Page = html(T, Facts);
  static const std::string Plain = html(Timeline({}, {}, 0, 2), {});
  check(StringRef(Page).count('<') == StringRef(Plain).count('<'));
  StringRef Shown = StringRef(Page)
                        .split("<script type=\"application/json\" id=\"data\">")
                        .second.split("</script>")
                        .first;
  Expected<json::Value> Again = json::parse(Shown);
  check(bool(Again));
  check(*Again == Report);
  return 0;
}
