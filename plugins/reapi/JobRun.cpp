//===- JobRun.cpp - One job, from its action to its object ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JobRun.h"
#include "Text.h"
#include "dtlto/sdk/RunJob.h"
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
static constexpr unsigned RefusalsAreNews = 4;
// Refusals in a row before a server that has executed nothing is given up.
static constexpr unsigned MaxRefused = 3;

static std::string firstLine(const std::string &Text) {
  return Text.substr(0, Text.find('\n'));
}

JobRun::JobRun(Client &C, const sdk::Job &Offer)
    : C(C), Offer(Offer), Registered(C, Cancelled) {
  Offer.onCancel([this, &C] {
    Cancelled.raise();
    C.wake();
  });
}

dtlto::sdk::Result JobRun::run() {
  if (!C.waitUntilReady(Cancelled))
    stopped();
  std::string Triple = Offer.raw().triple;
  std::string Target = Triple.substr(0, Triple.find('-'));
  bool IsX86 = Target == "x86_64" || (Target.size() == 4 && Target[0] == 'i' &&
                                      Target.compare(2, 2, "86") == 0);
  return IsX86 || !C.S.sendsWorker() ? runReady() : runForeign(Target);
}

void JobRun::findOut(Client::Question &Q, const std::function<void()> &Ask) {
  if (!C.findOut(Cancelled, Q, Ask))
    stopped();
}

dtlto::sdk::Result JobRun::runForeign(const std::string &Target) {
  Client::Question &Q = C.questionOf(Target);
  std::optional<sdk::Result> R;
  findOut(Q, [&] {
    try {
      R = runReady();
    } catch (const sdk::Error &E) {
      // LLVM's message.
      if (std::string_view(E.what()).find("No available targets") !=
          std::string_view::npos) {
        std::lock_guard<std::mutex> Lock(C.Mutex);
        Q.WhyNot = "the worker has no code generation for " + Target;
      }
      throw;
    }
  });
  return R ? std::move(*R) : runReady();
}

dtlto::sdk::Result JobRun::runReady() {
  assert(C.Actions && C.Contents && "the session is ready");
  Action A = C.Actions->make(Offer);
  SkipsCache = C.Record.wasRefuted(Offer.id(), A.Name);
  if (C.S.Use != Results::Off && !SkipsCache)
    if (std::optional<sdk::Result> R = fromCache(A))
      return std::move(*R);
  if (C.S.CacheOnly)
    throw sdk::Error(
        DTLTO_ERROR_INFRASTRUCTURE,
        SkipsCache ? "the result in the action cache is wrong (results=only)"
                   : "the action cache has no result (results=only)");
  return execute(A);
}

void JobRun::stopped() {
  std::lock_guard<std::mutex> Lock(C.Mutex);
  if (Offer.isCancelled() || C.TheEnd.empty())
    throw sdk::Error(DTLTO_CANCELLED, "");
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, C.TheEnd);
}

void JobRun::checkStopped() {
  if (Cancelled.raised())
    stopped();
}

void JobRun::fail(const Fault &F, const std::string &Doing) {
  checkStopped();
  if (F.What == Fault::Refused)
    C.refused(F);
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                   Doing + ": " + C.TheServer.explain(F));
}

std::optional<dtlto::sdk::Result> JobRun::fromCache(const Action &A) {
  const std::string Cache = "action cache " + C.S.Cache.name();
  std::unique_ptr<re::ActionResult> R;
  Fault F =
      findResult(C.TheServer, Cancelled, C.Can.Digest, A.Name, A.Output, R);
  if (F.What == Fault::Refused || Cancelled.raised() || (F && C.S.CacheOnly))
    fail(F, "action cache " + C.S.Cache.name());
  if (F)
    C.log(DTLTO_LOG_DEBUG, Cache + ": " + F.Text);
  try {
    // Ignore cached failures: their cause may not be the module, and a server
    // that keeps failures would return them again.
    if (R && R->exit_code() == 0) {
      sdk::Result Found = conclude(A, *R, "action cache");
      ++C.TheServer.Sum.Hits;
      return Found;
    }
  } catch (const sdk::Error &E) {
    if (Cancelled.raised())
      throw;
    C.log(C.ToldWrong.exchange(true) ? DTLTO_LOG_DEBUG : DTLTO_LOG_WARNING,
          Cache + ": the result for '" + std::string(Offer.name()) +
              "' is invalid: " + E.what() + "; executing the action again");
  }
  SkipsCache |= R != nullptr;
  ++C.TheServer.Sum.Misses;
  return std::nullopt;
}

void JobRun::uploadAll(const Action &A) {
  auto Sending = [&] { Offer.state(DTLTO_STATE_SENDING); };
  Sending();
  if (Fault F = C.Contents->upload(Cancelled, A.Blobs, Sending))
    fail(F, "cannot send to " + C.S.Cas.name());
}

//===----------------------------------------------------------------------===//
// The workers' compiler
//===----------------------------------------------------------------------===//

/// Returns the version of the workers' compiler, or an error message.
std::string JobRun::askCompiler() {
  Action A = C.Actions->makeQuestion();
  uploadAll(A);
  ExecuteOptions O;
  O.Action = A.Name;
  O.SkipCache = true;
  Outcome Out = tryToExecute(A, O);
  if (Out.Failed) {
    // The next job would get the same answer.
    if (Out.Failed.FromServer && !Cancelled.raised())
      C.giveUp("server " + C.S.Server.name() + ": its workers cannot run " +
               quote(C.S.Worker + " --version") + ": " + Out.Failed.Text);
    fail(Out.Failed, "cannot execute on " + C.S.Server.name());
  }
  if (Out.Result.exit_code() != 0)
    return standardError(Out.Result);
  std::string Text = Out.Result.stdout_raw();
  if (Text.empty() && Out.Result.has_stdout_digest())
    Text = read(Out.Result.stdout_digest());
  return Text;
}

void JobRun::proveCompiler() {
  findOut(C.Compiler, [&] {
    std::string Said = askCompiler();
    if (dtlto_run_is_version(Said.c_str(), C.LlvmVersion.c_str()))
      return;
    C.giveUp("server " + C.S.Server.name() + ": the workers' " +
             quote(C.S.Worker) + " must be clang of exactly version " +
             C.LlvmVersion + ", but says " +
             quote(sdk::oneLine(firstLine(Said).substr(0, 200))));
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, "another compiler");
  });
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

dtlto::sdk::Result JobRun::execute(const Action &A) {
  if (!C.S.sendsWorker())
    proveCompiler();
  uploadAll(A);
  ExecuteOptions O;
  // An execution replaces a bad result in the cache. A server may merge a
  // second execution of a job with the first one, unless the action must not be
  // cached.
  bool IsSecond = Offer.avoid() && !SkipsCache;
  O.Action = C.S.Use == Results::Write && !IsSecond ? A.Name : A.UncachedName;
  O.Output = A.Output;
  O.SkipCache = C.S.Use == Results::Off || SkipsCache || IsSecond;
  Outcome Out = tryToExecute(A, O);
  if (Out.Failed)
    fail(Out.Failed, "cannot execute on " + C.S.Server.name());
  const re::ExecutedActionMetadata &M = Out.Result.execution_metadata();
  // Servers may also answer from their action cache.
  if (Out.WasCached) {
    ++C.TheServer.Sum.Hits;
  } else {
    ++C.TheServer.Sum.Executed;
    count(M);
  }
  std::string By = sdk::oneLine(M.worker().substr(0, 200));
  C.Record.addWorker(By);
  Offer.state(DTLTO_STATE_RECEIVING, By);
  return conclude(A, Out.Result, By.empty() ? C.S.Server.name() : By);
}

Outcome JobRun::tryOnce(ExecuteOptions &O, bool &IsRefusal, unsigned &InRow) {
  uint64_t Round;
  if (!C.InFlight.enter([&] { return Cancelled.raised(); }, Round))
    stopped();
  ServerRecord::Execution Now;
  O.Limit = C.ResultLimit;
  O.Report = [&](uint32_t State, const std::string &By, bool IsInQueue) {
    bool IsRunning = State == DTLTO_STATE_RUNNING;
    C.Record.change(Now, {true, IsRunning, IsInQueue && !IsRunning});
    C.Record.addWorker(By);
    if (IsRunning)
      C.InFlight.begun();
    Offer.state(State, By);
  };
  // Limits restarts, since the linker may submit the same job again.
  O.Begun = [&] { C.Record.begun(O.Action); };
  O.WhyNot = [&] { return C.Record.whyNot(O.Action); };
  Outcome Out = reapi::execute(C.TheServer, Cancelled, C.Can.Digest, O);
  C.Record.change(Now, {});
  const Fault &F = Out.Failed;
  IsRefusal = F.FromServer &&
              (F.What == Fault::Busy || (F.What == Fault::Later && !F.Renewed));
  InRow = 0;
  if (IsRefusal)
    InRow = C.InFlight.refused(
        Round, [&](unsigned N) { return C.TheServer.pauseAfter(F, N - 1); });
  else if (!F)
    C.InFlight.grow();
  C.InFlight.leave();
  if (F)
    checkStopped();
  C.Record.ended(O.Action, F, IsRefusal);
  return Out;
}

Outcome JobRun::tryToExecute(const Action &A, ExecuteOptions &O) {
  unsigned Try = 1, NumRefused = 0;
  while (true) {
    bool IsRefusal;
    unsigned InRow;
    Outcome Out = tryOnce(O, IsRefusal, InRow);
    Fault &F = Out.Failed;
    if (!F)
      return Out;
    Offer.state(DTLTO_STATE_QUEUED);
    if (IsRefusal) { // not the job's failure
      onRefusal(F, InRow);
      checkStopped();
      if (++NumRefused > MaxBusy)
        return Out;
      ++C.TheServer.Sum.Retried;
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
      if (C.Record.isRejected(F, C.TheServer.Sum.Executed != 0))
        F.What = Fault::Refused;
      return Out;
    }
    prepareRetry(A, F, Try++);
  }
}

void JobRun::prepareRetry(const Action &A, const Fault &F, unsigned Try) {
  C.log(DTLTO_LOG_DEBUG,
        "module '" + std::string(Offer.name()) + "': " + F.Text + "; retrying");
  // Pause first: an operation may fail at once.
  if (F.What == Fault::Later && !C.TheServer.pause(Cancelled, F, Try - 1))
    stopped();
  if (F.What != Fault::Missing)
    return;
  // The server need not name the missing blobs.
  std::vector<BlobName> Gone = F.Blobs;
  if (Gone.empty())
    for (const Blob &B : A.Blobs)
      Gone.push_back(B.Name);
  C.Contents->forget(Gone);
  uploadAll(A);
}

void JobRun::onRefusal(const Fault &F, unsigned InRow) {
  bool IsUseless = C.TheServer.Sum.Executed == 0 && F.What != Fault::Busy;
  unsigned Limit = IsUseless ? std::min(MaxRefused, C.S.Retries + 1) : MaxBusy;
  // Keep the server as long as it works on other jobs.
  bool IsIdle = C.InFlight.used() == 0;
  bool GivesUp = InRow >= Limit && IsIdle;
  if (C.Record.refused(F.Text, !GivesUp && InRow >= RefusalsAreNews && IsIdle))
    C.log(DTLTO_LOG_WARNING, "server " + C.S.Server.name() + ": " + F.Text +
                                 "; jobs wait until it accepts them");
  if (GivesUp)
    C.refused(F);
}

void JobRun::count(const re::ExecutedActionMetadata &M) {
  Traffic &T = C.TheServer.Sum;
  auto Add = [&](const char *Name, std::atomic<uint64_t> &Sum,
                 const google::protobuf::Timestamp &Begin,
                 const google::protobuf::Timestamp &End) {
    if (uint64_t Time = microsecondsBetween(Begin, End)) {
      Sum += Time;
      Offer.number(Name, DTLTO_UNIT_MICROSECONDS, Time);
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
    sdk::ResultMemory::Share Share(C.Results);
    C.Contents->read(Cancelled, {D.hash(), uint64_t(D.size_bytes())}, Share,
                     Text);
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
static bool isOfModule(const std::string &Text) {
  return Text.compare(0, 7, "error: ") == 0 ||
         Text.find("\nerror: ") != std::string::npos;
}

static dtlto::sdk::Error wrong(const std::string &By, const std::string &Why) {
  return dtlto::sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, By + ": " + Why, By);
}

std::string JobRun::object(const Action &A, re::ActionResult &R,
                           const std::string &By,
                           sdk::ResultMemory::Share &Share) {
  re::OutputFile *File = nullptr;
  for (re::OutputFile &F : *R.mutable_output_files())
    if (F.path() == A.Output)
      File = &F;
  if (!File)
    throw wrong(By, "the action has no output file '" + A.Output + "'");
  if (File->digest().size_bytes() < 0)
    throw wrong(By, "the object's digest is invalid");
  std::string Object;
  BlobName Name{File->digest().hash(), uint64_t(File->digest().size_bytes())};
  if (!File->contents().empty()) {
    Object = std::move(*File->mutable_contents());
    C.TheServer.Sum.BytesDown += Object.size();
    if (!Share.grow(Object.size()))
      throw wrong(By, "the object exceeds the memory for results");
    if (nameBlob(C.Can.Digest, Object) != Name)
      throw wrong(By, "the object does not match its digest");
  } else if (Fault F = C.Contents->read(Cancelled, Name, Share, Object)) {
    // These are failures of the store, not of the worker.
    if (F.What == Fault::Later || F.What == Fault::Busy ||
        F.What == Fault::Refused || Cancelled.raised())
      fail(F, "cannot fetch the object from " + C.S.Cas.name());
    throw wrong(By, "cannot fetch the object: " + F.Text);
  }
  return Object;
}

dtlto::sdk::Result JobRun::conclude(const Action &A, re::ActionResult &R,
                                    const std::string &By) {
  const bool IsClang = !C.S.sendsWorker();
  std::string Stderr = standardError(R);
  if (int32_t Status = R.exit_code()) {
    if (Status == 1 && !Stderr.empty() && (IsClang || isOfModule(Stderr)))
      return {{},
              Stderr.substr(0, Stderr.find_last_not_of('\n') + 1),
              By,
              DTLTO_ERROR_COMPILER};
    std::string Why = "the worker ended with status " + std::to_string(Status);
    if (!Stderr.empty())
      Why += ": " + sdk::oneLine(firstLine(Stderr).substr(0, 500));
    throw wrong(By, Why);
  }
  if (std::string_view Line = unreadInput(Stderr); IsClang && !Line.empty())
    throw wrong(By, "the compiler could not read its inputs: " +
                        sdk::oneLine(std::string(Line.substr(0, 500))));
  sdk::ResultMemory::Share Share(C.Results);
  std::string Object = object(A, R, By, Share);
  if (std::string Why = Offer.problem(Object);
      !Why.empty() && !(IsClang && !importError(Stderr).empty()))
    throw wrong(By, Why);
  return {sdk::Buffer(std::move(Object)), std::move(Stderr), By, DTLTO_OK};
}
