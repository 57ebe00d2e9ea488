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

Rules::Rules(const std::vector<JobInfo> &Jobs, const Options &O)
    : Infos(Jobs), O(O), Jobs(Jobs.size()), Attempts(1) {
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

void Rules::name(std::optional<JobId> J, AttemptId A) {
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

std::string Rules::saw(Time T, const Event *E,
                       const std::vector<Action> &Actions) {
  Now = T;
  FoundNoRoom = 0;
  name();
  if (E)
    onEvent(*E);
  for (const Action &A : Actions)
    onAction(A);
  name();
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
    Plugin.Sign = Plugin.Work = Now;
    return;
  case Event::OpenFailed:
    Forbidden |= E.IsArgumentWrong && !Plugin.Dropped;
    return;
  case Event::PluginFailed:
    return;
  case Event::RoomChanged:
    Plugin.MustWait = Plugin.BatchIsTold = false;
    Plugin.Sign = Now;
    return;
  case Event::LoadKnown:
    Slots.reset();
    if (E.TheLoad.Slots != Unknown)
      MostSlots = std::max(MostSlots, *(Slots = E.TheLoad.Slots));
    return;
  case Event::TokenTaken:
    ++NumTokens;
    TokenAsked = false;
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
void Rules::noteSign(const Event &E) {
  if (E.What < Event::Accepted || E.What > Event::Failed ||
      E.What == Event::Busy)
    return;
  Plugin.Sign = Now;
  if (E.What != Event::StateChanged || E.State != PluginState::Queued)
    Plugin.Work = Now;
}

void Rules::onAttemptEvent(const Event &E, Attempt &A) {
  Job &J = Jobs[A.Job];
  if (E.What >= Event::Prepared && E.What <= Event::NotExpressible)
    A.Prepares = false;
  if (E.What == Event::CompiledHere || E.What == Event::CompileHereFailed)
    A.Compiles = false;
  if (!isLive(A))
    return forgetIfOver(E.Attempt);
  if (E.Worker)
    A.Worker = E.Worker;
  A.LastSign = Now;
  noteSign(E);
  bool WasAtPlugin = A.At == Where::Offered || A.At == Where::Accepted;
  switch (E.What) {
  case Event::Prepared:
  case Event::CacheHit:
  case Event::PrepareFailed:
  case Event::NotExpressible:
    onPreparation(E, A);
    break;
  case Event::Accepted:
    if (A.At == Where::Offered) {
      A.At = Where::Accepted;
      ++J.NumAccepted;
      Plugin.BatchIsOpen = Plugin.WantsBatches;
    }
    break;
  case Event::Busy:
    Plugin.MustWait |= !E.RoomSince && A.At == Where::Offered;
    if (A.At == Where::Offered)
      A.At = Where::Ready;
    FoundNoRoom = E.Attempt;
    break;
  case Event::StateChanged:
    A.Runs |= E.State != PluginState::Queued;
    A.RunsHere = E.RanHere && E.State != PluginState::Queued;
    break;
  case Event::Succeeded:
    Plugin.BatchIsTold = false;
    if (WasAtPlugin)
      A.At = Where::Good;
    A.IsOurs = E.IsOurs;
    Plugin.MustWait = false;
    break;
  case Event::Failed:
    onFailure(E, A, WasAtPlugin);
    break;
  case Event::CompiledHere:
    A.At = Where::Good;
    A.IsOurs = true;
    break;
  case Event::CompileHereFailed:
    A.At = Where::Ended;
    J.Reasons.insert(Cause::CompilerHere);
    break;
  default:
    break;
  }
  forgetIfOver(E.Attempt);
}

void Rules::onPreparation(const Event &E, Attempt &A) {
  std::set<Cause> &Reasons = Jobs[A.Job].Reasons;
  A.At = Where::Ended;
  if (E.What == Event::Prepared) {
    A.At = A.AtPlugin ? Where::Ready : Where::Planned;
    A.Bytes = E.Bytes;
  } else if (E.What == Event::PrepareFailed) {
    Reasons.insert(Cause::PrepareFailed);
  } else if (E.What == Event::CacheHit && E.MustCompare) {
    A.At = Where::Good;
    A.IsCached = true;
  } else if (E.What == Event::CacheHit) {
    Reasons.insert(Cause::Cached);
  }
}

void Rules::onFailure(const Event &E, Attempt &A, bool WasAtPlugin) {
  Job &J = Jobs[A.Job];
  Plugin.BatchIsTold = false;
  if (WasAtPlugin) {
    A.At = Where::Ended;
    A.IsWrong = E.Why == Cause::Compiler || E.Why == Cause::BadResult;
    J.NumCompileErrors += E.Why == Cause::Compiler;
    J.NumBadResults += E.Why == Cause::BadResult;
  }
  J.Reasons.insert(E.Why);
  HadTrouble = true;
  J.ToAvoid =
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
  size_t NumTwice = 0, NumCompiling = 0, NumToCompile = 0;
  double SecondsTwice = 0;
  Time Late = 2 * O.DeadlineStep + 1ms;
  for (AttemptId Id : Live) {
    const Attempt &A = Attempts[Id];
    const Job &J = Jobs[A.Job];
    bool IsTwice = A.IsSecond && isLive(A) &&
                   (A.Kind == Kind::Duplicate || A.Why == Cause::Straggler);
    NumTwice += IsTwice;
    NumCompiling += A.Compiles;
    NumToCompile += A.Compiles || A.RunsHere || (isLive(A) && !A.AtPlugin);
    SecondsTwice += IsTwice ? Infos[A.Job].Estimate : 0;
    if (!Broken.empty())
      return;
    name(A.Job, Id);
    expect(Id != FoundNoRoom || A.Kind != Kind::Duplicate || !A.IsSecond,
           "is a duplicate that waits for room");
    expect(J.NumAccepted <= 2 * O.MaxTries, "is tried without an end");
    expect(!Failed || !isLive(A), "goes on after the link has failed");
    expect(!Plugin.Dropped || (A.At != Where::Offered &&
                               A.At != Where::Accepted && A.At != Where::Ready),
           "is at a plugin that was dropped");
    // Every wait ends.
    if (A.At == Where::Accepted)
      expect(Now - (A.Runs ? A.LastSign : std::max(A.LastSign, Plugin.Sign)) <=
                 O.JobTimeout + Late,
             "is waited for though it shows no sign of life");
    if (A.At == Where::Accepted && !A.Runs)
      expect(Now - Plugin.Work <= 4 * O.JobTimeout + Late,
             "is waited for though its plugin only talks");
  }
  name();
  expect(!Plugin.BatchIsOpen || !Plugin.IsOpen || Plugin.Dropped || Failed ||
             Plugin.Closed || !isBatchComplete(),
         "the plugin has all jobs, and isn't told");
  expect(!O.NeedsTokens || NumCompiling <= NumTokens + 1,
         "more runs here than there are tokens for");
  expect(NumTokens == 0 || NumTokens < NumToCompile,
         "a token is kept that no job needs");
  expect(NumTwice <= 1 ||
             SecondsTwice <= SecondsInAll * O.DuplicatePercent / 100 + 1e-6,
         "more is done twice than the user allows");
  expect(Plugin.CallSince == Never || Plugin.Dropped || Plugin.Closed ||
             Failed || !Plugin.AskedToOpen ||
             Now - Plugin.CallSince <=
                 std::min(O.CallTimeout, O.JobTimeout) + Late,
         "a call is waited for though it hangs");
}

std::string Rules::atEnd() const {
  for (size_t I = 0; I != Jobs.size(); ++I)
    if (!Jobs[I].Ended)
      return "job " + std::to_string(I) + ": has no end";
  if (Plugin.AskedToOpen && !Plugin.Closed)
    return "the plugin is left open";
  bool AllBegun = std::all_of(Jobs.begin(), Jobs.end(),
                              [](const Job &J) { return J.Begun; });
  size_t Share = (Jobs.size() * O.VerifyPercent + 99) / 100;
  if (AllBegun ? NumSampled != Share : NumSampled > Share)
    return "of the jobs, another share is chosen than the user wants";
  if (NumTokens != 0)
    return "a token is not given back";
  for (AttemptId Id : Live)
    return "attempt " + std::to_string(Id) + ": has no end";
  return {};
}
