//===- Notices.cpp - Messages about a link --------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Notices.h"
#include "Host/CodegenResult.h"
#include "Run/CompilerWords.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;

using plan::Action;
using plan::AttemptKind;
using plan::Cause;
using PlanEvent = plan::Event;

// Limits on repeated warnings: per kind, and in total.
static constexpr unsigned MaxOfKind = 3;
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
  if (L.msg().verbose() ||
      (Num.Warnings < MaxWarnings && ++NumOfKind[kindOf(Why)] <= MaxOfKind)) {
    ++Num.Warnings;
    L.msg().warning(Text);
  } else {
    ++Num.Suppressed;
  }
}

void Notices::addError(const Twine &Text) {
  addError(createStringError(inconvertibleErrorCode(), Text));
}

/// Names the setting to blame, unless it is the linker's own option.
void Notices::failWithoutFallback(const Twine &Why) {
  const std::string &Setting = L.Host.Config.NoFallback;
  fail(Setting.empty() ? Why
                       : Why + "; not compiled locally, since " + Setting);
}

std::string Notices::plugin() const {
  return "plugin '" + std::string(L.Host.Plugin->name) + "': ";
}

bool Notices::isPart(plan::JobId J) const {
  return Run.facts(J).Title != printable(Run.facts(J).Name);
}

/// The unit of counts: modules, unless some are compiled in parts.
const char *Notices::units() const {
  for (plan::JobId J = 0; J != Run.numJobs(); ++J)
    if (isPart(J))
      return "modules and parts of modules";
  return "modules";
}

std::string Notices::module(plan::JobId J) const {
  return "module '" + Run.facts(J).Title + "'";
}

/// The beginning of a message about \p J at the plugin.
std::string Notices::ofJob(plan::JobId J) const {
  return plugin() + module(J) + ": ";
}

void Notices::internalError(StringRef Rule) {
  fail("internal error: jobs are left, but no thread is working on them" +
       (Rule.empty() ? "" : ": " + Rule));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Notices::saw(const Step &S) {
  sawPlugin(S);
  if (S.Load)
    sawLoad(*S.Load);
  if (S.E && S.E->What == PlanEvent::Failed)
    sawFailure(S);
  if (S.E && S.E->What == PlanEvent::Confirmed)
    sawConfirmed(S.E->Job, S.E->Attempt);
  for (const Action &A : S.Actions) {
    if (A.What == Action::Won || A.What == Action::EndJob)
      Settled.insert(A.Job);
    switch (A.What) {
    case Action::Won:
      sawWin(S, A);
      break;
    case Action::StaysHere:
      sawStayHere(S, A);
      break;
    case Action::Prepare:
      if (A.AKind == AttemptKind::Duplicate)
        sawDuplicate(A);
      break;
    case Action::Verify:
      ++Num.Verified;
      break;
    case Action::Deliver:
      Num.Ours += A.IsProven;
      break;
    case Action::DropPlugin:
      sawDrop(S, A.Why);
      break;
    case Action::EndJob:
      sawEnd(S, A);
      break;
    case Action::FailLink:
      if (A.Why == Cause::Timeout)
        failWithoutFallback(ofJob(A.Job) +
                            whyHere(A.Why, "", "", L.opts().TimeoutSeconds));
      break;
    default:
      break;
    }
  }
}

void Notices::sawPlugin(const Step &S) {
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
      Begun.insert(S.Job);
    return;
  case PlanEvent::Failed:
    if (S.E->Why != Cause::Compiler && S.E->Why != Cause::CompilerHere)
      LastFailure = S.Why.str();
    return;
  default:
    return;
  }
}

//===----------------------------------------------------------------------===//
// Messages of compilers
//===----------------------------------------------------------------------===//

/// Whether to show \p Text of a part of \p J's module. Parts repeat messages
/// about the whole module, or about a function that several parts have copies
/// of; in-process, each appears once. Messages about assembly are always new:
/// assembly is in one part only, and parts may have equal ones.
bool Notices::isNew(plan::JobId J, StringRef Text,
                    StringMap<unsigned> &OfPart) {
  StringRef Module = Run.facts(J).Name;
  if (!isPart(J) || Text.split('\n').first.contains(" <inline asm>:"))
    return true;
  unsigned Count = ++OfPart[Text];
  unsigned &Shown = SaidOfParts[(Module + Twine('\0') + Text).str()];
  if (Count <= Shown)
    return false;
  Shown = Count;
  return true;
}

void Notices::show(plan::JobId J, ArrayRef<CompilerMessage> Messages) {
  StringMap<unsigned> OfPart;
  for (const CompilerMessage &M : Messages)
    if (isNew(J, M.Text, OfPart))
      L.msg().emit(M.Level, M.Text);
}

/// Fails the link with a compiler's errors. LLD reports each of them.
void Notices::failCompile(const Step &S, plan::JobId J, StringRef Plugin,
                          StringRef Where) {
  show(J, S.Messages);
  StringMap<unsigned> OfPart;
  std::vector<std::string> Errors;
  for (const std::string &Text : S.Errors)
    if (isNew(J, Text, OfPart))
      Errors.push_back(Text);
  if (S.Errors.empty() || !Errors.empty())
    addError(compileError(Run.facts(J).Title, Errors, Plugin, Where));
}

void Notices::sawWords(StringRef Words) {
  // An error decides about a job, which has it as its result.
  for (const CompilerMessage &M : readClangWords(Words, "").Messages)
    if (M.Level == MessageLevel::Text)
      L.msg().note(Twine(L.Host.Plugin->name) + ": " + M.Text);
    else
      L.msg().emit(M.Level, M.Text);
}

static std::string known(uint32_t N) {
  return N == UINT32_MAX ? "?" : std::to_string(N);
}

static std::string known(uint32_t N, StringRef Noun) {
  return N == UINT32_MAX ? ("? " + Noun + "s").str() : counted(N, Noun);
}

/// Reports the load if it has changed.
void Notices::sawLoad(const dtlto_load &Load) {
  IsThisMachine =
      Load.slots != 0 && Load.local != 0 && Load.local >= Load.slots;
  std::string News =
      known(Load.workers, "worker") + ", " + known(Load.slots, "slot") + ", ";
  if (News == LastLoad)
    return;
  LastLoad = News;
  L.msg().debug(plugin() + News + known(Load.free) + " free, " +
                known(Load.queued, "job") + " queued");
}

/// Handles a failed attempt at the plugin. The step's actions are the plan's
/// decision.
void Notices::sawFailure(const Step &S) {
  plan::JobId J = S.Job;
  Cause Why = S.E->Why;
  // A compiler's output ends in a newline, a message doesn't.
  std::string Said = S.Said.rtrim().str();
  const std::string Text = ofJob(J);
  // The reason of the first try, which may differ.
  std::string Before = WhyAgain.lookup(J);
  if (auto It = Remote.find(J); It != Remote.end() && Before.empty())
    Before = It->second.text(": ");
  // Only another compiler shows whether a plain link would fail as well, or
  // make the same object.
  const bool IsDoubted = Why == Cause::Compiler || Why == Cause::BadResult;
  if (Why == Cause::Compiler)
    Remote[J] = {S.Why.str(), Said.empty() ? "nothing" : Said, S.E->Attempt};
  else if (Why == Cause::BadResult)
    Remote[J] = {S.Why.str(), "", S.E->Attempt};
  std::string Both = S.Why.str();
  if (!Before.empty() && kindOf(Before) != kindOf(S.Why))
    Both += "; before that: " + Before;
  for (const Action &A : S.Actions) {
    if (A.Job != J)
      continue;
    switch (A.What) {
    case Action::Prepare:
      if (IsDoubted)
        return L.msg().debug(Text + Remote[J].text() + "; trying again");
      WhyAgain[J] = S.Why.str();
      return L.msg().debug(Text + S.Why + "; trying again");
    case Action::StaysHere:
      if (IsDoubted) {
        L.msg().debug(Text + Remote[J].text() + "; compiling it locally");
      } else {
        warnLimited(Text + Both + "; compiling it locally",
                    Before.empty() ? S.Why : StringRef(Before));
      }
      WhyAgain.erase(J);
      return;
    case Action::FailLink:
      return failWithoutFallback(Text + Both);
    case Action::EndJob:
      if (Why == Cause::CompilerHere)
        failCompile(S, J);
      else if (Why == Cause::Compiler) {
        StringRef Where = S.Why.substr(StringRef("the compiler failed").size());
        if (!S.Errors.empty())
          failCompile(S, J, plugin(), Where);
        else
          fail(plugin() + module(J) + " failed to compile" + Where + ": " +
               Said);
      }
      return;
    default:
      break;
    }
  }
  L.msg().debug(Text + S.Why + "; another attempt is still running");
}

/// Handles a refused object that is valid: the program is unusual.
void Notices::sawConfirmed(plan::JobId J, plan::AttemptId A) {
  auto It = Remote.find(J);
  if (It == Remote.end() || It->second.Attempt != A)
    return;
  L.msg().debug(ofJob(J) + It->second.What +
                "; compiling it again gave the same object, which is used");
  Remote.erase(It);
  Confirmed.insert(J);
}

void Notices::sawWin(const Step &S, const Action &A) {
  plan::JobId J = A.Job;
  if (S.E->What == PlanEvent::CacheHit) {
    ++Num.Cached;
    return;
  }
  show(J, S.Messages);
  auto It = Here.find(A.Attempt);
  if (It == Here.end()) {
    ++Num.Remote;
    if (StringRef W = Run.workerName(Run.workerOf(A.Attempt)); !W.empty())
      Hosts.insert(W.str());
    Num.DuplicatesWon += A.AKind == AttemptKind::Duplicate;
    if (auto Again = WhyAgain.find(J); Again != WhyAgain.end()) {
      ++Num.Retried;
      LastRetry = module(J) + ": " + Again->second;
    }
    std::string Worker = Run.workerName(Run.workerOf(A.Attempt)).str();
    return warnRefuted(J, Worker.empty() ? "again" : "on " + Worker);
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
    ++Num.WonHere;
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
  if (std::string Why = WhyAgain.lookup(J);
      !Why.empty() && It->second != Cause::PluginGone)
    warnLimited(ofJob(J) + Why + "; compiled locally before a second try ended",
                Why);
  warnRefuted(J, "locally");
}

/// Warns if a remote compiler failed on what was now compiled \p Where.
void Notices::warnRefuted(plan::JobId J, const std::string &Where) {
  auto It = Remote.find(J);
  if (It == Remote.end())
    return;
  if (It->second.Said.empty())
    warnLimited(ofJob(J) + It->second.What + "; compiled " + Where + " instead",
                It->second.What);
  else
    warnLimited(ofJob(J) + It->second.What + ", but compiling it " + Where +
                    " worked; compiler output: " + It->second.Said,
                It->second.Said);
}

void Notices::sawStayHere(const Step &S, const Action &A) {
  Here[A.Attempt] = A.Why;
  if (A.Why == Cause::NotExpressible)
    NotExpressible.insert(S.Why.str());
  else if (A.Why == Cause::Straggler)
    sawDuplicate(A);
  else if (A.Why == Cause::Overdue)
    L.msg().debug(plugin() + module(A.Job) + " makes no progress" +
                  onWorker(A.Avoid) + "; compiling it locally");
  else if (A.Why == Cause::Timeout) {
    std::string Why = whyHere(A.Why, "", "", L.opts().TimeoutSeconds);
    warnLimited(ofJob(A.Job) + Why + "; compiling it locally", Why);
  }
}

std::string Notices::onWorker(plan::WorkerId Id) const {
  StringRef Worker = Run.workerName(Id);
  return Worker.empty() ? "" : (" on " + Worker).str();
}

void Notices::sawDuplicate(const Action &A) {
  ++Num.Duplicates;
  L.msg().debug(plugin() + module(A.Job) + " takes long" + onWorker(A.Avoid) +
                "; starting a duplicate attempt");
}

void Notices::sawDrop(const Step &S, Cause Why) {
  std::string Text = plugin();
  if (Why == Cause::AlwaysBusy)
    Text += "it is busy, but has not taken a job for " +
            std::to_string(L.opts().TimeoutSeconds) +
            " s (--thinlto-dist-timeout)";
  else
    Text += S.Why;
  if (Run.hasFailed())
    failWithoutFallback(Text);
  else if (Settled.size() == Run.numJobs())
    L.msg().warning(Text);
  else
    L.msg().warning(Text + "; compiling the remaining " + units() + " locally");
}

void Notices::sawEnd(const Step &S, const Action &A) {
  switch (A.Why) {
  case Cause::CompilerHere:
    if (S.E->What == PlanEvent::CompileHereFailed)
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
