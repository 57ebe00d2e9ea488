//===- Report.h - A link's report, as a file --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --thinlto-dist-report: a page (.html), or the same data as JSON (.json).
// docs/REPORT.md describes both. The page is self-contained: it has the data,
// and our code (Page/) that displays it.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_REPORT_H
#define DTLTO_REPORT_REPORT_H

#include "Report/Timeline.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace dtlto {

/// The facts of a report besides the record of the link.
struct ReportFacts {
  std::string Output; // the link's output; may be empty
  std::string Plugin, PluginVersion;
  unsigned Threads = 1; // that the user allows in the linker
};

/// Whether a report of that name can be written: \p Path ends in .html or
/// .json.
bool isReportName(llvm::StringRef Path);

/// Fails, with a message that names \p Path, if no report can be written there.
/// Doesn't change an existing file, and leaves no new one.
llvm::Error checkReport(llvm::StringRef Path);

/// Writes a report of the kind that the extension of \p Path says. Replaces the
/// file only when the new one is complete. Fails like checkReport().
llvm::Error writeReport(llvm::StringRef Path, const Timeline &T,
                        const ReportFacts &Facts);

/// Writes the data, in the format of docs/REPORT.md. Replaces invalid UTF-8 in
/// names and messages.
void writeReportJSON(llvm::raw_ostream &OS, const Timeline &T,
                     const ReportFacts &Facts, unsigned Indent);

/// Writes the page. Names and messages are escaped.
void writeReportHTML(llvm::raw_ostream &OS, const Timeline &T,
                     const ReportFacts &Facts);

} // namespace dtlto

#endif // DTLTO_REPORT_REPORT_H
