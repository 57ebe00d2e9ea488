//===- Notices.h - What the user is told of a link --------------*- C++ -*-===//
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
/// that the link fails with.
class Notices : public Observer {
public:
  Notices(const LinkFacts &Run, const RunContext &L) : Run(Run), L(L) {}
  ~Notices() override { llvm::consumeError(std::move(Err)); }

  void saw(const Step &S) override;

  /// What compilers wrote about unknown jobs.
  void sawWords(llvm::StringRef Words);
  /// The link would wait forever. \p Rule is the rule of the plan that doesn't
  /// hold.
  void internalError(llvm::StringRef Rule);
  /// At the end, reports on the whole link, with other \p Notes.
  void summarize(llvm::ArrayRef<std::string> Notes,
                 llvm::ArrayRef<std::string> DebugNotes);
  bool hasErrors() const { return NumErrors != 0; }
  llvm::Error takeError() { return std::move(Err); }

private:
  void sawPlugin(const Step &S);
  bool isNew(plan::JobId J, llvm::StringRef Text,
             llvm::StringMap<unsigned> &OfPart);
  void show(plan::JobId J, llvm::ArrayRef<CompilerMessage> Messages);
  void failCompile(const Step &S, plan::JobId J, llvm::StringRef Plugin = "",
                   llvm::StringRef Where = "");
  void sawLoad(const dtlto_load &Load);
  void sawFailure(const Step &S);
  void sawWin(const Step &S, const plan::Action &A);
  void sawConfirmed(plan::JobId J, plan::AttemptId A);
  void warnRefuted(plan::JobId J, const std::string &Where);
  void sawStayHere(const Step &S, const plan::Action &A);
  void sawDuplicate(const plan::Action &A);
  std::string onWorker(plan::WorkerId Id) const;
  void sawDrop(const Step &S, plan::Cause Why);
  void sawEnd(const Step &S, const plan::Action &A);

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
  std::string ofJob(plan::JobId J) const;
  std::string ofAll(size_t N) const;
  std::string whyNone() const;
  void noteNotExpressible();
  void summarizeShares() const;
  void showCounts() const;
  bool isPart(plan::JobId J) const;
  const char *units() const;

  const LinkFacts &Run;
  const RunContext &L;
  llvm::Error Err = llvm::Error::success();
  size_t NumErrors = 0;
  std::string LastLoad; // as it was reported

  // What the plugin did so far.
  bool IsOpen = false, WasBusy = false;
  /// All its slots are on this machine.
  bool IsThisMachine = false;
  plan::Time Now = {}, FirstAccepted = {};
  llvm::DenseSet<plan::JobId> Accepted, Begun;
  std::string LastFailure; // of any job, but for compile errors

  llvm::DenseSet<plan::JobId> Settled; // their objects are there, or failed

  // By job.
  llvm::DenseMap<plan::JobId, std::string> WhyAgain; // it was tried once more
  struct Failure {
    std::string What;
    std::string Said; // by the compiler; empty: its object was refused
    plan::AttemptId Attempt;
    std::string text(const char *Between = "; it said: ") const {
      return Said.empty() ? What : What + Between + Said;
    }
  };
  llvm::DenseMap<plan::JobId, Failure> Remote; // of a remote compiler
  llvm::DenseSet<plan::JobId> Confirmed; // their refused objects were right
  /// Why attempts run here.
  llvm::DenseMap<plan::AttemptId, plan::Cause> Here;

  /// How often each message was shown of a module that is compiled in parts.
  llvm::StringMap<unsigned> SaidOfParts;

  llvm::StringMap<unsigned> NumOfKind; // warnings, by what is alike in them
  struct {
    size_t Warnings = 0, Suppressed = 0;
    size_t Remote = 0, Fallback = 0, NotExpressible = 0, Shared = 0;
    size_t Duplicates = 0, DuplicatesWon = 0, WonHere = 0, Retried = 0;
    size_t Cached = 0, Verified = 0;
    size_t Ours = 0; // with those that were verified
  } Num;
  std::string LastRetry; // which, and why
  std::set<std::string> NotExpressible;
  std::set<std::string> Hosts; // that made objects
};

} // namespace dtlto

#endif // DTLTO_RUN_NOTICES_H
