//===- ClientJob.cpp - One job, from its action to its object -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include "Text.h"
#include "dtlto/sdk/RunJob.h"

using namespace dtlto::reapi;
using dtlto::quote;

static constexpr size_t MaxText = size_t(1) << 20; // that a program writes

static std::string firstLine(const std::string &Text) {
  return Text.substr(0, Text.find('\n'));
}

dtlto::sdk::Result Client::run(const sdk::Job &Offer) {
  auto Owned = std::make_shared<Job>(Offer);
  Job &J = *Owned;
  // It may still be called when the job has ended.
  Offer.onCancel([this, Owned] {
    Owned->Cancelled.raise();
    wake();
  });
  struct Entry {
    Entry(Client &C, Job &J) : C(C), J(J) {
      std::lock_guard<std::mutex> Lock(C.Mutex);
      C.Jobs.insert(&J);
    }
    ~Entry() {
      std::lock_guard<std::mutex> Lock(C.Mutex);
      C.Jobs.erase(&J);
    }
    Client &C;
    Job &J;
  } Entered(*this, J);
  waitUntilReady(J);
  std::string Triple = Offer.raw().triple;
  std::string Target = Triple.substr(0, Triple.find('-'));
  bool IsX86 = Target == "x86_64" || (Target.size() == 4 && Target[0] == 'i' &&
                                      Target.compare(2, 2, "86") == 0);
  return IsX86 || !S.sendsWorker() ? runReady(J) : runForeign(J, Target);
}

void Client::findOut(Job &J, Question &Q, const std::function<void()> &Ask) {
  {
    std::unique_lock<std::mutex> Lock(Mutex);
    Changed.wait(Lock, [&] {
      return Q.State != Question::Asked || J.Cancelled.raised() ||
             !TheEnd.empty();
    });
    if (J.Cancelled.raised() || !TheEnd.empty()) {
      Lock.unlock();
      stopped(J);
    }
    if (!Q.WhyNot.empty())
      throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, Q.WhyNot);
    if (Q.State == Question::Known)
      return;
    Q.State = Question::Asked;
  }
  auto Told = [&](auto State) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Q.State = State;
    Changed.notify_all();
  };
  try {
    Ask();
    Told(Question::Known);
  } catch (...) {
    Told(Question::Unknown);
    throw;
  }
}

dtlto::sdk::Result Client::runForeign(Job &J, const std::string &Target) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Question &Q = Targets[Target];
  Lock.unlock();
  std::optional<sdk::Result> R;
  findOut(J, Q, [&] {
    try {
      R = runReady(J);
    } catch (const sdk::Error &E) {
      Lock.lock();
      // As LLVM says it.
      if (std::string(E.what()).find("No available targets") !=
          std::string::npos)
        Q.WhyNot = "the worker has no code generation for " + Target;
      Lock.unlock();
      throw;
    }
  });
  return R ? std::move(*R) : runReady(J);
}

dtlto::sdk::Result Client::runReady(Job &J) {
  Action A = Actions->make(J.Offer);
  J.SkipsCache = wasRefuted(J, A);
  if (S.Use != Results::Off && !J.SkipsCache)
    if (std::optional<sdk::Result> R = fromCache(J, A))
      return std::move(*R);
  if (S.CacheOnly)
    throw sdk::Error(
        DTLTO_ERROR_INFRASTRUCTURE,
        J.SkipsCache ? "what the action cache has is wrong, and results=only"
                     : "the action cache has no result, and results=only");
  return execute(J, A);
}

bool Client::wasRefuted(const Job &J, const Action &A) {
  std::lock_guard<std::mutex> Lock(Mutex);
  ActionsOfLink.OfJob[J.Offer.id()] = A.Name;
  return ActionsOfLink.Refuted.count(A.Name.Hash) != 0;
}

void Client::wake() {
  Cas *C;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Changed.notify_all();
    C = Contents.get();
  }
  InFlight.wake();
  if (C)
    C->wake();
}

void Client::fail(Job &J, const Fault &F, const std::string &Doing) {
  if (J.Cancelled.raised())
    stopped(J);
  if (F.What == Fault::Refused)
    refused(F);
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                   Doing + ": " + TheServer.explain(F));
}

std::optional<dtlto::sdk::Result> Client::fromCache(Job &J, const Action &A) {
  std::unique_ptr<re::ActionResult> R;
  Fault F = findResult(TheServer, J.Cancelled, Can.Digest, A.Name, A.Output, R);
  if (F.What == Fault::Refused || J.Cancelled.raised() || (F && S.CacheOnly))
    fail(J, F, "action cache " + S.Cache.name());
  if (F)
    log(DTLTO_LOG_DEBUG, "action cache " + S.Cache.name() + ": " + F.Text);
  // What failed once may have failed for another reason than the module; a
  // server that keeps that would say it again.
  if (!R || R->exit_code() != 0) {
    J.SkipsCache |= R != nullptr;
    ++TheServer.Sum.Misses;
    return std::nullopt;
  }
  try {
    sdk::Result Found = conclude(J, A, *R, "action cache");
    ++TheServer.Sum.Hits;
    return Found;
  } catch (const sdk::Error &E) {
    if (J.Cancelled.raised())
      throw;
    J.SkipsCache = true;
    bool IsFirst;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      IsFirst = NumWrong++ == 0;
    }
    log(IsFirst ? DTLTO_LOG_WARNING : DTLTO_LOG_DEBUG,
        "action cache " + S.Cache.name() + ": the result for '" +
            std::string(J.Offer.name()) + "' is no good: " + E.what() +
            "; it is made again");
    ++TheServer.Sum.Misses;
    return std::nullopt;
  }
}

void Client::uploadAll(Job &J, const Action &A) {
  auto Sending = [&] { J.Offer.state(DTLTO_STATE_SENDING); };
  Sending();
  if (Fault F = Contents->upload(J.Cancelled, A.Blobs, Sending))
    fail(J, F, "can't send to " + S.Cas.name());
}

/// Returns what it says.
std::string Client::askCompiler(Job &J) {
  Action A = Actions->makeQuestion();
  uploadAll(J, A);
  ExecuteOptions O;
  O.Action = A.Name;
  O.SkipCache = true;
  Outcome Out = tryToExecute(J, A, O);
  if (Out.Failed) {
    // The next job would hear the same.
    if (Out.Failed.FromServer && !J.Cancelled.raised())
      giveUp("server " + S.Server.name() + ": its workers can't run " +
             quote(S.Worker + " --version") + ": " + Out.Failed.Text);
    fail(J, Out.Failed, "can't execute on " + S.Server.name());
  }
  if (Out.Result.exit_code() != 0)
    return standardError(J, Out.Result);
  std::string Text = Out.Result.stdout_raw();
  if (Text.empty() && Out.Result.has_stdout_digest())
    Text = read(J, Out.Result.stdout_digest());
  return Text;
}

void Client::proveCompiler(Job &J) {
  findOut(J, Compiler, [&] {
    std::string Said = askCompiler(J);
    if (dtlto_run_is_version(Said.c_str(), LlvmVersion.c_str()))
      return;
    giveUp("server " + S.Server.name() + ": the workers' " + quote(S.Worker) +
           " has to be a clang of exactly version " + LlvmVersion +
           ", but says " + quote(sdk::oneLine(firstLine(Said).substr(0, 200))));
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, "another compiler");
  });
}

dtlto::sdk::Result Client::execute(Job &J, const Action &A) {
  if (!S.sendsWorker())
    proveCompiler(J);
  uploadAll(J, A);
  ExecuteOptions O;
  // What is wrong in the cache is replaced. Of what somebody is slow with, or
  // is to be confirmed, a server may make one of two that are equal, unless
  // neither may be kept.
  bool IsSecond = J.Offer.avoid() && !J.SkipsCache;
  O.Action = S.Use == Results::Write && !IsSecond ? A.Name : A.UncachedName;
  O.Output = A.Output;
  O.SkipCache = S.Use == Results::Off || J.SkipsCache || IsSecond;
  Outcome Out = tryToExecute(J, A, O);
  if (Out.Failed)
    fail(J, Out.Failed, "can't execute on " + S.Server.name());
  // Servers may answer from their action cache, too.
  if (Out.WasCached) {
    ++TheServer.Sum.Hits;
  } else {
    ++TheServer.Sum.Executed;
    count(J, Out.Result.execution_metadata());
  }
  std::string By =
      sdk::oneLine(Out.Result.execution_metadata().worker().substr(0, 200));
  if (!By.empty()) {
    std::lock_guard<std::mutex> Lock(Mutex);
    Workers.insert(By);
  }
  J.Offer.state(DTLTO_STATE_RECEIVING, By);
  return conclude(J, A, Out.Result, By.empty() ? S.Server.name() : By);
}

void Client::count(const Job &J, const re::ExecutedActionMetadata &M) {
  Traffic &T = TheServer.Sum;
  auto Add = [&](const char *Name, std::atomic<uint64_t> &Sum,
                 const google::protobuf::Timestamp &Begin,
                 const google::protobuf::Timestamp &End) {
    if (uint64_t Time = microsecondsBetween(Begin, End)) {
      Sum += Time;
      J.Offer.number(Name, DTLTO_UNIT_MICROSECONDS, Time);
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

std::string Client::read(Job &J, const re::Digest &D) {
  std::string Text;
  if (D.size_bytes() > 0 && uint64_t(D.size_bytes()) <= MaxText) {
    sdk::ResultMemory::Share Share(Results);
    Contents->read(J.Cancelled, {D.hash(), uint64_t(D.size_bytes())}, Share,
                   Text);
  }
  return Text;
}

std::string Client::standardError(Job &J, re::ActionResult &R) {
  std::string Text = R.stderr_raw();
  if (Text.empty() && R.has_stderr_digest())
    Text = read(J, R.stderr_digest());
  Text.resize(std::min(Text.size(), MaxText));
  return Text;
}

/// What \p Text, the standard error of a worker that ended with 1, says of the
/// module: what LLVM says begins with "error: ", and what dtlto-codegen says of
/// itself has its name in front.
static bool isOfModule(const std::string &Text) {
  size_t At = Text.find("error: ");
  while (At != std::string::npos && At != 0 && Text[At - 1] != '\n')
    At = Text.find("error: ", At + 1);
  return At != std::string::npos;
}

dtlto::sdk::Result Client::conclude(Job &J, const Action &A,
                                    re::ActionResult &R,
                                    const std::string &By) {
  auto Wrong = [&](const std::string &Why) {
    return sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, By + ": " + Why, By);
  };
  std::string Stderr = standardError(J, R);
  if (int32_t Status = R.exit_code()) {
    // A clang has more to say than one that is ours.
    if (Status == 1 && !Stderr.empty() &&
        (!S.sendsWorker() || isOfModule(Stderr)))
      return {{},
              Stderr.substr(0, Stderr.find_last_not_of('\n') + 1),
              By,
              DTLTO_ERROR_COMPILER};
    std::string Why = "the worker ended with status " + std::to_string(Status);
    if (!Stderr.empty())
      Why += ": " + sdk::oneLine(firstLine(Stderr).substr(0, 500));
    throw Wrong(Why);
  }
  if (std::string_view Line = unreadInput(Stderr);
      !S.sendsWorker() && !Line.empty())
    throw Wrong("the compiler could not read its inputs there: " +
                sdk::oneLine(std::string(Line.substr(0, 500))));
  re::OutputFile *File = nullptr;
  for (re::OutputFile &F : *R.mutable_output_files())
    if (F.path() == A.Output)
      File = &F;
  if (!File)
    throw Wrong("the action has no output file '" + A.Output + "'");
  if (File->digest().size_bytes() < 0)
    throw Wrong("the object's digest is none");
  std::string Object;
  sdk::ResultMemory::Share Share(Results);
  BlobName Name{File->digest().hash(), uint64_t(File->digest().size_bytes())};
  if (!File->contents().empty()) {
    Object = std::move(*File->mutable_contents());
    TheServer.Sum.BytesDown += Object.size();
    if (!Share.grow(Object.size()))
      throw Wrong("the object takes more memory than there is for results");
    if (nameBlob(Can.Digest, Object) != Name)
      throw Wrong("the object isn't the one that its digest names");
  } else if (Fault F = Contents->read(J.Cancelled, Name, Share, Object)) {
    // Of the store, and not of whoever made it.
    if (F.What == Fault::Later || F.What == Fault::Busy ||
        F.What == Fault::Refused || J.Cancelled.raised())
      fail(J, F, "can't get the object from " + S.Cas.name());
    throw Wrong("can't get the object: " + F.Text);
  }
  if (std::string Why = J.Offer.problem(Object);
      !Why.empty() && (S.sendsWorker() || importError(Stderr).empty()))
    throw Wrong(Why);
  return {sdk::Buffer(std::move(Object)), std::move(Stderr), By, DTLTO_OK};
}
