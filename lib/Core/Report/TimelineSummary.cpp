//===- TimelineSummary.cpp - An analysis of a link's record ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/TimelineSummary.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <queue>

using namespace llvm;
using namespace dtlto;
using Outcome = AttemptRecord::Outcome;
using Kind = AttemptRecord::Kind;

// The allowed overlap of consecutive jobs in a slot, in seconds: plugins report
// end and begin on different threads.
static constexpr double SlotSlack = 0.002;
static constexpr size_t None = ~size_t(0); // job or attempt

StringRef dtlto::name(Phase P) {
  static constexpr StringLiteral Names[] = {
      "thin link", "wait",    "prepare", "ready", "queue", "send",
      "run",       "receive", "deliver", "close", "merge"};
  static_assert(std::size(Names) == NumPhases);
  return Names[size_t(P)];
}

SmallVector<Span, 4> dtlto::spans(const AttemptRecord &A) {
  SmallVector<Span, 4> Spans;
  if (A.Done == NoTime)
    return Spans;
  bool HasStates =
      A.Sending != NoTime || A.Running != NoTime || A.Receiving != NoTime;
  double Accepted = A.Accepted != NoTime ? A.Accepted : A.Offered;
  double Running = A.Running;
  if (!HasStates && A.TheOutcome == Outcome::Ok)
    Running = Accepted;
  const std::pair<Phase, double> Begins[] = {{Phase::Queue, Accepted},
                                             {Phase::Send, A.Sending},
                                             {Phase::Run, Running},
                                             {Phase::Receive, A.Receiving}};
  double Last = 0;
  for (const auto &[What, Time] : Begins) {
    if (Time == NoTime)
      continue;
    // Plugins may report late, or in another order.
    double Begin = std::clamp(Time, Last, std::max(Last, A.Done));
    if (!Spans.empty())
      Spans.back().End = Begin;
    Spans.push_back({What, Begin, std::max(Begin, A.Done)});
    Last = Begin;
  }
  llvm::erase_if(Spans, [](const Span &S) { return S.End <= S.Begin; });
  return Spans;
}

double dtlto::runSeconds(const AttemptRecord &A) {
  for (const Span &S : spans(A))
    if (S.What == Phase::Run)
      return S.End - S.Begin;
  return 0;
}

static size_t winnerIndex(const JobRecord &J) {
  if (J.From == JobRecord::Source::Worker || J.From == JobRecord::Source::Local)
    for (size_t I = 0; I != J.Attempts.size(); ++I)
      if (J.Attempts[I].TheOutcome == Outcome::Ok &&
          J.Attempts[I].TheKind != Kind::Verify)
        return I;
  return None;
}

const AttemptRecord *dtlto::winner(const JobRecord &J) {
  size_t I = winnerIndex(J);
  return I == None ? nullptr : &J.Attempts[I];
}

/// Returns the time for which \p A had a slot.
static std::optional<Span> occupancy(const AttemptRecord &A, LaneRule Rule) {
  SmallVector<Span, 4> All = spans(A);
  if (!All.empty() && All.front().What == Phase::Queue)
    All.erase(All.begin());
  if (All.empty())
    return std::nullopt;
  if (Rule == LaneRule::Slots && All.size() > 1 &&
      All.back().What == Phase::Receive)
    All.pop_back();
  return Span{Phase::Run, All.front().Begin, All.back().End};
}

unsigned dtlto::assignLanes(std::vector<LaneItem> &Items, double Slack) {
  llvm::stable_sort(Items, [](const LaneItem &A, const LaneItem &B) {
    return A.Begin < B.Begin;
  });
  unsigned NumLanes = 0;
  using Until = std::pair<double, unsigned>; // and the lane
  std::vector<unsigned> Free;                // the last freed lane comes last
  std::priority_queue<Until, std::vector<Until>, std::greater<>> Taken;
  for (LaneItem &I : Items) {
    while (!Taken.empty() && Taken.top().first <= I.Begin + Slack) {
      Free.push_back(Taken.top().second);
      Taken.pop();
    }
    if (Free.empty())
      Free.push_back(NumLanes++);
    I.Lane = Free.back();
    Free.pop_back();
    Taken.push({I.End, I.Lane});
  }
  return NumLanes;
}

namespace {

/// The items of one host that need lanes.
struct HostLanes {
  std::vector<LaneItem> Items;
  std::vector<Place *> Places; // one for each item

  void add(double Begin, double End, Place &P) {
    Items.push_back({Begin, End, Places.size()});
    Places.push_back(&P);
  }
};

class Summarizer {
public:
  Summarizer(const Timeline &Record, LaneRule Rule)
      : Record(Record), Rule(Rule) {}
  Summary run();

private:
  void findHosts();
  void count();
  void bound();
  void findWaits();
  void findWaitsOf(size_t Stage);

  struct AttemptRef {
    size_t Job, Attempt;
  };
  double earliestBegin(const AttemptRef &A) const;
  std::optional<AttemptRef> waitsOf(AttemptRef A);
  std::optional<AttemptRef> before(const AttemptRef &A,
                                   double EarliestBegin) const;
  void step(Phase What, double Begin, size_t Job, size_t Attempt);

  const Timeline &Record;
  const LaneRule Rule;
  Summary S;
  /// By host: the occupants of its slots, by their end.
  struct Occupant {
    double Begin;
    AttemptRef Ref;
  };
  std::map<unsigned, std::multimap<double, Occupant>> OnHost;
  double Now = 0; // findWaits() goes backwards in time
};

} // namespace

void Summarizer::findHosts() {
  ArrayRef<JobRecord> Jobs = Record.jobs();
  S.Places.resize(Jobs.size());
  std::map<std::string, HostLanes> OfWorker;
  HostLanes Local, Linker;
  for (size_t I = 0; I != Jobs.size(); ++I) {
    const JobRecord &J = Jobs[I];
    Summary::JobPlaces &P = S.Places[I];
    P.Attempts.resize(J.Attempts.size());
    for (size_t K = 0; K != J.Attempts.size(); ++K) {
      const AttemptRecord &A = J.Attempts[K];
      std::optional<Span> Time = occupancy(A, Rule);
      if (!Time)
        continue;
      HostLanes &H = A.RanLocally ? Local : OfWorker[A.Worker];
      H.add(Time->Begin, Time->End, P.Attempts[K]);
    }
    if (J.Prepared > J.Preparing)
      Linker.add(J.Preparing, J.Prepared, P.Prepare);
    if (J.Delivering != NoTime && J.Ended > J.Delivering)
      Linker.add(J.Delivering, J.Ended, P.Deliver);
  }
  auto Add = [&](HostSummary::Kind TheKind, const std::string &Name,
                 HostLanes &HostItems) {
    if (HostItems.Items.empty())
      return;
    HostSummary &H = S.Hosts.emplace_back();
    H.TheKind = TheKind;
    H.Name = Name;
    H.Lanes =
        assignLanes(HostItems.Items, Rule == LaneRule::Slots ? SlotSlack : 0);
    for (const LaneItem &I : HostItems.Items) {
      *HostItems.Places[I.Index] = {unsigned(S.Hosts.size() - 1), I.Lane};
      H.Busy += I.End - I.Begin;
    }
  };
  for (auto &[Name, HostItems] : OfWorker)
    Add(HostSummary::Kind::Worker, Name.empty() ? "(unknown)" : Name,
        HostItems);
  Add(HostSummary::Kind::Local, "in the linker", Local);
  Add(HostSummary::Kind::Linker, "prepare, deliver", Linker);
}

bool dtlto::hasFailed(const AttemptRecord &A) {
  return A.TheOutcome != Outcome::Ok && A.TheOutcome != Outcome::Cancelled &&
         A.TheOutcome != Outcome::Open;
}

void Summarizer::count() {
  for (size_t I = 0; I != Record.jobs().size(); ++I) {
    const JobRecord &J = Record.jobs()[I];
    ++S.From[size_t(J.From)];
    if (J.From == JobRecord::Source::Worker)
      S.BytesBack += J.ObjectBytes;
    size_t Winner = winnerIndex(J);
    for (size_t K = 0; K != J.Attempts.size(); ++K) {
      const AttemptRecord &A = J.Attempts[K];
      S.Retries += A.TheKind == Kind::Retry;
      S.Duplicates += A.TheKind == Kind::Duplicate;
      S.DuplicatesWon += A.TheKind == Kind::Duplicate && K == Winner;
      S.FailedAttempts += hasFailed(A);
      (K == Winner ? S.Work : S.Waste) += runSeconds(A);
      if (A.Id && !A.RanLocally &&
          (A.Accepted != NoTime || A.TheOutcome == Outcome::Ok)) {
        S.BytesOut += J.PrimaryBytes + J.ImportBytes + J.ShardBytes;
        S.ImportBytes += J.ImportBytes;
        S.WholeImportBytes += J.WholeImportBytes;
      }
      if (unsigned Host = S.Places[I].Attempts[K].Host; Host != Place::None) {
        ++S.Hosts[Host].Attempts;
        S.Hosts[Host].Jobs += K == Winner;
        S.Hosts[Host].Failed += hasFailed(A);
      }
    }
  }
}

void Summarizer::bound() {
  unsigned ReportedSlots = 0;
  for (const LoadRecord &Load : Record.loads())
    if (Load.Slots != UINT32_MAX)
      ReportedSlots = std::max(ReportedSlots, Load.Slots);
  // Jobs that the plugin runs in the linker are in its own slots.
  std::vector<LaneItem> LocalRuns, Runs;
  for (const JobRecord &J : Record.jobs())
    for (const AttemptRecord &A : J.Attempts)
      for (const Span &Sp : spans(A))
        if (Sp.What == Phase::Run) {
          Runs.push_back({Sp.Begin, Sp.End, 0});
          if (A.TheKind == Kind::Local)
            LocalRuns.push_back(Runs.back());
        }
  S.Slots = std::max({ReportedSlots + assignLanes(LocalRuns, SlotSlack),
                      assignLanes(Runs, SlotSlack), 1u});
  S.Bound = Record.thinLink();
  for (size_t Stage = 0; Stage != Record.stages().size(); ++Stage) {
    double Longest = 0, All = 0;
    for (const JobRecord &J : Record.jobsOf(Stage)) {
      const AttemptRecord *A = winner(J);
      double Run = A ? runSeconds(*A) : 0;
      Longest = std::max(Longest, Run);
      All += Run;
      if (Run > S.LongestRun) {
        S.LongestRun = Run;
        S.LongestJob = &J - Record.jobs().data();
      }
    }
    S.Bound += std::max(Longest, All / S.Slots);
  }
}

/// Returns the attempt that occupied a slot of \p A's host until now, when \p A
/// began. Returns nothing if no slot became free after \p EarliestBegin: then
/// \p A didn't wait for one.
std::optional<Summarizer::AttemptRef>
Summarizer::before(const AttemptRef &A, double EarliestBegin) const {
  const Place &P = S.Places[A.Job].Attempts[A.Attempt];
  auto Host = OnHost.find(P.Host);
  if (P.Host == Place::None || Host == OnHost.end())
    return std::nullopt;
  auto It = Host->second.upper_bound(Now + SlotSlack);
  while (It != Host->second.begin()) {
    --It;
    if (It->first <= EarliestBegin)
      return std::nullopt;
    // Each step has to lead to an earlier time.
    if (It->second.Begin < Now)
      return It->second.Ref;
  }
  return std::nullopt;
}

/// Adds the part of the critical path that ends where the last one began.
void Summarizer::step(Phase What, double Begin, size_t Job, size_t Attempt) {
  if (Begin >= Now)
    return;
  if (!S.Waits.empty() && S.Waits.back().What == What &&
      S.Waits.back().Job == Job && S.Waits.back().Attempt == Attempt)
    S.Waits.back().Begin = Begin;
  else
    S.Waits.push_back({What, Begin, Now, Job, Attempt});
  Now = Begin;
}

void Summarizer::findWaits() {
  ArrayRef<JobRecord> Jobs = Record.jobs();
  for (size_t I = 0; I != Jobs.size(); ++I)
    for (size_t K = 0; K != Jobs[I].Attempts.size(); ++K) {
      const Place &P = S.Places[I].Attempts[K];
      if (std::optional<Span> Time = occupancy(Jobs[I].Attempts[K], Rule);
          Time && P.Host != Place::None)
        OnHost[P.Host].insert({Time->End, {Time->Begin, {I, K}}});
    }

  Now = std::max(0.0, Record.end());
  for (size_t I = Record.stages().size(); I-- != 0;) {
    findWaitsOf(I);
    if (I != 0)
      step(Phase::Merge, Record.stages()[I - 1].End, None, None);
  }
  step(Phase::ThinLink, -Record.thinLink(), None, None);
  std::reverse(S.Waits.begin(), S.Waits.end());
}

/// From the end of a stage's last job back to the stage's beginning.
void Summarizer::findWaitsOf(size_t Stage) {
  const JobRecord *Last = nullptr;
  for (const JobRecord &J : Record.jobsOf(Stage))
    if (J.Ended != NoTime && (!Last || J.Ended > Last->Ended))
      Last = &J;
  if (Last) {
    AttemptRef A{size_t(Last - Record.jobs().data()), winnerIndex(*Last)};
    if (A.Attempt == None && !Last->Attempts.empty())
      A.Attempt = Last->Attempts.size() - 1;
    step(Phase::Close, Last->Ended, None, None);
    if (Last->Delivering != NoTime)
      step(Phase::Deliver, Last->Delivering, A.Job, None);
    std::optional<AttemptRef> Next = A;
    while (Next)
      Next = waitsOf(*Next);
  }
  step(Phase::Wait, Record.stages()[Stage].Begin,
       S.Waits.empty() ? None : S.Waits.back().Job, None);
}

/// Returns since when \p A could have begun. A further attempt is made when
/// another takes long, or has failed.
double Summarizer::earliestBegin(const AttemptRef &A) const {
  const JobRecord &J = Record.jobs()[A.Job];
  if (A.Attempt == 0)
    return std::max(0.0, J.Prepared);
  double EarliestBegin = J.Attempts[A.Attempt].Offered;
  if (EarliestBegin == NoTime)
    for (const AttemptRecord &Earlier :
         ArrayRef(J.Attempts).take_front(A.Attempt))
      if (Earlier.Done < Now)
        EarliestBegin = std::max(EarliestBegin, Earlier.Done);
  return EarliestBegin;
}

/// Adds the phases of \p A. Returns the attempt that it waited for; nothing if
/// the job waited in the linker.
std::optional<Summarizer::AttemptRef> Summarizer::waitsOf(AttemptRef A) {
  const JobRecord &J = Record.jobs()[A.Job];
  auto StepIfKnown = [&](Phase What, double Begin, size_t Attempt) {
    if (Begin != NoTime)
      step(What, Begin, A.Job, Attempt);
  };
  if (A.Attempt == None) {
    StepIfKnown(Phase::Prepare, J.Preparing, None);
    return std::nullopt;
  }
  const AttemptRecord &Attempt = J.Attempts[A.Attempt];
  SmallVector<Span, 4> All = spans(Attempt);
  if (!All.empty())
    step(Phase::Deliver, All.back().End, A.Job, None);
  for (const Span &Sp : llvm::reverse(All))
    if (Sp.What != Phase::Queue)
      step(Sp.What, Sp.Begin, A.Job, A.Attempt);
  const double EarliestBegin = earliestBegin(A);
  if (std::optional<AttemptRef> Previous = before(A, EarliestBegin)) {
    step(Phase::Queue,
         occupancy(Record.jobs()[Previous->Job].Attempts[Previous->Attempt],
                   Rule)
             ->End,
         A.Job, A.Attempt);
    return Previous;
  }
  if (A.Attempt != 0) {
    step(Phase::Queue, std::max(0.0, EarliestBegin), A.Job, A.Attempt);
    return AttemptRef{A.Job, A.Attempt - 1};
  }
  StepIfKnown(Phase::Queue, Attempt.Offered, A.Attempt);
  StepIfKnown(Phase::Ready, J.Prepared, A.Attempt);
  StepIfKnown(Phase::Prepare, J.Preparing, None);
  return std::nullopt;
}

Summary Summarizer::run() {
  findHosts();
  count();
  bound();
  findWaits();
  return std::move(S);
}

Summary dtlto::summarize(const Timeline &Record, LaneRule Rule) {
  return Summarizer(Record, Rule).run();
}
