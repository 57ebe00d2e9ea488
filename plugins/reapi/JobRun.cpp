//===- JobRun.cpp - One job, from its action to its object ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobRun.h"
#include "Text.h"
#include "dtlto/sdk/CompileResult.hpp"
#include <cassert>

using namespace dtlto::reapi;
using dtlto::quote;

// The limit for a program's output.
static constexpr size_t MaxText = size_t(1) << 20;
// How often an action is executed.
static constexpr unsigned MaxExecutions = 3;
// How often a full server is asked, with increasing pauses.
static constexpr unsigned MaxBusy = 12;
// Refusals in a row before the user is told that jobs wait.
static constexpr unsigned RefusalsToReport = 4;
// Refusals in a row before a server that has executed nothing is given up.
static constexpr unsigned MaxRefused = 3;

static std::string firstLine(const std::string &Text) {
  return Text.substr(0, Text.find('\n'));
}

JobRun::JobRun(Client &Session, const sdk::Job &LinkerJob)
    : Session(Session), LinkerJob(LinkerJob), Registered(Session, Cancelled) {
  LinkerJob.onCancel([this, &Session] {
    Cancelled.raise();
    Session.wake();
  });
}

dtlto::sdk::Result JobRun::run() {
  if (!Session.waitUntilReady(Cancelled))
    throwStopped();
  std::string Triple = LinkerJob.raw().triple;
  std::string Target = Triple.substr(0, Triple.find('-'));
  bool IsX86 = Target == "x86_64" || (Target.size() == 4 && Target[0] == 'i' &&
                                      Target.compare(2, 2, "86") == 0);
  return IsX86 || !Session.S.sendsWorker() ? runReady() : runForeign(Target);
}

void JobRun::answerOnce(Client::Question &Q, const std::function<void()> &Ask) {
  if (!Session.answerOnce(Cancelled, Q, Ask))
    throwStopped();
}

dtlto::sdk::Result JobRun::runForeign(const std::string &Target) {
  Client::Question &Q = Session.targetQuestion(Target);
  std::optional<sdk::Result> R;
  answerOnce(Q, [&] {
    try {
      R = runReady();
    } catch (const sdk::Error &E) {
      // LLVM's message.
      if (std::string_view(E.what()).find("No available targets") !=
          std::string_view::npos) {
        std::lock_guard<std::mutex> Lock(Session.Mutex);
        Q.WhyNot = "the worker has no code generation for " + Target;
      }
      throw;
    }
  });
  return R ? std::move(*R) : runReady();
}

dtlto::sdk::Result JobRun::runReady() {
  assert(Session.Actions && Session.Contents && "the session is ready");
  Action A = Session.Actions->make(LinkerJob);
  SkipsCache = Session.Record.wasRefuted(LinkerJob.id(), A.Name);
  if (Session.S.CacheUse != Results::Off && !SkipsCache)
    if (std::optional<sdk::Result> R = fromCache(A))
      return std::move(*R);
  if (Session.S.isCacheOnly())
    throw sdk::Error(
        DTLTO_ERROR_INFRASTRUCTURE,
        SkipsCache ? "the result in the action cache is wrong (results=only)"
                   : "the action cache has no result (results=only)");
  return execute(A);
}

void JobRun::throwStopped() {
  std::lock_guard<std::mutex> Lock(Session.Mutex);
  if (LinkerJob.isCancelled() || Session.EndReason.empty())
    throw sdk::Error(DTLTO_CANCELLED, "");
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, Session.EndReason);
}

void JobRun::checkStopped() {
  if (Cancelled.raised())
    throwStopped();
}

void JobRun::fail(const Fault &F, const std::string &Activity) {
  checkStopped();
  if (F.What == Fault::Refused)
    Session.handleRefusal(F);
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                   Activity + ": " + Session.TheServer.explain(F));
}

std::optional<dtlto::sdk::Result> JobRun::fromCache(const Action &A) {
  const std::string Cache = "action cache " + Session.S.Cache.name();
  std::unique_ptr<re::ActionResult> R;
  Fault F = findResult(Session.TheServer, Cancelled, Session.Features.Digest,
                       A.Name, A.Output, R);
  if (F.What == Fault::Refused || Cancelled.raised() ||
      (F && Session.S.isCacheOnly()))
    fail(F, Cache);
  if (F)
    Session.log(DTLTO_LOG_DEBUG, Cache + ": " + F.Text);
  try {
    // Ignore cached failures: their cause may not be the module, and a server
    // that keeps failures would return them again.
    if (R && R->exit_code() == 0) {
      sdk::Result CachedResult = conclude(A, *R, "action cache");
      ++Session.TheServer.Sum.Hits;
      return CachedResult;
    }
  } catch (const sdk::Error &E) {
    if (Cancelled.raised())
      throw;
    Session.log(Session.HasReportedBadResult.exchange(true) ? DTLTO_LOG_DEBUG
                                                            : DTLTO_LOG_WARNING,
                Cache + ": the result for '" + std::string(LinkerJob.name()) +
                    "' is invalid: " + E.what() +
                    "; executing the action again");
  }
  SkipsCache |= R != nullptr;
  ++Session.TheServer.Sum.Misses;
  return std::nullopt;
}

void JobRun::uploadAll(const Action &A) {
  auto Sending = [&] { LinkerJob.state(DTLTO_STATE_SENDING); };
  Sending();
  if (Fault F = Session.Contents->upload(Cancelled, A.Blobs, Sending))
    fail(F, "cannot send to " + Session.S.Cas.name());
}

//===----------------------------------------------------------------------===//
// The workers' compiler
//===----------------------------------------------------------------------===//

/// Returns the version of the workers' compiler, or an error message.
std::string JobRun::queryCompiler() {
  Action A = Session.Actions->makeProbe();
  uploadAll(A);
  ExecuteOptions O;
  O.Action = A.Name;
  O.SkipCache = true;
  Outcome Out = tryToExecute(A, O);
  if (Out.Failed) {
    // The next job would get the same answer.
    if (Out.Failed.IsFromServer && !Cancelled.raised())
      Session.giveUp(
          "server " + Session.S.Server.name() + ": its workers cannot run " +
          quote(Session.S.Worker + " --version") + ": " + Out.Failed.Text);
    fail(Out.Failed, "cannot execute on " + Session.S.Server.name());
  }
  if (Out.Result.exit_code() != 0)
    return standardError(Out.Result);
  std::string Text = Out.Result.stdout_raw();
  if (Text.empty() && Out.Result.has_stdout_digest())
    Text = read(Out.Result.stdout_digest());
  return Text;
}

void JobRun::checkCompiler() {
  answerOnce(Session.Compiler, [&] {
    std::string VersionText = queryCompiler();
    if (sdk::isVersion(VersionText, Session.LlvmVersion))
      return;
    Session.giveUp("server " + Session.S.Server.name() + ": the workers' " +
                   quote(Session.S.Worker) +
                   " must be clang of exactly version " + Session.LlvmVersion +
                   ", but says " +
                   quote(sdk::oneLine(firstLine(VersionText).substr(0, 200))));
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, "another compiler");
  });
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

dtlto::sdk::Result JobRun::execute(const Action &A) {
  if (!Session.S.sendsWorker())
    checkCompiler();
  uploadAll(A);
  ExecuteOptions O;
  // An execution replaces a bad result in the cache. A server may merge a
  // second execution of a job with the first one, unless the action must not be
  // cached.
  bool IsSecond = LinkerJob.avoid() && !SkipsCache;
  O.Action = Session.S.CacheUse == Results::Write && !IsSecond ? A.Name
                                                               : A.UncachedName;
  O.Output = A.Output;
  O.SkipCache = Session.S.CacheUse == Results::Off || SkipsCache || IsSecond;
  Outcome Out = tryToExecute(A, O);
  if (Out.Failed)
    fail(Out.Failed, "cannot execute on " + Session.S.Server.name());
  const re::ExecutedActionMetadata &M = Out.Result.execution_metadata();
  // Servers may also answer from their action cache.
  if (Out.WasCached) {
    ++Session.TheServer.Sum.Hits;
  } else {
    ++Session.TheServer.Sum.NumExecuted;
    count(M);
  }
  std::string By = sdk::oneLine(M.worker().substr(0, 200));
  Session.Record.addWorker(By);
  LinkerJob.state(DTLTO_STATE_RECEIVING, By);
  return conclude(A, Out.Result, By.empty() ? Session.S.Server.name() : By);
}

Outcome JobRun::tryOnce(ExecuteOptions &O, bool &IsRefusal,
                        unsigned &RefusalStreak) {
  uint64_t Round;
  if (!Session.InFlight.enter([&] { return Cancelled.raised(); }, Round))
    throwStopped();
  ServerRecord::Execution Now;
  O.Limit = Session.ResultLimit;
  O.OnState = [&](uint32_t State, const std::string &By, bool IsInQueue) {
    bool IsRunning = State == DTLTO_STATE_RUNNING;
    Session.Record.change(Now, {true, IsRunning, IsInQueue && !IsRunning});
    Session.Record.addWorker(By);
    if (IsRunning)
      Session.InFlight.recordStart();
    LinkerJob.state(State, By);
  };
  // Limits restarts, since the linker may submit the same job again.
  O.OnAccepted = [&] { Session.Record.recordStart(O.Action); };
  O.WhyNot = [&] { return Session.Record.whyNot(O.Action); };
  Outcome Out =
      reapi::execute(Session.TheServer, Cancelled, Session.Features.Digest, O);
  Session.Record.change(Now, {});
  const Fault &F = Out.Failed;
  IsRefusal = F.IsFromServer && (F.What == Fault::Busy ||
                                 (F.What == Fault::Later && !F.WasRenewed));
  RefusalStreak = 0;
  if (IsRefusal)
    RefusalStreak = Session.InFlight.handleRefusal(Round, [&](unsigned N) {
      return Session.TheServer.pauseAfter(F, N - 1);
    });
  else if (!F)
    Session.InFlight.grow();
  Session.InFlight.leave();
  if (F)
    checkStopped();
  Session.Record.recordEnd(O.Action, F, IsRefusal);
  return Out;
}

Outcome JobRun::tryToExecute(const Action &A, ExecuteOptions &O) {
  unsigned Try = 1, NumRefused = 0;
  while (true) {
    bool IsRefusal;
    unsigned RefusalStreak;
    Outcome Out = tryOnce(O, IsRefusal, RefusalStreak);
    Fault &F = Out.Failed;
    if (!F)
      return Out;
    LinkerJob.state(DTLTO_STATE_QUEUED);
    if (IsRefusal) { // not the job's failure
      onRefusal(F, RefusalStreak);
      checkStopped();
      if (++NumRefused > MaxBusy)
        return Out;
      ++Session.TheServer.Sum.NumRetried;
      continue;
    }
    // Servers don't always report that they have lost contents: buildbox-casd
    // reports NOT_FOUND for an action, and INTERNAL for its inputs.
    if (F.Code == grpc::StatusCode::NOT_FOUND ||
        F.Code == grpc::StatusCode::INTERNAL)
      F.What = Fault::Missing;
    // Cancelled: by the server.
    bool MayHelp = F.What == Fault::Missing || F.What == Fault::Later ||
                   F.What == Fault::Cancelled;
    if (!MayHelp || Try == MaxExecutions) {
      // For example, the server has no worker for any action of the link.
      if (Session.Record.isRejected(F, Session.TheServer.Sum.NumExecuted != 0))
        F.What = Fault::Refused;
      return Out;
    }
    prepareRetry(A, F, Try++);
  }
}

void JobRun::prepareRetry(const Action &A, const Fault &F, unsigned Try) {
  Session.log(DTLTO_LOG_DEBUG, "module '" + std::string(LinkerJob.name()) +
                                   "': " + F.Text + "; retrying");
  // Pause first: an operation may fail at once.
  if (F.What == Fault::Later && !Session.TheServer.pause(Cancelled, F, Try - 1))
    throwStopped();
  if (F.What != Fault::Missing)
    return;
  // The server need not name the missing blobs.
  std::vector<BlobName> MissingBlobs = F.Blobs;
  if (MissingBlobs.empty())
    for (const Blob &B : A.Blobs)
      MissingBlobs.push_back(B.Name);
  Session.Contents->forget(MissingBlobs);
  uploadAll(A);
}

void JobRun::onRefusal(const Fault &F, unsigned RefusalStreak) {
  bool IsUseless =
      Session.TheServer.Sum.NumExecuted == 0 && F.What != Fault::Busy;
  unsigned Limit =
      IsUseless ? std::min(MaxRefused, Session.S.Retries + 1) : MaxBusy;
  // Keep the server as long as it works on other jobs.
  bool IsIdle = Session.InFlight.used() == 0;
  bool GivesUp = RefusalStreak >= Limit && IsIdle;
  if (Session.Record.handleRefusal(
          F.Text, !GivesUp && RefusalStreak >= RefusalsToReport && IsIdle))
    Session.log(DTLTO_LOG_WARNING, "server " + Session.S.Server.name() + ": " +
                                       F.Text +
                                       "; jobs wait until it accepts them");
  if (GivesUp)
    Session.handleRefusal(F);
}

void JobRun::count(const re::ExecutedActionMetadata &M) {
  Traffic &T = Session.TheServer.Sum;
  auto Add = [&](const char *Name, std::atomic<uint64_t> &Sum,
                 const google::protobuf::Timestamp &Begin,
                 const google::protobuf::Timestamp &End) {
    if (uint64_t Time = microsecondsBetween(Begin, End)) {
      Sum += Time;
      LinkerJob.number(Name, DTLTO_UNIT_MICROSECONDS, Time);
    }
  };
  Add(QueuedName, T.Queued, M.queued_timestamp(), M.worker_start_timestamp());
  Add(FetchedName, T.Fetched, M.input_fetch_start_timestamp(),
      M.input_fetch_completed_timestamp());
  Add(RanName, T.Ran, M.execution_start_timestamp(),
      M.execution_completed_timestamp());
  Add(StoredName, T.Stored, M.output_upload_start_timestamp(),
      M.output_upload_completed_timestamp());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

std::string JobRun::read(const re::Digest &D) {
  std::string Text;
  if (D.size_bytes() > 0 && uint64_t(D.size_bytes()) <= MaxText) {
    sdk::ResultMemory::Share Share(Session.Results);
    Session.Contents->read(Cancelled, {D.hash(), uint64_t(D.size_bytes())},
                           Share, Text);
  }
  return Text;
}

std::string JobRun::standardError(const re::ActionResult &R) {
  std::string Text = R.stderr_raw();
  if (Text.empty() && R.has_stderr_digest())
    Text = read(R.stderr_digest());
  Text.resize(std::min(Text.size(), MaxText));
  return Text;
}

/// Whether \p Text, the standard error of a worker that exited with 1, is about
/// the module. LLVM's lines begin with "error: ", and dtlto-codegen's own with
/// its name.
static bool isAboutModule(const std::string &Text) {
  return Text.compare(0, 7, "error: ") == 0 ||
         Text.find("\nerror: ") != std::string::npos;
}

static dtlto::sdk::Error badResult(const std::string &By,
                                   const std::string &Why) {
  return dtlto::sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, By + ": " + Why, By);
}

std::string JobRun::fetchObject(const Action &A, re::ActionResult &R,
                                const std::string &By,
                                sdk::ResultMemory::Share &Share) {
  re::OutputFile *File = nullptr;
  for (re::OutputFile &F : *R.mutable_output_files())
    if (F.path() == A.Output)
      File = &F;
  if (!File)
    throw badResult(By, "the action has no output file '" + A.Output + "'");
  if (File->digest().size_bytes() < 0)
    throw badResult(By, "the object's digest is invalid");
  std::string Object;
  BlobName Name{File->digest().hash(), uint64_t(File->digest().size_bytes())};
  if (!File->contents().empty()) {
    Object = std::move(*File->mutable_contents());
    Session.TheServer.Sum.BytesDown += Object.size();
    if (!Share.grow(Object.size()))
      throw badResult(By, "the object exceeds the memory for results");
    if (nameBlob(Session.Features.Digest, Object) != Name)
      throw badResult(By, "the object does not match its digest");
  } else if (Fault F = Session.Contents->read(Cancelled, Name, Share, Object)) {
    // These are failures of the store, not of the worker.
    if (F.What == Fault::Later || F.What == Fault::Busy ||
        F.What == Fault::Refused || Cancelled.raised())
      fail(F, "cannot fetch the object from " + Session.S.Cas.name());
    throw badResult(By, "cannot fetch the object: " + F.Text);
  }
  return Object;
}

dtlto::sdk::Result JobRun::conclude(const Action &A, re::ActionResult &R,
                                    const std::string &By) {
  std::string Stderr = standardError(R);
  if (!Session.S.sendsWorker()) {
    // fetchObject() checks the object; a clang that can't import writes none.
    const bool HasObject = importError(Stderr).empty();
    int32_t Status =
        sdk::compileStatus({nullptr, R.exit_code(), 0, HasObject}, Stderr);
    if (Status == DTLTO_ERROR_COMPILER)
      return {{}, std::move(Stderr), By, Status};
    if (Status != DTLTO_OK)
      throw badResult(By, sdk::oneLine(Stderr.substr(0, 500)));
  } else if (int32_t Status = R.exit_code()) {
    if (Status == 1 && isAboutModule(Stderr))
      return {{},
              Stderr.substr(0, Stderr.find_last_not_of('\n') + 1),
              By,
              DTLTO_ERROR_COMPILER};
    std::string Why = "the worker ended with status " + std::to_string(Status);
    if (!Stderr.empty())
      Why += ": " + sdk::oneLine(firstLine(Stderr).substr(0, 500));
    throw badResult(By, Why);
  }
  sdk::ResultMemory::Share Share(Session.Results);
  std::string Object = fetchObject(A, R, By, Share);
  if (std::string Why = LinkerJob.problem(Object); !Why.empty())
    throw badResult(By, Why);
  return {sdk::Buffer(std::move(Object)), std::move(Stderr), By, DTLTO_OK};
}
