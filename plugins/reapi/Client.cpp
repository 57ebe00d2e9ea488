//===- Client.cpp - A session with a server -------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobRun.h"
#include "Process.h"
#include "Store.h"
#include "Text.h"
#include "dtlto/sdk/CompileResult.hpp"
#include <cerrno>
#include <cstdlib>
#include <future>
#include <unistd.h>

using namespace dtlto::reapi;
using dtlto::quote;

// How often an upload reports progress. The linker gives up a job without such
// reports after its time limit.
static constexpr std::chrono::milliseconds MaxProgressInterval{5000};
// The shortest link that reports that the server has run no job.
static constexpr std::chrono::seconds IdleReportDelay{1};
// The time limit of an action that only tests whether the server executes any.
static constexpr std::chrono::milliseconds MaxProbe{3000};

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static Settings settingsOf(const dtlto_session_params &Params) {
  return readSettings(Params.args, Params.num_args, ::getenv, environ,
                      dtlto::pluginFolder());
}

Client::Client(const dtlto_host &Host, const dtlto_session_params &Params)
    : Client(Host, Params, settingsOf(Params)) {}

void Client::configure(const dtlto_session_params &Params,
                       dtlto_session_config &Config) {
  bool SendsWorker = settingsOf(Params).sendsWorker();
  Config.needs = DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS |
                 (SendsWorker ? DTLTO_JOB_CONFIG : DTLTO_JOB_ARGS);
}

std::string Client::probe(const dtlto_session_params &Params,
                          std::chrono::milliseconds) {
  return "the server is " + settingsOf(Params).Server.name();
}

const dtlto_store *Client::store() { return sdk::storeExtension<ReapiStore>(); }

Client::Client(const dtlto_host &Host, const dtlto_session_params &Params,
               Settings NewSettings)
    : ThreadSession(Host, NewSettings.Jobs), S(std::move(NewSettings)),
      OnlyStatus(Params.num_jobs == 0),
      // The linker has the same limit, and cancels jobs after it.
      ResultLimit(Params.job_timeout_s ? Params.job_timeout_s : 3600),
      LlvmVersion(Params.llvm_version ? Params.llvm_version : ""),
      Results(Params), TheServer(S), InFlight(S.Jobs) {
  if (S.sendsWorker())
    sdk::require<dtlto_bundle>(Host, DTLTO_EXT_BUNDLE);
  std::string Error;
  int Why = S.sendsWorker() ? Worker.open(S.WorkerFile, Error) : 0;
  if (Why == EMFILE || Why == ENFILE || Why == ENOMEM)
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, "cannot open the worker " +
                                                     quote(S.WorkerFile) +
                                                     ": " + Error);
  if (Why != 0)
    throw sdk::Error(DTLTO_ERROR_CALLER,
                     "the worker " + quote(S.WorkerFile) +
                         " cannot be used: " + Error +
                         "; name dtlto-codegen-static with "
                         "--thinlto-dist-plugin-arg=worker=PATH or "
                         "DTLTO_WORKER");
}

void Client::begin() {
  TheServer.OnUnavailable = [this](const Fault &F) {
    log(DTLTO_LOG_DEBUG, "server " + (F.By ? *F.By : S.Server).name() + ": " +
                             F.Text + "; retrying");
  };
  ThreadSession::begin();
  if (OnlyStatus)
    return;
  Preparer = std::thread([this] {
    try {
      prepare();
    } catch (const std::exception &E) { // no thread, or no memory
      giveUp(E.what());
    }
  });
  Watcher = std::thread([this] { watch(); });
}

void Client::watch() {
  std::unique_lock<std::mutex> Lock(Mutex);
  while (!Changed.wait_for(Lock, TheServer.pulse(),
                           [&] { return !EndReason.empty(); })) {
    Lock.unlock();
    if (std::string Why = Record.waitingReason(); !Why.empty())
      log(DTLTO_LOG_NOTE, "server " + S.Server.name() + ": " + Why);
    if (std::string Why = TheServer.watch(); !Why.empty())
      giveUp(Why);
    Lock.lock();
  }
}

std::string Client::noResultReason() {
  std::lock_guard<std::mutex> Lock(Mutex);
  const Traffic &T = TheServer.Sum;
  if (!EndReason.empty() || T.NumExecuted || T.Hits ||
      std::chrono::steady_clock::now() - OpenTime < IdleReportDelay)
    return "";
  std::string Reason =
      Ready ? Record.noResultReason() : "has not answered GetCapabilities";
  return Reason.empty() ? "" : "server " + S.Server.name() + " " + Reason;
}

void Client::prepare() {
  // Most servers use SHA-256. Hash the worker while this one answers, on a
  // separate thread if there is one.
  DigestKind Likely =
      S.Digest == "blake3" ? DigestKind::Blake3 : DigestKind::Sha256;
  std::future<BlobName> Name = std::async(
      sdk::availableThreads() > sdk::reservedThreads() ? std::launch::async
                                                       : std::launch::deferred,
      [&] { return nameBlob(Likely, Worker.bytes()); });
  Fault F = TheServer.queryFeatures(Stopping, Features);
  if (F.What == Fault::Refused)
    return handleRefusal(F);
  if (F.What == Fault::Cancelled)
    return giveUp("");
  if (F)
    return giveUp("server " + (F.By ? *F.By : S.Server).name() + ": " +
                  TheServer.explain(F));
  if (!Features.Executes && !S.isCacheOnly())
    return giveUp("server " + S.Server.name() +
                  " reports that it executes nothing; with results=only, "
                  "the link uses its action cache");
  log(DTLTO_LOG_DEBUG, "server " + S.Server.name() + ": " + Features.Text);
  if (const Endpoint *E = S.exposedService())
    log(DTLTO_LOG_WARNING,
        "the token goes to " + E->name() + " without encryption; use grpcs://");
  BlobName WorkerName = Features.Digest == Likely
                            ? Name.get()
                            : nameBlob(Features.Digest, Worker.bytes());
  auto NewActions = std::make_unique<ActionMaker>(
      S, Features.Digest, Worker.bytes(), std::move(WorkerName), LlvmVersion);
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Actions = std::move(NewActions);
    Contents = std::make_unique<Cas>(
        TheServer, Features,
        std::min(MaxProgressInterval,
                 std::chrono::milliseconds(ResultLimit) / 4));
    Ready = true;
  }
  Changed.notify_all();
  loadChanged();
}

void Client::handleRefusal(const Fault &F) {
  std::string ServerName = "server " + (F.By ? *F.By : S.Server).name();
  if (!S.Instance.empty())
    ServerName += ", instance " + quote(S.Instance);
  giveUp(ServerName + ": " + F.Text);
}

void Client::giveUp(const std::string &Why) {
  bool IsFirst;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsFirst = !std::exchange(HasGivenUp, true);
  }
  // Report it before any job ends because of it.
  if (IsFirst && !Why.empty())
    log(DTLTO_LOG_ERROR, Why);
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (EndReason.empty())
      EndReason = Why.empty() ? "the link has ended" : Why;
    for (Stop *Each : Stops)
      Each->raise();
  }
  wake();
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

Client::Registration::Registration(Client &C, Stop &S) : C(C), S(S) {
  std::lock_guard<std::mutex> Lock(C.Mutex);
  C.Stops.insert(&S);
  if (!C.EndReason.empty())
    S.raise();
}

Client::Registration::~Registration() {
  std::lock_guard<std::mutex> Lock(C.Mutex);
  C.Stops.erase(&S);
}

void Client::wake() {
  Cas *TheCas;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Changed.notify_all();
    TheCas = Contents.get();
  }
  InFlight.wake();
  if (TheCas)
    TheCas->wake();
}

bool Client::waitUntilReady(const Stop &Until) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Changed.wait(Lock, [&] { return Ready || Until.raised(); });
  return !Until.raised();
}

void Client::runWithin(std::chrono::milliseconds Limit,
                       const std::function<void(Stop &)> &Fn) {
  Stop Ending(Limit);
  const Registration Registered(*this, Ending);
  Fn(Ending);
}

bool Client::answerOnce(const Stop &Until, Question &Q,
                        const std::function<void()> &Ask) {
  {
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(
        Lock, [&] { return Q.State != Question::Pending || Until.raised(); });
    if (Until.raised())
      return false;
    if (!Q.WhyNot.empty())
      throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, Q.WhyNot);
    if (Q.State == Question::Known)
      return true;
    Q.State = Question::Pending;
  }
  auto Set = [&](auto State) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Q.State = State;
    Changed.notify_all();
  };
  try {
    Ask();
    Set(Question::Known);
    return true;
  } catch (...) {
    Set(Question::Unknown);
    throw;
  }
}

Client::Question &Client::targetQuestion(const std::string &Target) {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Targets[Target];
}

//===----------------------------------------------------------------------===//
// Requests of the linker
//===----------------------------------------------------------------------===//

dtlto::sdk::Result Client::run(const sdk::Job &LinkerJob) {
  return JobRun(*this, LinkerJob).run();
}

void Client::load(dtlto_load &Load) {
  Record.load(Load, InFlight.used(), InFlight.size(), uint32_t(numJobs()));
}

std::vector<dtlto::sdk::Worker>
Client::status(std::chrono::milliseconds Limit) {
  bool Late = false;
  ServerFeatures CurrentFeatures;
  Fault F;
  runWithin(Limit, [&](Stop &Ending) {
    F = TheServer.queryFeatures(Ending, CurrentFeatures);
    Late = Ending.raised();
  });
  sdk::Worker W;
  W.Name = S.Server.name();
  W.State = F ? DTLTO_WORKER_OUT : DTLTO_WORKER_UP;
  if (F) {
    W.Why = Late ? "it has not answered" : TheServer.explain(F);
  } else if (!CurrentFeatures.Executes && !S.isCacheOnly()) {
    W.State = DTLTO_WORKER_OUT;
    W.Why = "it executes nothing";
  }
  if (F)
    return {W};
  W.Compiler =
      (S.sendsWorker() ? "dtlto-codegen, LLVM " + LlvmVersion : S.Worker) +
      ", " + CurrentFeatures.Text;
  if (CurrentFeatures.Executes && !S.isCacheOnly())
    runWithin(std::min<std::chrono::milliseconds>(MaxProbe, Limit / 3),
              [&](Stop &Ending) { probe(CurrentFeatures, Ending, W); });
  return {W};
}

/// Checks that the server has workers, which its capabilities don't show.
void Client::probe(const ServerFeatures &CurrentFeatures, Stop &Ending,
                   sdk::Worker &W) {
  ActionMaker Maker(S, CurrentFeatures.Digest, {}, {}, LlvmVersion);
  Action A = Maker.makeProbe();
  Cas Blobs(TheServer, CurrentFeatures, MaxProgressInterval);
  bool IsQueued = false;
  auto Out = [&](const std::string &Why) {
    W.State = DTLTO_WORKER_OUT;
    W.Why = Why;
  };
  if (Fault F = Blobs.upload(Ending, A.Blobs); F && !Ending.raised())
    return Out("it accepts no uploads: " + F.Text);
  ExecuteOptions O;
  O.Action = A.Name;
  O.SkipCache = true;
  O.OnState = [&](uint32_t, const std::string &, bool Queued) {
    IsQueued = Queued;
  };
  Outcome Result = reapi::execute(TheServer, Ending, CurrentFeatures.Digest, O);
  const Fault &F = Result.Failed;
  if (F && Ending.raised()) {
    W.Why = IsQueued ? "an action only waited in its queue for " +
                           std::to_string(MaxProbe.count() / 1000) + " s"
                     : "it has not executed an action within " +
                           std::to_string(MaxProbe.count() / 1000) + " s";
    return;
  }
  // An error about a missing program shows that there is a worker.
  bool IsProgramError = F.Code == grpc::StatusCode::NOT_FOUND ||
                        F.Code == grpc::StatusCode::INTERNAL ||
                        F.Code == grpc::StatusCode::UNKNOWN;
  if (F && !(S.sendsWorker() && IsProgramError))
    return Out("it executes nothing: " + F.Text);
  if (S.sendsWorker())
    return;
  const std::string &VersionText = Result.Result.stdout_raw();
  if (Result.Result.exit_code() != 0)
    Out("its workers cannot run " + quote(S.Worker));
  else if (!VersionText.empty() && !sdk::isVersion(VersionText, LlvmVersion))
    Out(quote(S.Worker) + " says " +
        quote(sdk::oneLine(
            VersionText.substr(0, VersionText.find('\n')).substr(0, 200))));
}

static std::string megabytes(uint64_t Bytes) {
  return std::to_string((Bytes + 50000) / 1000000) + "." +
         std::to_string((Bytes + 50000) / 100000 % 10) + " MB";
}

static std::string milliseconds(uint64_t Micro) {
  return std::to_string((Micro + 500) / 1000) + " ms";
}

void Client::stop() {
  if (std::string Why = OnlyStatus ? "" : noResultReason(); !Why.empty())
    log(DTLTO_LOG_WARNING, Why);
  repairCache();
  Stopping.raise();
  giveUp("");
  ThreadSession::stop();
  for (std::thread *T : {&Preparer, &Watcher})
    if (T->joinable())
      T->join();
  const Traffic &T = TheServer.Sum;
  if (!OnlyStatus)
    reportNumbers();
  if (!T.Hits && !T.NumExecuted)
    return;
  log(DTLTO_LOG_DEBUG,
      std::to_string(T.Hits) + " results from the action cache, " +
          std::to_string(T.NumExecuted) + " executed on " +
          std::to_string(Record.numWorkers()) + " workers; " +
          std::to_string(T.BlobsUp) + " blobs up (" + megabytes(T.BytesUp) +
          "), " + std::to_string(T.BlobsPresent) + " already stored, " +
          megabytes(T.BytesDown) + " down; by the server's clock " +
          milliseconds(T.Queued) + " queued, " + milliseconds(T.Ran) +
          " run, " + milliseconds(T.Fetched) + " fetching inputs, " +
          milliseconds(T.Stored) + " storing outputs; " +
          std::to_string(T.NumRetried) + " calls retried");
}

void Client::reportNumbers() {
  const Traffic &T = TheServer.Sum;
  number("hits of the action cache", DTLTO_UNIT_COUNT, T.Hits);
  number("misses of the action cache", DTLTO_UNIT_COUNT, T.Misses);
  number("actions executed", DTLTO_UNIT_COUNT, T.NumExecuted);
  number("workers", DTLTO_UNIT_COUNT, Record.numWorkers());
  number("blobs sent", DTLTO_UNIT_COUNT, T.BlobsUp);
  number("blobs that were there", DTLTO_UNIT_COUNT, T.BlobsPresent);
  number("bytes sent", DTLTO_UNIT_BYTES, T.BytesUp);
  number("bytes received", DTLTO_UNIT_BYTES, T.BytesDown);
  number("calls tried again", DTLTO_UNIT_COUNT, T.NumRetried);
  number(QueuedName, DTLTO_UNIT_MICROSECONDS, T.Queued);
  number(FetchedName, DTLTO_UNIT_MICROSECONDS, T.Fetched);
  number(RanName, DTLTO_UNIT_MICROSECONDS, T.Ran);
  number(StoredName, DTLTO_UNIT_MICROSECONDS, T.Stored);
}
