//===- LogReader.cpp - Reads and replays event logs -----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LogReader.h"
#include "Plan/Plan.h"
#include <cmath>

using namespace dtlto;
using namespace dtlto::plan;

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

std::string plan::print(const EventLog &Log) {
  std::string Out = printHeader(Log.O, Log.Jobs);
  for (const Step &S : Log.Steps)
    Out += printStep(S.Now, S.Cause ? &*S.Cause : nullptr, S.Actions);
  return Out;
}

namespace {
/// Reads one log, line by line.
class Parser {
public:
  Parser(std::string_view Text, EventLog &Log) : Rest(Text), Log(Log) {}

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

  /// Reads the next line that isn't a comment. Returns false at the end, and if
  /// the last line is incomplete.
  bool nextLine() {
    do {
      ++Line;
      size_t End = Rest.find('\n');
      if (End == Rest.npos) {
        IsCut = !Rest.empty();
        return fail(IsCut ? "it is cut off" : "the log ends here");
      }
      LineRest = Rest.substr(0, End);
      Rest.remove_prefix(End + 1);
    } while (!LineRest.empty() && LineRest[0] == '#');
    return true;
  }

  /// Returns the next word of the line, which is empty at the end and between
  /// two spaces.
  std::string_view nextWord() {
    size_t End = LineRest.find(' ');
    std::string_view Word = LineRest.substr(0, End);
    IsLast = End == LineRest.npos;
    LineRest.remove_prefix(IsLast ? LineRest.size() : End + 1);
    return Word;
  }

  static std::string quoted(std::string_view Word) {
    std::string Out = "'";
    for (char C : Word.substr(0, 40))
      Out += C >= ' ' && C <= '~' ? C : '?';
    return Out + "'";
  }

  std::string_view Rest, LineRest;
  EventLog &Log;
  size_t Line = 0;
  bool IsLast = false; // the word that was returned last ends the line
  bool IsCut = false;
  std::string Why;
};
} // namespace

bool Parser::parseAll() {
  if (!nextLine())
    return false;
  if (LineRest != Version) {
    std::string_view Name = Version.substr(0, Version.rfind(' ') + 1);
    return fail("it is not '" + std::string(Version) + "'" +
                (LineRest.substr(0, Name.size()) == Name
                     ? ", but the log of another version of dtlto"
                     : ""));
  }
  bool Good = true;
  forEachOption(Log.O, [&](std::string_view Name, auto &V) {
    if (!Good || !(Good = nextLine()))
      return;
    if (nextWord() != "option" || nextWord() != Name || IsLast ||
        !read(LineRest, V))
      Good = fail("it is not 'option " + std::string(Name) +
                  "' with a value that this option can have");
  });
  if (!Good)
    return false;
  while (nextLine()) {
    bool IsAction = LineRest.substr(0, 2) == "  ";
    bool IsJob = LineRest.substr(0, 4) == "job ";
    if (IsJob ? !parseJob() : IsAction ? !parseAction() : !parseStep())
      return false;
  }
  return !IsCut;
}

bool Parser::parseJob() {
  if (!Log.Steps.empty())
    return fail("a job after the first step");
  nextWord();
  JobInfo J;
  if (!read(nextWord(), J.Estimate))
    return fail("the job's estimate is no number of seconds");
  if (IsLast || !read(nextWord(), J.LocalBytes))
    return fail("the job's memory is no number of bytes");
  J.HasSideFiles = !IsLast;
  if (J.HasSideFiles && LineRest != "side-files")
    return fail("it is not 'side-files' that follows");
  if (Log.Jobs.size() == UINT32_MAX)
    return fail("too many jobs");
  Log.Jobs.push_back(J);
  return true;
}

bool Parser::parseStep() {
  Step S;
  S.Line = Line;
  std::string_view When = nextWord();
  if (!read(When, S.Now) || S.Now == Never)
    return fail(quoted(When) + " is no time");
  if (!Log.Steps.empty() && S.Now < Log.Steps.back().Now)
    return fail("time goes back");
  std::string_view Name = nextWord();
  if ((Name == "Start") != Log.Steps.empty())
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
  Log.Steps.push_back(std::move(S));
  return true;
}

bool Parser::parseAction() {
  if (Log.Steps.empty())
    return fail("an action before the first step");
  LineRest.remove_prefix(2);
  Action A;
  std::string_view Name = nextWord();
  if (!readName(Name, ActionNames, A.What))
    return fail(quoted(Name) + " is no action");
  if (!parseFields(A))
    return false;
  Log.Steps.back().Actions.push_back(A);
  return true;
}

template <typename T> bool Parser::parseFields(T &Into) {
  std::set<std::string_view> SeenFields;
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
    if (!Good || !SeenFields.insert(Name).second)
      return fail(quoted(Word) + " is no field, has no value that it can have, "
                                 "or was there before");
  }
  if ((namesJob(Into) || Into.Job != 0) && Into.Job >= Log.Jobs.size())
    return fail("there is no job " + number(Into.Job));
  return true;
}

bool plan::parse(std::string_view Text, EventLog &Log, std::string &Error) {
  Log = {};
  return Parser(Text, Log).parse(Error);
}

//===----------------------------------------------------------------------===//
// Replay
//===----------------------------------------------------------------------===//

std::string plan::replay(const EventLog &Log) {
  Plan ThePlan(Log.Jobs, Log.O);
  for (const Step &S : Log.Steps) {
    const std::vector<Action> Actions =
        S.Cause ? ThePlan.handle(S.Now, *S.Cause) : ThePlan.start(S.Now);
    std::string Where =
        "line " + number(S.Line) + ", " +
        (S.Cause ? std::string(EventNames[S.Cause->What]) : "Start") + " at " +
        text(S.Now) + " s: ";
    for (size_t I = 0; I != std::max(Actions.size(), S.Actions.size()); ++I) {
      auto Line = [I](const std::vector<Action> &Of) {
        return I < Of.size() ? "'" + print(Of[I]).substr(2) + "'" : "nothing";
      };
      if (std::string Was = Line(S.Actions), Is = Line(Actions); Was != Is)
        return Where + "action " + number(I + 1) + " was " + Was +
               ", and is now " + Is;
    }
    if (std::string Broken = ThePlan.check(); !Broken.empty())
      return Where + "a rule of the plan is broken: " + Broken;
  }
  return {};
}
