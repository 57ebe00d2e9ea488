//===- Rules.cpp - The rules of a link ------------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"
#include <algorithm>

using namespace dtlto;
using namespace dtlto::sim;
using namespace dtlto::plan;
using namespace std::chrono_literals;

using Kind = AttemptKind;

Rules::Rules(const std::vector<JobInfo> &Jobs, const Options &Opts)
    : Infos(Jobs), Opts(Opts), Jobs(Jobs.size()), Attempts(1) {
  for (const JobInfo &J : Jobs)
    SecondsInAll += J.Estimate;
}

void Rules::expect(bool Holds, const char *Rule) {
  if (Holds || !Broken.empty())
    return;
  if (NamedJob)
    Broken += "job " + std::to_string(*NamedJob) + ": ";
  if (NamedAttempt)
    Broken += "attempt " + std::to_string(NamedAttempt) + ": ";
  Broken += Rule;
}

void Rules::setSubject(std::optional<JobId> J, AttemptId A) {
  NamedJob = J;
  NamedAttempt = A;
}

Rules::Attempt *Rules::find(AttemptId Id) {
  return Id < Attempts.size() && Attempts[Id].IsKnown ? &Attempts[Id] : nullptr;
}

void Rules::forgetIfOver(AttemptId Id) {
  const Attempt &A = Attempts[Id];
  // The only remaining attempt of a job doesn't count as a duplicate.
  if (const Job &J = Jobs[A.Job]; !isLive(A) && numLive(J) == 1)
    for (AttemptId Other : J.Attempts)
      Attempts[Other].IsSecond = false;
  if (!isLive(A) && !A.Prepares && !A.Compiles)
    Live.erase(Id);
}

unsigned Rules::numLive(const Job &J) const {
  return static_cast<unsigned>(
      std::count_if(J.Attempts.begin(), J.Attempts.end(),
                    [this](AttemptId Id) { return isLive(Attempts[Id]); }));
}

std::string Rules::onStep(Time T, const Event *E,
                          const std::vector<Action> &Actions) {
  Now = T;
  BusyAttempt = 0;
  setSubject();
  if (E)
    onEvent(*E);
  for (const Action &A : Actions)
    onAction(A);
  setSubject();
  checkStep();
  return Broken;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void Rules::onEvent(const Event &E) {
  switch (E.What) {
  case Event::Tick:
    Plugin.CallSince = E.CallSince;
    return;
  case Event::Opened:
    Plugin.IsOpen = true;
    Plugin.WantsBatches = E.WantsBatches;
    Plugin.LastActivity = Plugin.LastProgress = Now;
    return;
  case Event::OpenFailed:
    IsFallbackForbidden |= E.IsArgumentWrong && !Plugin.IsDropped;
    return;
  case Event::PluginFailed:
    return;
  case Event::RoomChanged:
    Plugin.MustWait = Plugin.IsBatchReported = false;
    Plugin.LastActivity = Now;
    return;
  case Event::LoadReported:
    Slots.reset();
    if (E.ReportedLoad.Slots != Unknown)
      MaxSlots = std::max(MaxSlots, *(Slots = E.ReportedLoad.Slots));
    return;
  case Event::TokenTaken:
    ++NumTokens;
    IsTokenRequested = false;
    return;
  case Event::Verified:
  case Event::VerifyFailed:
  case Event::Delivered:
  case Event::DeliverFailed:
    return onJobEvent(E);
  case Event::Confirmed:
    if (Attempt *A = find(E.Attempt))
      A->IsWrong = false;
    return;
  case Event::Found:
    Jobs[E.Job].IsFound = true;
    return;
  default:
    if (Attempt *A = find(E.Attempt))
      onAttemptEvent(E, *A);
  }
}

void Rules::onJobEvent(const Event &E) {
  Job &J = Jobs[E.Job];
  HasDifference |= E.What == Event::VerifyFailed;
  // The plugin of this link didn't make an object from a cache.
  if (Attempt &Winner = Attempts[J.Winner];
      E.What == Event::VerifyFailed && !Winner.IsCached)
    Winner.IsWrong = true;
  J.Reasons.insert(E.What == Event::Verified       ? Cause::None
                   : E.What == Event::VerifyFailed ? Cause::VerifyFailed
                   : E.What == Event::Delivered    ? Cause::Done
                                                   : Cause::DeliverFailed);
}

/// Records a sign of life of the plugin.
void Rules::recordSign(const Event &E) {
  if (E.What < Event::Accepted || E.What > Event::Failed ||
      E.What == Event::Busy)
    return;
  Plugin.LastActivity = Now;
  if (E.What != Event::StateChanged || E.State != PluginState::Queued)
    Plugin.LastProgress = Now;
}

void Rules::onAttemptEvent(const Event &E, Attempt &A) {
  Job &J = Jobs[A.Job];
  if (E.What >= Event::Prepared && E.What <= Event::NotExpressible)
    A.Prepares = false;
  if (E.What == Event::CompiledLocally || E.What == Event::LocalCompileFailed)
    A.Compiles = false;
  if (!isLive(A))
    return forgetIfOver(E.Attempt);
  if (E.Worker)
    A.Worker = E.Worker;
  A.LastSign = Now;
  recordSign(E);
  bool WasAtPlugin = A.At == Stage::Offered || A.At == Stage::Accepted;
  switch (E.What) {
  case Event::Prepared:
  case Event::CacheHit:
  case Event::PrepareFailed:
  case Event::NotExpressible:
    onPreparation(E, A);
    break;
  case Event::Accepted:
    if (A.At == Stage::Offered) {
      A.At = Stage::Accepted;
      ++J.NumAccepted;
      Plugin.IsBatchOpen = Plugin.WantsBatches;
    }
    break;
  case Event::Busy:
    Plugin.MustWait |= !E.HasRoomSince && A.At == Stage::Offered;
    if (A.At == Stage::Offered)
      A.At = Stage::Ready;
    BusyAttempt = E.Attempt;
    break;
  case Event::StateChanged:
    A.IsRunning |= E.State != PluginState::Queued;
    A.RunsLocally = E.RanLocally && E.State != PluginState::Queued;
    break;
  case Event::Succeeded:
    Plugin.IsBatchReported = false;
    if (WasAtPlugin)
      A.At = Stage::Good;
    A.IsFromLinker = E.IsFromLinker;
    Plugin.MustWait = false;
    break;
  case Event::Failed:
    onFailure(E, A, WasAtPlugin);
    break;
  case Event::CompiledLocally:
    A.At = Stage::Good;
    A.IsFromLinker = true;
    break;
  case Event::LocalCompileFailed:
    A.At = Stage::Ended;
    J.Reasons.insert(Cause::LocalCompiler);
    break;
  default:
    break;
  }
  forgetIfOver(E.Attempt);
}

void Rules::onPreparation(const Event &E, Attempt &A) {
  std::set<Cause> &Reasons = Jobs[A.Job].Reasons;
  A.At = Stage::Ended;
  if (E.What == Event::Prepared) {
    A.At = A.IsAtPlugin ? Stage::Ready : Stage::Planned;
    A.Bytes = E.Bytes;
  } else if (E.What == Event::PrepareFailed) {
    Reasons.insert(Cause::PrepareFailed);
  } else if (E.What == Event::CacheHit && E.MustCompare) {
    A.At = Stage::Good;
    A.IsCached = true;
  } else if (E.What == Event::CacheHit) {
    Reasons.insert(Cause::Cached);
  }
}

void Rules::onFailure(const Event &E, Attempt &A, bool WasAtPlugin) {
  Job &J = Jobs[A.Job];
  Plugin.IsBatchReported = false;
  if (WasAtPlugin) {
    A.At = Stage::Ended;
    A.IsWrong = E.Why == Cause::Compiler || E.Why == Cause::BadResult;
    J.NumCompileErrors += E.Why == Cause::Compiler;
    J.NumBadResults += E.Why == Cause::BadResult;
  }
  J.Reasons.insert(E.Why);
  HadProblems = true;
  J.AvoidedWorker =
      E.Why == Cause::Compiler || E.Why == Cause::BadResult ? A.Worker : 0;
  J.MayTryAgain = E.Why == Cause::Infrastructure || E.Why == Cause::Cancelled ||
                  (!mayFallBack() &&
                   ((E.Why == Cause::Compiler && J.NumCompileErrors == 1) ||
                    (E.Why == Cause::BadResult && J.NumBadResults == 1)));
  Plugin.MustWait &= E.Why == Cause::Refused;
}

//===----------------------------------------------------------------------===//
// After each step
//===----------------------------------------------------------------------===//

void Rules::checkStep() {
  size_t NumDuplicates = 0, NumCompiling = 0, NumToCompile = 0;
  double DuplicateSeconds = 0;
  Time Late = 2 * Opts.DeadlineStep + 1ms;
  for (AttemptId Id : Live) {
    const Attempt &A = Attempts[Id];
    const Job &J = Jobs[A.Job];
    bool IsDuplicate = A.IsSecond && isLive(A) &&
                       (A.Kind == Kind::Duplicate || A.Why == Cause::Straggler);
    NumDuplicates += IsDuplicate;
    NumCompiling += A.Compiles;
    NumToCompile += A.Compiles || A.RunsLocally || (isLive(A) && !A.IsAtPlugin);
    DuplicateSeconds += IsDuplicate ? Infos[A.Job].Estimate : 0;
    if (!Broken.empty())
      return;
    setSubject(A.Job, Id);
    expect(Id != BusyAttempt || A.Kind != Kind::Duplicate || !A.IsSecond,
           "is a duplicate that waits for room");
    expect(J.NumAccepted <= 2 * Opts.MaxTries, "is tried without an end");
    expect(!Failed || !isLive(A), "goes on after the link has failed");
    expect(!Plugin.IsDropped ||
               (A.At != Stage::Offered && A.At != Stage::Accepted &&
                A.At != Stage::Ready),
           "is at a plugin that was dropped");
    // Every wait ends.
    if (A.At == Stage::Accepted)
      expect(Now - (A.IsRunning ? A.LastSign
                                : std::max(A.LastSign, Plugin.LastActivity)) <=
                 Opts.JobTimeout + Late,
             "is waited for though it shows no sign of life");
    if (A.At == Stage::Accepted && !A.IsRunning)
      expect(Now - Plugin.LastProgress <= 4 * Opts.JobTimeout + Late,
             "is waited for though its plugin only talks");
  }
  setSubject();
  expect(!Plugin.IsBatchOpen || !Plugin.IsOpen || Plugin.IsDropped || Failed ||
             Plugin.IsClosed || !isBatchComplete(),
         "the plugin has all jobs, and isn't told");
  expect(!Opts.NeedsTokens || NumCompiling <= NumTokens + 1,
         "more runs here than there are tokens for");
  expect(NumTokens == 0 || NumTokens < NumToCompile,
         "a token is kept that no job needs");
  expect(NumDuplicates <= 1 ||
             DuplicateSeconds <=
                 SecondsInAll * Opts.DuplicatePercent / 100 + 1e-6,
         "more is done twice than the user allows");
  expect(Plugin.CallSince == Never || Plugin.IsDropped || Plugin.IsClosed ||
             Failed || !Plugin.WasOpenRequested ||
             Now - Plugin.CallSince <=
                 std::min(Opts.CallTimeout, Opts.JobTimeout) + Late,
         "a call is waited for though it hangs");
}

std::string Rules::checkEnd() const {
  for (size_t I = 0; I != Jobs.size(); ++I)
    if (!Jobs[I].Ended)
      return "job " + std::to_string(I) + ": has no end";
  if (Plugin.WasOpenRequested && !Plugin.IsClosed)
    return "the plugin is left open";
  bool AllBegun = std::all_of(Jobs.begin(), Jobs.end(),
                              [](const Job &J) { return J.HasBegun; });
  size_t Share = (Jobs.size() * Opts.VerifyPercent + 99) / 100;
  if (AllBegun ? NumSampled != Share : NumSampled > Share)
    return "of the jobs, another share is chosen than the user wants";
  if (NumTokens != 0)
    return "a token is not given back";
  for (AttemptId Id : Live)
    return "attempt " + std::to_string(Id) + ": has no end";
  return {};
}
