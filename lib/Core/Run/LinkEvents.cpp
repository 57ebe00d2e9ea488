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

using namespace llvm;
using namespace dtlto;

using plan::Action;
using plan::AttemptId;
using plan::Cause;
using PlanEvent = plan::Event;

// Bytes from which an object is checked on a thread of its own. The hop takes
// 6 us of this thread and 40 us in all, a check 14 us for each 100 KB.
static constexpr size_t LargeObject = 64 << 10;

/// What a job takes on its way, in bytes: its shard, and its inputs once more,
/// since a plugin may have a copy.
static uint64_t memoryFor(const BuiltJob &Built) {
  uint64_t Bytes = Built.shard().size();
  for (const dtlto_input &Input : Built.Inputs)
    Bytes += Input.bytes.size;
  return Bytes;
}

/// Whether \p E is the session's, and not of our own threads.
static bool isOfSession(const Event &E) {
  switch (E.Kind) {
  case Event::Opened:
  case Event::Submitted:
  case Event::State:
  case Event::Done:
  case Event::LoadChanged:
  case Event::Loaded:
  case Event::Violation:
  case Event::CompilerSaid:
  case Event::GaveUp:
    return true;
  default:
    return false;
  }
}

void LinkRun::handle(Event &E) {
  // The plan learns of these in the order in which the plugin caused them.
  if (BeingChecked && isOfSession(E))
    return Waiting.push_back(std::move(E));
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
    if (ThePlan->isLive(E.Job))
      check(E);
    return;
  case Event::Checked:
    return endCheck();

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
    P.MustCompare = !E.CacheEntry.empty();
    if (P.MustCompare && ThePlan->isLive(E.Job))
      Results[E.Job] = {std::move(E.Object), false, {}, {}, E.CacheEntry};
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

/// Whether a worker other than \p Worker has made \p Object, too, which was
/// refused then.
static bool isFromOther(ArrayRef<RefusedObject> Refused, StringRef Object,
                        plan::WorkerId Worker) {
  return any_of(Refused, [&](const RefusedObject &R) {
    return R.Worker && Worker && R.Worker != Worker &&
           R.Digest == digestOf(Object);
  });
}

/// Tells the plan which refused objects of \p J are the same as \p Object,
/// which is good.
void LinkRun::confirm(plan::JobId J, StringRef Object) {
  for (const RefusedObject &R : std::exchange(Jobs[J]->Refused, {})) {
    if (R.Digest != digestOf(Object))
      continue;
    PlanEvent P{PlanEvent::Confirmed};
    P.Job = J;
    P.Attempt = R.Attempt;
    step(P);
  }
}

/// Checks what the plugin returned for a job: a large object on a thread of its
/// own, to which the hop costs less than this thread's time.
void LinkRun::check(Event &Done) {
  const Job &J = *Jobs[JobOf[Done.Job]];
  const bool IsLarge = Done.Status == DTLTO_OK && !Done.RanHere &&
                       Done.Object.bytes().size() >= LargeObject;
  auto C = std::make_shared<CheckedResult>();
  C->E = std::move(Done);
  auto Work = [&J, C, Source = Source, Refused = J.Refused,
               Side = Sides.lookup(C->E.Job),
               Worker = noteWorker(C->E.Job, C->E.Worker)] {
    const bool HasDigest = C->E.HasDigest;
    *C = checkResult(std::move(C->E), printable(J.Facts.Name), Side,
                     [&](StringRef Object) {
                       return Source->check(
                           J.Number, Object,
                           HasDigest || isFromOther(Refused, Object, Worker));
                     });
  };
  if (!IsLarge) {
    Work();
    return handleResult(*C);
  }
  assert(!BeingChecked && "the session's events have to wait");
  BeingChecked = C;
  ++NumOnThreads;
  if (!CheckThread)
    CheckThread = std::make_unique<WorkerThreads>(1);
  CheckThread->async([Work = std::move(Work), Events = Events] {
    Work();
    Events->push(Event{Event::Checked});
  });
}

/// Hands on the result that was being checked, then what the session has
/// reported since.
void LinkRun::endCheck() {
  --NumOnThreads;
  handleResult(*std::exchange(BeingChecked, nullptr));
  while (!BeingChecked && !Waiting.empty()) {
    Event E = std::move(Waiting.front());
    Waiting.pop_front();
    handle(E);
  }
}

/// Tells the plan what the plugin returned for a job. A late result is ignored.
void LinkRun::handleResult(CheckedResult &C) {
  Event &E = C.E;
  if (!ThePlan->isLive(E.Job))
    return;
  PlanEvent P{C.Failure == Cause::None ? PlanEvent::Succeeded
                                       : PlanEvent::Failed};
  P.Attempt = E.Job;
  P.Worker = noteWorker(E.Job, E.Worker);
  P.RanHere = E.RanHere;
  P.IsOurs = E.IsOurs;
  P.Bytes = E.Bytes;
  P.Seconds = E.Seconds;
  P.Why = C.Failure;
  const plan::JobId Id = JobOf[E.Job];
  if (C.Failure == Cause::None)
    confirm(Id, C.Result.Object.bytes());
  if (C.Failure == Cause::BadResult)
    Jobs[Id]->Refused.push_back({E.Job, P.Worker, C.Digest});
  if (C.Failure == Cause::None ||
      (C.Failure == Cause::CompilerHere && E.IsOurs))
    Results[E.Job] = std::move(C.Result);
  Step S;
  S.Said = E.Message;
  S.Errors = E.Errors;
  S.Messages = E.Messages;
  S.Why = C.Why;
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
