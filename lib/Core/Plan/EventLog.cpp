//===- EventLog.cpp - The history of a plan, as text ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan/EventLog.h"
#include <charconv>
#include <cmath>

using namespace dtlto;
using namespace dtlto::plan;

static constexpr std::string_view Version = "dtlto-event-log 1";
static constexpr int64_t NsPerSecond = 1000000000;

//===----------------------------------------------------------------------===//
// Names, in the order of their enums
//===----------------------------------------------------------------------===//

static constexpr std::string_view EventNames[] = {"Tick",
                                                  "Opened",
                                                  "OpenFailed",
                                                  "FallbackForbidden",
                                                  "PluginFailed",
                                                  "RoomChanged",
                                                  "LoadKnown",
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
                                                  "DeliverFailed"};
static_assert(std::size(EventNames) == NumEventKinds);

static constexpr std::string_view ActionNames[] = {
    "Open",        "Prepare", "Offer",    "Cancel",  "StaysHere",
    "CompileHere", "Won",     "Verify",   "Deliver", "QueryLoad",
    "DropPlugin",  "EndJob",  "FailLink", "Close"};
static_assert(std::size(ActionNames) == NumActionKinds);

static constexpr std::string_view KindNames[] = {"First", "Retry", "Duplicate",
                                                 "Here", "Verify"};
static_assert(std::size(KindNames) == size_t(AttemptKind::Verify) + 1);

static constexpr std::string_view StateNames[] = {"Queued", "Sending",
                                                  "Running", "Receiving"};
static_assert(std::size(StateNames) == size_t(PluginState::Receiving) + 1);

static constexpr std::string_view CauseNames[] = {
    "None",          "Compiler",     "CompilerHere",   "Caller",
    "Refused",       "Cancelled",    "Infrastructure", "BadResult",
    "Timeout",       "Overtaken",    "NotExpressible", "PluginFull",
    "TakenBack",     "PluginSilent", "Straggler",      "PluginGone",
    "OpenFailed",    "PluginFailed", "CallHangs",      "AlwaysBusy",
    "Done",          "Cached",       "PrepareFailed",  "VerifyFailed",
    "DeliverFailed", "LinkFailed"};
static_assert(std::size(CauseNames) == size_t(Cause::LinkFailed) + 1);

//===----------------------------------------------------------------------===//
// What lines consist of, for writing and reading alike
//===----------------------------------------------------------------------===//

// Calls F(name, field) for each field.
template <typename OptionsT, typename FnT>
static void forEachOption(OptionsT &O, FnT F) {
  F("cores", O.Cores);
  F("local-jobs", O.LocalJobs);
  F("duplicate-percent", O.DuplicatePercent);
  F("verify-percent", O.VerifyPercent);
  F("fallback", O.Fallback);
  F("keep-order", O.KeepOrder);
  F("max-bytes-in-flight", O.MaxBytesInFlight);
  F("job-timeout", O.JobTimeout);
  F("max-tries", O.MaxTries);
  F("max-offers", O.MaxOffers);
  F("min-prepared", O.MinPrepared);
  F("max-prepared", O.MaxPrepared);
  F("busy-retry", O.BusyRetry);
  F("call-timeout", O.CallTimeout);
  F("deadline-step", O.DeadlineStep);
  F("load-interval", O.LoadInterval);
  F("look-interval", O.LookInterval);
  F("slow-factor", O.SlowFactor);
  F("slow-extra", O.SlowExtra);
  F("slow-worker-jobs", O.SlowWorkerJobs);
  F("min-measured", O.MinMeasured);
  F("max-wait", O.MaxWait);
  F("long-wait-factor", O.LongWaitFactor);
  F("patience", O.Patience);
  F("silent-patience", O.SilentPatience);
  F("dead-after", O.DeadAfter);
}

template <typename EventT, typename FnT>
static void forEachField(EventT &E, FnT F, const Event & /*selects this one*/) {
  F("job", E.Job);
  F("attempt", E.Attempt);
  F("worker", E.Worker);
  F("state", E.State);
  F("why", E.Why);
  F("flag", E.Flag);
  F("ran-here", E.RanHere);
  F("bytes", E.Bytes);
  F("seconds", E.Seconds);
  F("call-since", E.CallSince);
  F("slots", E.TheLoad.Slots);
  F("free", E.TheLoad.Free);
  F("workers", E.TheLoad.Workers);
  F("local", E.TheLoad.Local);
}

template <typename ActionT, typename FnT>
static void forEachField(ActionT &A, FnT F, const Action &) {
  F("job", A.Job);
  F("attempt", A.Attempt);
  F("kind", A.AKind);
  F("why", A.Why);
  F("avoid", A.Avoid);
  F("for-plugin", A.ForPlugin);
  F("again", A.IsAgain);
  F("insist", A.Insist);
}

static bool namesJob(const Event &E) { return E.What >= Event::Verified; }
static bool namesJob(const Action &A) {
  switch (A.What) {
  case Action::Open:
  case Action::QueryLoad:
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

// Not by way of the locale, and a double is read as the very one that it was.
template <typename T> static std::string number(T Value) {
  char Text[64];
  auto End = std::to_chars(Text, Text + sizeof(Text), Value).ptr;
  return {Text, End};
}

static std::string text(unsigned V) { return number(V); }
static std::string text(uint64_t V) { return number(V); }
static std::string text(double V) { return number(V); }
static std::string text(bool V) { return V ? "yes" : "no"; }
static std::string text(const std::optional<unsigned> &V) {
  return V ? number(*V) : "auto";
}
static std::string text(AttemptKind V) {
  return std::string(KindNames[size_t(V)]);
}
static std::string text(PluginState V) {
  return std::string(StateNames[size_t(V)]);
}
static std::string text(Cause V) { return std::string(CauseNames[size_t(V)]); }
static std::string text(Time V) {
  if (V == Never)
    return "never";
  std::string Rest = number(V.count() % NsPerSecond);
  return number(V.count() / NsPerSecond) + "." +
         std::string(9 - Rest.size(), '0') + Rest;
}

template <typename T> static bool readNumber(std::string_view S, T &V) {
  auto [End, Error] = std::from_chars(S.data(), S.data() + S.size(), V);
  return Error == std::errc() && End == S.data() + S.size();
}

template <typename T, size_t N>
static bool readName(std::string_view S, const std::string_view (&Names)[N],
                     T &V) {
  for (size_t I = 0; I != N; ++I)
    if (Names[I] == S) {
      V = static_cast<T>(I);
      return true;
    }
  return false;
}

static bool read(std::string_view S, unsigned &V) { return readNumber(S, V); }
static bool read(std::string_view S, uint64_t &V) { return readNumber(S, V); }
static bool read(std::string_view S, double &V) {
  return readNumber(S, V) && std::isfinite(V) && !std::signbit(V);
}
static bool read(std::string_view S, bool &V) {
  V = S == "yes";
  return V || S == "no";
}
static bool read(std::string_view S, std::optional<unsigned> &V) {
  V.reset();
  return S == "auto" || readNumber(S, V.emplace());
}
static bool read(std::string_view S, AttemptKind &V) {
  return readName(S, KindNames, V);
}
static bool read(std::string_view S, PluginState &V) {
  return readName(S, StateNames, V);
}
static bool read(std::string_view S, Cause &V) {
  return readName(S, CauseNames, V);
}
static bool read(std::string_view S, Time &V) {
  if (S == "never") {
    V = Never;
    return true;
  }
  size_t Dot = S.find('.');
  uint64_t Seconds, Rest;
  if (Dot == S.npos || S.size() - Dot - 1 != 9 ||
      !readNumber(S.substr(0, Dot), Seconds) ||
      !readNumber(S.substr(Dot + 1), Rest) ||
      Seconds >= uint64_t(Never.count() / NsPerSecond))
    return false;
  V = Time(int64_t(Seconds) * NsPerSecond + int64_t(Rest));
  return true;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

template <typename T> static std::string printFields(const T &Line) {
  std::string Out;
  T Default;
  // Both are visited at once.
  std::vector<std::string> Defaults;
  forEachField(
      Default, [&](auto, auto &V) { Defaults.push_back(text(V)); }, Default);
  auto At = Defaults.begin();
  forEachField(
      Line,
      [&](std::string_view Name, const auto &V) {
        std::string Text = text(V);
        bool IsDefault = Text == *At++;
        if (IsDefault && !(Name == "job" && namesJob(Line)))
          return;
        (Out += ' ') += Name;
        if (Text != "yes")
          (Out += '=') += Text;
      },
      Line);
  return Out;
}

std::string plan::printHeader(const Options &O,
                              const std::vector<JobInfo> &Jobs) {
  std::string Out = std::string(Version) + "\n";
  forEachOption(O, [&](std::string_view Name, const auto &V) {
    ((Out += "option ") += Name) += " " + text(V) + "\n";
  });
  for (const JobInfo &J : Jobs)
    Out +=
        "job " + text(J.Estimate) + (J.HasSideFiles ? " side-files\n" : "\n");
  return Out;
}

std::string plan::print(const Action &A) {
  return "  " + std::string(ActionNames[A.What]) + printFields(A);
}

std::string plan::printStep(Time Now, const Event *E,
                            const std::vector<Action> &Actions) {
  std::string Out = text(Now) + " ";
  if (E)
    (Out += EventNames[E->What]) += printFields(*E);
  else
    Out += "Start";
  Out += "\n";
  for (const Action &A : Actions)
    Out += print(A) + "\n";
  return Out;
}

std::string plan::print(const EventLog &L) {
  std::string Out = printHeader(L.O, L.Jobs);
  for (const Step &S : L.Steps)
    Out += printStep(S.Now, S.Cause ? &*S.Cause : nullptr, S.Actions);
  return Out;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads one log, line by line.
class Parser {
public:
  Parser(std::string_view Text, EventLog &L) : Rest(Text), L(L) {}

  bool parse(std::string &Error) {
    if (parseAll())
      return true;
    Error = "line " + number(Line) + ": " + Why;
    return false;
  }

private:
  bool parseAll();
  bool parseJob();
  bool parseStep();
  bool parseAction();
  template <typename T> bool parseFields(T &Into);

  bool fail(std::string Text) {
    Why = std::move(Text);
    return false;
  }

  /// Takes the next line that is no comment. Returns false after the last, and
  /// if one is cut.
  bool nextLine() {
    do {
      ++Line;
      size_t End = Rest.find('\n');
      if (End == Rest.npos) {
        IsCut = !Rest.empty();
        return fail(IsCut ? "it is cut off" : "the log ends here");
      }
      Words = Rest.substr(0, End);
      Rest.remove_prefix(End + 1);
    } while (!Words.empty() && Words[0] == '#');
    return true;
  }

  /// Takes the next word of the line; it is empty at the end, and between two
  /// spaces.
  std::string_view nextWord() {
    size_t End = Words.find(' ');
    std::string_view Word = Words.substr(0, End);
    IsLast = End == Words.npos;
    Words.remove_prefix(IsLast ? Words.size() : End + 1);
    return Word;
  }

  static std::string quoted(std::string_view Word) {
    std::string Out = "'";
    for (char C : Word.substr(0, 40))
      Out += C >= ' ' && C <= '~' ? C : '?';
    return Out + "'";
  }

  std::string_view Rest, Words;
  EventLog &L;
  size_t Line = 0;
  bool IsLast = false; // the word that was taken last ends the line
  bool IsCut = false;
  std::string Why;
};
} // namespace

bool Parser::parseAll() {
  if (!nextLine())
    return false;
  if (Words != Version)
    return fail("it is not '" + std::string(Version) + "'");
  bool Good = true;
  forEachOption(L.O, [&](std::string_view Name, auto &V) {
    if (!Good || !(Good = nextLine()))
      return;
    if (nextWord() != "option" || nextWord() != Name || IsLast ||
        !read(Words, V))
      Good = fail("it is not 'option " + std::string(Name) +
                  "' with a value that this option can have");
  });
  if (!Good)
    return false;
  while (nextLine()) {
    bool IsAction = Words.substr(0, 2) == "  ";
    bool IsJob = Words.substr(0, 4) == "job ";
    if (IsJob ? !parseJob() : IsAction ? !parseAction() : !parseStep())
      return false;
  }
  return !IsCut;
}

bool Parser::parseJob() {
  if (!L.Steps.empty())
    return fail("a job after the first step");
  nextWord();
  JobInfo J;
  if (!read(nextWord(), J.Estimate))
    return fail("the job's estimate is no number of seconds");
  J.HasSideFiles = !IsLast;
  if (J.HasSideFiles && Words != "side-files")
    return fail("it is not 'side-files' that follows");
  if (L.Jobs.size() == UINT32_MAX)
    return fail("too many jobs");
  L.Jobs.push_back(J);
  return true;
}

bool Parser::parseStep() {
  Step S;
  S.Line = Line;
  std::string_view When = nextWord();
  if (!read(When, S.Now) || S.Now == Never)
    return fail(quoted(When) + " is no time");
  if (!L.Steps.empty() && S.Now < L.Steps.back().Now)
    return fail("time goes back");
  std::string_view Name = nextWord();
  if ((Name == "Start") != L.Steps.empty())
    return fail("the first step, and no other, is Start");
  if (Name != "Start") {
    Event &E = S.Cause.emplace();
    if (!readName(Name, EventNames, E.What))
      return fail(quoted(Name) + " is no event");
    if (!parseFields(E))
      return false;
  } else if (!IsLast) {
    return fail("Start has no fields");
  }
  L.Steps.push_back(std::move(S));
  return true;
}

bool Parser::parseAction() {
  if (L.Steps.empty())
    return fail("an action before the first step");
  Words.remove_prefix(2);
  Action A;
  std::string_view Name = nextWord();
  if (!readName(Name, ActionNames, A.What))
    return fail(quoted(Name) + " is no action");
  if (!parseFields(A))
    return false;
  L.Steps.back().Actions.push_back(A);
  return true;
}

template <typename T> bool Parser::parseFields(T &Into) {
  std::set<std::string_view> Seen;
  while (!IsLast) {
    std::string_view Word = nextWord();
    size_t Equals = Word.find('=');
    std::string_view Name = Word.substr(0, Equals);
    std::string_view Value =
        Equals == Word.npos ? "yes" : Word.substr(Equals + 1);
    bool Good = false;
    forEachField(
        Into,
        [&](std::string_view Field, auto &V) {
          if (Field == Name)
            Good = read(Value, V);
        },
        Into);
    if (!Good || !Seen.insert(Name).second)
      return fail(quoted(Word) + " is no field, has no value that it can have, "
                                 "or was there before");
  }
  if ((namesJob(Into) || Into.Job != 0) && Into.Job >= L.Jobs.size())
    return fail("there is no job " + number(Into.Job));
  return true;
}

bool plan::parse(std::string_view Text, EventLog &L, std::string &Error) {
  L = {};
  return Parser(Text, L).parse(Error);
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

std::string plan::replay(const EventLog &L) {
  Plan P(L.Jobs, L.O);
  std::vector<Action> Actions;
  for (const Step &S : L.Steps) {
    Actions.clear();
    if (S.Cause)
      P.handle(S.Now, *S.Cause, Actions);
    else
      P.start(S.Now, Actions);
    std::string Where =
        "line " + number(S.Line) + ", " +
        (S.Cause ? std::string(EventNames[S.Cause->What]) : "Start") + " at " +
        text(S.Now) + " s: ";
    for (size_t I = 0; I != std::max(Actions.size(), S.Actions.size()); ++I) {
      if (I < Actions.size() && I < S.Actions.size() &&
          Actions[I] == S.Actions[I])
        continue;
      auto Line = [I](const std::vector<Action> &Of) {
        return I < Of.size() ? "'" + print(Of[I]).substr(2) + "'" : "nothing";
      };
      return Where + "action " + number(I + 1) + " was " + Line(S.Actions) +
             ", and is now " + Line(Actions);
    }
    if (std::string Broken = P.check(); !Broken.empty())
      return Where + "a rule of the plan is broken: " + Broken;
  }
  return {};
}
