//===- LinkEvents.cpp - The results of a link's actions -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns events of the session and of our threads into events of the plan.
//
//===----------------------------------------------------------------------===//

#include "Run/LinkRun.h"
#include "Run/Notices.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

using plan::AttemptId;
using plan::Cause;
using PlanEvent = plan::Event;

/// The memory of a job until its result: its shard and its inputs, which a
/// plugin may have copied.
static uint64_t memoryFor(const BuiltJob &Built) {
  uint64_t Bytes = Built.shard().size();
  for (const dtlto_input &Input : Built.Inputs)
    Bytes += Input.bytes.size;
  return Bytes;
}

/// Reports the time and the session's state to the plan.
void LinkRun::tick() {
  // Local code generation is a sign of life as well.
  if (Clock::time_point Now = Clock::now(); TheSession && Now >= NextPoll) {
    NextPoll = Now + 100ms;
    for (AttemptId Id : ThePlan->accepted())
      // Each step may end the session.
      if (TheSession && Now - TheSession->lastLocalRun(Id) < 200ms)
        step({PlanEvent::Alive, /*Job=*/0, Id});
  }
  PlanEvent E{PlanEvent::Tick};
  std::string Why; // why a call hangs
  if (auto C = TheSession ? TheSession->currentCall() : std::nullopt) {
    E.CallSince = C->Since - Ctx.StartTime;
    Why = (Twine(C->Name) + "() has not returned within " +
           Twine(static_cast<unsigned>(secondsSince(C->Since))) + " s")
              .str();
  }
  Step S;
  S.Why = Why;
  step(E, S);
  for (const auto &O : Observers)
    if (Clock::now() >= O->due())
      O->tick();
}

void LinkRun::handle(Event &E) {
  switch (E.Kind) {
  case Event::Done:
    if (ThePlan->isLive(E.Job))
      handleDone(E);
    return;
  case Event::Found:
    if (!mayUseFound(static_cast<plan::JobId>(E.Job)))
      return;
    break;
  case Event::CompilerOutput:
    return TheNotices->showCompilerOutput(E.Message);
  case Event::WorkerReported:
  case Event::StatusReported:
  case Event::NoStatus:
    return;
  default:
    break;
  }
  PlanEvent P;
  P.Attempt = E.Job;
  P.Seconds = E.Seconds;
  Step S;
  S.Output = S.Why = E.Message;
  S.Errors = E.Errors;
  S.Messages = E.Messages;
  S.Ended = E.Ended;
  S.Seconds = E.Seconds;
  if (!handleSessionEvent(E, P, S))
    handleLocalEvent(E, P, S);
  step(P, S);
}

static plan::PluginState pluginState(int32_t State) {
  switch (State) {
  case DTLTO_STATE_QUEUED:
    return plan::PluginState::Queued;
  case DTLTO_STATE_SENDING:
    return plan::PluginState::Sending;
  case DTLTO_STATE_RECEIVING:
    return plan::PluginState::Receiving;
  default:
    return plan::PluginState::Running;
  }
}

/// Turns \p E into \p P and \p S if it is an event of the session.
bool LinkRun::handleSessionEvent(Event &E, PlanEvent &P, Step &S) {
  switch (E.Kind) {
  case Event::Opened:
    P.What = PlanEvent::Opened;
    P.WantsBatches = E.WantsBatches;
    if (E.Status == DTLTO_OK && E.Message.empty())
      return true;
    P.What = PlanEvent::OpenFailed;
    if (E.Message.empty())
      E.Message = "open() failed without a reason (error " +
                  std::to_string(E.Status) + ")";
    S.Why = E.Message;
    // The user has to fix a wrong argument, with any fallback setting.
    P.IsArgumentWrong = E.Status == DTLTO_ERROR_CALLER;
    return true;
  case Event::LoadChanged:
    P.What = PlanEvent::RoomChanged;
    return true;
  case Event::Loaded:
    P.What = PlanEvent::LoadReported;
    S.Load = &E.Load;
    P.ReportedLoad = {E.Load.slots, E.Load.free, E.Load.workers, E.Load.local};
    return true;
  case Event::Submitted:
    P.What = E.Status == DTLTO_OK     ? PlanEvent::Accepted
             : E.Status == DTLTO_BUSY ? PlanEvent::Busy
                                      : PlanEvent::Failed;
    P.HasRoomSince = E.HasRoomSince;
    if (P.What == PlanEvent::Failed) {
      P.Why = Cause::Refused;
      E.Message =
          "submit() refused the job with error " + std::to_string(E.Status);
      S.Why = E.Message;
    }
    if (P.What == PlanEvent::Busy && ThePlan->isLive(E.Job))
      Attempts[E.Job].Built = std::move(E.Built);
    return true;
  case Event::State:
    P.What = PlanEvent::StateChanged;
    P.State = pluginState(E.Status);
    S.State = static_cast<uint32_t>(E.Status);
    P.Worker = recordWorker(E.Job, E.Worker);
    P.RanLocally = E.RanLocally;
    return true;
  case Event::Violation:
  case Event::GaveUp:
    P.What = PlanEvent::PluginFailed;
    P.Attempt = 0;
    return true;
  default:
    return false;
  }
}

/// Whether the object of \p J that was found may replace that of the plugin. If
/// the plugin compiles the job in this process, both would write side files.
bool LinkRun::mayUseFound(plan::JobId J) {
  if (!TheSession || Source->sideFiles(Jobs[J].Number).empty())
    return true;
  return none_of(Attempts, [&](const auto &A) {
    return JobOf[A.first] == J && !TheSession->blockLocalRun(A.first);
  });
}

/// Turns \p E, an event of one of our threads, into \p P and \p S.
void LinkRun::handleLocalEvent(Event &E, PlanEvent &P, Step &S) {
  const bool IsLive = ThePlan->isLive(E.Job);
  NumOnThreads -= E.Kind != Event::Found && E.Kind != Event::TokenTaken;
  if (E.Out)
    Jobs[JobOf[E.Job]].Out = std::move(E.Out);
  if (E.RemoteOut)
    Jobs[JobOf[E.Job]].RemoteOut = std::move(E.RemoteOut);
  switch (E.Kind) {
  case Event::Found:
    P.What = PlanEvent::Found;
    P.Attempt = 0;
    P.Job = static_cast<plan::JobId>(E.Job);
    return;
  case Event::TokenTaken:
    P.What = PlanEvent::TokenTaken;
    return;
  case Event::Prepared:
    P.What = E.Built || E.Message.empty() ? PlanEvent::Prepared
                                          : PlanEvent::NotExpressible;
    if (E.Built && IsLive) {
      P.Bytes = memoryFor(*E.Built);
      Attempts[E.Job].Built = std::move(E.Built);
    }
    return;
  case Event::CacheHit:
    P.What = PlanEvent::CacheHit;
    P.MustCompare = !E.CacheEntry.empty();
    if (P.MustCompare && IsLive)
      Attempts[E.Job].Result = {
          std::move(E.Object), false, {}, {}, std::move(E.CacheEntry)};
    return;
  case Event::Broken:
    P.What = PlanEvent::PrepareFailed;
    return;
  case Event::LocalDone:
    P.What = E.Status == DTLTO_OK ? PlanEvent::CompiledLocally
                                  : PlanEvent::LocalCompileFailed;
    S.Status = E.Status;
    recordWorker(E.Job, ThisMachine);
    if (IsLive && E.Status == DTLTO_OK)
      confirm(JobOf[E.Job], E.Object.bytes());
    if (ThePlan->isLive(E.Job))
      Attempts[E.Job].Result = {std::move(E.Object), E.NoObject, {}, {}};
    return;
  case Event::Delivered:
    P.What =
        E.Message.empty() ? PlanEvent::Delivered : PlanEvent::DeliverFailed;
    break;
  default:
    assert(E.Kind == Event::Verified);
    P.What = E.Message.empty() ? PlanEvent::Verified : PlanEvent::VerifyFailed;
    // The local compile has written the side files.
    JobResult &R = Attempts[Jobs[E.Job].Winner].Result;
    R.Packed.reset();
    R.Outputs = {};
  }
  P.Attempt = 0;
  P.Job = static_cast<plan::JobId>(E.Job);
}

/// Whether a worker other than \p Worker has also made \p Object, which was
/// refused then.
static bool isFromOtherWorker(ArrayRef<RefusedObject> Refused, StringRef Object,
                              plan::WorkerId Worker) {
  return any_of(Refused, [&](const RefusedObject &R) {
    return R.Worker && Worker && R.Worker != Worker &&
           R.Digest == digestOf(Object);
  });
}

/// Tells the plan which refused objects of \p J are the same as \p Object,
/// which is good.
void LinkRun::confirm(plan::JobId J, StringRef Object) {
  for (const RefusedObject &R : std::exchange(Jobs[J].Refused, {}))
    if (R.Digest == digestOf(Object))
      step({PlanEvent::Confirmed, J, R.Attempt});
}

/// Checks the plugin's result of a job, and passes it to the plan. A check
/// takes 14 us for each 100 KB; a round trip to another thread would take 40
/// us.
void LinkRun::handleDone(Event &Done) {
  const Job &J = Jobs[JobOf[Done.Job]];
  const AttemptId A = Done.Job;
  const plan::WorkerId Worker = recordWorker(A, Done.Worker);
  const bool HasDigest = Done.HasDigest;
  CheckedResult C = checkResult(
      std::move(Done), printable(J.Facts.Name), Attempts[A].Side,
      [&](StringRef Object) {
        return Source->check(J.Number, Object,
                             HasDigest ||
                                 isFromOtherWorker(J.Refused, Object, Worker));
      });
  Event &E = C.E;
  PlanEvent P{C.Failure == Cause::None ? PlanEvent::Succeeded
                                       : PlanEvent::Failed};
  P.Attempt = E.Job;
  P.Worker = Worker;
  P.RanLocally = E.RanLocally;
  P.IsFromLinker = E.IsFromLinker;
  P.Bytes = E.Bytes;
  P.Seconds = E.Seconds;
  P.Why = C.Failure;
  const plan::JobId Id = JobOf[E.Job];
  if (C.Failure == Cause::None)
    confirm(Id, C.Result.Object.bytes());
  if (C.Failure == Cause::BadResult)
    Jobs[Id].Refused.push_back({E.Job, P.Worker, C.Digest});
  if (C.Failure == Cause::None ||
      (C.Failure == Cause::LocalCompiler && E.IsFromLinker))
    Attempts[E.Job].Result = std::move(C.Result);
  Step S;
  S.Output = E.Message;
  S.Errors = E.Errors;
  S.Messages = E.Messages;
  S.Why = C.Why;
  S.Status = E.Status;
  S.Numbers = E.Numbers;
  step(P, S);
}

/// Notes the worker of an attempt. An empty name keeps the known worker.
plan::WorkerId LinkRun::recordWorker(AttemptId A, StringRef Name) {
  if (Name.empty())
    return 0;
  return WorkerOf[A] = Workers.insert(Name.str());
}
