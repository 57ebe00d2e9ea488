//===- LinkEvents.cpp - What comes of a link's actions --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LinkRun's other half: what the session and our threads tell becomes events of
// the plan.
//
//===----------------------------------------------------------------------===//

#include "Run/LinkRun.h"
#include "Run/Notices.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace llvm;
using namespace dtlto;

using plan::Action;
using plan::AttemptId;
using plan::Cause;
using PlanEvent = plan::Event;

/// What a job takes on its way, in bytes: its shard, and its inputs once more,
/// since a plugin may have a copy.
static uint64_t memoryFor(const BuiltJob &Built) {
  uint64_t Bytes = Built.shard().size();
  for (const dtlto_input &Input : Built.Inputs)
    Bytes += Input.bytes.size;
  return Bytes;
}

void LinkRun::handle(Event &E) {
  PlanEvent P;
  P.Attempt = E.Job;
  P.Seconds = E.Seconds;
  Step S;
  S.Said = S.Why = E.Message;
  S.Errors = E.Errors;
  S.Messages = E.Messages;
  S.Ended = E.Ended;
  S.Seconds = E.Seconds;
  auto Become = [&](PlanEvent::Kind What) {
    P.What = What;
    step(P, S);
  };

  switch (E.Kind) {
  case Event::Opened:
    if (E.Status != DTLTO_OK || !E.Message.empty()) {
      if (E.Message.empty())
        E.Message = "open() failed without a reason (error " +
                    std::to_string(E.Status) + ")";
      S.Why = E.Message;
      // A wrong argument is the user's to mend, whatever else could be done.
      P.IsArgumentWrong = E.Status == DTLTO_ERROR_CALLER;
      return Become(PlanEvent::OpenFailed);
    }
    P.WantsBatches = E.WantsBatches;
    return Become(PlanEvent::Opened);
  case Event::LoadChanged:
    return Become(PlanEvent::RoomChanged);
  case Event::Loaded:
    S.Load = &E.Load;
    P.TheLoad = {E.Load.slots, E.Load.free, E.Load.workers, E.Load.local};
    return Become(PlanEvent::LoadKnown);
  case Event::Violation:
  case Event::GaveUp:
    P.Attempt = 0;
    return Become(PlanEvent::PluginFailed);
  case Event::Submitted: {
    if (E.Status == DTLTO_OK)
      return Become(PlanEvent::Accepted);
    if (E.Status == DTLTO_BUSY) {
      if (ThePlan->isLive(E.Job))
        Built[E.Job] = std::move(E.Built);
      P.RoomSince = E.RoomSince;
      return Become(PlanEvent::Busy);
    }
    std::string Why =
        ("submit() refused it with error " + Twine(E.Status)).str();
    S.Why = Why;
    P.Why = Cause::Refused;
    return Become(PlanEvent::Failed);
  }
  case Event::State:
    P.State = E.Status == DTLTO_STATE_QUEUED      ? plan::PluginState::Queued
              : E.Status == DTLTO_STATE_SENDING   ? plan::PluginState::Sending
              : E.Status == DTLTO_STATE_RECEIVING ? plan::PluginState::Receiving
                                                  : plan::PluginState::Running;
    S.State = static_cast<uint32_t>(E.Status);
    P.Worker = noteWorker(E.Job, E.Worker);
    P.RanHere = E.RanHere;
    return Become(PlanEvent::StateChanged);
  case Event::Done:
    // Nobody waits for a late one.
    if (ThePlan->isLive(E.Job))
      handleDone(E);
    return;

  case Event::StoreWanted:
    return Become(PlanEvent::OpenWanted);
  case Event::TokenTaken:
    return Become(PlanEvent::TokenTaken);

  case Event::Prepared:
    --NumOnThreads;
    setOut(E);
    if (!E.Built)
      return Become(E.Message.empty() ? PlanEvent::Prepared
                                      : PlanEvent::NotExpressible);
    if (!ThePlan->isLive(E.Job))
      return Become(PlanEvent::Prepared);
    P.Bytes = memoryFor(*E.Built);
    Built[E.Job] = std::move(E.Built);
    return Become(PlanEvent::Prepared);
  case Event::CacheHit:
    --NumOnThreads;
    setOut(E);
    P.MustCompare = !E.Message.empty();
    S.Said = S.Why = {};
    if (P.MustCompare && ThePlan->isLive(E.Job))
      Results[E.Job] = {std::move(E.Object), false, {}, {}, E.Message};
    return Become(PlanEvent::CacheHit);
  case Event::Broken:
    --NumOnThreads;
    return Become(PlanEvent::PrepareFailed);
  case Event::LocalDone:
    --NumOnThreads;
    noteWorker(E.Job, ThisMachine);
    S.Status = E.Status;
    if (ThePlan->isLive(E.Job) && E.Status == DTLTO_OK)
      confirm(JobOf[E.Job], E.Object.bytes());
    if (ThePlan->isLive(E.Job))
      Results[E.Job] = {std::move(E.Object), E.NoObject, {}, {}};
    return Become(E.Status == DTLTO_OK ? PlanEvent::CompiledHere
                                       : PlanEvent::CompileHereFailed);
  case Event::Verified:
  case Event::Delivered:
    --NumOnThreads;
    P.Attempt = 0;
    P.Job = static_cast<plan::JobId>(E.Job);
    if (E.Kind == Event::Delivered)
      return Become(E.Message.empty() ? PlanEvent::Delivered
                                      : PlanEvent::DeliverFailed);
    // The files beside the object have been written when it was made here.
    if (JobResult &R = Results[Jobs[P.Job]->Winner]; true)
      R.Packed.reset(), R.Outputs = {};
    return Become(E.Message.empty() ? PlanEvent::Verified
                                    : PlanEvent::VerifyFailed);
  case Event::CompilerSaid:
    return TheNotices->sawWords(E.Message);
  case Event::WorkerTold:
  case Event::StatusTold:
  case Event::NoStatus:
    return;
  }
}

/// Notes where the object goes, if \p E knows.
void LinkRun::setOut(Event &E) {
  Job &J = *Jobs[JobOf[E.Job]];
  if (E.Out)
    J.Out = std::move(E.Out);
  if (E.OutElsewhere)
    J.OutElsewhere = std::move(E.OutElsewhere);
}

static std::array<uint8_t, 32> digest(StringRef Object) {
  return BLAKE3::hash<32>(arrayRefFromStringRef(Object));
}

/// Whether a worker other than \p Worker has made \p Object, too, which was
/// refused then.
bool LinkRun::isFromOther(const Job &J, StringRef Object,
                          plan::WorkerId Worker) {
  return any_of(J.Refused, [&](const RefusedObject &R) {
    return R.Worker && Worker && R.Worker != Worker &&
           R.Digest == digest(Object);
  });
}

/// Tells the plan which refused objects of \p J are the same as \p Object,
/// which is good.
void LinkRun::confirm(plan::JobId J, StringRef Object) {
  for (const RefusedObject &R : std::exchange(Jobs[J]->Refused, {})) {
    if (R.Digest != digest(Object))
      continue;
    PlanEvent P{PlanEvent::Confirmed};
    P.Job = J;
    P.Attempt = R.Attempt;
    step(P);
  }
}

/// Hands on what the plugin says that a job came to.
void LinkRun::handleDone(Event &E) {
  PlanEvent P{PlanEvent::Succeeded};
  P.Attempt = E.Job;
  P.Worker = noteWorker(E.Job, E.Worker);
  P.RanHere = E.RanHere;
  P.IsOurs = E.IsOurs;
  P.Bytes = E.Bytes;
  P.Seconds = E.Seconds;
  const plan::JobId Id = JobOf[E.Job];
  Job &J = *Jobs[Id];
  JobResult R;
  Verdict V = judge(
      E, printable(moduleName(Id)), Sides.lookup(E.Job),
      [&](StringRef Object) {
        return Source->check(J.Number, Object,
                             E.HasDigest || isFromOther(J, Object, P.Worker));
      },
      R);
  P.Why = V.Failure;
  if (V.Failure != Cause::None)
    P.What = PlanEvent::Failed;
  else
    confirm(Id, R.Object.bytes());
  if (V.Failure == Cause::BadResult)
    J.Refused.push_back({E.Job, P.Worker, digest(R.Object.bytes())});
  if (V.Failure == Cause::None ||
      (V.Failure == Cause::CompilerHere && E.IsOurs))
    Results[E.Job] = std::move(R);
  Step S;
  S.Said = E.Message;
  S.Errors = E.Errors;
  S.Messages = E.Messages;
  S.Why = V.Why;
  S.Status = E.Status;
  S.Numbers = E.Numbers;
  step(P, S);
}

/// Names are numbers in the plan. An empty one leaves what is known of the
/// attempt as it is.
plan::WorkerId LinkRun::noteWorker(AttemptId A, StringRef Name) {
  if (Name.empty())
    return 0;
  auto [It, IsNew] = WorkerIds.try_emplace(Name, WorkerNames.size());
  if (IsNew)
    WorkerNames.push_back(Name.str());
  return Workers[A] = It->second;
}
