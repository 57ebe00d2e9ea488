//===- CaseReport.cpp - What a case found ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseReport.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

using namespace dtlto::check;

static int ReportFd = -1;
static std::mutex Mutex;
static std::atomic<bool> Failed{false};

std::string dtlto::check::oneLine(std::string Text) {
  for (char &C : Text)
    if (static_cast<unsigned char>(C) < ' ')
      C = ' ';
  return Text;
}

static void writeLine(const std::string &Line) {
  std::lock_guard<std::mutex> Lock(Mutex);
  [[maybe_unused]] ssize_t N = ::write(ReportFd, Line.data(), Line.size());
}

void dtlto::check::openReport(int Fd) { ReportFd = Fd; }

void dtlto::check::fail(const std::string &Section, const std::string &What,
                        const std::string &Mend) {
  Failed = true;
  writeLine("fail\t" + oneLine(Section) + "\t" + oneLine(What) + "\t" +
            oneLine(Mend) + "\n");
}

void dtlto::check::failAndExit(const std::string &Section,
                               const std::string &What,
                               const std::string &Mend) {
  fail(Section, What, Mend);
  ::_exit(1);
}

void dtlto::check::watchChildren() {
  static const pid_t Mine = ::getpid();
  std::atexit([] {
    static const char Line[] =
        "fail\tPluginAPI.h\tthe plugin called exit() in a child that it "
        "forked\tend the child with _exit(): exit() runs what the linker wants "
        "to have run at its own end\n";
    if (::getpid() == Mine)
      return;
    // Nobody may be left to unlock the mutex.
    [[maybe_unused]] ssize_t N = ::write(ReportFd, Line, sizeof(Line) - 1);
  });
}

void dtlto::check::note(const std::string &What) {
  writeLine("note\t" + oneLine(What) + "\n");
}

bool dtlto::check::hasFailed() { return Failed; }

void dtlto::check::reportStage(const std::string &Stage) {
  writeLine(Stage + "\n");
}

Report dtlto::check::readReport(const std::string &Lines) {
  Report R;
  for (size_t At = 0; At < Lines.size();) {
    size_t End = std::min(Lines.find('\n', At), Lines.size());
    std::string Line = Lines.substr(At, End - At);
    At = End + 1;
    R.Ended |= Line == "end";
    if (Line == "loading" || Line == "loaded")
      R.Loading = Line == "loading";
    std::vector<std::string> Parts(1);
    for (char C : Line)
      if (C == '\t')
        Parts.emplace_back();
      else
        Parts.back() += C;
    if (Parts.size() == 2 && Parts[0] == "note")
      R.Note = Parts[1];
    if (Parts.size() != 4 || Parts[0] != "fail" || R.Failures.size() == 4)
      continue;
    // The same mistake with each job is one mistake.
    if (std::none_of(R.Failures.begin(), R.Failures.end(),
                     [&](const Failure &F) { return F.Mend == Parts[3]; }))
      R.Failures.push_back({Parts[1], Parts[2], Parts[3]});
  }
  return R;
}
