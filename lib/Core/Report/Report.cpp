//===- Report.cpp - A link's report, as a file ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Report.h"
#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "Support/FileTask.h"

using namespace llvm;
using namespace dtlto;

// Made from Page/ by its embed.cmake: the page, with a marker for the data.
extern const char dtlto_report_page[];

bool dtlto::isReportName(StringRef Path) {
  return Path.ends_with(".html") || Path.ends_with(".json");
}

/// Runs \p Task, which uses \p Path.
static Error useReport(StringRef Path, std::function<Error()> Task,
                       uint64_t Bytes = 0) {
  if (Error E = tryFileTask(Path, std::move(Task), Bytes))
    return failure("the report '" + Path +
                   "' cannot be written: " + toString(std::move(E)));
  return Error::success();
}

Error dtlto::checkReport(StringRef Path) {
  return useReport(Path,
                   [Path = Path.str()] { return checkReplaceable(Path); });
}

Error dtlto::writeReport(StringRef Path, const Timeline &T,
                         const ReportFacts &Facts) {
  auto Text = std::make_shared<std::string>();
  {
    raw_string_ostream OS(*Text);
    if (Path.ends_with(".json")) {
      writeReportJSON(OS, T, Facts, /*Indent=*/1);
      OS << '\n';
    } else {
      writeReportHTML(OS, T, Facts);
    }
  }
  return useReport(
      Path,
      [Path = Path.str(), Text] {
        return replaceFile(Path, [&](raw_ostream &OS) { OS << *Text; });
      },
      Text->size());
}

void dtlto::writeReportHTML(raw_ostream &OS, const Timeline &T,
                            const ReportFacts &Facts) {
  std::string Data;
  raw_string_ostream DataOS(Data);
  writeReportJSON(DataOS, T, Facts, /*Indent=*/0);
  auto [Head, Tail] = StringRef(dtlto_report_page).split("/*data*/");
  OS << Head;
  // Without this character, the data can't end its element or begin a comment
  // there. In JSON, it only appears inside strings.
  for (StringRef Rest = DataOS.str(); !Rest.empty();) {
    auto [Text, After] = Rest.split('<');
    OS << Text;
    if (Text.size() != Rest.size())
      OS << "\\u003c";
    Rest = After;
  }
  OS << Tail;
}
