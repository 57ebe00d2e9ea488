//===- Notices.cpp - Messages about a link --------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Notices.h"
#include "Host/CodegenResult.h"
#include "Run/CompilerOutput.h"
#include "Support/Failure.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;

using plan::Action;
using plan::AttemptKind;
using plan::Cause;
using PlanEvent = plan::Event;

// Limits on repeated warnings: per kind, and in total.
static constexpr unsigned MaxPerKind = 3;
static constexpr size_t MaxWarnings = 10;

/// Returns \p Why without what differs between failures of one kind: ports,
/// times, sizes, and the numbers of machines.
static std::string kindOf(StringRef Why) {
  std::string Kind;
  for (char C : Why.take_front(200)) {
    bool IsNumber = isDigit(C);
    if (!IsNumber || Kind.empty() || Kind.back() != '0')
      Kind += IsNumber ? '0' : C;
  }
  return Kind;
}

/// Warns about one failed job, with the reason \p Why. The summary has the
/// number of suppressed warnings.
void Notices::warnLimited(const Twine &Text, StringRef Why) {
  if (Ctx.msg().verbose() ||
      (Num.Warnings < MaxWarnings && ++NumPerKind[kindOf(Why)] <= MaxPerKind)) {
    ++Num.Warnings;
    Ctx.msg().warning(Text);
  } else {
    ++Num.Suppressed;
  }
}

void Notices::addError(const Twine &Text) { addError(failure(Text)); }

/// Names the setting to blame, unless it is the linker's own option.
void Notices::failWithoutFallback(const Twine &Why) {
  const std::string &Setting = Ctx.Host.Config.NoFallback;
  fail(Setting.empty() ? Why
                       : Why + "; not compiled locally, since " + Setting);
}

std::string Notices::plugin() const {
  return "plugin '" + std::string(Ctx.Host.Plugin->name) + "': ";
}

std::string Notices::module(plan::JobId J) const {
  return "module '" + Run.facts(J).Title + "'";
}

/// The beginning of a message about \p J at the plugin.
std::string Notices::jobPrefix(plan::JobId J) const {
  return plugin() + module(J) + ": ";
}

void Notices::internalError(StringRef Rule) {
  fail("internal error: jobs are left, but no thread is working on them" +
       (Rule.empty() ? "" : ": " + Rule));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Notices::onStep(const Step &S) {
  handlePluginEvent(S);
  if (S.Load)
    handleLoad(*S.Load);
  if (S.E && S.E->What == PlanEvent::Failed)
    handleFailure(S);
  if (S.E && S.E->What == PlanEvent::Confirmed)
    handleConfirmed(S.E->Job, S.E->Attempt);
  for (const Action &A : S.Actions) {
    if (A.What == Action::Won || A.What == Action::EndJob)
      SettledJobs.insert(A.Job);
    switch (A.What) {
    case Action::Won:
      handleWin(S, A);
      break;
    case Action::StayLocal:
      handleStayLocal(S, A);
      break;
    case Action::Prepare:
      if (A.AKind == AttemptKind::Duplicate)
        handleDuplicate(A);
      break;
    case Action::Verify:
      ++Num.Verified;
      break;
    case Action::Deliver:
      Num.Proven += A.IsProven;
      break;
    case Action::DropPlugin:
      handleDrop(S, A.Why);
      break;
    case Action::EndJob:
      handleEnd(S, A);
      break;
    case Action::FailLink:
      if (A.Why == Cause::Timeout)
        failWithoutFallback(
            jobPrefix(A.Job) +
            localReason(A.Why, "", "", Ctx.opts().TimeoutSeconds));
      break;
    default:
      break;
    }
  }
}

void Notices::handlePluginEvent(const Step &S) {
  Now = S.Now;
  if (!S.E)
    return;
  switch (S.E->What) {
  case PlanEvent::Opened:
    IsOpen = true;
    return;
  case PlanEvent::Busy:
    WasBusy = true;
    return;
  case PlanEvent::Accepted:
    if (Accepted.empty())
      FirstAccepted = S.Now;
    Accepted.insert(S.Job);
    return;
  case PlanEvent::StateChanged:
    if (S.E->State == plan::PluginState::Running ||
        S.E->State == plan::PluginState::Receiving)
      StartedJobs.insert(S.Job);
    return;
  case PlanEvent::Failed:
    if (S.E->Why != Cause::Compiler && S.E->Why != Cause::LocalCompiler)
      LastFailure = S.Why.str();
    return;
  default:
    return;
  }
}

//===----------------------------------------------------------------------===//
// Messages of compilers
//===----------------------------------------------------------------------===//

/// Whether to show \p Text of \p J; \p Counts is of its texts so far. The jobs
/// of one module repeat messages about the module, or about a function that
/// several have copies of; in-process, each appears once. Messages about
/// assembly are always new: assembly is in one job only, and jobs may have
/// equal ones.
bool Notices::isNew(plan::JobId J, StringRef Text,
                    StringMap<unsigned> &Counts) {
  const JobFacts &Facts = Run.facts(J);
  if (Facts.IsWholeModule || Text.split('\n').first.contains(" <inline asm>:"))
    return true;
  unsigned Count = ++Counts[Text];
  unsigned &Shown = ShownCounts[(Facts.Name + Twine('\0') + Text).str()];
  if (Count <= Shown)
    return false;
  Shown = Count;
  return true;
}

void Notices::show(plan::JobId J, ArrayRef<CompilerMessage> Messages) {
  StringMap<unsigned> Counts;
  for (const CompilerMessage &M : Messages)
    if (isNew(J, M.Text, Counts))
      Ctx.msg().emit(M.Level, M.Text);
}

/// Fails the link with a compiler's errors. LLD reports each of them.
void Notices::failCompile(const Step &S, plan::JobId J, StringRef Plugin,
                          StringRef Where) {
  show(J, S.Messages);
  StringMap<unsigned> Counts;
  std::vector<std::string> Errors;
  for (const std::string &Text : S.Errors)
    if (isNew(J, Text, Counts))
      Errors.push_back(Text);
  if (S.Errors.empty() || !Errors.empty())
    addError(compileError(Run.facts(J).Title, Errors, Plugin, Where));
}

void Notices::showCompilerOutput(StringRef Output) {
  // An error decides about a job, which has it as its result.
  for (const CompilerMessage &M : readClangOutput(Output, "").Messages)
    if (M.Level == MessageLevel::Text)
      Ctx.msg().note(Twine(Ctx.Host.Plugin->name) + ": " + M.Text);
    else
      Ctx.msg().emit(M.Level, M.Text);
}

static std::string orUnknown(uint32_t N) {
  return N == UINT32_MAX ? "?" : std::to_string(N);
}

static std::string orUnknown(uint32_t N, StringRef Noun) {
  return N == UINT32_MAX ? ("? " + Noun + "s").str() : formatCount(N, Noun);
}

/// Reports the load if it has changed.
void Notices::handleLoad(const dtlto_load &Load) {
  IsThisMachine =
      Load.slots != 0 && Load.local != 0 && Load.local >= Load.slots;
  std::string Summary = orUnknown(Load.workers, "worker") + ", " +
                        orUnknown(Load.slots, "slot") + ", ";
  if (Summary == LastLoad)
    return;
  LastLoad = Summary;
  Ctx.msg().debug(plugin() + Summary + orUnknown(Load.free) + " free, " +
                  orUnknown(Load.queued, "job") + " queued");
}

/// Handles a failed attempt at the plugin. The step's actions are the plan's
/// decision.
void Notices::handleFailure(const Step &S) {
  plan::JobId J = S.Job;
  Cause Why = S.E->Why;
  // A compiler's output ends in a newline, a message doesn't.
  std::string Output = S.Output.rtrim().str();
  const std::string Text = jobPrefix(J);
  // The reason of the first try, which may differ.
  std::string PreviousReason = RetryReasons.lookup(J);
  if (auto It = Remote.find(J); It != Remote.end() && PreviousReason.empty())
    PreviousReason = It->second.text(": ");
  // Only another compiler shows whether a plain link would fail as well, or
  // make the same object.
  const bool IsDoubted = Why == Cause::Compiler || Why == Cause::BadResult;
  if (Why == Cause::Compiler)
    Remote[J] = {S.Why.str(), Output.empty() ? "nothing" : Output,
                 S.E->Attempt};
  else if (Why == Cause::BadResult)
    Remote[J] = {S.Why.str(), "", S.E->Attempt};
  std::string Reason = S.Why.str();
  if (!PreviousReason.empty() && kindOf(PreviousReason) != kindOf(S.Why))
    Reason += "; before that: " + PreviousReason;
  for (const Action &A : S.Actions) {
    if (A.Job != J)
      continue;
    switch (A.What) {
    case Action::Prepare:
      if (IsDoubted)
        return Ctx.msg().debug(Text + Remote[J].text() + "; trying again");
      RetryReasons[J] = S.Why.str();
      return Ctx.msg().debug(Text + S.Why + "; trying again");
    case Action::StayLocal:
      if (IsDoubted) {
        Ctx.msg().debug(Text + Remote[J].text() + "; compiling it locally");
      } else {
        warnLimited(Text + Reason + "; compiling it locally",
                    PreviousReason.empty() ? S.Why : StringRef(PreviousReason));
      }
      RetryReasons.erase(J);
      return;
    case Action::FailLink:
      return failWithoutFallback(Text + Reason);
    case Action::EndJob:
      if (Why == Cause::LocalCompiler)
        failCompile(S, J);
      else if (Why == Cause::Compiler) {
        StringRef Where = S.Why.substr(StringRef("the compiler failed").size());
        if (!S.Errors.empty())
          failCompile(S, J, plugin(), Where);
        else
          fail(plugin() + module(J) + " failed to compile" + Where + ": " +
               Output);
      }
      return;
    default:
      break;
    }
  }
  Ctx.msg().debug(Text + S.Why + "; another attempt is still running");
}

/// Handles a refused object that is valid: the program is unusual.
void Notices::handleConfirmed(plan::JobId J, plan::AttemptId A) {
  auto It = Remote.find(J);
  if (It == Remote.end() || It->second.Attempt != A)
    return;
  Ctx.msg().debug(jobPrefix(J) + It->second.What +
                  "; compiling it again gave the same object, which is used");
  Remote.erase(It);
  Confirmed.insert(J);
}

void Notices::handleWin(const Step &S, const Action &A) {
  plan::JobId J = A.Job;
  if (A.AKind == AttemptKind::Found) {
    ++Num.Found;
    return warnRefuted(J, "for another link");
  }
  if (S.E->What == PlanEvent::CacheHit) {
    ++Num.Cached;
    return;
  }
  show(J, S.Messages);
  auto It = LocalCauses.find(A.Attempt);
  if (It == LocalCauses.end()) {
    ++Num.Remote;
    StringRef Worker = Run.workerName(Run.workerOf(A.Attempt));
    if (!Worker.empty())
      Hosts.insert(Worker.str());
    Num.DuplicatesWon += A.AKind == AttemptKind::Duplicate;
    if (auto Again = RetryReasons.find(J); Again != RetryReasons.end()) {
      ++Num.Retried;
      LastRetry = module(J) + ": " + Again->second;
    }
    return warnRefuted(J, Worker.empty() ? "again" : "on " + Worker.str());
  }
  switch (It->second) {
  case Cause::NotExpressible:
    ++Num.NotExpressible;
    break;
  case Cause::BadResult:
    Num.Fallback += !Confirmed.count(J);
    break;
  case Cause::Straggler:
    ++Num.DuplicatesWon;
    ++Num.LocalWins;
    break;
  case Cause::PluginFull:
  case Cause::TakenBack:
  case Cause::PluginSilent:
  case Cause::Overdue:
    ++Num.Shared;
    break;
  default:
    ++Num.Fallback;
  }
  // This failure hasn't been reported, since the second try didn't fail. The
  // loss of a plugin has been, mostly with this reason.
  if (std::string Why = RetryReasons.lookup(J);
      !Why.empty() && It->second != Cause::PluginDropped)
    warnLimited(jobPrefix(J) + Why +
                    "; compiled locally before a second try ended",
                Why);
  warnRefuted(J, "locally");
}

/// Warns if a remote compiler failed on what was now compiled \p Where.
void Notices::warnRefuted(plan::JobId J, const std::string &Where) {
  auto It = Remote.find(J);
  if (It == Remote.end())
    return;
  if (It->second.Output.empty())
    warnLimited(jobPrefix(J) + It->second.What + "; compiled " + Where +
                    " instead",
                It->second.What);
  else
    warnLimited(jobPrefix(J) + It->second.What + ", but compiling it " + Where +
                    " worked; compiler output: " + It->second.Output,
                It->second.Output);
}

void Notices::handleStayLocal(const Step &S, const Action &A) {
  LocalCauses[A.Attempt] = A.Why;
  if (A.Why == Cause::NotExpressible)
    NotExpressible.insert(S.Why.str());
  else if (A.Why == Cause::Straggler)
    handleDuplicate(A);
  else if (A.Why == Cause::Overdue)
    Ctx.msg().debug(plugin() + module(A.Job) + " makes no progress" +
                    workerSuffix(A.Avoid) + "; compiling it locally");
  else if (A.Why == Cause::Timeout) {
    std::string Why = localReason(A.Why, "", "", Ctx.opts().TimeoutSeconds);
    warnLimited(jobPrefix(A.Job) + Why + "; compiling it locally", Why);
  }
}

std::string Notices::workerSuffix(plan::WorkerId Id) const {
  StringRef Worker = Run.workerName(Id);
  return Worker.empty() ? "" : (" on " + Worker).str();
}

void Notices::handleDuplicate(const Action &A) {
  ++Num.Duplicates;
  Ctx.msg().debug(plugin() + module(A.Job) + " takes long" +
                  workerSuffix(A.Avoid) + "; starting a duplicate attempt");
}

void Notices::handleDrop(const Step &S, Cause Why) {
  std::string Text = plugin();
  if (Why == Cause::AlwaysBusy)
    Text += "it is busy, but has not taken a job for " +
            std::to_string(Ctx.opts().TimeoutSeconds) +
            " s (--thinlto-dist-timeout)";
  else if (Why == Cause::Timeout)
    Text += "its last jobs had no result within " +
            std::to_string(Ctx.opts().TimeoutSeconds) +
            " s (--thinlto-dist-timeout)";
  else
    Text += S.Why;
  if (Run.hasFailed())
    failWithoutFallback(Text);
  else if (SettledJobs.size() == Run.numJobs())
    Ctx.msg().warning(Text);
  else
    Ctx.msg().warning(Text + "; compiling the remaining " + Ctx.Units +
                      " locally");
}

void Notices::handleEnd(const Step &S, const Action &A) {
  switch (A.Why) {
  case Cause::LocalCompiler:
    if (S.E->What == PlanEvent::LocalCompileFailed)
      failCompile(S, A.Job);
    return;
  case Cause::VerifyFailed:
    return fail(plugin() + S.Why);
  case Cause::PrepareFailed:
  case Cause::DeliverFailed:
    return addError(S.Why); // LLVM's own error
  case Cause::Cached:
    ++Num.Cached;
    return;
  default:
    return;
  }
}
