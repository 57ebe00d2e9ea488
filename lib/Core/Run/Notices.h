//===- Notices.h - Messages about a link ------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_RUN_NOTICES_H
#define DTLTO_RUN_NOTICES_H

#include "Report/Observer.h"
#include "Run/RunContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include <set>

namespace dtlto {

/// Turns steps into messages, counts them for the summary, and keeps the errors
/// that fail the link.
class Notices : public Observer {
public:
  Notices(const LinkFacts &Run, const RunContext &Ctx) : Run(Run), Ctx(Ctx) {}
  ~Notices() override { llvm::consumeError(std::move(Err)); }

  void onStep(const Step &S) override;

  /// Shows what compilers wrote about unknown jobs.
  void showCompilerOutput(llvm::StringRef Output);
  /// Fails a link that would wait forever. \p Rule is the invariant of the plan
  /// that is broken, or empty.
  void internalError(llvm::StringRef Rule);
  /// Reports on the whole link, at its end, with other \p Notes.
  void summarize(llvm::ArrayRef<std::string> Notes,
                 llvm::ArrayRef<std::string> DebugNotes);
  bool hasErrors() const { return NumErrors != 0; }
  llvm::Error takeError() { return std::move(Err); }

private:
  void handlePluginEvent(const Step &S);
  bool isNew(plan::JobId J, llvm::StringRef Text,
             llvm::StringMap<unsigned> &Counts);
  void show(plan::JobId J, llvm::ArrayRef<CompilerMessage> Messages);
  void failCompile(const Step &S, plan::JobId J, llvm::StringRef Plugin = "",
                   llvm::StringRef Where = "");
  void handleLoad(const dtlto_load &Load);
  void handleFailure(const Step &S);
  void handleWin(const Step &S, const plan::Action &A);
  void handleConfirmed(plan::JobId J, plan::AttemptId A);
  void warnRefuted(plan::JobId J, const std::string &Where);
  void handleStayLocal(const Step &S, const plan::Action &A);
  void handleDuplicate(const plan::Action &A);
  std::string workerSuffix(plan::WorkerId Id) const;
  void handleDrop(const Step &S, plan::Cause Why);
  void handleEnd(const Step &S, const plan::Action &A);

  void addError(llvm::Error E) {
    ++NumErrors;
    Err = llvm::joinErrors(std::move(Err), std::move(E));
  }
  void addError(const llvm::Twine &Text);
  void fail(const llvm::Twine &Why) { addError("dtlto: " + Why); }
  void failWithoutFallback(const llvm::Twine &Why);
  void warnLimited(const llvm::Twine &Text, llvm::StringRef Why);
  std::string plugin() const;
  std::string module(plan::JobId J) const;
  std::string jobPrefix(plan::JobId J) const;
  std::string ofAllJobs(size_t N) const;
  std::string noResultReason() const;
  void noteNotExpressible();
  void summarizeShares() const;
  void showCounts() const;

  const LinkFacts &Run;
  const RunContext &Ctx;
  llvm::Error Err = llvm::Error::success();
  size_t NumErrors = 0;
  std::string LastLoad; // as reported

  // The plugin's state so far.
  bool IsOpen = false, WasBusy = false;
  /// Whether all its slots are on this machine.
  bool IsThisMachine = false;
  plan::Time Now = {}, FirstAccepted = {};
  llvm::DenseSet<plan::JobId> Accepted, StartedJobs;
  std::string LastFailure; // of any job, except compile errors

  llvm::DenseSet<plan::JobId> SettledJobs; // have an object, or failed

  // By job.
  llvm::DenseMap<plan::JobId, std::string> RetryReasons; // why it was retried
  struct Failure {
    std::string What;
    std::string Output; // by the compiler; empty if its object was refused
    plan::AttemptId Attempt;
    std::string text(const char *Between = "; compiler output: ") const {
      return Output.empty() ? What : What + Between + Output;
    }
  };
  llvm::DenseMap<plan::JobId, Failure> Remote; // of remote compilers
  llvm::DenseSet<plan::JobId> Confirmed; // their refused objects were valid
  /// Why attempts run locally.
  llvm::DenseMap<plan::AttemptId, plan::Cause> LocalCauses;

  /// How often each message about a module of several jobs was shown.
  llvm::StringMap<unsigned> ShownCounts;

  llvm::StringMap<unsigned> NumPerKind; // warnings of each kind
  struct {
    size_t Warnings = 0, Suppressed = 0;
    size_t Remote = 0, Fallback = 0, NotExpressible = 0, Shared = 0;
    size_t Duplicates = 0, DuplicatesWon = 0, LocalWins = 0, Retried = 0;
    size_t Cached = 0, Found = 0, Verified = 0;
    size_t Proven = 0; // including verified ones
  } Num;
  std::string LastRetry; // which job, and why
  std::set<std::string> NotExpressible;
  std::set<std::string> Hosts; // with objects in the link
};

} // namespace dtlto

#endif // DTLTO_RUN_NOTICES_H
