//===- LocalPlugin.cpp - Runs jobs on this machine ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference for authors of plugins: the whole life of a session, with a
// thread pool in the place of a build farm. What a worker would do is left to
// the host's local code generation.
//
//   submit    queues the job, or says BUSY when enough are waiting
//   threads   take the oldest job, run it, report it, tell of the room
//   close     drops what waits, waits for what runs
//
// Arguments (--thinlto-dist-plugin-arg=):
//
//   jobs=N         the number of jobs at the same time
//   mode=thread    in the linker, the default
//   mode=process   each in a process of its own, dtlto-codegen, so that a crash
//                  of the code generator is the module's and not the linker's
//   worker=PATH    that program, if it isn't in <prefix>/bin
//
//===----------------------------------------------------------------------===//

#include "Text.h"
#include "WorkerProcess.h"
#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {
/// What the arguments say.
struct Arguments {
  uint32_t NumThreads = 1;
  bool Processes = false;
  std::string Worker;
};
} // namespace

struct dtlto_session {
  const dtlto_host *Host;
  const dtlto_local_codegen *Codegen;
  const dtlto_bundle *Bundle;    // null: jobs run in the linker
  uint32_t NumThreads, NumSlots; // threads are no more than jobs
  std::string Worker, LlvmVersion;
  std::chrono::seconds Limit;

  std::mutex Mutex; // guards the rest
  std::condition_variable Changed;
  std::deque<uint64_t> Queue;
  uint32_t NumRunning = 0;
  bool SaidBusy = false;
  bool Closing = false;
  std::vector<std::thread> Threads;

  // One waiting job for each thread keeps all of them at work.
  size_t maxQueued() const { return NumThreads; }
};

static void log(const dtlto_host *Host, uint32_t Level,
                const std::string &Text) {
  Host->log(Host->context, Level, Text.c_str());
}

static void reportCancelled(dtlto_session *S, uint64_t Job) {
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  Result.status = DTLTO_CANCELLED;
  S->Host->job_done(S->Host->context, Job, &Result);
}

static void report(dtlto_session *S, uint64_t Job, const dtlto_result &Result) {
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    --S->NumRunning;
  }
  S->Host->job_done(S->Host->context, Job, &Result);
}

/// Compiles \p Job on this thread and reports it.
static void runInLinker(dtlto_session *S, uint64_t Job) {
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  S->Codegen->run(S->Host->context, Job, &Result);
  report(S, Job, Result);
}

/// Compiles \p Job in another process and reports it.
static void runInProcess(dtlto_session *S, uint64_t Job) {
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  dtlto_buffer Bundle = {};
  Result.status = S->Bundle->make(S->Host->context, Job, &Bundle);
  if (Result.status != DTLTO_OK) {
    Result.message = "the job can't be made into one stream";
    return report(S, Job, Result);
  }
  S->Host->job_state(S->Host->context, Job, DTLTO_STATE_RUNNING,
                     "a worker process");
  WorkerResult Run =
      runWorker(S->Worker, {Bundle.data, Bundle.size}, S->Limit, [S] {
        std::lock_guard<std::mutex> Lock(S->Mutex);
        return S->Closing;
      });
  Bundle.release(Bundle.owner, Bundle.data, Bundle.size);

  Result.status = Run.Status;
  Result.worker = "a worker process";
  Result.message = Run.Message.empty() ? nullptr : Run.Message.c_str();
  if (Run.Status == DTLTO_OK) {
    auto *Object = new std::vector<char>(std::move(Run.Object));
    Result.object = {Object->data(), Object->size(), Object,
                     [](void *Owner, const void *, uint64_t) {
                       delete static_cast<std::vector<char> *>(Owner);
                     }};
  }
  report(S, Job, Result);
}

static void workerThread(dtlto_session *S) {
  while (true) {
    uint64_t Job;
    bool TellRoom;
    {
      std::unique_lock<std::mutex> Lock(S->Mutex);
      S->Changed.wait(Lock, [&] { return S->Closing || !S->Queue.empty(); });
      if (S->Closing)
        return; // close() answers for what is queued
      Job = S->Queue.front();
      S->Queue.pop_front();
      ++S->NumRunning;
      TellRoom = S->SaidBusy;
      S->SaidBusy = false;
    }
    // No lock is held while the host is called: it may call back.
    if (TellRoom)
      S->Host->load_changed(S->Host->context);
    if (S->Bundle)
      runInProcess(S, Job);
    else
      runInLinker(S, Job);
  }
}

/// <prefix>/bin/dtlto-codegen, from this file in <prefix>/lib/dtlto.
static std::string findWorker() {
  Dl_info Info;
  if (!::dladdr(reinterpret_cast<const void *>(&findWorker), &Info) ||
      !Info.dli_fname)
    return "";
  std::string Path = Info.dli_fname;
  return Path.substr(0, Path.find_last_of('/') + 1) + "../../bin/dtlto-codegen";
}

/// Returns what is wrong with \p Arg; nothing if it is right.
static std::string parseArg(std::string_view Arg, Arguments &A) {
  size_t Equals = Arg.find('=');
  std::string_view Name = Arg.substr(0, Equals);
  std::string_view Value =
      Equals == std::string_view::npos ? "" : Arg.substr(Equals + 1);
  if (Name == "mode" && (Value == "thread" || Value == "process")) {
    A.Processes = Value == "process";
    return "";
  }
  if (Name == "worker" && !Value.empty()) {
    A.Worker = Value;
    return "";
  }
  if (Name == "jobs" && dtlto::parseNumber(Value, 1, 4096, A.NumThreads))
    return "";

  std::string Near;
  std::string_view NearName = dtlto::nearest(Name, {"jobs", "mode", "worker"});
  if (Name == "mode" && Equals != std::string_view::npos)
    Near = dtlto::nearest(Value, {"thread", "process"});
  if (!Near.empty())
    Near = "mode=" + Near;
  else if (!NearName.empty() && NearName != Name)
    Near = std::string(NearName) + "=";
  return "unknown argument " + dtlto::quote(Arg) +
         (Near.empty() ? "" : ", did you mean " + dtlto::quote(Near) + "?") +
         ", expected jobs=N with N from 1 to 4096, mode=thread, mode=process "
         "or worker=PATH";
}

static bool parseArgs(const dtlto_host *Host, const dtlto_session_params *P,
                      Arguments &A) {
  for (uint32_t I = 0; I != P->num_args; ++I)
    if (std::string Wrong = parseArg(P->args[I], A); !Wrong.empty()) {
      log(Host, DTLTO_LOG_ERROR, Wrong);
      return false;
    }
  if (A.Processes && A.Worker.empty())
    A.Worker = findWorker();
  if (A.Processes && ::access(A.Worker.c_str(), X_OK) != 0) {
    log(Host, DTLTO_LOG_ERROR,
        "can't run '" + A.Worker + "': " + std::strerror(errno) +
            "; name dtlto-codegen with worker=PATH");
    return false;
  }
  return true;
}

template <typename T>
static const T *hostExtension(const dtlto_host *Host, const char *Id) {
  auto *E = static_cast<const T *>(Host->extension(Host->context, Id));
  if (!E)
    log(Host, DTLTO_LOG_ERROR,
        std::string(
            "this linker's dtlto is too old for the plugin: it has no ") +
            Id);
  return E;
}

/// Asks for jobs that another process can run. Returns null if the host has
/// none.
static const dtlto_bundle *prepareProcesses(const dtlto_host *Host) {
  auto *Bundle = hostExtension<dtlto_bundle>(Host, DTLTO_EXT_BUNDLE);
  auto *Needs = hostExtension<dtlto_needs>(Host, DTLTO_EXT_NEEDS);
  auto *Fallback = hostExtension<dtlto_fallback>(Host, DTLTO_EXT_FALLBACK);
  if (!Bundle || !Needs || !Fallback)
    return nullptr;
  Needs->set(Host->context,
             DTLTO_PART_INPUTS | DTLTO_PART_DIGESTS | DTLTO_PART_CONFIG);
  // What crashed there would crash here.
  Fallback->forbid(Host->context, "mode=process is given");
  return Bundle;
}

static int32_t openSession(const dtlto_host *Host,
                           const dtlto_session_params *Params,
                           dtlto_session **Session) {
  auto *Codegen =
      hostExtension<dtlto_local_codegen>(Host, DTLTO_EXT_LOCAL_CODEGEN);
  if (!Codegen)
    return DTLTO_ERROR_CALLER;
  Arguments A;
  A.NumThreads = Codegen->slots;
  if (!parseArgs(Host, Params, A))
    return DTLTO_ERROR_CALLER;
  const dtlto_bundle *Bundle = nullptr;
  if (A.Processes && !(Bundle = prepareProcesses(Host)))
    return DTLTO_ERROR_CALLER;
  uint32_t NumSlots = A.NumThreads;
  if (A.NumThreads > Params->num_jobs)
    A.NumThreads =
        Params->num_jobs ? static_cast<uint32_t>(Params->num_jobs) : 1;

  auto *S = new dtlto_session;
  S->Host = Host;
  S->Codegen = Codegen;
  S->Bundle = Bundle;
  S->NumThreads = A.NumThreads;
  S->NumSlots = NumSlots;
  S->Worker = A.Worker;
  S->LlvmVersion = Params->llvm_version;
  S->Limit = std::chrono::seconds(Params->job_timeout_s);
  for (uint32_t I = 0; I != S->NumThreads; ++I)
    S->Threads.emplace_back(workerThread, S);
  *Session = S;
  return DTLTO_OK;
}

static int32_t submitJob(dtlto_session *S, const dtlto_job *Job) {
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    if (S->Queue.size() >= S->maxQueued()) {
      S->SaidBusy = true;
      return DTLTO_BUSY;
    }
    S->Queue.push_back(Job->id);
  }
  S->Changed.notify_one();
  return DTLTO_OK;
}

static void cancelJob(dtlto_session *S, uint64_t Job) {
  bool TellRoom;
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    size_t I = 0;
    while (I != S->Queue.size() && S->Queue[I] != Job)
      ++I;
    if (I == S->Queue.size())
      return; // runs, and can't be stopped, or has ended
    S->Queue.erase(S->Queue.begin() + static_cast<ptrdiff_t>(I));
    TellRoom = S->SaidBusy;
    S->SaidBusy = false;
  }
  reportCancelled(S, Job);
  if (TellRoom)
    S->Host->load_changed(S->Host->context);
}

static int32_t getLoad(dtlto_session *S, dtlto_load *Load) {
  std::lock_guard<std::mutex> Lock(S->Mutex);
  Load->slots = S->NumThreads;
  Load->free = S->NumThreads - S->NumRunning;
  Load->queued = static_cast<uint32_t>(S->Queue.size());
  Load->workers = 1;
  Load->expected_wait_ms = Load->free ? 0 : UINT64_MAX;
  if (Load->size >= offsetof(dtlto_load, local) + sizeof(Load->local))
    Load->local = S->NumThreads;
  return DTLTO_OK;
}

static void closeSession(dtlto_session *S) {
  std::deque<uint64_t> Dropped;
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    S->Closing = true;
    Dropped.swap(S->Queue);
  }
  S->Changed.notify_all();
  for (uint64_t Job : Dropped)
    reportCancelled(S, Job);
  for (std::thread &T : S->Threads)
    T.join();
  delete S;
}

/// The machine's load in the last minute, by its cores.
static uint32_t loadPermille() {
  double Load;
  unsigned Cores = std::thread::hardware_concurrency();
  if (::getloadavg(&Load, 1) != 1 || Cores == 0)
    return UINT32_MAX;
  return static_cast<uint32_t>(Load * 1000 / Cores);
}

static int32_t queryStatus(dtlto_session *S, uint32_t,
                           void (*Worker)(void *, const dtlto_worker_status *),
                           void *Context) {
  std::string Compiler =
      (S->Bundle ? S->Worker : "this linker") + ", LLVM " + S->LlvmVersion;
  dtlto_worker_status Here = {};
  Here.size = sizeof(Here);
  Here.state = DTLTO_WORKER_UP;
  Here.name = "this machine";
  Here.compiler = Compiler.c_str();
  Here.slots = S->NumSlots;
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    Here.busy = S->NumRunning;
  }
  Here.load_permille = loadPermille();
  Worker(Context, &Here);
  return DTLTO_OK;
}

static const dtlto_status Status = {sizeof(dtlto_status), 0, queryStatus};

static const void *getExtension(const char *Id) {
  return std::strcmp(Id, DTLTO_EXT_STATUS) == 0 ? &Status : nullptr;
}

const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin),
    DTLTO_ABI_MAJOR,
    DTLTO_ABI_MINOR,
    0, // needs: local code generation has all that it needs
    "local",
    DTLTO_VERSION,
    openSession,
    submitJob,
    cancelJob,
    getLoad,
    closeSession,
    getExtension};
