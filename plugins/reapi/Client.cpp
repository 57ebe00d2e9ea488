//===- Client.cpp - Jobs, from the linker to the server and back ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Client.h"
#include "Text.h"
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <future>
#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <unistd.h>

using namespace dtlto::reapi;
using dtlto::quote;

// The linker takes a job for lost that gives no sign of life for longer than
// its limit.
static constexpr std::chrono::milliseconds MaxSignStep{5000};

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

Library::Library() {
  // What it says goes nowhere unless the user asked for it: calls tell all that
  // matters.
  if (!std::getenv("GRPC_VERBOSITY"))
    gpr_set_log_function([](gpr_log_func_args *) {});
  // Of bytes that a server sends.
  google::protobuf::SetLogHandler(nullptr);
  grpc_init();
}

Library::~Library() { grpc_shutdown_blocking(); }

/// Where this file is.
static std::string pluginFolder() {
  Dl_info Info;
  if (!dladdr(&dtlto_plugin_entry, &Info) || !Info.dli_fname)
    return ".";
  std::string File = Info.dli_fname;
  size_t Slash = File.rfind('/');
  return Slash == std::string::npos ? "." : File.substr(0, Slash);
}

Settings Client::openSettings(const dtlto_host &Host,
                              const dtlto_session_params &Params) {
  Settings S;
  std::string Error;
  if (!readSettings(Params, ::getenv, environ, pluginFolder(), S, Error))
    throw sdk::Error(DTLTO_ERROR_CALLER, Error);
  if (S.sendsWorker())
    sdk::require<dtlto_bundle>(Host, DTLTO_EXT_BUNDLE);
  sdk::require<dtlto_needs>(Host, DTLTO_EXT_NEEDS)
      .set(Host.context,
           DTLTO_PART_INPUTS | DTLTO_PART_DIGESTS |
               (S.sendsWorker() ? DTLTO_PART_CONFIG : DTLTO_PART_ARGS));
  return S;
}

Client::Client(const dtlto_host &Host, const dtlto_session_params &Params,
               Settings Read)
    : ThreadSession(Host, Read.Jobs), S(std::move(Read)),
      OnlyStatus(Params.num_jobs == 0),
      // The linker has the same limit, and cancels what it takes for lost.
      ResultLimit(Params.job_timeout_s ? Params.job_timeout_s : 3600),
      LlvmVersion(Params.llvm_version ? Params.llvm_version : ""),
      Results(Params), TheServer(S), InFlight(S.Jobs) {
  std::string Error;
  int Why = S.sendsWorker() ? Worker.open(S.WorkerFile, Error) : 0;
  if (Why == EMFILE || Why == ENFILE || Why == ENOMEM)
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, "can't open the worker " +
                                                     quote(S.WorkerFile) +
                                                     ": " + Error);
  if (Why != 0)
    throw sdk::Error(DTLTO_ERROR_CALLER,
                     "the worker " + quote(S.WorkerFile) +
                         " can't be used: " + Error +
                         "; name dtlto-codegen-static with "
                         "--thinlto-dist-plugin-arg=worker=PATH or "
                         "DTLTO_WORKER");
}

void Client::begin() {
  TheServer.WhenUnavailable = [this](const Fault &F) {
    log(DTLTO_LOG_DEBUG, "server " + (F.By ? *F.By : S.Server).name() + ": " +
                             F.Text + "; trying again");
  };
  ThreadSession::begin();
  if (!OnlyStatus)
    Preparer = std::thread([this] {
      try {
        prepare();
      } catch (const std::exception &E) { // no thread, or no memory
        giveUp(E.what());
      }
    });
}

void Client::prepare() {
  // Most servers will want that one. It takes as long as they take to answer.
  DigestKind Likely =
      S.Digest == "blake3" ? DigestKind::Blake3 : DigestKind::Sha256;
  std::future<BlobName> Name = std::async(
      std::launch::async, [&] { return nameBlob(Likely, Worker.bytes()); });
  Fault F = TheServer.ask(Stopping, Can);
  if (F.What == Fault::Refused)
    return refused(F);
  if (F.What == Fault::Cancelled)
    return giveUp("");
  if (F)
    return giveUp("server " + (F.By ? *F.By : S.Server).name() + ": " + F.Text);
  if (!Can.Executes && !S.CacheOnly)
    return giveUp("server " + S.Server.name() +
                  " executes nothing, as it says; with results=only what is "
                  "in its action cache is used");
  log(DTLTO_LOG_DEBUG, "server " + S.Server.name() + ": " + Can.Text);
  for (const Endpoint *E : {&S.Server, &S.Cas, &S.Cache})
    if (!E->Tls && !E->isLocal() &&
        (!S.TokenFile.empty() || !S.Helper.empty() ||
         S.Headers.count("authorization"))) {
      log(DTLTO_LOG_WARNING, "the token goes to " + E->name() +
                                 " without encryption; use grpcs://");
      break;
    }
  BlobName WorkerName =
      Can.Digest == Likely ? Name.get() : nameBlob(Can.Digest, Worker.bytes());
  auto Made = std::make_unique<ActionMaker>(S, Can.Digest, Worker.bytes(),
                                            std::move(WorkerName), LlvmVersion);
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Actions = std::move(Made);
    Contents = std::make_unique<Cas>(
        TheServer, Can,
        std::min(MaxSignStep, std::chrono::milliseconds(ResultLimit) / 4));
    Ready = true;
  }
  Changed.notify_all();
  loadChanged();
}

void Client::refused(const Fault &F) {
  std::string Whose = "server " + (F.By ? *F.By : S.Server).name();
  if (!S.Instance.empty())
    Whose += ", instance " + quote(S.Instance);
  giveUp(Whose + ": " + F.Text);
}

void Client::giveUp(const std::string &Why) {
  bool IsFirst;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    IsFirst = !std::exchange(HasGivenUp, true);
  }
  // Before any job ends because of it.
  if (IsFirst && !Why.empty())
    log(DTLTO_LOG_ERROR, Why);
  std::lock_guard<std::mutex> Lock(Mutex);
  if (TheEnd.empty())
    TheEnd = Why.empty() ? "the link has ended" : Why;
  Changed.notify_all();
}

void Client::waitUntilReady(Job &J) {
  std::unique_lock<std::mutex> Lock(Mutex);
  Changed.wait(
      Lock, [&] { return Ready || !TheEnd.empty() || J.Cancelled.raised(); });
  if (J.Cancelled.raised())
    throw sdk::Error(DTLTO_CANCELLED, "");
  if (!TheEnd.empty())
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE, TheEnd);
}

/// The calls' own deadlines may be longer.
template <typename F>
void Client::within(std::chrono::milliseconds Limit, F Fn) {
  struct Alarm {
    Alarm(Client &C, std::chrono::milliseconds Limit)
        : C(C), Thread([this, Limit] {
            {
              std::unique_lock<std::mutex> Lock(this->C.Mutex);
              this->C.Changed.wait_for(Lock, Limit, [&] {
                return Ended || !this->C.TheEnd.empty();
              });
              if (Ended)
                return;
            }
            Ending.raise();
            this->C.wake();
          }) {}
    ~Alarm() {
      {
        std::lock_guard<std::mutex> Lock(C.Mutex);
        Ended = true;
        C.Changed.notify_all();
      }
      Thread.join();
    }
    Client &C;
    Stop Ending;
    bool Ended = false; // guarded by the client's
    std::thread Thread; // the last, since it uses these
  } TheAlarm(*this, Limit);
  Fn(TheAlarm.Ending);
}

//===----------------------------------------------------------------------===//
// What the linker asks for; on its thread
//===----------------------------------------------------------------------===//

void Client::load(dtlto_load &Load) {
  unsigned Used = InFlight.used();
  std::lock_guard<std::mutex> Lock(Mutex);
  // The API has no word for slots. Once the server lets a job wait, it runs as
  // many as it can.
  if (HasQueued && MostRunning) {
    Load.slots = std::min(MostRunning, InFlight.size());
    Load.free = Load.slots - std::min(Load.slots, NumRunning);
  }
  uint32_t Accepted = uint32_t(numJobs());
  Load.queued = Accepted - std::min(Accepted, std::min(Used, NumRunning));
  if (!Workers.empty())
    Load.workers = uint32_t(Workers.size());
}

std::vector<dtlto::sdk::Worker>
Client::status(std::chrono::milliseconds Limit) {
  bool Late = false;
  Abilities Found;
  Fault F;
  within(Limit, [&](Stop &Ending) {
    F = TheServer.ask(Ending, Found);
    Late = Ending.raised();
  });
  sdk::Worker W;
  W.Name = S.Server.name();
  W.State = F ? DTLTO_WORKER_OUT : DTLTO_WORKER_UP;
  if (F) {
    W.Why = Late ? "it hasn't answered" : F.Text;
  } else if (!Found.Executes && !S.CacheOnly) {
    W.State = DTLTO_WORKER_OUT;
    W.Why = "it executes nothing";
  }
  if (!F)
    W.Compiler =
        (S.sendsWorker() ? "dtlto-codegen, LLVM " + LlvmVersion : S.Worker) +
        ", " + Found.Text;
  return {W};
}

void Client::refuted(uint64_t Job, const std::string &Worker, int32_t) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto It = ActionOfJob.find(Job);
    if (It != ActionOfJob.end())
      Refuted.insert(It->second);
  }
  log(DTLTO_LOG_WARNING, "a result of " +
                             (Worker.empty() ? "the server" : quote(Worker)) +
                             " was wrong");
}

//===----------------------------------------------------------------------===//
// The store; any thread
//===----------------------------------------------------------------------===//

template <typename F>
void Client::inStore(std::chrono::milliseconds Limit, F Fn) {
  Fault Found;
  bool IsOver = false;
  within(Limit, [&](Stop &Ending) {
    {
      std::unique_lock<std::mutex> Lock(Mutex);
      Changed.wait(Lock, [&] { return Ready || Ending.raised(); });
    }
    IsOver = Ending.raised();
    if (IsOver)
      return;
    Found = Fn(Ending);
    IsOver = Found && Ending.raised();
  });
  std::lock_guard<std::mutex> Lock(Mutex);
  if (IsOver && !TheEnd.empty()) // which was told
    throw sdk::Error(DTLTO_CANCELLED, TheEnd);
  if (IsOver || Found)
    throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                     "action cache " + S.Cache.name() + ": " +
                         (IsOver ? "no answer in time" : Found.Text));
}

static std::string_view keyAt(const uint8_t *Key) {
  return {reinterpret_cast<const char *>(Key), 32};
}

dtlto::sdk::Buffer Client::storeGet(const uint8_t *Key, uint64_t MaxBytes,
                                    std::chrono::milliseconds Limit) {
  if (S.Use == Results::Off)
    throw sdk::Error(DTLTO_ERROR_CALLER, "results=off");
  std::string Bytes;
  inStore(Limit, [&](Stop &Ending) -> Fault {
    Action A = Actions->makeSlot(keyAt(Key));
    std::unique_ptr<re::ActionResult> R;
    Fault F = findResult(TheServer, Ending, Can.Digest, A.Name, A.Output, R);
    if (F || !R || R->output_files_size() != 1)
      return F;
    re::OutputFile &File = *R->mutable_output_files(0);
    if (!File.contents().empty()) {
      Bytes = std::move(*File.mutable_contents());
      TheServer.Sum.BytesDown += Bytes.size();
      return {};
    }
    int64_t Size = File.digest().size_bytes();
    if (Size <= 0 || uint64_t(Size) > MaxBytes)
      return {};
    sdk::ResultMemory::Share Share(Results);
    F = Contents->read(Ending, {File.digest().hash(), uint64_t(Size)}, Share,
                       Bytes);
    // It is gone, or damaged, which is the blob's matter.
    if (F.What == Fault::Failed || F.What == Fault::Missing) {
      log(DTLTO_LOG_DEBUG, "the store has lost something: " + F.Text);
      Bytes.clear();
      return {};
    }
    return F;
  });
  return sdk::Buffer(std::move(Bytes));
}

void Client::storePut(const uint8_t *Key, std::string_view Bytes,
                      std::chrono::milliseconds Limit) {
  if (S.Use != Results::Write)
    throw sdk::Error(DTLTO_ERROR_CALLER, S.Use == Results::Off
                                             ? "results=off"
                                             : "results=read or only");
  inStore(Limit, [&](Stop &Ending) {
    Action A = Actions->makeSlot(keyAt(Key));
    re::ActionResult R;
    re::OutputFile *File = R.add_output_files();
    File->set_path(A.Output);
    BlobName Name = nameBlob(Can.Digest, Bytes);
    setDigest(*File->mutable_digest(), Name);
    if (!Bytes.empty())
      A.Blobs.push_back({std::move(Name), Bytes});
    Fault F = Contents->upload(Ending, A.Blobs);
    return F ? F : putResult(TheServer, Ending, Can.Digest, A.Name, R);
  });
}

static std::string megabytes(uint64_t Bytes) {
  return std::to_string((Bytes + 50000) / 1000000) + "." +
         std::to_string((Bytes + 50000) / 100000 % 10) + " MB";
}

static std::string milliseconds(uint64_t Micro) {
  return std::to_string((Micro + 500) / 1000) + " ms";
}

void Client::stop() {
  Stopping.raise();
  giveUp("");
  wake();
  ThreadSession::stop();
  if (Preparer.joinable())
    Preparer.join();
  const Traffic &T = TheServer.Sum;
  if (!OnlyStatus)
    tellNumbers();
  if (!T.Hits && !T.Executed)
    return;
  log(DTLTO_LOG_DEBUG,
      std::to_string(T.Hits) + " results from the action cache, " +
          std::to_string(T.Executed) + " executed on " +
          std::to_string(Workers.size()) + " workers; " +
          std::to_string(T.BlobsUp) + " blobs up (" + megabytes(T.BytesUp) +
          "), " + std::to_string(T.BlobsThere) + " were there, " +
          megabytes(T.BytesDown) + " down; by the server's clock " +
          milliseconds(T.Queued) + " queued, " + milliseconds(T.Ran) +
          " run, " + milliseconds(T.Fetched) + " fetching inputs, " +
          milliseconds(T.Stored) + " storing outputs; " +
          std::to_string(T.Retried) + " calls again");
}

void Client::tellNumbers() {
  const Traffic &T = TheServer.Sum;
  number("hits of the action cache", DTLTO_UNIT_COUNT, T.Hits);
  number("misses of the action cache", DTLTO_UNIT_COUNT, T.Misses);
  number("actions executed", DTLTO_UNIT_COUNT, T.Executed);
  number("workers", DTLTO_UNIT_COUNT, Workers.size());
  number("blobs sent", DTLTO_UNIT_COUNT, T.BlobsUp);
  number("blobs that were there", DTLTO_UNIT_COUNT, T.BlobsThere);
  number("bytes sent", DTLTO_UNIT_BYTES, T.BytesUp);
  number("bytes received", DTLTO_UNIT_BYTES, T.BytesDown);
  number("calls tried again", DTLTO_UNIT_COUNT, T.Retried);
  number(QueuedName, DTLTO_UNIT_MICROSECONDS, T.Queued);
  number(FetchedName, DTLTO_UNIT_MICROSECONDS, T.Fetched);
  number(RanName, DTLTO_UNIT_MICROSECONDS, T.Ran);
  number(StoredName, DTLTO_UNIT_MICROSECONDS, T.Stored);
}
