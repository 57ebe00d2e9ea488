//===- Report.h - What a link did, as a file --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --thinlto-dist-report: a page to look at (.html), or the same as data
// (.json). docs/REPORT.md describes both. The page is one file that needs no
// other: it has the data, and code of ours (Page/) that shows it.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REPORT_REPORT_H
#define DTLTO_REPORT_REPORT_H

#include "Report/Timeline.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace dtlto {

/// What a report has besides the record of the link.
struct ReportFacts {
  std::string Output; // the file that is linked; may be empty
  std::string Plugin, PluginVersion;
  unsigned Threads = 1; // that the user allows in the linker
};

enum class ReportKind { HTML, JSON };

/// Which kind a file of that name is; nothing if its ending says neither.
std::optional<ReportKind> reportKind(llvm::StringRef Path);

/// Fails, with a message that names \p Path, if no report can be put there.
/// Leaves nothing behind, and a file that is there as it is.
llvm::Error checkReport(llvm::StringRef Path);

/// Puts a report there, of the kind that its ending says. All of it or none: a
/// file that was there before is replaced at the end. Fails as checkReport().
llvm::Error writeReport(llvm::StringRef Path, const Timeline &T,
                        const ReportFacts &Facts);

/// Writes the data, in the format of docs/REPORT.md. Bytes of names and
/// messages that are no UTF-8 are replaced.
void writeReportJSON(llvm::raw_ostream &OS, const Timeline &T,
                     const ReportFacts &Facts, unsigned Indent);

/// Writes the page. Whatever names and messages are, they end up as text.
void writeReportHTML(llvm::raw_ostream &OS, const Timeline &T,
                     const ReportFacts &Facts);

} // namespace dtlto

#endif // DTLTO_REPORT_REPORT_H
