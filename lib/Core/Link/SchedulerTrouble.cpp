//===- SchedulerTrouble.cpp - What the scheduler does when jobs fail ------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Retry, fallback, deadlines, and the end of a plugin's use. Where the user
// wants no fallback, the first of these fails the link.
//
//===----------------------------------------------------------------------===//

#include "Link/Scheduler.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// How often a job is given to the plugin before it is compiled here.
static constexpr unsigned MaxAttempts = 2;
// A call that the ABI says comes back at once.
static constexpr std::chrono::seconds MaxCall = 60s;
// More of the same warning tells nobody more: of each kind, and in all.
static constexpr unsigned MaxOfKind = 3;
static constexpr size_t MaxWarnings = 10;

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

/// Warns of what became of one job, \p Why it did; the sum of those that aren't
/// told is told at the end.
void Scheduler::warnLimited(const Twine &Text, StringRef Why) {
  if (L.msg().verbose() ||
      (NumWarnings < MaxWarnings && ++NumOfKind[kindOf(Why)] <= MaxOfKind)) {
    ++NumWarnings;
    L.msg().warning(Text);
  } else {
    ++NumUntold;
  }
}

void Scheduler::addError(const Twine &Text) {
  Err = joinErrors(std::move(Err),
                   createStringError(inconvertibleErrorCode(), Text));
}

void Scheduler::fail(const Twine &Why) { addError("dtlto: " + Why); }

/// Names the setting to blame, unless it is the linker's own option.
void Scheduler::failWithoutFallback(const Twine &Why) {
  fail(WhyNoFallback.empty()
           ? Why
           : Why + "; not compiled here, since " + WhyNoFallback);
}

void Scheduler::retryOrFallBack(Job &J, const Twine &Why) {
  if (J.Attempts >= MaxAttempts || PluginGone || Aborting)
    return fallBack(J, Why);
  freeBytes(J);
  L.msg().debug("plugin '" + pluginName() + "': module '" + J.T.name() +
                "': " + Why + "; trying again");
  newId(J);
  Expected<std::unique_ptr<BuiltJob>> Built =
      Builder.build(J.T, J.First.Id, cost(J));
  if (!Built)
    return fallBack(J, toString(Built.takeError()));
  J.WhyAgain = Why.str();
  J.Built = std::move(*Built);
  J.At = Stage::Ready;
  Ready.insert(J.Index);
}

/// \p J is with nobody: not counted as offered or accepted any more.
void Scheduler::fallBack(Job &J, const Twine &Why, bool Warn) {
  std::string Text =
      ("plugin '" + pluginName() + "': module '" + J.T.name() + "': " + Why)
          .str();
  // Others that fail then do so for the same reason.
  if (Aborting)
    return endJob(J);
  if (!mayFallBack()) {
    failWithoutFallback(Text);
    Aborting = true;
    return endJob(J);
  }
  Record.staysHere(J.Index, Why);
  if (Warn)
    warnLimited(Text + "; compiling it here", Why.str());
  else
    L.msg().debug(Text + "; compiling it here");
  J.FellBack = true;
  freeBytes(J);
  newId(J); // a late result is nobody's
  J.At = Stage::LocalQueue;
  LocalQueue.push_back(J.Index);
}

void Scheduler::giveUpPlugin(const Twine &Why) {
  if (PluginGone)
    return;
  PluginGone = true;
  Record.pluginFailed(Why);
  std::string Text = ("plugin '" + pluginName() + "': " + Why).str();
  if (Aborting || !mayFallBack()) {
    failWithoutFallback(Text);
    Aborting = true;
  } else if (NumEnded == Jobs.size()) {
    L.msg().warning(Text);
  } else {
    L.msg().warning(Text + "; compiling the remaining modules here");
  }
  for (size_t Index = 0; Index != Jobs.size(); ++Index) {
    Job &J = job(Index);
    if (J.At == Stage::Offered)
      --NumOffered;
    else if (J.At == Stage::Accepted)
      --NumAccepted;
    else if (J.At == Stage::Ready)
      Ready.erase(Index);
    else
      continue;
    if (TheSession)
      TheSession->forget(J.First.Id);
    Record.lost(J.First.Id, AttemptRecord::Outcome::PluginFailed, Why);
    if (J.Twin.Id)
      callOff(J.Twin, J.Twin.IsAccepted);
    freeBytes(J);
    J.Built.reset();
    if (Aborting) {
      endJob(J);
      continue;
    }
    J.FellBack = true;
    Record.staysHere(Index, Why);
    newId(J);
    J.At = Stage::LocalQueue;
    LocalQueue.push_back(Index);
  }
}

void Scheduler::checkDeadlines() {
  if (!TheSession || PluginGone || Aborting)
    return;
  // The jobs are many, and events are more.
  Clock::time_point Now = Clock::now();
  if (Now < NextCheck)
    return;
  NextCheck = Now + deadlineStep();
  if (std::optional<Session::Call> C = TheSession->currentCall())
    if (Now - C->Since > std::min<Clock::duration>(MaxCall, timeout()))
      return giveUpPlugin(
          Twine(C->Name) + "() has not returned within " +
          Twine(std::chrono::duration_cast<std::chrono::seconds>(Now - C->Since)
                    .count()) +
          " s");
  // Code generation here is a sign of life as well, until its result is in.
  bool Silent = Now - std::max(LastSign, TheSession->lastRunHere()) > timeout();
  if (Silent && NumAccepted == 0 && PluginBusy)
    return giveUpPlugin("it is busy, but has not taken a job for " +
                        Twine(L.opts().TimeoutSeconds) +
                        " s (--thinlto-dist-timeout)");
  auto IsLate = [&](const Attempt &A) {
    if (A.State == DTLTO_STATE_QUEUED)
      return Silent;
    return Now - std::max(A.LastSign, TheSession->lastRunHere(A.Id)) >
           timeout();
  };
  for (auto &P : Jobs) {
    Job &J = *P;
    if (J.Twin.Id && J.Twin.IsAccepted && IsLate(J.Twin))
      callOff(J.Twin, /*IsAccepted=*/true);
    if (J.At != Stage::Accepted || !IsLate(J.First))
      continue;
    TheSession->forget(J.First.Id);
    Record.lost(J.First.Id, AttemptRecord::Outcome::Timeout);
    --NumAccepted;
    if (loseAttempt(J, /*OfTwin=*/false))
      continue;
    fallBack(J, "no result within " + Twine(L.opts().TimeoutSeconds) +
                    " s (--thinlto-dist-timeout)");
    if (Aborting)
      return;
  }
}

/// How late a missed deadline may be noticed.
Clock::duration Scheduler::deadlineStep() const {
  return std::min<Clock::duration>(timeout() / 4, 500ms);
}

/// When the thread must wake up without an event.
Clock::time_point Scheduler::nextDeadline() const {
  if (!TheSession || PluginGone || Aborting)
    return Clock::now() + 1h; // everything under way ends with an event
  return isGivenOut() || HereIsIdle ? std::min(NextCheck, NextLook) : NextCheck;
}
