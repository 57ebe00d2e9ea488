//===- LogObserver.cpp - Writes steps to an event log ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/LogObserver.h"
#include "Plan/EventLog.h"
#include "Support/Failure.h"
#include "Support/FileTask.h"
#include "Support/System.h"
#include "Support/Text.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace dtlto;

/// Runs \p Task, which uses the log \p Path. Fails with a message that names
/// the log.
static Error useLog(StringRef Path, std::function<std::error_code()> Task) {
  if (Error E = tryFileTask(
          Path, [Task = std::move(Task)] { return errorCodeToError(Task()); }))
    return failure("the log '" + Path +
                   "' cannot be written: " + toString(std::move(E)));
  return Error::success();
}

static bool isPipe(StringRef Path) {
  sys::fs::file_status Status;
  return !sys::fs::status(Path, Status) &&
         Status.type() == sys::fs::file_type::fifo_file;
}

/// Closes the log and returns its error, if any. Clears the error: destroying a
/// stream with an error ends the process.
static std::error_code closeLog(raw_fd_ostream &Out) {
  Out.close();
  std::error_code Why = Out.error();
  Out.clear_error();
  return Why;
}

Error dtlto::checkLog(StringRef Path) {
  return useLog(Path, [Path = Path.str()] {
    std::error_code Why;
    // A reader of the pipe would take the check for the whole log.
    if (isPipe(Path))
      return Why;
    raw_fd_ostream Out(Path, Why);
    return Why ? Why : closeLog(Out);
  });
}

Error dtlto::writeEmptyLog(StringRef Path) {
  return useLog(Path, [Path = Path.str()] {
    std::error_code Why;
    int FD = openForLog(Path, Why);
    if (FD < 0)
      return Why;
    raw_fd_ostream Out(FD, /*shouldClose=*/true);
    withoutPipeSignal([&] { Out << plan::printHeader(plan::Options(), {}); });
    return closeLog(Out);
  });
}

LogObserver::LogObserver(const LinkFacts &Run, const RunContext &Ctx,
                         const plan::Options &O,
                         const std::vector<plan::JobInfo> &Jobs)
    : Run(Run), Ctx(Ctx), Path(Ctx.fileFor(Ctx.opts().Log)),
      Log(std::make_shared<Stream>()) {
  use([Path = Path](Stream &Log) {
    std::error_code Why;
    if (int FD = openForLog(Path, Why); FD >= 0)
      Log = std::make_unique<raw_fd_ostream>(FD, /*shouldClose=*/true);
    return Why;
  });
  std::string Text = plan::printHeader(O, Jobs);
  for (plan::JobId J = 0; J != Jobs.size(); ++J)
    Text += "# job " + std::to_string(J) + ": " +
            printable(Run.facts(J).Title) + "\n";
  write(Text);
}

void LogObserver::use(std::function<std::error_code(Stream &)> Task) {
  if (Problem.empty())
    Problem = toString(useLog(
        Path, [Log = Log, Task = std::move(Task)] { return Task(*Log); }));
}

void LogObserver::write(std::string Text) {
  use([Text = std::move(Text)](Stream &Log) {
    withoutPipeSignal([&] {
      *Log << Text;
      Log->flush();
    });
    std::error_code Why = Log->error();
    Log->clear_error();
    return Why;
  });
}

void LogObserver::onStep(const Step &S) {
  std::string Text;
  if (S.E && S.E->Worker > NumWorkers) {
    NumWorkers = S.E->Worker;
    Text = "# worker " + std::to_string(NumWorkers) + ": " +
           printable(Run.workerName(NumWorkers)) + "\n";
  }
  write(Text + plan::printStep(S.Now, S.E, S.Actions.vec()));
}

void LogObserver::finish() {
  use([](Stream &Log) { return closeLog(*Log); });
  if (!Problem.empty())
    Ctx.msg().warning(Problem);
}
