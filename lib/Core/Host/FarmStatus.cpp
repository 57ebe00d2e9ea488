//===- FarmStatus.cpp - The state of a plugin's farm ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/FarmStatus.h"
#include "Support/Text.h"
#include "dtlto/ext/status.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Threading.h"

using namespace llvm;
using namespace dtlto;
using namespace std::chrono_literals;

// Limits of open() and close().
static constexpr std::chrono::seconds MaxOpen = 60s, MaxClose = 10s;
// The plugin's limit for its query, and the tolerance for a late answer.
static constexpr std::chrono::seconds MaxQuery = 10s, Grace = 2s;

bool FarmStatus::isUp() const {
  if (HasGivenUp)
    return false;
  if (Workers)
    return any_of(*Workers, [](const WorkerStatus &W) {
      return W.State == DTLTO_WORKER_UP;
    });
  auto Some = [](uint32_t N) { return N != 0 && N != UINT32_MAX; };
  return Some(Load.workers) || (Load.workers == UINT32_MAX && Some(Load.slots));
}

//===----------------------------------------------------------------------===//
// Asking
//===----------------------------------------------------------------------===//

namespace {

class FarmQuery {
public:
  FarmQuery(const HostContext &Ctx, FarmStatus &S)
      : Limit(Ctx.JobOpts.TimeoutSeconds), S(S),
        TheSession(Ctx, Events, /*NumJobs=*/0) {}

  void run() {
    if (open() && !queryWorkers())
      pollLoad();
    if (!TheSession.close(std::min(MaxClose, Limit)))
      S.Problems.push_back("close() has not returned; continuing without it");
  }

private:
  /// The session may end at any time.
  void recordProblem(const Event &E) {
    if (E.Kind != Event::Violation && E.Kind != Event::GaveUp)
      return;
    S.Problems.push_back(E.Message);
    S.HasGivenUp |= E.Kind == Event::GaveUp;
  }

  /// Handles events until \p Handle returns true. If that takes longer than
  /// \p Time, returns false and adds a problem that names \p Call.
  template <typename Fn>
  bool waitFor(const char *Call, std::chrono::seconds Time, Fn Handle) {
    Clock::time_point End = Clock::now() + Time;
    do {
      for (Event &E : Events->popAll(End)) {
        recordProblem(E);
        if (Handle(E))
          return true;
      }
    } while (Clock::now() < End);
    S.Problems.push_back(std::string(Call) + "() has not returned within " +
                         std::to_string(Time.count()) +
                         " s; continuing without it");
    return false;
  }

  bool open();
  bool queryWorkers();
  void pollLoad();

  const std::chrono::seconds Limit;
  FarmStatus &S;
  std::shared_ptr<EventQueue> Events = std::make_shared<EventQueue>();
  Session TheSession;
};

} // namespace

bool FarmQuery::open() {
  bool IsOpen = false;
  TheSession.open();
  waitFor("open", std::min(MaxOpen, Limit), [&](Event &E) {
    if (E.Kind != Event::Opened)
      return false;
    IsOpen = E.Status == DTLTO_OK;
    S.HasGivenUp = !E.Message.empty();
    if (!E.Message.empty() || !IsOpen)
      S.Problems.push_back(E.Message.empty()
                               ? "open() failed without a reason (error " +
                                     std::to_string(E.Status) + ")"
                               : E.Message);
    return true;
  });
  return IsOpen;
}

/// Returns false if the plugin can't report its workers.
bool FarmQuery::queryWorkers() {
  std::chrono::seconds Time = std::min(MaxQuery, Limit);
  bool HasStatus = true;
  std::vector<WorkerStatus> Workers;
  TheSession.queryStatus(Time);
  bool StatusReport = waitFor("query", Time + Grace, [&](Event &E) {
    if (E.Kind == Event::WorkerReported)
      Workers.push_back(std::move(*E.StatusReport));
    if (E.Kind == Event::StatusReported && E.Status != DTLTO_OK)
      // The plugin has logged the reason.
      S.Problems.push_back("its farm cannot be queried" +
                           (E.Status == DTLTO_ERROR_INFRASTRUCTURE
                                ? ""
                                : " (error " + std::to_string(E.Status) + ")"));
    HasStatus &= E.Kind != Event::NoStatus;
    return E.Kind == Event::StatusReported || E.Kind == Event::NoStatus;
  });
  if (HasStatus)
    S.Workers = std::move(Workers);
  return HasStatus || !StatusReport;
}

/// Queries repeatedly: a plugin may still be looking for its workers.
void FarmQuery::pollLoad() {
  S.Problems.push_back("it does not report individual workers (it has no " //
                       DTLTO_EXT_STATUS "); its load follows");
  Clock::time_point End = Clock::now() + std::min(MaxQuery, Limit);
  TheSession.queryLoad();
  auto OnEvent = [&](Event &E) {
    recordProblem(E);
    if (E.Kind == Event::LoadChanged)
      TheSession.queryLoad();
    if (E.Kind == Event::Loaded)
      S.Load = E.Load;
    return S.HasGivenUp || (E.Kind == Event::Loaded && S.isUp());
  };
  while (Clock::now() < End)
    for (Event &E : Events->popAll(End))
      if (OnEvent(E))
        return;
}

FarmStatus dtlto::queryFarm(const dtlto_plugin &Plugin, const JobOptions &Opts,
                            Messages &Msg) {
  FarmStatus S;
  S.Plugin = Plugin.name;
  S.Version = Plugin.version;
  HostContext Ctx{&Plugin, Msg, Opts, LLVM_VERSION_STRING};
  Ctx.Parallelism = heavyweight_hardware_concurrency().compute_thread_count();
  Ctx.Config = configurePlugin(Ctx, /*NumJobs=*/0);
  FarmQuery(Ctx, S).run();
  return S;
}

//===----------------------------------------------------------------------===//
// Showing
//===----------------------------------------------------------------------===//

static StringRef stateName(uint32_t State) {
  return State == DTLTO_WORKER_UP    ? "up"
         : State == DTLTO_WORKER_OUT ? "out"
                                     : "unknown";
}

static std::string number(uint32_t N) {
  return N == UINT32_MAX ? "-" : std::to_string(N);
}

static std::string number(uint32_t N, StringRef Noun) {
  return N == UINT32_MAX ? ("- " + Noun + "s").str() : formatCount(N, Noun);
}

static std::string percent(uint32_t Permille) {
  return Permille == UINT32_MAX
             ? "-"
             : number(uint32_t((uint64_t(Permille) + 5) / 10)) + "%";
}

/// Sums up the workers that are up; UINT32_MAX if the slots of one are unknown.
static uint32_t sumOfSlots(const FarmStatus &S) {
  if (!S.Workers)
    return S.Load.slots;
  uint64_t Sum = 0;
  for (const WorkerStatus &W : *S.Workers)
    if (W.State == DTLTO_WORKER_UP)
      Sum += W.Slots;
  return static_cast<uint32_t>(std::min<uint64_t>(Sum, UINT32_MAX));
}

void dtlto::printTable(const FarmStatus &S, raw_ostream &OS) {
  OS << "plugin '" << printable(S.Plugin) << "' " << printable(S.Version)
     << ", LLVM " << LLVM_VERSION_STRING << ": ";
  if (!S.Workers) {
    OS << number(S.Load.workers, "worker") << ", "
       << number(S.Load.slots, "slot") << ", " << number(S.Load.free)
       << " free\n";
    return;
  }
  auto NumUp = count_if(*S.Workers, [](const WorkerStatus &W) {
    return W.State == DTLTO_WORKER_UP;
  });
  OS << NumUp << " of " << formatCount(S.Workers->size(), "worker") << " up, "
     << number(sumOfSlots(S), "slot") << '\n';
  if (S.Workers->empty())
    return;

  std::vector<std::vector<std::string>> Rows = {
      {"WORKER", "STATE", "SLOTS", "BUSY", "LOAD", "COMPILER", "WHY"}};
  for (const WorkerStatus &W : *S.Workers)
    Rows.push_back({printable(W.Name), stateName(W.State).str(),
                    number(W.Slots), number(W.Busy), percent(W.LoadPermille),
                    W.Compiler.empty() ? "-" : printable(W.Compiler),
                    printable(W.Why)});
  OS << alignColumns(Rows, "llrrrll");
}

static json::Value jsonNumber(uint32_t N) {
  return N == UINT32_MAX ? json::Value(nullptr) : json::Value(int64_t(N));
}

static json::Value jsonText(StringRef Text) {
  return Text.empty() ? json::Value(nullptr) : json::Value(json::fixUTF8(Text));
}

void dtlto::printJSON(const FarmStatus &S, raw_ostream &OS) {
  json::OStream J(OS, /*IndentSize=*/2);
  J.objectBegin();
  J.attribute("version", 1);
  J.attribute("plugin", json::fixUTF8(S.Plugin));
  J.attribute("plugin_version", json::fixUTF8(S.Version));
  J.attribute("llvm_version", LLVM_VERSION_STRING);
  J.attribute("up", S.isUp());
  J.attribute("slots", jsonNumber(sumOfSlots(S)));
  J.attributeArray("problems", [&] {
    for (const std::string &P : S.Problems)
      J.value(json::fixUTF8(P));
  });
  if (S.Workers) {
    J.attributeArray("workers", [&] {
      for (const WorkerStatus &W : *S.Workers)
        J.object([&] {
          J.attribute("name", json::fixUTF8(W.Name));
          J.attribute("state", stateName(W.State));
          J.attribute("compiler", jsonText(W.Compiler));
          J.attribute("why", jsonText(W.Why));
          J.attribute("slots", jsonNumber(W.Slots));
          J.attribute("busy", jsonNumber(W.Busy));
          J.attribute("load", W.LoadPermille == UINT32_MAX
                                  ? json::Value(nullptr)
                                  : json::Value(W.LoadPermille / 1000.0));
        });
    });
    J.attribute("load", nullptr);
  } else {
    J.attribute("workers", nullptr);
    J.attributeObject("load", [&] {
      J.attribute("workers", jsonNumber(S.Load.workers));
      J.attribute("slots", jsonNumber(S.Load.slots));
      J.attribute("free", jsonNumber(S.Load.free));
      J.attribute("queued", jsonNumber(S.Load.queued));
    });
  }
  J.objectEnd();
  OS << '\n';
}
