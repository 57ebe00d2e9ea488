//===- SchedulerEvents.cpp - What the scheduler does when jobs move on ----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link/Scheduler.h"
#include "Object/ObjectCheck.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

/// Whether a thread of ours is through with what it was given.
static bool isOfThread(Event::KindTy Kind) {
  return Kind == Event::Prepared || Kind == Event::CacheHit ||
         Kind == Event::Broken || Kind == Event::LocalDone ||
         Kind == Event::Delivered;
}

void Scheduler::handle(Event &E) {
  NumOnThreads -= isOfThread(E.Kind);
  if (E.Kind == Event::Opened)
    return onOpened(E);
  if (E.Kind == Event::LoadChanged) {
    LastSign = Clock::now();
    PluginBusy = false;
    if (TheSession && LastSign - LastLoadQuery >= LoadInterval) {
      LastLoadQuery = LastSign;
      TheSession->queryLoad();
    }
    return;
  }
  if (E.Kind == Event::Loaded)
    return onLoad(E.Load);
  if (E.Kind == Event::Violation || E.Kind == Event::GaveUp)
    return giveUpPlugin(E.Message);
  if (E.Kind == Event::FallbackForbidden) {
    WhyNoFallback = E.Message.empty() ? "the plugin forbids it" : E.Message;
    return;
  }

  auto It = JobOfId.find(E.Job);
  if (It == JobOfId.end())
    return;
  Job &J = job(It->second);
  // However many attempts there were, one thread at most has it here.
  if (E.Kind == Event::LocalDone)
    return onLocalDone(J, E);
  bool OfTwin = J.Twin.Id == E.Job;
  if (J.First.Id != E.Job && !OfTwin)
    return; // of an earlier attempt
  switch (E.Kind) {
  case Event::Prepared:
    return onPrepared(J, E);
  case Event::CacheHit:
    --NumPreparing;
    NumPreparingHere -= J.ForHere;
    Record.prepared(J.Index, E.Ended, E.Seconds, /*IsCached=*/true);
    return endJob(J);
  case Event::Submitted:
    return OfTwin ? onTwinSubmitted(J, E) : onSubmitted(J, E);
  case Event::State:
    return onState(J, OfTwin ? J.Twin : J.First, E);
  case Event::Done:
    LastSign = Clock::now();
    PluginBusy = false;
    return onDone(J, E);
  case Event::Delivered:
    if (!E.Message.empty())
      addError(E.Message);
    return endJob(J);
  case Event::Broken:
    --NumPreparing;
    NumPreparingHere -= J.ForHere;
    Record.prepared(J.Index, E.Ended, E.Seconds);
    addError(E.Message);
    return endJob(J);
  case Event::LocalDone:
  case Event::Opened:
  case Event::LoadChanged:
  case Event::Loaded:
  case Event::WorkerTold:
  case Event::StatusTold:
  case Event::NoStatus:
  case Event::Violation:
  case Event::GaveUp:
  case Event::FallbackForbidden:
    break;
  }
}

void Scheduler::onPrepared(Job &J, Event &E) {
  --NumPreparing;
  NumPreparingHere -= J.ForHere;
  Record.prepared(J.Index, E.Ended, E.Seconds);
  if (E.Out)
    J.Out = std::move(E.Out);
  if (Aborting)
    return endJob(J);
  if (PluginGone || J.ForHere) {
    J.At = Stage::LocalQueue;
    LocalQueue.push_back(J.Index);
    if (!J.ForHere) {
      J.FellBack = true;
      Record.staysHere(J.Index, "the plugin has failed");
    }
    return;
  }
  if (!E.Built)
    return keep(J, E.Message);
  J.Built = std::move(E.Built);
  J.At = Stage::Ready;
  Ready.insert(J.Index);
  if (PluginOpen)
    complete(J);
}

/// Sees to it that a job that is ready has all that the open session needs.
void Scheduler::complete(Job &J) {
  Error Why = Builder.complete(*J.Built, J.T);
  if (!Why)
    return;
  Ready.erase(J.Index);
  J.Built.reset();
  keep(J, toString(std::move(Why)));
}

/// The fidelity rule. Not a fallback: it is the right place for this job.
void Scheduler::keep(Job &J, const std::string &Why) {
  J.IsKept = true;
  Record.staysHere(J.Index, "another machine can't be told: " + Why);
  KeptReasons.insert(Why);
  J.At = Stage::LocalQueue;
  LocalQueue.push_back(J.Index);
}

void Scheduler::onOpened(Event &E) {
  LastSign = LastLoadQuery = LastResult = Clock::now();
  Record.opened();
  if (E.Status != DTLTO_OK) {
    std::string Why =
        E.Message.empty() ? "open() failed without a reason" : E.Message;
    // A wrong argument is the user's to mend, whatever else could be done.
    if (E.Status == DTLTO_ERROR_CALLER)
      Aborting = true;
    return giveUpPlugin(Why);
  }
  // It has found out meanwhile, on a thread of its own.
  if (!E.Message.empty())
    return giveUpPlugin(E.Message);
  PluginOpen = true;
  // The first jobs were built for what the plugin needs without arguments.
  Builder.setParts(E.Needs);
  for (size_t Index : std::set<size_t>(Ready))
    complete(job(Index));
  TheSession->queryLoad();
}

static std::string known(uint32_t N) {
  return N == UINT32_MAX ? "?" : std::to_string(N);
}

void Scheduler::onLoad(const dtlto_load &Load) {
  Record.loaded(Load);
  if (Load.slots != UINT32_MAX)
    MaxPrepared = std::clamp<size_t>(2 * size_t(Load.slots), MinPreparedLimit,
                                     MaxPreparedLimit);
  bool IsNews = !LoadKnown || Load.workers != LastLoad.workers ||
                Load.slots != LastLoad.slots;
  LoadKnown = true;
  LastLoad = Load;
  if (!IsNews)
    return;
  L.msg().debug("plugin '" + pluginName() + "': " + known(Load.workers) +
                " workers, " + known(Load.slots) + " slots, " +
                known(Load.free) + " free, " + known(Load.queued) +
                " jobs queued");
}

void Scheduler::onSubmitted(Job &J, Event &E) {
  if (J.At != Stage::Offered)
    return; // it has ended already
  if (E.Status == DTLTO_OK) {
    J.At = Stage::Accepted;
    --NumOffered;
    ++NumAccepted;
    J.First.Accepted = J.First.LastSign = LastSign = Clock::now();
    Record.accepted(J.First.Id);
    return;
  }
  --NumOffered;
  freeBytes(J);
  if (E.Status == DTLTO_BUSY) {
    if (!E.RoomSince)
      PluginBusy = true;
    Record.busy(J.First.Id);
    --J.Attempts;
    J.Built = std::move(E.Built);
    J.At = Stage::Ready;
    Ready.insert(J.Index);
    return;
  }
  LastSign = Clock::now();
  Record.lost(J.First.Id, AttemptRecord::Outcome::Refused);
  fallBack(J, "submit() refused it with error " + Twine(E.Status));
}

/// Whether \p Text has \p Worker as a word of its own.
static bool namesWorker(StringRef Text, StringRef Worker) {
  auto IsPart = [](char C) { return isAlnum(C) || C == '-' || C == '_'; };
  if (Worker.empty())
    return true;
  for (size_t At = 0; (At = Text.find(Worker, At)) != StringRef::npos; ++At) {
    size_t End = At + Worker.size();
    if ((At == 0 || !IsPart(Text[At - 1])) &&
        (End == Text.size() || !IsPart(Text[End])))
      return true;
  }
  return false;
}

void Scheduler::onDone(Job &J, Event &E) {
  bool OfTwin = J.Twin.Id == E.Job;
  Attempt A = OfTwin ? J.Twin : J.First;
  // A result may overtake the answer of submit().
  bool WasAccepted = OfTwin ? A.IsAccepted : J.At == Stage::Accepted;
  if (WasAccepted)
    --NumAccepted;
  else if (OfTwin || J.At == Stage::Offered)
    --NumOffered;
  else
    return;
  Record.done(E.Job, E.Status, E.Worker, E.Message, E.RanHere);
  // A compiler's words end in a newline, and a message doesn't.
  StringRef Said = StringRef(E.Message).rtrim();
  std::string Where = E.Worker.empty() ? "" : " on " + E.Worker;
  if (OfTwin)
    J.Twin = {};

  // While another attempt runs, a failure is not the job's.
  auto Lost = [&](const Twine &Why) {
    if (!loseAttempt(J, OfTwin))
      return false;
    L.msg().debug("plugin '" + pluginName() + "': module '" + J.T.name() +
                  "': " + Why + "; it also runs elsewhere");
    return true;
  };

  switch (E.Status) {
  case DTLTO_OK:
    break;
  case DTLTO_ERROR_COMPILER:
    if (E.RanHere) {
      // The same compiler would say the same again.
      if (!OfTwin)
        J.At = Stage::LocalRunning; // not counted any more
      withdraw(J);
      fail("module '" + J.T.name() + "' failed to compile: " + E.Message);
      return endJob(J);
    }
    if (Lost("the compiler failed" + Where))
      return;
    if (!mayFallBack()) {
      fail("plugin '" + pluginName() + "': module '" + J.T.name() +
           "' failed to compile" + Where + ": " + Said);
      return endJob(J);
    }
    // Only the compiler here can tell whether a plain link would fail too.
    J.RemoteFailure = "the compiler failed" + Where;
    J.RemoteErrors = Said.empty() ? "nothing" : Said.str();
    return fallBack(J, J.RemoteFailure + "; it said: " + J.RemoteErrors,
                    /*Warn=*/false);
  case DTLTO_ERROR_CALLER:
    if (Lost(E.Message))
      return;
    return fallBack(J, "it doesn't accept the job: " + E.Message);
  case DTLTO_CANCELLED:
    if (Lost("cancelled"))
      return;
    return retryOrFallBack(J, "cancelled without having been asked to");
  default:
    std::string Why = Said.empty() ? "no reason given" : Said.str();
    if (!namesWorker(Why, E.Worker))
      Why += Where;
    if (Lost(Why))
      return;
    return retryOrFallBack(J, Why);
  }

  auto NoGood = [&](const Twine &What, Error Why) {
    std::string Text =
        (What + Where + " is no good: " + toString(std::move(Why))).str();
    Record.lost(E.Job, AttemptRecord::Outcome::Infrastructure, Text);
    if (!Lost(Text))
      fallBack(J, Text);
  };
  if (!E.RanHere && !J.Side.empty())
    if (Error Why = unpack(J, E.Object))
      return NoGood("the result", std::move(Why));
  bool IsObject = L.Conf.CGFileType == CodeGenFileType::ObjectFile;
  if (!(E.RanHere && E.NoObject) && IsObject)
    if (Error Why = checkObject(E.Object.bytes(), Builder.triple(J.T)))
      return NoGood("the object", std::move(Why));
  if (!Said.empty())
    L.msg().diagnostic(J.T.name() + ": " + Said);

  if (!J.WhyAgain.empty()) {
    ++NumRetried;
    LastRetry = ("module '" + J.T.name() + "': " + J.WhyAgain).str();
  }
  LastResult = Clock::now();
  PluginBegan = true;
  NumHere -= J.IsUnheard;
  learn(J, A, E);
  if (!E.Worker.empty())
    J.Worker = E.Worker;
  NumTwiceWon += OfTwin;
  if (OfTwin)
    callOff(J.First, J.At == Stage::Accepted);
  else if (J.Twin.Id)
    callOff(J.Twin, J.Twin.IsAccepted);
  // What comes now, delivery or verification, has an id of its own, whichever
  // attempt was called off.
  newId(J);
  freeBytes(J);
  notLeft(J);

  // Which jobs are verified is a matter of their rank, so of the inputs alone.
  // The first is one of them, so that no link is too small for a percentage.
  if (J.Index * L.opts().VerifyPercent % 100 < L.opts().VerifyPercent) {
    ++NumVerified;
    J.ToVerify = std::move(E.Object);
    return startLocal(J);
  }
  deliver(J, std::move(E.Object), E.RanHere && E.NoObject);
}

void Scheduler::onLocalDone(Job &J, Event &E) {
  J.RunsHere = false;
  --NumLocalRunning;
  Record.ranHere(J.Index, E.Ended, E.Seconds, E.Status == DTLTO_OK, E.Message,
                 /*IsVerify=*/!J.ToVerify.bytes().empty());
  if (E.Status == DTLTO_OK)
    learnHere(J, E.Seconds);
  if (J.At == Stage::Ended || J.At == Stage::Delivering)
    return; // the plugin was faster
  if (J.At != Stage::LocalRunning) {
    withdraw(J);
    J.Worker = ThisMachine;
    if (!J.IsUnheard) {
      ++NumTwiceWon;
      Record.staysHere(J.Index, "it took long at the plugin's");
    }
  }
  if (E.Status != DTLTO_OK) {
    fail("module '" + J.T.name() + "' failed to compile: " + E.Message);
    return endJob(J);
  }
  if (!J.RemoteFailure.empty())
    warnLimited(
        "plugin '" + pluginName() + "': module '" + J.T.name() +
            "': " + J.RemoteFailure +
            ", but compiling it here worked; it said: " + J.RemoteErrors,
        J.RemoteErrors);
  if (!J.ToVerify.bytes().empty()) {
    if (Error Why = verify(J, E.Object.bytes())) {
      fail("plugin '" + pluginName() + "': " + toString(std::move(Why)));
      return endJob(J);
    }
    J.ToVerify.reset();
  }
  // They have been written.
  J.Outputs = {};
  J.Packed.reset();
  NumFallback += J.FellBack;
  NumKept += J.IsKept;
  deliver(J, std::move(E.Object), E.NoObject);
}
