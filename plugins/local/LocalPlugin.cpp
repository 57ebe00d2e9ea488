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
// Arguments (--thinlto-dist-plugin-arg=): jobs=N, the number of threads.
//
//===----------------------------------------------------------------------===//

#include "dtlto/PluginAPI.h"
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct dtlto_session {
  const dtlto_host *Host;
  const dtlto_local_codegen *Codegen;
  uint32_t NumThreads;

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
    dtlto_result Result = {};
    Result.size = sizeof(Result);
    S->Codegen->run(S->Host->context, Job, &Result);
    {
      std::lock_guard<std::mutex> Lock(S->Mutex);
      --S->NumRunning;
    }
    S->Host->job_done(S->Host->context, Job, &Result);
  }
}

static bool parseArgs(const dtlto_host *Host, const dtlto_session_params *P,
                      uint32_t &NumThreads) {
  for (uint32_t I = 0; I != P->num_args; ++I) {
    const char *Arg = P->args[I];
    char *End = nullptr;
    unsigned long N = 0;
    if (std::strncmp(Arg, "jobs=", 5) == 0 && Arg[5] >= '0' && Arg[5] <= '9')
      N = std::strtoul(Arg + 5, &End, 10);
    if (N == 0 || N > 4096 || *End) {
      log(Host, DTLTO_LOG_ERROR,
          std::string("unknown argument '") + Arg +
              "', expected jobs=N with N from 1 to 4096");
      return false;
    }
    NumThreads = static_cast<uint32_t>(N);
  }
  return true;
}

static int32_t openSession(const dtlto_host *Host,
                           const dtlto_session_params *Params,
                           dtlto_session **Session) {
  const auto *Codegen = static_cast<const dtlto_local_codegen *>(
      Host->extension(Host->context, DTLTO_EXT_LOCAL_CODEGEN));
  if (!Codegen) {
    log(Host, DTLTO_LOG_ERROR, "the host has no " DTLTO_EXT_LOCAL_CODEGEN);
    return DTLTO_ERROR_CALLER;
  }
  uint32_t NumThreads = Codegen->slots;
  if (!parseArgs(Host, Params, NumThreads))
    return DTLTO_ERROR_CALLER;
  if (NumThreads > Params->num_jobs)
    NumThreads = Params->num_jobs ? static_cast<uint32_t>(Params->num_jobs) : 1;

  auto *S = new dtlto_session;
  S->Host = Host;
  S->Codegen = Codegen;
  S->NumThreads = NumThreads;
  for (uint32_t I = 0; I != NumThreads; ++I)
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
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    size_t I = 0;
    while (I != S->Queue.size() && S->Queue[I] != Job)
      ++I;
    if (I == S->Queue.size())
      return; // runs, and can't be stopped, or has ended
    S->Queue.erase(S->Queue.begin() + static_cast<ptrdiff_t>(I));
  }
  reportCancelled(S, Job);
}

static int32_t getLoad(dtlto_session *S, dtlto_load *Load) {
  std::lock_guard<std::mutex> Lock(S->Mutex);
  Load->slots = S->NumThreads;
  Load->free = S->NumThreads - S->NumRunning;
  Load->queued = static_cast<uint32_t>(S->Queue.size());
  Load->workers = 1;
  Load->expected_wait_ms = Load->free ? 0 : UINT64_MAX;
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

static const void *getExtension(const char *) { return nullptr; }

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
