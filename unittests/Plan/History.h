//===- History.h - A link's history as a table ------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays a history of events to a plan. A history is a table, and a row has the
// time in milliseconds, one event, and the actions that the event leads to:
//
//   {0, "start", "prepare 1, prepare 2"},
//   {5, "prepared 1", "open"},
//
// Events name an attempt by its number. Attempts are numbered in the order of
// preparation. Events of verification and delivery name the job: `j0`. Actions
// are named as in Plan.h, followed by their fields:
//
//   prepare 1   prepare 1 here   again 3 retry   again 4 duplicate avoid w1
//   offer 1     offer 1 insist   cancel 1 overtaken
//   stays 2 full   compile 2     won 1   refute 1 bad   verify 5   deliver 1
//   take   return (a token)   open   close   load   drop timeout   end j0 done
//   fail j0 infrastructure
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_PLAN_HISTORY_H
#define DTLTO_UNITTESTS_PLAN_HISTORY_H

#include "Plan/Plan.h"
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <sstream>

namespace dtlto::test {

struct Row {
  int Ms;
  const char *Event;
  const char *Actions;
};

inline const std::map<std::string, plan::Cause> &causes() {
  using plan::Cause;
  static const std::map<std::string, Cause> Names = {
      {"none", Cause::None},
      {"compiler", Cause::Compiler},
      {"compilerhere", Cause::LocalCompiler},
      {"caller", Cause::Caller},
      {"refused", Cause::Refused},
      {"cancelled", Cause::Cancelled},
      {"infrastructure", Cause::Infrastructure},
      {"bad", Cause::BadResult},
      {"timeout", Cause::Timeout},
      {"overtaken", Cause::Overtaken},
      {"inexpressible", Cause::NotExpressible},
      {"full", Cause::PluginFull},
      {"takenback", Cause::TakenBack},
      {"silent", Cause::PluginSilent},
      {"straggler", Cause::Straggler},
      {"overdue", Cause::Overdue},
      {"gone", Cause::PluginDropped},
      {"openfailed", Cause::OpenFailed},
      {"pluginfailed", Cause::PluginFailed},
      {"hangs", Cause::CallHangs},
      {"alwaysbusy", Cause::AlwaysBusy},
      {"done", Cause::Done},
      {"cached", Cause::Cached},
      {"preparefailed", Cause::PrepareFailed},
      {"verifyfailed", Cause::VerifyFailed},
      {"deliverfailed", Cause::DeliverFailed},
      {"linkfailed", Cause::LinkFailed}};
  return Names;
}

inline std::string nameOf(plan::Cause Why) {
  for (const auto &[Name, C] : causes())
    if (C == Why)
      return Name;
  return "?";
}

inline std::string describe(const plan::Action &A) {
  using plan::Action;
  std::string Id = " " + std::to_string(A.Attempt);
  std::string Job = " j" + std::to_string(A.Job);
  std::string Why = " " + nameOf(A.Why);
  std::string Avoid = A.Avoid ? " avoid w" + std::to_string(A.Avoid) : "";
  switch (A.What) {
  case Action::Open:
    return "open";
  case Action::Prepare:
    return (A.IsAgain ? "again" : "prepare") + Id +
           (A.AKind == plan::AttemptKind::Retry       ? " retry"
            : A.AKind == plan::AttemptKind::Duplicate ? " duplicate"
            : !A.ForPlugin                            ? " here"
                                                      : "") +
           Avoid;
  case Action::Offer:
    return "offer" + Id + (A.Insist ? " insist" : "");
  case Action::CompleteBatch:
    return "complete";
  case Action::Cancel:
    return "cancel" + Id + Why;
  case Action::StayLocal:
    return "stays" + Id + Why + Avoid;
  case Action::CompileLocally:
    return "compile" + Id;
  case Action::Won:
    return "won" + Id;
  case Action::Refute:
    return "refute" + Id + Why;
  case Action::Verify:
    return "verify" + Id;
  case Action::Deliver:
    return "deliver" + Id;
  case Action::QueryLoad:
    return "load";
  case Action::TakeToken:
    return "take";
  case Action::ReturnToken:
    return "return";
  case Action::DropPlugin:
    return "drop" + Why;
  case Action::EndJob:
    return "end" + Job + Why;
  case Action::FailLink:
    return "fail" + Job + Why;
  case Action::Close:
    return "close";
  }
  return "?";
}

class History {
public:
  History(const plan::Options &O, std::vector<plan::JobInfo> Jobs)
      : Owned(std::make_unique<plan::Plan>(Jobs, O)) {}

  /// Plays the rows. Fails the test if the plan's actions differ from a row's.
  void play(const std::vector<Row> &Rows) {
    for (const Row &R : Rows) {
      plan::Time Now = std::chrono::milliseconds(R.Ms);
      std::string Text = R.Event;
      std::vector<plan::Action> Actions =
          Text == "start" ? P.start(Now) : P.handle(Now, parse(Text));
      std::string Have;
      for (const plan::Action &A : Actions)
        Have += (Have.empty() ? "" : ", ") + describe(A);
      EXPECT_EQ(Have, R.Actions) << "at " << R.Ms << " ms: " << Text;
      EXPECT_EQ(P.check(), "") << "at " << R.Ms << " ms: " << Text;
    }
  }

private:
  std::unique_ptr<plan::Plan> Owned; // a plan can't be moved

public:
  plan::Plan &P = *Owned;

private:
  static plan::Event parse(const std::string &Text) {
    using plan::Event;
    using plan::PluginState;
    std::istringstream In(Text);
    std::string What;
    In >> What;
    Event E;
    auto Attempt = [&] { In >> E.Attempt; };
    auto Worker = [&] {
      std::string W;
      if (In >> W)
        E.Worker = static_cast<plan::WorkerId>(std::stoul(W.substr(1)));
    };
    auto Job = [&] {
      std::string J;
      In >> J;
      E.Job = static_cast<plan::JobId>(std::stoul(J.substr(1)));
    };
    auto Flag = [&](bool &Into) {
      std::string F;
      Into = bool(In >> F);
    };
    static const std::map<std::string, Event::Kind> Plain = {
        {"tick", Event::Tick},
        {"pluginfailed", Event::PluginFailed},
        {"room", Event::RoomChanged},
        {"token", Event::TokenTaken}};
    static const std::map<std::string, Event::Kind> OfAttempt = {
        {"broken", Event::PrepareFailed},
        {"inexpressible", Event::NotExpressible},
        {"accepted", Event::Accepted},
        {"alive", Event::Alive},
        {"nocompile", Event::LocalCompileFailed}};
    static const std::map<std::string, Event::Kind> OfJob = {
        {"verified", Event::Verified},
        {"differs", Event::VerifyFailed},
        {"delivered", Event::Delivered},
        {"undelivered", Event::DeliverFailed},
        {"found", Event::Found}};
    static const std::map<std::string, PluginState> States = {
        {"queued", PluginState::Queued},
        {"sending", PluginState::Sending},
        {"running", PluginState::Running},
        {"receiving", PluginState::Receiving}};
    if (auto It = Plain.find(What); It != Plain.end()) {
      E.What = It->second;
      int Since;
      if (In >> Since) // tick 0: a call has been running since 0 ms
        E.CallSince = std::chrono::milliseconds(Since);
    } else if (auto It = OfAttempt.find(What); It != OfAttempt.end()) {
      E.What = It->second;
      Attempt();
    } else if (auto It = OfJob.find(What); It != OfJob.end()) {
      E.What = It->second;
      Job();
    } else if (auto It = States.find(What); It != States.end()) {
      E.What = Event::StateChanged;
      E.State = It->second;
      Attempt();
      Worker();
    } else if (What == "here" || What == "waits") { // a local job of the plugin
      E.What = Event::StateChanged;
      E.State = What == "here" ? PluginState::Running : PluginState::Queued;
      E.RanLocally = true;
      Attempt();
      Worker();
    } else if (What == "opened") {
      E.What = Event::Opened;
    } else if (What == "batching") { // opened, and wants batches
      E.What = Event::Opened;
      E.WantsBatches = true;
    } else if (What == "openfailed") { // openfailed caller: a wrong argument
      E.What = Event::OpenFailed;
      Flag(E.IsArgumentWrong);
    } else if (What == "load") { // load SLOTS FREE [LOCAL]
      E.What = Event::LoadReported;
      In >> E.ReportedLoad.Slots >> E.ReportedLoad.Free >> E.ReportedLoad.Local;
    } else if (What == "prepared") { // prepared 1 [BYTES]
      E.What = Event::Prepared;
      Attempt();
      In >> E.Bytes;
    } else if (What == "busy") { // busy 1 room: room was reported since
      E.What = Event::Busy;
      Attempt();
      Flag(E.HasRoomSince);
    } else if (What == "hit") { // hit 1 other: a remote object, to be compared
      E.What = Event::CacheHit;
      Attempt();
      Flag(E.MustCompare);
    } else if (What == "good") { // good 1 [w1|own]: made in this process
      E.What = Event::Succeeded;
      Attempt();
      std::string By;
      In >> By;
      E.IsFromLinker = By == "own";
      if (!By.empty() && !E.IsFromLinker)
        E.Worker = static_cast<plan::WorkerId>(std::stoul(By.substr(1)));
    } else if (What == "failed") { // failed 1 CAUSE [w1]
      E.What = Event::Failed;
      Attempt();
      std::string Why;
      In >> Why;
      E.Why = causes().at(Why);
      Worker();
    } else if (What == "confirmed") { // confirmed j0 1
      E.What = Event::Confirmed;
      Job();
      Attempt();
    } else if (What == "compiled") { // compiled 1 SECONDS
      E.What = Event::CompiledLocally;
      Attempt();
      In >> E.Seconds;
    } else {
      ADD_FAILURE() << "no such event: " << Text;
    }
    return E;
  }
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_PLAN_HISTORY_H
