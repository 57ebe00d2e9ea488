//===- LogObserver.cpp - Steps become an event log ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/LogObserver.h"
#include "Plan/EventLog.h"
#include "Support/Failure.h"
#include "Support/System.h"
#include "Support/Text.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace dtlto;

static Error cannotWrite(StringRef Path, std::error_code Why) {
  return failure("the log '" + Path + "' can't be written: " + Why.message());
}

static bool isPipe(StringRef Path) {
  sys::fs::file_status Status;
  return !sys::fs::status(Path, Status) &&
         Status.type() == sys::fs::file_type::fifo_file;
}

Error dtlto::checkLog(StringRef Path) {
  // Whoever reads it would take the check for all there is.
  if (isPipe(Path))
    return Error::success();
  std::error_code Why;
  raw_fd_ostream Out(Path, Why);
  return Why ? cannotWrite(Path, Why) : Error::success();
}

LogObserver::LogObserver(const LinkFacts &Run, const RunContext &L,
                         const plan::Options &O,
                         const std::vector<plan::JobInfo> &Jobs)
    : Run(Run), L(L), Path(L.fileOfRound(L.opts().Log)),
      Out(openForLog(Path, Why), /*shouldClose=*/true) {
  std::string Text = plan::printHeader(O, Jobs);
  for (plan::JobId J = 0; J != Jobs.size(); ++J)
    Text +=
        "# job " + std::to_string(J) + ": " + printable(Run.title(J)) + "\n";
  write(Text);
}

void LogObserver::write(const std::string &Text) {
  if (Why)
    return;
  withoutPipeSignal([&] {
    Out << Text;
    Out.flush();
  });
}

void LogObserver::saw(const Step &S) {
  std::string Text;
  if (S.E && S.E->Worker > NumWorkers) {
    NumWorkers = S.E->Worker;
    Text = "# worker " + std::to_string(NumWorkers) + ": " +
           printable(Run.workerName(NumWorkers)) + "\n";
  }
  write(Text + plan::printStep(S.Now, S.E, S.Actions.vec()));
}

void LogObserver::finish() {
  if (!Why)
    Why = Out.error();
  Out.clear_error();
  if (Why)
    L.msg().warning(toString(cannotWrite(Path, Why)));
}
