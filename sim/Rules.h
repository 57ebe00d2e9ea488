//===- Rules.h - The rules of a link ----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks a plan from outside, by its events and actions only. The rules know
// nothing of how the plan decides, so they can't share its mistakes.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SIM_RULES_H
#define DTLTO_SIM_RULES_H

#include "Plan/Plan.h"

namespace dtlto::sim {

class Rules {
public:
  Rules(const std::vector<plan::JobInfo> &Jobs, const plan::Options &Opts);

  /// Checks one step; \p E is null for the start. Returns the first broken
  /// rule, or an empty string, as the other functions do.
  std::string onStep(plan::Time Now, const plan::Event *E,
                     const std::vector<plan::Action> &Actions);
  /// Checks the end of the link.
  std::string checkEnd() const;

private:
  enum class Stage {
    Planned, // to be prepared or compiled locally
    Preparing,
    Ready,
    Offered,
    Accepted,
    Compiling,
    Good, // there is an object
    Ended // failed, or cancelled
  };
  struct Attempt {
    plan::JobId Job = 0;
    plan::AttemptKind Kind = plan::AttemptKind::First;
    plan::Cause Why = plan::Cause::None; // why it is compiled locally
    Stage At = Stage::Ended;
    bool IsKnown = false;      // an action has named it
    bool IsAtPlugin = false;   // or will be
    bool IsForPlugin = false;  // was prepared so
    bool Prepares = false;     // on a thread, even if not needed any more
    bool Compiles = false;     // on a thread, even if not needed any more
    bool IsSecond = false;     // began while another one was live
    bool IsFromLinker = false; // this process made the object
    bool IsCached = false;     // another machine made it, for another link
    plan::WorkerId Worker = 0;
    uint64_t Bytes = 0;
    bool IsRunning = false;   // reported as running
    bool RunsLocally = false; // reported as running on this machine
    plan::Time LastSign = {}; // of life
    /// Its result was bad, or a compile error of a good module; the plugin
    /// doesn't know yet.
    bool IsWrong = false;
  };
  struct Job {
    std::vector<plan::AttemptId> Attempts; // all, also ended ones
    plan::AttemptId Winner = 0;
    unsigned Tries = 0;
    unsigned NumAccepted = 0; // by the plugin, duplicates included
    bool HasBegun = false;
    bool IsFound = false;   // in the remote cache
    bool IsSampled = false; // by the plan
    bool IsSuspect = false; // its object is to be compared
    bool IsCompared = false, IsDelivering = false, Ended = false;
    bool MayTryAgain = false; // the last failure was of the infrastructure
    unsigned NumCompileErrors = 0, NumBadResults = 0;
    plan::WorkerId AvoidedWorker = 0; // the last failure's, a compile error
    // The reasons for its end that were observed.
    std::set<plan::Cause> Reasons;
  };

  struct {
    bool WasOpenRequested = false, IsOpen = false, IsDropped = false,
         IsClosed = false;
    plan::Time OpenRequestTime = {}; // when it was asked to open
    bool WantsBatches = false;
    bool IsBatchOpen = false; // jobs were accepted since the last batch
    // It has all jobs, and nothing has changed since.
    bool IsBatchReported = false;
    bool MustWait = false; // it was busy, and nothing has changed since
    plan::Time CallSince = plan::Never;
    plan::Time LastActivity = {},
               LastProgress = {}; // last sign of life; last progress
  } Plugin;

  void onEvent(const plan::Event &E);
  void onJobEvent(const plan::Event &E);
  void recordSign(const plan::Event &E);
  void onAttemptEvent(const plan::Event &E, Attempt &A);
  void onPreparation(const plan::Event &E, Attempt &A);
  void onFailure(const plan::Event &E, Attempt &A, bool WasAtPlugin);
  void onAction(const plan::Action &A);
  bool mayName(const plan::Action &A, const Attempt *At);
  void onPluginAction(const plan::Action &A);
  void onPrepare(const plan::Action &A);
  void onStaysLocal(const plan::Action &A, const Attempt *At);
  void onRefute(const plan::Action &A, Attempt *At);
  void onVerify(const plan::Action &A, const Attempt &At);
  void onDeliver(const plan::Action &A, const Attempt &At);
  void onOffer(const plan::Action &A);
  void onCompile(const plan::Action &A);
  bool isBatchComplete() const;
  void onCompleteBatch();
  void onEndJob(const plan::Action &A);
  void checkStep();

  void expect(bool Holds, const char *Rule);
  void setSubject(std::optional<plan::JobId> J = {}, plan::AttemptId A = 0);
  Attempt *find(plan::AttemptId Id);
  Attempt &add(const plan::Action &A, Stage At);
  Attempt &addFound(const plan::Action &A);
  void forgetIfOver(plan::AttemptId Id);
  static bool isLive(const Attempt &A) {
    return A.At != Stage::Ended && A.At != Stage::Good;
  }
  unsigned numLive(const Job &J) const;
  size_t numAhead() const;
  bool isVoluntary(plan::Cause Why) const;
  bool mayFallBack() const { return Opts.Fallback && !IsFallbackForbidden; }
  bool isForeign(const Job &J) const;
  bool hasEqual(const Job &J) const {
    return J.Reasons.count(plan::Cause::None);
  }

  const std::vector<plan::JobInfo> Infos;
  const plan::Options Opts;
  double SecondsInAll = 0;
  std::vector<Job> Jobs;
  std::vector<Attempt> Attempts;  // by id
  std::set<plan::AttemptId> Live; // live, or on a thread
  std::string Broken;
  // What is being checked, for messages.
  std::optional<plan::JobId> NamedJob;
  plan::AttemptId NamedAttempt = 0;

  plan::Time Now = {};
  bool IsFallbackForbidden = false, Failed = false;
  bool HadProblems = false;        // the plugin did not run what it was given
  plan::AttemptId BusyAttempt = 0; // in this step
  uint32_t MaxSlots = 0;
  std::optional<uint32_t> Slots; // the plugin's last number
  size_t NumEnded = 0;
  size_t NumSampled = 0, NumSuspect = 0;
  bool HasDifference = false;
  size_t NumTokens = 0; // taken ones
  bool IsTokenRequested = false;
  plan::JobId NextInOrder = 0;
};

} // namespace dtlto::sim

#endif // DTLTO_SIM_RULES_H
