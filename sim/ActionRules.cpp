//===- ActionRules.cpp - The actions that a plan may take, and when -------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/EventLog.h"
#include "Rules.h"
#include <algorithm>
#include <cassert>

using namespace dtlto;
using namespace dtlto::sim;
using namespace dtlto::plan;
using namespace std::chrono_literals;

using Kind = AttemptKind;

Rules::Attempt &Rules::add(const Action &A, Stage At) {
  if (A.Attempt >= Attempts.size())
    Attempts.resize(A.Attempt + 1);
  Attempt &New = Attempts[A.Attempt];
  New.IsKnown = true;
  New.Job = A.Job;
  New.Kind = A.AKind;
  New.IsAtPlugin = A.AKind == Kind::First || A.AKind == Kind::Retry ||
                   A.AKind == Kind::Duplicate;
  New.At = At;
  New.Why = A.Why;
  New.LastSign = Now;
  Job &J = Jobs[A.Job];
  New.IsSecond = numLive(J) != 0;
  J.Attempts.push_back(A.Attempt);
  Live.insert(A.Attempt);
  expect(!Failed, "it is begun after the link has failed");
  return New;
}

/// Adds an attempt that begins with an object from the remote cache.
Rules::Attempt &Rules::addFound(const Action &A) {
  Job &J = Jobs[A.Job];
  expect(J.IsFound, "has an object that wasn't found");
  for (AttemptId Id : J.Attempts)
    expect(!Infos[A.Job].HasSideFiles || !Attempts[Id].Compiles,
           "is found while its side files are being written");
  expect(J.HasBegun, "is found before LLVM's cache was asked");
  Attempt &New = add(A, Stage::Good);
  New.IsCached = true;
  Live.erase(A.Attempt);
  return New;
}

/// Whether a job with this cause is compiled locally by choice, not of need.
bool Rules::isVoluntary(Cause Why) const {
  return Why == Cause::PluginFull || Why == Cause::TakenBack ||
         Why == Cause::PluginSilent || Why == Cause::Straggler ||
         Why == Cause::Overdue;
}

/// Whether \p A can be checked: the attempt that it names is known, or may
/// begin.
bool Rules::mayName(const Action &A, const Attempt *At) {
  const bool NamesJob = namesJob(A);
  const bool NamesAttempt =
      NamesJob && A.What != Action::Refute && A.What != Action::EndJob;
  assert((!NamesJob || A.Job < Jobs.size()) && "there is no such job");
  setSubject(NamesJob ? std::optional(A.Job) : std::nullopt,
             NamesAttempt ? A.Attempt : 0);
  expect(!NamesJob || !Jobs[A.Job].Ended, "is named after its end");
  // The plugin's mistakes after its last job still count.
  expect(!Plugin.IsClosed || A.What == Action::DropPlugin ||
             A.What == Action::FailLink || A.What == Action::ReturnToken,
         "an action after the plugin was closed");
  if (!NamesAttempt || (At && At->Job == A.Job)) {
    expect(!NamesAttempt || At->At != Stage::Ended, "is named after its end");
    return true;
  }
  // An attempt to be compared may wait for a thread, and become unneeded.
  if (!At && A.What == Action::Cancel && A.AKind == Kind::Verify)
    return false;
  const bool MayBegin =
      !At && A.Attempt != 0 &&
      (A.What == Action::Prepare || A.What == Action::StayLocal ||
       A.What == Action::CompileLocally ||
       (A.What == Action::Won && A.AKind == Kind::Found));
  expect(MayBegin, "is another job's, or was never begun");
  return MayBegin;
}

void Rules::onAction(const Action &A) {
  Attempt *At = find(A.Attempt);
  if (!mayName(A, At))
    return;
  switch (A.What) {
  case Action::Prepare:
    return onPrepare(A);
  case Action::Offer:
    return onOffer(A);
  case Action::CompleteBatch:
    return onCompleteBatch();
  case Action::Cancel:
    expect(isLive(*At), "there is nothing to cancel");
    Plugin.IsBatchReported &=
        At->At != Stage::Accepted && At->At != Stage::Ready;
    At->At = Stage::Ended;
    HadProblems |= A.Why == Cause::Timeout;
    return forgetIfOver(A.Attempt);
  case Action::StayLocal:
    return onStaysLocal(A, At);
  case Action::CompileLocally:
    return onCompile(A);
  case Action::Won: {
    if (!At)
      At = &addFound(A);
    Job &J = Jobs[A.Job];
    expect(At->At == Stage::Good, "wins without an object");
    expect(J.Winner == 0, "is a second winner");
    J.Winner = A.Attempt;
    J.IsSuspect = J.IsSampled && isForeign(J);
    NumSuspect += J.IsSuspect;
    return;
  }
  case Action::Refute:
    return onRefute(A, At);
  case Action::Verify:
    return onVerify(A, *At);
  case Action::Deliver:
    return onDeliver(A, *At);
  case Action::EndJob:
    return onEndJob(A);
  default:
    return onPluginAction(A);
  }
}

/// Handles an action for the plugin, the jobserver or the link.
void Rules::onPluginAction(const Action &A) {
  switch (A.What) {
  case Action::Open:
    expect(!Plugin.WasOpenRequested, "the plugin is opened twice");
    Plugin.WasOpenRequested = true;
    Plugin.OpenRequestTime = Now;
    break;
  case Action::TakeToken:
    expect(Opts.NeedsTokens && !IsTokenRequested,
           "a token too many is asked for");
    expect(!Failed, "a token is asked for after the link has failed");
    IsTokenRequested = true;
    break;
  case Action::ReturnToken:
    expect(NumTokens != 0, "a token is given back that was not taken");
    --NumTokens;
    break;
  case Action::QueryLoad:
    expect(Plugin.IsOpen && !Plugin.IsDropped,
           "the load of no plugin is asked for");
    break;
  case Action::DropPlugin:
    expect(!Plugin.IsDropped, "the plugin is dropped twice");
    Plugin.IsDropped = HadProblems = true;
    break;
  case Action::FailLink:
    expect(!Failed, "the link fails twice");
    expect(!mayFallBack(), "the link fails though there is a fallback");
    Failed = true;
    break;
  case Action::Close:
    expect(Plugin.WasOpenRequested, "a plugin is closed that was not opened");
    expect(NumEnded == Jobs.size(), "the plugin is closed before all is done");
    Plugin.IsClosed = true;
    break;
  default:
    break;
  }
}

void Rules::onStaysLocal(const Action &A, const Attempt *At) {
  expect(!At, "stays here, but was begun before");
  bool Voluntary = isVoluntary(A.Why);
  bool OpensSlowly =
      Plugin.WasOpenRequested && Now - Plugin.OpenRequestTime > Opts.DeadAfter;
  expect(!Voluntary || ((Plugin.IsOpen || OpensSlowly) && !Plugin.IsDropped),
         "is taken from a plugin that isn't there");
  expect(!Voluntary || !Opts.KeepOrder, "is taken out of the order");
  expect(!Voluntary || (Opts.LocalJobs ? *Opts.LocalJobs != 0 : mayFallBack()),
         "is taken from the plugin though the user wants none here");
  expect((A.Why != Cause::Straggler && A.Why != Cause::Overdue) ||
             Opts.DuplicatePercent != 0 || numLive(Jobs[A.Job]) == 0,
         "has a duplicate though the user wants none");
  expect(mayFallBack() || Voluntary || A.Why == Cause::NotExpressible ||
             A.Why == Cause::PluginDropped,
         "falls back though the user wants no fallback");
  add(A, Stage::Planned);
}

void Rules::onRefute(const Action &A, Attempt *At) {
  expect(At && At->Job == A.Job && At->IsWrong,
         "a result is refuted that was not wrong, or twice");
  expect(Jobs[A.Job].Winner != 0, "a result is refuted by nothing");
  expect(!Plugin.IsDropped, "a result is refuted at a dropped plugin");
  if (At)
    At->IsWrong = false;
}

void Rules::onVerify(const Action &A, const Attempt &At) {
  Job &J = Jobs[A.Job];
  expect(At.At == Stage::Good && !At.IsAtPlugin,
         "is compared, but there is no object from here");
  expect(J.Winner != 0 && J.IsSuspect,
         "is compared with nothing, or not one of those to be");
  expect(!J.IsCompared, "is compared twice");
  J.IsCompared = true;
}

void Rules::onDeliver(const Action &A, const Attempt &At) {
  Job &J = Jobs[A.Job];
  expect(At.At == Stage::Good && J.Winner == A.Attempt,
         "is delivered, but has not won with a good object");
  expect(!J.IsDelivering, "is delivered twice");
  expect(A.IsProven == (At.IsFromLinker || hasEqual(J)),
         "is proven by nothing, or not taken for what it is");
  if (Opts.VerifyPercent != 0) {
    expect(!HasDifference, "is delivered, though another object differs");
    expect(NumSuspect != 0 || !isForeign(J),
           "is delivered, though no object was compared");
    for (const Job &Other : Jobs)
      expect(Other.Ended ||
                 (Other.Winner != 0 && (!Other.IsSuspect || hasEqual(Other))),
             "is delivered before all were compared");
  }
  J.IsDelivering = true;
}

/// Whether another process made the object of \p J.
bool Rules::isForeign(const Job &J) const {
  const Attempt &A = Attempts[J.Winner];
  return A.IsCached || (A.IsAtPlugin && !A.IsFromLinker);
}

/// The number of attempts that use memory and wait for the plugin.
size_t Rules::numAhead() const {
  return static_cast<size_t>(
      std::count_if(Live.begin(), Live.end(), [this](AttemptId Id) {
        Stage At = Attempts[Id].At;
        return At == Stage::Preparing || At == Stage::Ready ||
               At == Stage::Offered;
      }));
}

void Rules::onPrepare(const Action &A) {
  Job &J = Jobs[A.Job];
  Attempt *At = find(A.Attempt);
  if (At) {
    expect(At->At == Stage::Planned, "is prepared where it can't be");
  } else {
    At = &add(A, Stage::Preparing);
    switch (A.AKind) {
    case Kind::First:
      ++J.Tries;
      expect(J.Attempts.size() == 1, "is no job's first attempt");
      expect(numAhead() <=
                 std::max<size_t>(Opts.MinPrepared,
                                  std::min(Opts.PreparedPerSlot * MaxSlots,
                                           Opts.MaxPrepared)),
             "more is prepared than the plugin has room for");
      break;
    case Kind::Retry:
      ++J.Tries;
      expect(J.MayTryAgain && !At->IsSecond, "there is no reason to try again");
      expect(A.Avoid == J.AvoidedWorker,
             "is tried again where it failed to compile, or avoids another");
      break;
    case Kind::Duplicate: {
      expect(Opts.DuplicatePercent != 0,
             "is a duplicate though the user wants none");
      expect(!Opts.KeepOrder, "is a duplicate though the order is to be kept");
      const Attempt *Slow = nullptr;
      for (AttemptId Id : J.Attempts)
        if (Id != A.Attempt && isLive(Attempts[Id]))
          Slow = &Attempts[Id];
      expect(numLive(J) == 2 && Slow->At == Stage::Accepted,
             "is a duplicate of nothing that the plugin has");
      expect(A.Avoid == (Slow ? Slow->Worker : 0),
             "avoids another worker than the slow one");
      for (AttemptId Id : Live)
        expect(Attempts[Id].Kind != Kind::First ||
                   (Attempts[Id].At != Stage::Preparing &&
                    Attempts[Id].At != Stage::Ready),
               "is a duplicate though other jobs were not given out");
      break;
    }
    default:
      expect(false, "is prepared, but of no kind that is");
    }
    expect((A.ForPlugin || Jobs[A.Job].IsFound) && !Plugin.IsDropped,
           "is prepared for no plugin");
  }
  expect(A.ForPlugin ? At->IsAtPlugin : !At->IsAtPlugin || Jobs[A.Job].IsFound,
         "is prepared for the wrong place");
  NumSampled += A.IsSampled;
  J.IsSampled |= A.IsSampled;
  expect(!A.IsSampled || !A.IsAgain, "is chosen after the cache was asked");
  J.HasBegun = true;
  At->At = Stage::Preparing;
  At->IsForPlugin = A.ForPlugin;
  At->Prepares = true;
}

void Rules::onOffer(const Action &A) {
  Attempt &At = Attempts[A.Attempt];
  expect(At.At == Stage::Ready && At.IsAtPlugin,
         "is offered, but is not ready");
  expect(Plugin.IsOpen && !Plugin.IsDropped, "is offered to no plugin");
  expect(!Failed, "is offered after the link has failed");
  size_t NumOffered = 1, NumAccepted = 0, NumPreparing = 0, NumLong = 0;
  // The work of each slot in the whole link; at most this much is left later.
  double OfSlot = SecondsInAll / double(std::max<size_t>(1, Slots.value_or(1)));
  uint64_t Bytes = At.Bytes;
  for (AttemptId Id : Live) {
    const Attempt &Other = Attempts[Id];
    NumOffered += Other.At == Stage::Offered;
    NumAccepted += Other.At == Stage::Accepted;
    if (Other.At == Stage::Offered || Other.At == Stage::Accepted)
      Bytes += Other.Bytes;
    bool IsBefore = At.Kind == Kind::First && Other.Kind == Kind::First &&
                    Other.Job < A.Job;
    if (IsBefore && Other.At == Stage::Preparing) {
      ++NumPreparing;
      NumLong += Infos[Other.Job].Estimate > OfSlot * 0.51;
    }
    expect(!IsBefore || Other.At != Stage::Ready,
           "is offered before a job of a higher rank");
  }
  expect(NumPreparing == 0 || (!Opts.KeepOrder && Slots &&
                               NumOffered + NumAccepted + NumLong <= *Slots),
         "is offered before a long job of a higher rank that has no slot then");
  if (At.Kind == Kind::First)
    for (JobId Before = 0; Before != A.Job; ++Before)
      expect(Jobs[Before].HasBegun,
             "is offered before a job was begun that has a "
             "higher rank");
  expect(NumOffered <= (Opts.KeepOrder ? 1 : Opts.MaxOffers),
         "too many offers");
  expect(Bytes <= Opts.MaxBytesInFlight || NumOffered + NumAccepted == 1,
         "more memory is in flight than the user allows");
  expect(!Plugin.MustWait || A.Insist, "is offered to a plugin that is busy");
  expect(!Plugin.IsBatchReported || At.Kind != Kind::First,
         "is offered though the plugin was told that it has all jobs");
  expect(!A.Insist || NumOffered + NumAccepted == 1,
         "insists though the plugin has jobs");
  expect(At.IsForPlugin, "is offered, and was not prepared for the plugin");
  At.At = Stage::Offered;
  At.LastSign = Now;
}

/// Whether the plugin can't get more jobs before its state changes.
bool Rules::isBatchComplete() const {
  size_t NumAtPlugin = 0;
  uint64_t Bytes = 0;
  const Attempt *Next = nullptr;
  for (AttemptId Id : Live) {
    const Attempt &A = Attempts[Id];
    if (!A.IsAtPlugin || !isLive(A))
      continue;
    if (A.At == Stage::Preparing || A.At == Stage::Offered)
      return false;
    if (A.At == Stage::Ready && (!Next || A.Job < Next->Job))
      Next = &A;
    NumAtPlugin += A.At == Stage::Accepted;
    Bytes += A.At == Stage::Accepted ? A.Bytes : 0;
  }
  if (NumAtPlugin == 0)
    return false;
  if (Next)
    return Plugin.MustWait || Bytes + Next->Bytes > Opts.MaxBytesInFlight;
  return std::all_of(Jobs.begin(), Jobs.end(),
                     [](const Job &J) { return J.HasBegun; });
}

void Rules::onCompleteBatch() {
  expect(Plugin.IsOpen && !Plugin.IsDropped,
         "no plugin is told that it has all jobs");
  expect(Plugin.IsBatchOpen, "the plugin is told twice that it has all jobs");
  expect(isBatchComplete(), "the plugin is told that it has all jobs, and gets "
                            "others");
  Plugin.IsBatchOpen = false;
  Plugin.IsBatchReported = true;
}

void Rules::onCompile(const Action &A) {
  Job &J = Jobs[A.Job];
  Attempt *At = find(A.Attempt);
  if (!At) {
    expect(A.AKind == Kind::Verify, "is compiled here, and nobody said why");
    At = &add(A, Stage::Planned);
  }
  expect(At->At == Stage::Planned, "is compiled here where it can't be");
  expect(!Failed, "is compiled here after the link has failed");
  // If nothing else was compared, one object of another machine is.
  if (A.AKind == Kind::Verify && NumSuspect == 0 && J.Winner != 0 &&
      Opts.VerifyPercent != 0 && isForeign(J) &&
      std::all_of(Jobs.begin(), Jobs.end(), [](const Job &Other) {
        return Other.Ended || Other.Winner != 0;
      })) {
    J.IsSuspect = true;
    ++NumSuspect;
  }
  expect(A.AKind != Kind::Verify || J.IsSuspect,
         "is compiled for nothing to compare");
  size_t NumCompiling = 1, NumLocal = 1;
  uint64_t LocalBytes = Infos[A.Job].LocalBytes;
  for (AttemptId Id : Live) {
    const Attempt &Other = Attempts[Id];
    NumCompiling += Other.Compiles;
    bool IsLocal =
        Other.Compiles || (Other.At == Stage::Accepted && Other.RunsLocally);
    NumLocal += IsLocal;
    LocalBytes += IsLocal ? Infos[Other.Job].LocalBytes : 0;
    expect(Other.Job != A.Job || !Other.Compiles,
           "is compiled here by two threads at once");
    bool MayStayLocal =
        Other.At == Stage::Preparing ||
        (Other.At == Stage::Ready && !Plugin.IsOpen && !Plugin.IsDropped);
    expect(!Opts.KeepOrder || Other.Job >= A.Job || !MayStayLocal,
           "is compiled here before a job of a higher rank that may stay here");
  }
  // The user's limit holds, but one job must be able to run.
  expect(NumCompiling <=
             (Opts.LocalJobs ? std::max(1u, *Opts.LocalJobs) : Opts.Cores),
         "more is compiled here than the user allows");
  expect(NumLocal == 1 || LocalBytes <= Opts.MaxLocalBytes,
         "more memory is taken here than the user allows");
  if (Opts.KeepOrder && A.AKind == Kind::Local) {
    expect(NumCompiling == 1 && (HadProblems || A.Job >= NextInOrder),
           "is compiled here out of order");
    NextInOrder = std::max(NextInOrder, A.Job);
  }
  At->At = Stage::Compiling;
  At->Compiles = true;
}

void Rules::onEndJob(const Action &A) {
  Job &J = Jobs[A.Job];
  J.Ended = true;
  ++NumEnded;
  expect(numLive(J) == 0, "has ended, and an attempt goes on");
  switch (A.Why) {
  case Cause::Compiler:
    expect(!mayFallBack(), "fails as the remote compiler did, though there is "
                           "a fallback");
    expect(J.NumCompileErrors > 1 || J.Tries == Opts.MaxTries,
           "fails for what one worker says");
    [[fallthrough]];
  case Cause::LocalCompiler:
  case Cause::Done:
  case Cause::Cached:
  case Cause::PrepareFailed:
  case Cause::VerifyFailed:
  case Cause::DeliverFailed:
    expect(J.Reasons.count(A.Why), "has ended for a reason that is not so");
    break;
  case Cause::LinkFailed:
    expect(Failed || HasDifference, "is left, though the link has not failed");
    break;
  default:
    expect(false, "has ended for no reason that there is");
  }
  if (A.Why == Cause::Done)
    expect(J.Winner != 0 && J.IsDelivering, "is done without an object");
  for (AttemptId Id : J.Attempts)
    expect(!Attempts[Id].IsWrong || J.Winner == 0 || Plugin.IsDropped,
           "has an object, and the plugin isn't told which result was wrong");
}
