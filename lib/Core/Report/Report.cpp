//===- Report.cpp - What a link did, as a file ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Report.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace dtlto;

// Made of Page/ (embed.cmake there): what stands before and after the
// data.
extern const char dtlto_report_head[];
extern const size_t dtlto_report_head_size;
extern const char dtlto_report_tail[];
extern const size_t dtlto_report_tail_size;

std::optional<ReportKind> dtlto::reportKind(StringRef Path) {
  if (Path.ends_with(".html"))
    return ReportKind::HTML;
  if (Path.ends_with(".json"))
    return ReportKind::JSON;
  return std::nullopt;
}

static Error failure(StringRef Path, const Twine &Why) {
  return createStringError(inconvertibleErrorCode(),
                           "the report '" + Path +
                               "' can't be written: " + Why);
}

/// A file beside \p Path that is to take its place.
static Expected<sys::fs::TempFile> beside(StringRef Path) {
  sys::fs::file_status Status;
  if (!sys::fs::status(Path, Status) && !sys::fs::is_regular_file(Status))
    return failure(Path, "there is something that is not a file");
  Expected<sys::fs::TempFile> File = sys::fs::TempFile::create(
      Path + ".%%%%%%.tmp", sys::fs::all_read | sys::fs::all_write);
  if (!File)
    return failure(Path, toString(File.takeError()));
  return File;
}

Error dtlto::checkReport(StringRef Path) {
  Expected<sys::fs::TempFile> File = beside(Path);
  if (!File)
    return File.takeError();
  if (Error E = File->discard())
    return failure(Path, toString(std::move(E)));
  return Error::success();
}

Error dtlto::writeReport(StringRef Path, const Timeline &T,
                         const ReportFacts &Facts) {
  Expected<sys::fs::TempFile> File = beside(Path);
  if (!File)
    return File.takeError();
  raw_fd_ostream OS(File->FD, /*shouldClose=*/false);
  if (reportKind(Path) == ReportKind::JSON) {
    writeReportJSON(OS, T, Facts, /*Indent=*/1);
    OS << '\n';
  } else {
    writeReportHTML(OS, T, Facts);
  }
  OS.flush();
  if (OS.has_error()) {
    std::error_code EC = OS.error();
    OS.clear_error();
    consumeError(File->discard());
    return failure(Path, EC.message());
  }
  if (Error E = File->keep(Path))
    return failure(Path, toString(std::move(E)));
  return Error::success();
}

void dtlto::writeReportHTML(raw_ostream &OS, const Timeline &T,
                            const ReportFacts &Facts) {
  std::string Data;
  raw_string_ostream DataOS(Data);
  writeReportJSON(DataOS, T, Facts, /*Indent=*/0);
  OS << StringRef(dtlto_report_head, dtlto_report_head_size);
  // Nothing can end the element that the data is in, or begin a comment there,
  // without this character, and it only stands in strings.
  for (StringRef Rest = DataOS.str(); !Rest.empty();) {
    auto [Text, After] = Rest.split('<');
    OS << Text;
    if (Text.size() != Rest.size())
      OS << "\\u003c";
    Rest = After;
  }
  OS << StringRef(dtlto_report_tail, dtlto_report_tail_size);
}
