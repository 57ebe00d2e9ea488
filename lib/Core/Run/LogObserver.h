//===- LogObserver.h - Writes steps to an event log -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_LOGOBSERVER_H
#define DTLTO_RUN_LOGOBSERVER_H

#include "Report/Observer.h"
#include "Run/RunContext.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <memory>

namespace dtlto {

/// Fails, with a message that names it, if the log \p Path can't be written.
/// Truncates the file.
llvm::Error checkLog(llvm::StringRef Path);

/// Writes the log \p Path of a link without jobs. Fails like checkLog().
llvm::Error writeEmptyLog(llvm::StringRef Path);

/// Writes --thinlto-dist-log: the events and actions of the plan
/// (Plan/EventLog.h), with the names of modules and workers as comments. Each
/// step is in the file before it is carried out, so the log is complete even if
/// the link hangs or is killed.
class LogObserver : public Observer {
public:
  /// \p O and \p Jobs are those of the plan.
  LogObserver(const LinkFacts &Run, const RunContext &Ctx,
              const plan::Options &O, const std::vector<plan::JobInfo> &Jobs);

  void onStep(const Step &S) override;
  void finish() override;

private:
  using Stream = std::unique_ptr<llvm::raw_fd_ostream>;

  void use(std::function<std::error_code(Stream &)> Task);
  void write(std::string Text);

  const LinkFacts &Run;
  const RunContext &Ctx;
  const std::string Path;
  const std::shared_ptr<Stream> Log; // an abandoned file task keeps using it
  std::string Problem;               // the first one; then nothing is written
  plan::WorkerId NumWorkers = 0;     // named in the log so far
};

} // namespace dtlto

#endif // DTLTO_RUN_LOGOBSERVER_H
