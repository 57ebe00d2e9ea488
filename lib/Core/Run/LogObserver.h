//===- LogObserver.h - Steps become an event log ----------------*- C++ -*-===//
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
/// What is there is lost.
llvm::Error checkLog(llvm::StringRef Path);

/// Writes the log \p Path of a link without jobs. Fails as checkLog().
llvm::Error writeEmptyLog(llvm::StringRef Path);

/// Writes --thinlto-dist-log: what the plan saw and decided (Plan/EventLog.h),
/// with the names of modules and workers as comments. Each step is in the file
/// before it is carried out, so the log of a link that hangs, or was killed, is
/// whole.
class LogObserver : public Observer {
public:
  /// \p O and \p Jobs are what the plan was made of.
  LogObserver(const LinkFacts &Run, const RunContext &L, const plan::Options &O,
              const std::vector<plan::JobInfo> &Jobs);

  void saw(const Step &S) override;
  void finish() override;

private:
  /// What a file task that is abandoned goes on with.
  struct File {
    std::unique_ptr<llvm::raw_fd_ostream> Out;
    std::error_code Why; // it can't be written
  };

  void use(std::function<void(File &)> Task);
  void write(std::string Text);

  const LinkFacts &Run;
  const RunContext &L;
  const std::string Path;
  std::shared_ptr<File> Log;     // null: it doesn't answer
  plan::WorkerId NumWorkers = 0; // that are named in the log
};

} // namespace dtlto

#endif // DTLTO_RUN_LOGOBSERVER_H
