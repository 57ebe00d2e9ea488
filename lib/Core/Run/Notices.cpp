//===- Notices.cpp - What the user is told of a link ----------------------===//
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
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace dtlto;

using plan::Action;
using plan::AttemptKind;
using plan::Cause;
using PlanEvent = plan::Event;

// More of the same warning tells nobody more: of each kind, and in all.
static constexpr unsigned MaxOfKind = 3;
static constexpr size_t MaxWarnings = 10;
// Shorter than it takes to reach a farm, at worst.
static constexpr double ShortLinkSeconds = 1;

std::string dtlto::whyHere(Cause Why, StringRef What, StringRef PluginFailure,
                           unsigned TimeoutSeconds) {
  std::string Text = What.str();
  switch (Why) {
  case Cause::Timeout:
    Text = "no result within " + std::to_string(TimeoutSeconds) +
           " s (--thinlto-dist-timeout)";
    return Text;
  case Cause::NotExpressible:
    return (What + " cannot be expressed on a remote compiler's command line")
        .str();
  case Cause::PluginFull:
    return "the plugin was full";
  case Cause::TakenBack:
    return "taken back, since it only waited there";
  case Cause::PluginSilent:
    return "the plugin had returned no object";
  case Cause::Straggler:
    return "it took long at the plugin's";
  case Cause::Overdue:
    return "it made no progress at the plugin's";
  case Cause::PluginGone:
    return PluginFailure.empty() ? "the plugin has failed"
                                 : PluginFailure.str();
  default:
    return Text;
  }
}

/// Leaves out what differs between failures for the same reason: ports, times,
/// sizes, and the numbers of machines.
static std::string kindOf(StringRef Why) {
  std::string Kind;
  for (char C : Why.take_front(200)) {
    bool IsNumber = isDigit(C);
    if (!IsNumber || Kind.empty() || Kind.back() != '0')
      Kind += IsNumber ? '0' : C;
  }
  return Kind;
}

/// Warns of what became of one job, \p Why it did; the sum of those that are
/// suppressed is told at the end.
void Notices::warnLimited(const Twine &Text, StringRef Why) {
  if (L.msg().verbose() ||
      (NumWarnings < MaxWarnings && ++NumOfKind[kindOf(Why)] <= MaxOfKind)) {
    ++NumWarnings;
    L.msg().warning(Text);
  } else {
    ++NumSuppressed;
  }
}

void Notices::addError(const Twine &Text) {
  addError(createStringError(inconvertibleErrorCode(), Text));
}

/// Names the setting to blame, unless it is the linker's own option.
void Notices::failWithoutFallback(const Twine &Why) {
  const std::string &Setting = L.Host.Config.NoFallback;
  fail(Setting.empty() ? Why : Why + "; not compiled here, since " + Setting);
}

std::string Notices::plugin() const {
  return "plugin '" + std::string(L.Host.Plugin->name) + "': ";
}

bool Notices::isPart(plan::JobId J) const {
  return Run.title(J) != printable(Run.moduleName(J));
}

/// What is counted: modules, unless some are compiled in parts.
const char *Notices::units() const {
  for (plan::JobId J = 0; J != Run.numJobs(); ++J)
    if (isPart(J))
      return "modules and parts of modules";
  return "modules";
}

std::string Notices::module(plan::JobId J) const {
  return "module '" + Run.title(J).str() + "'";
}

void Notices::internalError(StringRef Rule) {
  fail("internal error: jobs are left, but no thread works on them" +
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
      ++NumVerified;
      break;
    case Action::Deliver:
      NumOurs += A.IsProven;
      break;
    case Action::DropPlugin:
      sawDrop(S, A.Why);
      break;
    case Action::EndJob:
      sawEnd(S, A);
      break;
    case Action::FailLink:
      if (A.Why == Cause::Timeout)
        failWithoutFallback(plugin() + module(A.Job) + ": " +
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
// What compilers say
//===----------------------------------------------------------------------===//

/// Whether a part of the module of \p J may say \p Text. What is said of a
/// whole module, or of a function that several parts have copies of, is said of
/// each part, and in-process only once. Assembly is in one part alone, and each
/// part may have the same.
bool Notices::isNew(plan::JobId J, StringRef Text,
                    StringMap<unsigned> &OfPart) {
  StringRef Module = Run.moduleName(J);
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

/// The link fails over a compiler's errors, each of which LLD shows as one of
/// its own.
void Notices::failCompile(const Step &S, plan::JobId J, StringRef Plugin,
                          StringRef Where) {
  show(J, S.Messages);
  StringMap<unsigned> OfPart;
  std::vector<std::string> Errors;
  for (const std::string &Text : S.Errors)
    if (isNew(J, Text, OfPart))
      Errors.push_back(Text);
  if (S.Errors.empty() || !Errors.empty())
    addError(compileError(Run.title(J), Errors, Plugin, Where));
}

void Notices::sawWords(StringRef Words) {
  // Errors decide about a job, which has them as its result.
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

/// Only what isn't known yet is told.
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

/// An attempt at the plugin's has failed. What the plan makes of that stands in
/// the actions.
void Notices::sawFailure(const Step &S) {
  plan::JobId J = S.Job;
  Cause Why = S.E->Why;
  // A compiler's words end in a newline, and a message doesn't.
  std::string Said = S.Said.rtrim().str();
  std::string Text = plugin() + module(J) + ": ";
  // A second try that fails in another way says nothing of the first.
  std::string Before = WhyAgain.lookup(J);
  if (auto It = Remote.find(J); It != Remote.end() && Before.empty())
    Before = It->second.text(": ");
  // Only another compiler can tell whether a plain link would fail too, or make
  // the same object.
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
        warnLimited(Text + Both + "; compiling it here",
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
  L.msg().debug(Text + S.Why + "; it also runs elsewhere");
}

/// An object that was refused is the program's own, and no worker's mistake.
void Notices::sawConfirmed(plan::JobId J, plan::AttemptId A) {
  auto It = Remote.find(J);
  if (It == Remote.end() || It->second.Attempt != A)
    return;
  L.msg().debug(plugin() + module(J) + ": " + It->second.What +
                "; compiled again, it is the same: it is used");
  Remote.erase(It);
  Confirmed.insert(J);
}

void Notices::sawWin(const Step &S, const Action &A) {
  plan::JobId J = A.Job;
  if (S.E->What == PlanEvent::CacheHit) {
    ++NumCached;
    return;
  }
  show(J, S.Messages);
  auto It = Here.find(A.Attempt);
  if (It == Here.end()) {
    ++NumRemote;
    if (StringRef W = Run.workerName(Run.workerOf(A.Attempt)); !W.empty())
      Hosts.insert(W.str());
    NumDuplicatesWon += A.AKind == AttemptKind::Duplicate;
    if (auto Again = WhyAgain.find(J); Again != WhyAgain.end()) {
      ++NumRetried;
      LastRetry = module(J) + ": " + Again->second;
    }
    std::string Worker = Run.workerName(Run.workerOf(A.Attempt)).str();
    return warnRefuted(J, Worker.empty() ? "again" : "on " + Worker);
  }
  switch (It->second) {
  case Cause::NotExpressible:
    ++NumNotExpressible;
    break;
  case Cause::BadResult:
    NumFallback += !Confirmed.count(J);
    break;
  case Cause::Straggler:
    ++NumDuplicatesWon;
    ++NumWonHere;
    break;
  case Cause::PluginFull:
  case Cause::TakenBack:
  case Cause::PluginSilent:
  case Cause::Overdue:
    ++NumShared;
    break;
  default:
    ++NumFallback;
  }
  // A failure that nobody has been told of, since its second try has not
  // failed. Where the plugin is lost, that has been told, most often with this
  // reason.
  if (std::string Why = WhyAgain.lookup(J);
      !Why.empty() && It->second != Cause::PluginGone)
    warnLimited(plugin() + module(J) + ": " + Why +
                    "; compiled here before a second try ended",
                Why);
  warnRefuted(J, "here");
}

/// A compiler elsewhere may have failed with what now was compiled \p Where.
void Notices::warnRefuted(plan::JobId J, const std::string &Where) {
  auto It = Remote.find(J);
  if (It == Remote.end())
    return;
  if (It->second.Said.empty())
    warnLimited(plugin() + module(J) + ": " + It->second.What + "; compiled " +
                    (Where == "here" ? "locally" : Where) + " instead",
                It->second.What);
  else
    warnLimited(plugin() + module(J) + ": " + It->second.What +
                    ", but compiling it " + Where +
                    " worked; it said: " + It->second.Said,
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
                  onWorker(A.Avoid) + "; compiling it here");
  else if (A.Why == Cause::Timeout) {
    std::string Why = whyHere(A.Why, "", "", L.opts().TimeoutSeconds);
    warnLimited(plugin() + module(A.Job) + ": " + Why + "; compiling it here",
                Why);
  }
}

std::string Notices::onWorker(plan::WorkerId Id) const {
  StringRef Worker = Run.workerName(Id);
  return Worker.empty() ? "" : (" on " + Worker).str();
}

void Notices::sawDuplicate(const Action &A) {
  ++NumDuplicates;
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
    L.msg().warning(Text + "; compiling the remaining " + units() + " here");
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
    return addError(S.Why); // LLVM's own words
  case Cause::Cached:
    ++NumCached;
    return;
  default:
    return;
  }
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// What is known of why the plugin made no object of this link.
std::string Notices::whyNone() const {
  auto seconds = [](plan::Time T) {
    return formatv("{0:f1} s", std::chrono::duration<double>(T).count()).str();
  };
  const size_t NumJobs = Run.numJobs();
  std::string Jobs =
      NumJobs == 1 ? "the job" : "the " + std::to_string(NumJobs) + " jobs";
  std::string Why;
  if (!IsOpen) {
    Why = "it was not open after " + seconds(Now);
  } else if (Accepted.empty()) {
    Why = WasBusy ? "it was full, and accepted none of " + Jobs
                  : "it accepted none of " + Jobs + " within " + seconds(Now);
  } else {
    Why = "it accepted " + (Accepted.size() == NumJobs
                                ? Jobs
                                : std::to_string(Accepted.size()) + " of " +
                                      std::to_string(NumJobs) + " jobs");
    Why += Begun.empty() ? ", but started none"
                         : ", started " + std::to_string(Begun.size()) +
                               ", but returned no result";
    Why += " within " + seconds(Now - FirstAccepted);
  }
  return LastFailure.empty() ? Why : Why + "; the last failure: " + LastFailure;
}

/// On a terminal, one line of a link through other machines stays.
void Notices::showCounts() const {
  const size_t NumJobs = Run.numJobs();
  if (IsThisMachine || L.RunOfTwo == 1 || hasErrors() ||
      L.opts().Progress == ProgressKind::Never || !L.msg().columns())
    return;
  std::vector<std::string> Parts;
  if (NumCached)
    Parts.push_back(std::to_string(NumCached) + " from the cache");
  if (NumRemote && Hosts.empty())
    Parts.push_back(std::to_string(NumRemote) + " remotely");
  else if (NumRemote)
    Parts.push_back(std::to_string(NumRemote) + " on " +
                    (Hosts.size() == 1
                         ? *Hosts.begin()
                         : std::to_string(Hosts.size()) + " hosts"));
  if (size_t NumHere = NumFallback + NumShared + NumNotExpressible + NumWonHere)
    Parts.push_back(std::to_string(NumHere) + " locally");
  if (Parts.empty() || NumCached == NumJobs)
    return;
  L.msg().note(Twine(NumJobs) + " " + (NumJobs == 1 ? "module" : units()) +
               ": " + join(Parts, ", "));
}

void Notices::summarize(ArrayRef<std::string> Notes,
                        ArrayRef<std::string> DebugNotes) {
  size_t NumJobs = Run.numJobs();
  auto ofAll = [NumJobs](size_t N) {
    return std::to_string(N) + " of " + std::to_string(NumJobs);
  };
  for (const std::string &Note : Notes)
    L.msg().note(Note);
  std::string Stays;
  if (NumNotExpressible)
    Stays = ofAll(NumNotExpressible) + join(NotExpressible, ", ");
  if (NumNotExpressible && (!L.FirstStays || *L.FirstStays != Stays))
    L.msg().note(plugin() + ofAll(NumNotExpressible) + " " + units() +
                 " were compiled here, since " + join(NotExpressible, ", ") +
                 " cannot be expressed on a remote compiler's command line");
  if (L.FirstStays)
    *L.FirstStays = std::move(Stays);
  if (NumRetried)
    L.msg().note(plugin() + ofAll(NumRetried) +
                 " jobs failed and were done when given to it again; the last "
                 "one was " +
                 LastRetry);
  if (NumSuppressed)
    L.msg().warning(plugin() + Twine(NumSuppressed) + " more " + units() +
                    " failed in the same way (use --verbose to list them)");
  // Beside workers that did nothing, all were.
  if (NumFallback)
    L.msg().warning(plugin() +
                    ofAll(NumFallback + (NumRemote ? 0 : NumShared)) + " " +
                    units() + " were compiled here instead");
  // A plugin with nothing to do isn't opened, and says nothing of its own.
  if (NumCached)
    L.msg().debug(plugin() + ofAll(NumCached) + " objects came from the cache");
  L.msg().debug(Twine(NumJobs) + " jobs, " +
                formatv("{0:f3}", secondsSince(L.Started)).str() +
                " s from first start to last object");
  for (const std::string &Note : DebugNotes)
    L.msg().debug(Note);
  // A link that is over at once may end before any farm has answered.
  if (NumShared && NumShared + NumCached + NumNotExpressible == NumJobs)
    L.msg().emit(secondsSince(L.Started) < ShortLinkSeconds
                     ? MessageLevel::Debug
                     : MessageLevel::Warning,
                 plugin() + whyNone() +
                     "; all were compiled locally; --thinlto-dist-status "
                     "shows the farm");
  else if (NumShared)
    L.msg().debug(plugin() + ofAll(NumShared) + " " + units() +
                  " were compiled here beside its own");
  if (NumDuplicates)
    L.msg().debug(plugin() +
                  "duplicate attempts for slow jobs: " + Twine(NumDuplicates) +
                  " started, " + Twine(NumDuplicatesWon) + " finished first");
  if (NumVerified)
    L.msg().debug(plugin() + ofAll(NumVerified) + " objects verified");
  else if (L.opts().VerifyPercent != 0 && NumJobs != 0 && !hasErrors())
    L.msg().warning(
        plugin() + "none of the " + Twine(NumJobs) +
        " objects was verified (--thinlto-dist-verify): " + Twine(NumCached) +
        " came from the cache, " + Twine(NumOurs) + " were compiled here");
  showCounts();
}
