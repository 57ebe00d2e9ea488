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

static Error cannotWrite(StringRef Path, const Twine &Why) {
  return failure("the log '" + Path + "' cannot be written: " + Why);
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
  auto Why = std::make_shared<std::error_code>();
  if (runFileTask(Path, [Why, Path = Path.str()] {
        // A reader of the pipe would take the check for the whole log.
        if (isPipe(Path))
          return;
        raw_fd_ostream Out(Path, *Why);
        if (!*Why)
          *Why = closeLog(Out);
      }) != FileAccess::Done)
    return cannotWrite(Path, NoAnswer);
  return *Why ? cannotWrite(Path, Why->message()) : Error::success();
}

Error dtlto::writeEmptyLog(StringRef Path) {
  auto Why = std::make_shared<std::error_code>();
  if (runFileTask(Path, [Why, Path = Path.str()] {
        int FD = openForLog(Path, *Why);
        if (FD < 0)
          return;
        raw_fd_ostream Out(FD, /*shouldClose=*/true);
        withoutPipeSignal(
            [&] { Out << plan::printHeader(plan::Options(), {}); });
        *Why = closeLog(Out);
      }) != FileAccess::Done)
    return cannotWrite(Path, NoAnswer);
  return *Why ? cannotWrite(Path, Why->message()) : Error::success();
}

LogObserver::LogObserver(const LinkFacts &Run, const RunContext &Ctx,
                         const plan::Options &O,
                         const std::vector<plan::JobInfo> &Jobs)
    : Run(Run), Ctx(Ctx), Path(Ctx.fileFor(Ctx.opts().Log)),
      Log(std::make_shared<File>()) {
  runTask([Path = Path](File &F) {
    if (int FD = openForLog(Path, F.Why); FD >= 0)
      F.Out = std::make_unique<raw_fd_ostream>(FD, /*shouldClose=*/true);
  });
  std::string Text = plan::printHeader(O, Jobs);
  for (plan::JobId J = 0; J != Jobs.size(); ++J)
    Text += "# job " + std::to_string(J) + ": " +
            printable(Run.facts(J).Title) + "\n";
  write(Text);
}

void LogObserver::runTask(std::function<void(File &)> Task) {
  if (!Log || Log->Why)
    return;
  if (runFileTask(Path, [Log = Log, Task = std::move(Task)] { Task(*Log); }) !=
      FileAccess::Done)
    Log = nullptr;
}

void LogObserver::write(std::string Text) {
  runTask([Text = std::move(Text)](File &F) {
    withoutPipeSignal([&] {
      *F.Out << Text;
      F.Out->flush();
    });
    F.Why = F.Out->error();
    F.Out->clear_error();
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
  runTask([](File &F) { F.Why = closeLog(*F.Out); });
  if (!Log)
    Ctx.msg().warning(toString(cannotWrite(Path, NoAnswer)));
  else if (Log->Why)
    Ctx.msg().warning(toString(cannotWrite(Path, Log->Why.message())));
}
