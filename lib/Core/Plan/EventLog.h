//===- EventLog.h - The history of a plan, as text --------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inputs and outputs of a plan, one line for each event and each action.
// Equal events give equal actions, so a log shows what a plan did without
// repeating its link.
//
//   dtlto-event-log 7
//   option cores 4
//   ...                                            each option, in one order
//   job 1.25                                       the estimate, in seconds
//   job 0.5 side-files
//   0.000000000 Start                              each step: time, event
//     Prepare job=0 attempt=1 for-plugin           and then its actions
//   0.001200000 Prepared attempt=1 bytes=4096
//     Offer job=0 attempt=1
//
// Fields with their default value may be omitted. A line that begins with '#'
// is a comment. A log may end after any step.
//
// The linker writes logs, the simulator reads them; both use these names and
// fields.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_CORE_PLAN_EVENTLOG_H
#define DTLTO_CORE_PLAN_EVENTLOG_H

#include "Plan/Events.h"
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::plan {

/// Returns the head of a log; printStep() for each step follows.
std::string printHeader(const Options &Opts, const std::vector<JobInfo> &Jobs);
/// \p E is null for the start.
std::string printStep(Time Now, const Event *E,
                      const std::vector<Action> &Actions);
std::string print(const Action &A); // one line, without newline

inline constexpr std::string_view Version = "dtlto-event-log 7";
inline constexpr int64_t NsPerSecond = 1000000000;

//===----------------------------------------------------------------------===//
// Names, in the order of their enums
//===----------------------------------------------------------------------===//

inline constexpr std::string_view EventNames[] = {"Tick",
                                                  "Opened",
                                                  "OpenFailed",
                                                  "PluginFailed",
                                                  "RoomChanged",
                                                  "LoadKnown",
                                                  "TokenTaken",
                                                  "Prepared",
                                                  "CacheHit",
                                                  "PrepareFailed",
                                                  "NotExpressible",
                                                  "Accepted",
                                                  "Busy",
                                                  "StateChanged",
                                                  "Alive",
                                                  "Succeeded",
                                                  "Failed",
                                                  "CompiledHere",
                                                  "CompileHereFailed",
                                                  "Verified",
                                                  "VerifyFailed",
                                                  "Delivered",
                                                  "DeliverFailed",
                                                  "Confirmed",
                                                  "Found"};
static_assert(std::size(EventNames) == NumEventKinds);

inline constexpr std::string_view ActionNames[] = {
    "Open",      "Prepare",     "Offer",     "CompleteBatch", "Cancel",
    "StaysHere", "CompileHere", "Won",       "Refute",        "Verify",
    "Deliver",   "QueryLoad",   "TakeToken", "ReturnToken",   "DropPlugin",
    "EndJob",    "FailLink",    "Close"};
static_assert(std::size(ActionNames) == NumActionKinds);

inline constexpr std::string_view KindNames[] = {"First", "Retry",  "Duplicate",
                                                 "Here",  "Verify", "Found"};
static_assert(std::size(KindNames) == size_t(AttemptKind::Found) + 1);

inline constexpr std::string_view StateNames[] = {"Queued", "Sending",
                                                  "Running", "Receiving"};
static_assert(std::size(StateNames) == size_t(PluginState::Receiving) + 1);

inline constexpr std::string_view CauseNames[] = {
    "None",         "Compiler",      "CompilerHere",   "Caller",
    "Refused",      "Cancelled",     "Infrastructure", "BadResult",
    "Timeout",      "Overtaken",     "NotExpressible", "PluginFull",
    "TakenBack",    "PluginSilent",  "Straggler",      "Overdue",
    "PluginGone",   "OpenFailed",    "PluginFailed",   "CallHangs",
    "AlwaysBusy",   "Done",          "Cached",         "PrepareFailed",
    "VerifyFailed", "DeliverFailed", "LinkFailed"};
static_assert(std::size(CauseNames) == size_t(Cause::LinkFailed) + 1);

//===----------------------------------------------------------------------===//
// The fields of a line, for writing and reading alike
//===----------------------------------------------------------------------===//

// Calls F(name, field) for each field.
template <typename OptionsT, typename FnT>
constexpr void forEachOption(OptionsT &Opts, FnT F) {
  F("cores", Opts.Cores);
  F("local-jobs", Opts.LocalJobs);
  F("duplicate-percent", Opts.DuplicatePercent);
  F("verify-percent", Opts.VerifyPercent);
  F("verify-seed", Opts.VerifySeed);
  F("fallback", Opts.Fallback);
  F("keep-order", Opts.KeepOrder);
  F("open-at-once", Opts.OpenAtOnce);
  F("max-bytes-in-flight", Opts.MaxBytesInFlight);
  F("max-bytes-here", Opts.MaxLocalBytes);
  F("needs-tokens", Opts.NeedsTokens);
  F("job-timeout", Opts.JobTimeout);
  F("talk-factor", Opts.NoProgressFactor);
  F("max-tries", Opts.MaxTries);
  F("max-offers", Opts.MaxOffers);
  F("min-prepared", Opts.MinPrepared);
  F("max-prepared", Opts.MaxPrepared);
  F("prepared-per-slot", Opts.PreparedPerSlot);
  F("busy-retry", Opts.BusyRetry);
  F("busy-is-news", Opts.BusyHoldoff);
  F("call-timeout", Opts.CallTimeout);
  F("deadline-step", Opts.DeadlineStep);
  F("load-interval", Opts.LoadInterval);
  F("look-interval", Opts.ScanInterval);
  F("slow-factor", Opts.SlowFactor);
  F("slow-extra", Opts.SlowExtra);
  F("slow-worker-jobs", Opts.SlowWorkerJobs);
  F("min-measured", Opts.MinMeasured);
  F("max-wait", Opts.MaxWait);
  F("long-wait-factor", Opts.LongWaitFactor);
  F("patience", Opts.Patience);
  F("silent-patience", Opts.SilentPatience);
  F("dead-after", Opts.DeadAfter);
  F("late-factor", Opts.LateFactor);
  F("late-extra", Opts.LateExtra);
}

template <typename LoadT, typename FnT>
constexpr void forEachField(LoadT &LoadFields, FnT F,
                            const Load & /*selects this one*/) {
  F("slots", LoadFields.Slots);
  F("free", LoadFields.Free);
  F("workers", LoadFields.Workers);
  F("local", LoadFields.Local);
}

template <typename EventT, typename FnT>
constexpr void forEachField(EventT &E, FnT F, const Event &) {
  F("job", E.Job);
  F("attempt", E.Attempt);
  F("worker", E.Worker);
  F("state", E.State);
  F("why", E.Why);
  F("argument-wrong", E.IsArgumentWrong);
  F("must-compare", E.MustCompare);
  F("room-since", E.HasRoomSince);
  F("ours", E.IsFromLinker);
  F("ran-here", E.RanLocally);
  F("wants-batches", E.WantsBatches);
  F("bytes", E.Bytes);
  F("seconds", E.Seconds);
  F("call-since", E.CallSince);
  forEachField(E.ReportedLoad, F, Load());
}

template <typename ActionT, typename FnT>
constexpr void forEachField(ActionT &A, FnT F, const Action &) {
  F("job", A.Job);
  F("attempt", A.Attempt);
  F("kind", A.AKind);
  F("why", A.Why);
  F("avoid", A.Avoid);
  F("for-plugin", A.ForPlugin);
  F("again", A.IsAgain);
  F("insist", A.Insist);
  F("sampled", A.IsSampled);
  F("proven", A.IsProven);
}

// The assertions below fail if a new field isn't listed above.
struct AnyValue {
  template <typename T> operator T() const;
};
template <typename T, typename Is, typename = void>
struct TakesValues : std::false_type {};
template <typename T, size_t... Is>
struct TakesValues<T, std::index_sequence<Is...>,
                   std::void_t<decltype(T{(void(Is), AnyValue())...})>>
    : std::true_type {};
/// The number of fields of the struct \p T.
template <typename T, size_t Most = 64> constexpr size_t numFields() {
  if constexpr (TakesValues<T, std::make_index_sequence<Most>>::value)
    return Most;
  else
    return numFields<T, Most - 1>();
}
/// The number of fields that are listed.
template <typename T> constexpr size_t numListed() {
  size_t N = 0;
  T Value;
  auto Count = [&N](std::string_view, auto &) { ++N; };
  if constexpr (std::is_same_v<T, Options>)
    forEachOption(Value, Count);
  else
    forEachField(Value, Count, Value);
  return N;
}
static_assert(numListed<Options>() == numFields<Options>());
static_assert(numListed<Load>() == numFields<Load>());
// Without What. An event's load is listed field by field.
static_assert(numListed<Action>() == numFields<Action>() - 1);
static_assert(numListed<Event>() == numFields<Event>() - 2 + numFields<Load>());

inline bool namesJob(const Event &E) { return E.What >= Event::Verified; }
inline bool namesJob(const Action &A) {
  switch (A.What) {
  case Action::Open:
  case Action::CompleteBatch:
  case Action::QueryLoad:
  case Action::TakeToken:
  case Action::ReturnToken:
  case Action::DropPlugin:
  case Action::FailLink:
  case Action::Close:
    return false;
  default:
    return true;
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

// Independent of the locale; doubles are read back exactly.
template <typename T> std::string number(T Value) {
  char Text[64];
  auto End = std::to_chars(Text, Text + sizeof(Text), Value).ptr;
  return {Text, End};
}

inline std::string text(unsigned V) { return number(V); }
inline std::string text(uint64_t V) { return number(V); }
inline std::string text(double V) { return number(V); }
inline std::string text(bool V) { return V ? "yes" : "no"; }
inline std::string text(const std::optional<unsigned> &V) {
  return V ? number(*V) : "auto";
}
inline std::string text(AttemptKind V) {
  return std::string(KindNames[size_t(V)]);
}
inline std::string text(PluginState V) {
  return std::string(StateNames[size_t(V)]);
}
inline std::string text(Cause V) { return std::string(CauseNames[size_t(V)]); }
inline std::string text(Time V) {
  if (V == Never)
    return "never";
  std::string Rest = number(V.count() % NsPerSecond);
  return number(V.count() / NsPerSecond) + "." +
         std::string(9 - Rest.size(), '0') + Rest;
}

} // namespace dtlto::plan

#endif // DTLTO_CORE_PLAN_EVENTLOG_H
