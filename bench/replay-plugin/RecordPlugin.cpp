//===- RecordPlugin.cpp - Measures the jobs of a link ---------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles each job in the linker, on a thread of its own and one job at a
// time, and keeps its CPU time (CLOCK_THREAD_CPUTIME_ID), its object and the
// sizes of its inputs: a recording for the replay plugin.
//
// Arguments: out=FOLDER (there already), jobs=N (so many at the same time; they
// disturb each other).
//
//===----------------------------------------------------------------------===//

#include "Recording.h"
#include "Text.h"
#include "dtlto/PluginAPI.h"
#include "dtlto/sdk/WorkPool.hpp"
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>

using namespace dtlto;
using namespace dtlto::replay;

struct dtlto_session {
  const dtlto_host *Host;
  const dtlto_local_codegen *Codegen;
  std::string Folder;
  uint32_t NumThreads = 1;

  std::mutex Mutex; // guards the rest
  Recording R;
  std::string Objects;
  uint32_t NumTaken = 0; // jobs that wait or run
  uint32_t NumOpen = 0;  // jobs whose last call of the host hasn't returned
  bool SaidBusy = false, Failed = false, Closing = false;
  std::condition_variable Ended;

  std::unique_ptr<sdk::WorkPool> Pool;
};

static uint64_t threadCpuNs() {
  struct timespec T;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &T);
  return uint64_t(T.tv_sec) * 1000000000 + uint64_t(T.tv_nsec);
}

static void error(const dtlto_host *Host, const std::string &Text) {
  Host->log(Host->context, DTLTO_LOG_ERROR, Text.c_str());
}

static int32_t openSession(const dtlto_host *Host,
                           const dtlto_session_params *Params,
                           dtlto_session **Session) {
  auto S = std::make_unique<dtlto_session>();
  S->Host = Host;
  S->Codegen = static_cast<const dtlto_local_codegen *>(
      Host->extension(Host->context, DTLTO_EXT_LOCAL_CODEGEN));
  if (!S->Codegen) {
    error(Host, "the host has no " DTLTO_EXT_LOCAL_CODEGEN);
    return DTLTO_ERROR_CALLER;
  }
  for (uint32_t I = 0; I != Params->num_args; ++I) {
    std::string Arg = Params->args[I];
    if (Arg.compare(0, 4, "out=") == 0 && Arg.size() > 4) {
      S->Folder = Arg.substr(4);
    } else if (Arg.compare(0, 5, "jobs=") != 0 ||
               !parseNumber(Arg.substr(5), 1, 4096, S->NumThreads)) {
      error(Host, "unknown argument " + quote(Arg) +
                      ", expected out=FOLDER or jobs=N with N from 1 to 4096");
      return DTLTO_ERROR_CALLER;
    }
  }
  if (S->Folder.empty()) {
    error(Host, "no out=FOLDER is given");
    return DTLTO_ERROR_CALLER;
  }
  S->Pool = std::make_unique<sdk::WorkPool>(S->NumThreads);
  *Session = S.release();
  return DTLTO_OK;
}

/// Compiles a job on this thread, keeps what comes of it, and reports it.
static void record(dtlto_session *S, uint64_t Id, RecordedJob Job) {
  dtlto_result Result = {};
  Result.size = sizeof(Result);
  bool Drop;
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    Drop = S->Closing;
  }
  if (Drop) {
    Result.status = DTLTO_CANCELLED;
  } else {
    uint64_t Begin = threadCpuNs();
    S->Codegen->run(S->Host->context, Id, &Result);
    Job.CpuNs = threadCpuNs() - Begin;
  }
  bool TellRoom;
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    if (Result.status == DTLTO_OK) {
      Job.Offset = S->Objects.size();
      Job.Size = Job.BackBytes = Result.object.size;
      if (Job.Size)
        S->Objects.append(static_cast<const char *>(Result.object.data),
                          Job.Size);
      S->R.Jobs.push_back(std::move(Job));
    } else {
      S->Failed = true;
    }
    --S->NumTaken;
    TellRoom = S->SaidBusy;
    S->SaidBusy = false;
  }
  S->Host->job_done(S->Host->context, Id, &Result);
  if (TellRoom)
    S->Host->load_changed(S->Host->context);
  std::lock_guard<std::mutex> Lock(S->Mutex);
  if (--S->NumOpen == 0)
    S->Ended.notify_all();
}

static int32_t submitJob(dtlto_session *S, const dtlto_job *Job) {
  {
    std::lock_guard<std::mutex> Lock(S->Mutex);
    if (S->NumTaken >= 2 * S->NumThreads) {
      S->SaidBusy = true;
      return DTLTO_BUSY;
    }
    ++S->NumTaken;
    ++S->NumOpen;
  }
  RecordedJob R;
  R.Name = Job->name;
  R.Digest.assign(32, '\0');
  for (uint32_t I = 0; I != Job->num_inputs; ++I) {
    const dtlto_input &In = *Job->inputs[I];
    if (In.role == DTLTO_ROLE_PRIMARY) {
      R.PrimaryBytes = In.bytes.size;
      R.Digest.assign(reinterpret_cast<const char *>(In.digest), 32);
    } else if (In.role == DTLTO_ROLE_INDEX) {
      R.IndexBytes = In.bytes.size;
    } else {
      ++R.NumImports;
      R.ImportBytes += In.bytes.size;
    }
  }
  S->Pool->run([S, Id = Job->id, R = std::move(R)]() mutable {
    record(S, Id, std::move(R));
  });
  return DTLTO_OK;
}

static void cancelJob(dtlto_session *, uint64_t) {} // it runs to its end

static int32_t getLoad(dtlto_session *S, dtlto_load *Load) {
  std::lock_guard<std::mutex> Lock(S->Mutex);
  uint32_t Running = S->NumTaken < S->NumThreads ? S->NumTaken : S->NumThreads;
  Load->slots = S->NumThreads;
  Load->free = S->NumThreads - Running;
  Load->queued = S->NumTaken - Running;
  Load->workers = 1;
  Load->expected_wait_ms = Load->free ? 0 : UINT64_MAX;
  return DTLTO_OK;
}

static void closeSession(dtlto_session *S) {
  {
    std::unique_lock<std::mutex> Lock(S->Mutex);
    // The host closes early only if the link has failed: nothing to keep.
    S->Failed |= S->NumTaken != 0;
    S->Closing = true;
    S->Ended.wait(Lock, [&] { return S->NumOpen == 0; });
  }
  S->Pool->stop();
  if (!S->Failed && !(writeFile(S->Folder + "/objects", S->Objects) &&
                      writeFile(S->Folder + "/jobs", writeRecording(S->R))))
    error(S->Host, "can't write the recording to '" + S->Folder +
                       "': " + std::strerror(errno));
  delete S;
}

static const void *getExtension(const char *) { return nullptr; }

static constexpr uint32_t Needs = DTLTO_PART_INPUTS | DTLTO_PART_DIGESTS;

const dtlto_plugin dtlto_plugin_entry = {
    sizeof(dtlto_plugin), DTLTO_ABI_MAJOR, DTLTO_ABI_MINOR, Needs,     "record",
    DTLTO_VERSION,        openSession,     submitJob,       cancelJob, getLoad,
    closeSession,         getExtension};
