//===- CaseReport.cpp - The report of a case ------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <atomic>
#include <cassert>
#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace dtlto::check;

static int ReportFd = -1;
static std::atomic<bool> Failed{false};

std::string dtlto::check::oneLine(std::string Text) {
  for (char &C : Text)
    if (static_cast<unsigned char>(C) < ' ')
      C = ' ';
  return Text;
}

/// Writes a line without a lock: the file is open for appending, so one write()
/// is enough. A forked child could never release a lock.
static void writeLine(const Twine &Line) {
  assert(ReportFd >= 0 && "openReport() comes first");
  const std::string Text = (Line + "\n").str();
  [[maybe_unused]] ssize_t N = ::write(ReportFd, Text.data(), Text.size());
}

void dtlto::check::openReport(int Fd) { ReportFd = Fd; }

void dtlto::check::fail(StringRef Section, const Twine &What, StringRef Fix) {
  Failed = true;
  writeLine("fail\t" + oneLine(Section.str()) + "\t" + oneLine(What.str()) +
            "\t" + oneLine(Fix.str()));
}

bool dtlto::check::expect(bool Holds, StringRef Section, const Twine &What,
                          StringRef Fix) {
  if (!Holds)
    fail(Section, What, Fix);
  return Holds;
}

void dtlto::check::failAndExit(StringRef Section, const Twine &What,
                               StringRef Fix) {
  fail(Section, What, Fix);
  ::_exit(1);
}

void dtlto::check::watchChildren() {
  static const pid_t ParentPid = ::getpid();
  std::atexit([] {
    expect(::getpid() == ParentPid, "PluginAPI.h",
           "the plugin called exit() in a child that it forked",
           "end the child with _exit(): exit() runs the linker's own exit "
           "handlers");
  });
}

void dtlto::check::note(const Twine &What) {
  writeLine("note\t" + oneLine(What.str()));
}

bool dtlto::check::hasFailed() { return Failed; }

void dtlto::check::reportStage(StringRef Stage) { writeLine(Stage); }

Report dtlto::check::readReport(StringRef Lines) {
  Report R;
  SmallVector<StringRef, 0> All;
  SmallVector<StringRef, 3> Notes;
  Lines.split(All, '\n');
  for (StringRef Line : All) {
    R.HasEnded |= Line == "end";
    if (Line == "loading" || Line == "loaded")
      R.IsLoading = Line == "loading";
    SmallVector<StringRef, 4> Parts;
    Line.split(Parts, '\t');
    if (Parts.size() == 2 && Parts[0] == "note" && Notes.size() != 3 &&
        !is_contained(Notes, Parts[1]))
      Notes.push_back(Parts[1]);
    if (Parts.size() == 4 && Parts[0] == "fail" && R.Failures.size() != 4 &&
        none_of(R.Failures,
                [&](const Failure &F) { return F.Fix == Parts[3]; }))
      R.Failures.push_back({Parts[1].str(), Parts[2].str(), Parts[3].str()});
  }
  R.Note = join(Notes, "; ");
  return R;
}
