//===- Session.cpp - The calls of the plugin, and waits -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Cases.h"
#include "dtlto/ext/batch.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

using namespace dtlto::check;
using namespace std::chrono_literals;
using Guard = std::lock_guard<std::mutex>;
namespace fs = std::filesystem;

static unsigned countThreads() {
  std::error_code EC;
  fs::directory_iterator I("/proc/self/task", EC);
  return static_cast<unsigned>(std::distance(I, fs::directory_iterator()));
}

/// Calls umask(), which all threads have one of.
static Settings settings() {
  std::error_code EC;
  const mode_t Mask = ::umask(077);
  ::umask(Mask);
  Settings All = {{"the working folder", fs::current_path(EC).string()},
                  {"the umask", std::to_string(Mask)}};
  for (int Fd : {0, 1, 2}) {
    struct stat Is = {}; // all zero: closed
    ::fstat(Fd, &Is);
    All.push_back(
        {"what the descriptor " + std::to_string(Fd) + " is",
         std::to_string(Is.st_dev) + ":" + std::to_string(Is.st_ino)});
  }
  for (int Signal = 1; Signal != 32; ++Signal) { // but for real-time ones
    struct sigaction Is = {};
    ::sigaction(Signal, nullptr, &Is); // both handlers are of one union
    All.push_back({"what is done at the signal " + std::to_string(Signal) +
                       " (" + ::strsignal(Signal) + ")",
                   std::to_string(reinterpret_cast<intptr_t>(Is.sa_handler))});
  }
  return All;
}

/// Whether there are other bytes than Filler behind \p Struct.
template <typename T> static bool wasOverrun(const T *Struct, size_t More) {
  auto *Begin = reinterpret_cast<const char *>(Struct + 1);
  return std::any_of(Begin, Begin + More,
                     [](char C) { return C != Loan::Filler; });
}

Session::Session(const dtlto_plugin &P, const Options &O, const HostAge &Age)
    : P(P), O(O), Age(Age), H(P, O, Age),
      Watch(O, [this](const std::string &Call, Milliseconds Limit) {
        H.stuckIn(Call, Limit);
      }) {}

Session::Session(const Bench &B, uint64_t NumJobs, const HostAge &Age)
    : Session(B.Plugin, B.O, Age) {
  if (int32_t Status = open(NumJobs); Status != DTLTO_OK)
    failAndExit("dtlto_plugin.open",
                "open() failed with " + std::to_string(Status) + ": " +
                    openErrors(),
                "start what the plugin needs, or name it with --plugin-arg; "
                "the check needs a session that works");
}

Session::~Session() { close(); }

/// Says what a plugin that follows a null pointer may have taken for a promise.
static void expectNulls(uint32_t Needs) {
  if (Needs & DTLTO_JOB_ARGS)
    explainNull("");
  else if (Needs & (DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG))
    explainNull("a job's `args` and `output` are null, since "
                "configure() asked for no DTLTO_JOB_ARGS");
  else
    explainNull("a job's `inputs`, `args` and `output` are null, since "
                "configure() asked for none of these DTLTO_JOB_...");
}

void Session::configure(const dtlto_session_params &Params) {
  const char *Section = "dtlto_session_config";
  Loan Place("the dtlto_session_config",
             "fill it in configure(), and don't keep it");
  dtlto_session_config C = {};
  C.size = static_cast<uint32_t>(sizeof(C) + Age.More);
  dtlto_session_config *Lent = Place.addStruct(C, Age.More);
  call("configure", [&] { P.configure(&Params, Lent); });
  if (Lent->size != C.size)
    fail(Section, "configure() changed the struct's `size`",
         "the host has set it; write the fields that lie within it");
  if (wasOverrun(Lent, Age.More))
    fail("Compatibility", "configure() wrote past the fields that this ABI has",
         "write your own fields, and no more");
  H.Needs = Lent->needs;
  if (H.Needs >= 2 * DTLTO_JOB_WHOLE_IMPORTS && P.abi_minor <= DTLTO_ABI_MINOR)
    fail(Section, "`needs` has bits that this ABI doesn't have",
         "combine DTLTO_JOB_... of the header that you have");
  if (Lent->no_fallback)
    H.checkText(Section, "`no_fallback`", Lent->no_fallback);
  Place.end("configure() has returned");
  expectNulls(H.Needs);
}

int32_t Session::open(uint64_t NumJobs) {
  // The first session of the process may leave threads of libraries behind.
  ThreadsBefore = countThreads();
  SettingsBefore = settings();
  Loan Lent("the dtlto_session_params (or what they point at)",
            "copy in open() what you need of them later");
  std::vector<const char *> Args;
  for (const std::string &Arg : O.PluginArgs)
    Args.push_back(Lent.addString(Arg));
  dtlto_session_params Params = {};
  Params.size = static_cast<uint32_t>(sizeof(Params) + Age.More);
  Params.num_args = static_cast<uint32_t>(Args.size());
  Params.args = static_cast<const char *const *>(
      Lent.addBytes(Args.data(), Args.size() * sizeof(char *)));
  Params.llvm_version = Lent.addString(llvmVersion());
  Params.output = Lent.addString("plugin-check.out");
  Params.num_jobs = NumJobs;
  Params.job_timeout_s = 600;
  Params.verbose = O.Verbose;
  const dtlto_session_params *Raw = Lent.addStruct(Params, Age.More);
  Lent.seal();
  configure(*Raw);
  int32_t Status = call("open", [&] { return P.open(H.raw(), Raw, &Handle); });
  Lent.end("open() has returned");
  IsOpen = Status == DTLTO_OK;
  Guard Lock(H.Mutex);
  if (IsOpen) {
    H.Now = Host::Phase::Open;
    // An error is the end of a session also where it overtakes the return.
    H.GaveUp |= !H.OpenErrors.empty();
    if (!Handle)
      failAndExit("dtlto_plugin.open",
                  "open() returned DTLTO_OK and set no session",
                  "set *session; your functions get it back");
    return Status;
  }
  if (Status < DTLTO_ERROR_CALLER || Status > DTLTO_ERROR_COMPILER)
    fail("Constants", "open() returned " + std::to_string(Status),
         "return DTLTO_OK or one of the three errors");
  if (H.OpenErrors.empty())
    fail("dtlto_plugin.open",
         "open() failed with " + std::to_string(Status) + ", without a word",
         "tell why with host->log(DTLTO_LOG_ERROR) before you return");
  return Status;
}

int32_t Session::offer(const Sample &S, const char *Avoid) {
  const uint64_t Id = NextId++;
  auto New = std::make_unique<JobRecord>(Id, S, H.Needs, Age, Avoid, M);
  JobRecord &R = *New;
  {
    Guard Lock(H.Mutex);
    H.Jobs[Id] = std::move(New);
    H.InSubmit = true;
  }
  int32_t Status = call("submit", [&] { return P.submit(Handle, R.Raw); });
  Guard Lock(H.Mutex);
  H.InSubmit = false;
  R.Accepted = Status == DTLTO_OK;
  R.Refused = !R.Accepted;
  if (R.Accepted)
    return Status;
  ++H.NumEnded;
  R.Lent.end(Status == DTLTO_BUSY ? "submit() has returned DTLTO_BUSY"
                                  : "submit() has refused the job");
  if (R.Done)
    fail("dtlto_plugin.submit",
         "a job had its job_done(), and then submit() returned " +
             std::to_string(Status),
         "return DTLTO_OK for a job that you have taken");
  if (Status != DTLTO_BUSY &&
      (Status < DTLTO_ERROR_CALLER || Status > DTLTO_ERROR_COMPILER))
    fail("Constants", "submit() returned " + std::to_string(Status),
         "return DTLTO_OK, DTLTO_BUSY, or one of the three errors");
  return Status;
}

uint64_t Session::submit(const Sample &S, const char *Avoid) {
  const auto End = Clock::now() + O.jobLimit();
  while (true) {
    uint64_t Room = roomCount(), Before;
    {
      Guard Lock(H.Mutex);
      Before = H.NumEnded;
    }
    int32_t Status = offer(S, Avoid);
    if (Status != DTLTO_BUSY)
      return Status == DTLTO_OK ? NextId - 1 : 0;
    completeBatch();
    std::unique_lock<std::mutex> Lock(H.Mutex);
    // The end of a job is room, too; whether load_changed() comes is another
    // case.
    if (!wait(Lock,
              std::chrono::duration_cast<Milliseconds>(End - Clock::now()),
              [&] { return H.RoomCount != Room || H.NumEnded != Before + 1; }))
      failAndExit(
          "DTLTO_BUSY",
          "submit() returned DTLTO_BUSY, and neither load_changed() nor "
          "a job_done() came within " +
              seconds(O.jobLimit()),
          "call load_changed() as soon as there is room again");
  }
}

/// The plugin has all jobs, if it wants to know (dtlto.batch/1).
void Session::completeBatch() {
  if (!IsOpen)
    return;
  if (auto *Batch =
          checkSize<dtlto_batch>("dtlto_batch", P.extension(DTLTO_EXT_BATCH)))
    call("complete", [&] { Batch->complete(Handle); });
}

void Session::cancel(uint64_t Id) {
  {
    Guard Lock(H.Mutex);
    if (JobRecord *R = H.find(Id))
      R->Cancelled = true;
  }
  call("cancel", [&] { P.cancel(Handle, Id); });
}

dtlto_load Session::load() {
  Loan Place("the dtlto_load", "fill it in load(), and don't keep it");
  dtlto_load L = {};
  L.size = static_cast<uint32_t>(sizeof(L) + Age.More);
  L.slots = L.free = L.queued = L.workers = UINT32_MAX;
  L.expected_wait_ms = UINT64_MAX;
  const uint32_t Size = L.size;
  dtlto_load *Lent = Place.addStruct(L, Age.More);
  int32_t Status = call("load", [&] { return P.load(Handle, Lent); });
  L = *Lent;
  if (Status != DTLTO_OK)
    fail("dtlto_plugin.load", "load() returned " + std::to_string(Status),
         "return DTLTO_OK, and leave what you don't know as it is");
  if (L.size != Size)
    fail("dtlto_plugin.load", "load() changed the struct's `size`",
         "the host has set it; write the fields that lie within it");
  if (wasOverrun(Lent, Age.More))
    fail("Compatibility", "load() wrote past the fields that this ABI has",
         "write your own fields, and no more");
  Place.end("load() has returned");
  checkLoad(L);
  return L;
}

void Session::checkLoad(const dtlto_load &L) {
  auto Check = [&](uint32_t Number, uint64_t Max, const std::string &What,
                   const char *Mend) {
    if (Number != UINT32_MAX && Max != UINT32_MAX && Number > Max)
      fail("dtlto_load", "load() says that " + std::to_string(Number) + What,
           Mend);
  };
  const std::string OfSlots = " of " + std::to_string(L.slots) + " slots are ";
  const uint64_t Mine = accepted().size();
  Check(L.free, L.slots, OfSlots + "free",
        "`free` is the number of slots that are idle, at most `slots`");
  Check(L.queued, Mine,
        " accepted jobs don't run yet, but only " + std::to_string(Mine) +
            " were ever accepted",
        "`queued` counts jobs of this session that were accepted and wait");
  Check(L.local, L.slots, OfSlots + "this machine's",
        "`local` is how many of `slots` take this machine's cores");
}

void Session::close() {
  if (!IsOpen)
    return;
  IsOpen = false;
  {
    Guard Lock(H.Mutex);
    H.Now = Host::Phase::Closing;
    H.Entangled = false;
    H.LoadAnswered = H.LoadWanted; // nobody is left to ask
  }
  H.Changed.notify_all();
  call("close", [&] { P.close(Handle); });
  {
    Guard Lock(H.Mutex);
    H.Now = Host::Phase::Closed;
  }
  for (auto &Job : H.Jobs)
    if (Job.second->Accepted && !Job.second->Done) {
      fail("dtlto_host.job_done",
           jobName(Job.first) + " was accepted and has no job_done(), though "
                                "close() has returned",
           "each accepted job has exactly one job_done(), cancelled ones "
           "included; close() comes back after the last");
      break;
    }
  const Settings After = settings();
  for (size_t I = 0; I != After.size(); ++I)
    if (After[I] != SettingsBefore[I]) {
      fail("dtlto_plugin", "the plugin has changed " + After[I].first,
           "the process is the linker's: leave its working folder, umask, "
           "signals and standard descriptors as they are");
      break;
    }
  H.Lent.end("close() has returned");
  M.Lent.end("close() has returned");
  // Whoever calls now calls too late. A plugin whose threads have ended can't.
  for (unsigned I = 0; I != 50 && countThreads() > ThreadsBefore; ++I)
    std::this_thread::sleep_for(10ms);
  checkBuffers();
}

void Session::checkBuffers() {
  // Objects outlive the session: the linker reads them at its end. On another
  // thread, since any may release them.
  std::thread([this] {
    for (auto &Job : H.Jobs) {
      dtlto_buffer &B = Job.second->Buffer;
      if (Job.second->Status == DTLTO_OK && B.size &&
          std::memcmp(B.data, Job.second->Object.data(), B.size) != 0)
        fail("dtlto_buffer",
             "the object of " + jobName(Job.first) +
                 " was changed after its job_done()",
             "the bytes are the host's from then on: free them in release(), "
             "and nowhere else");
      if (B.release)
        B.release(B.owner, B.data, B.size);
      B = {};
    }
  }).join();
  for (auto &B : H.Buffers)
    if (B->Releases == 0) {
      fail("dtlto_buffer", B->What + " was never released",
           "whoever holds a buffer last calls release(owner, data, size) once");
      break;
    }
}

/// Waits for \p Done, and answers what callbacks ask the link's thread for.
template <typename F>
bool Session::wait(std::unique_lock<std::mutex> &Lock, Milliseconds Limit,
                   F Done) {
  const auto End = Clock::now() + Limit;
  while (!Done()) {
    if (H.LoadAnswered != H.LoadWanted) {
      uint64_t Answering = H.LoadWanted;
      Lock.unlock();
      load();
      Lock.lock();
      H.LoadAnswered = Answering;
      H.Changed.notify_all();
    } else if (H.Changed.wait_until(Lock, End) == std::cv_status::timeout) {
      return Done();
    }
  }
  return true;
}

void Session::waitForAll() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(H.Mutex);
  // Each job that ends shows that the others may.
  while (H.NumEnded != H.Jobs.size()) {
    const uint64_t Before = H.NumEnded;
    if (wait(Lock, O.jobLimit(), [&] { return H.NumEnded != Before; }))
      continue;
    for (auto &Job : H.Jobs)
      if (!Job.second->Refused && !Job.second->Done)
        failAndExit("dtlto_host.job_done",
                    jobName(Job.first) +
                        " was accepted and had no job_done() within " +
                        seconds(O.jobLimit()),
                    "each accepted job has exactly one job_done(), cancelled "
                    "ones included (--timeout=S, if yours take that long)");
  }
}

void Session::waitForSign() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(H.Mutex);
  // Plugins needn't report states.
  wait(Lock, std::min<Milliseconds>(2s, O.jobLimit()),
       [&] { return H.NumSigns != 0; });
}

bool Session::waitForRoom(uint64_t Before) {
  completeBatch();
  std::unique_lock<std::mutex> Lock(H.Mutex);
  auto HasRoom = [&] { return H.RoomCount != Before; };
  // The news of the last job's room may follow its end.
  return wait(Lock, O.jobLimit(),
              [&] { return HasRoom() || H.NumEnded == H.Jobs.size(); }) &&
         wait(Lock, O.callLimit(), HasRoom);
}

uint64_t Session::roomCount() {
  Guard Lock(H.Mutex);
  return H.RoomCount;
}

void Session::holdResults(bool Hold) {
  {
    Guard Lock(H.Mutex);
    H.Holding = Hold;
  }
  H.Changed.notify_all();
}

const JobRecord *Session::job(uint64_t Id) {
  Guard Lock(H.Mutex);
  return H.find(Id);
}

std::vector<uint64_t> Session::accepted() {
  Guard Lock(H.Mutex);
  std::vector<uint64_t> Ids;
  for (auto &Job : H.Jobs)
    if (Job.second->Accepted)
      Ids.push_back(Job.first);
  return Ids;
}

bool Session::hasGivenUp() {
  Guard Lock(H.Mutex);
  return H.GaveUp;
}

void Session::compile(const Sample &S, const char *Avoid) {
  uint64_t Id = submit(S, Avoid);
  waitForAll();
  expectObject(Id, S);
}

void Session::compileMany(const std::vector<Sample> &Some, unsigned N) {
  std::vector<std::pair<uint64_t, const Sample *>> Jobs;
  for (unsigned I = 0; I != N; ++I) {
    const Sample &S = Some[I % Some.size()];
    Jobs.push_back({submit(S), &S});
  }
  waitForAll();
  for (auto &Job : Jobs)
    expectObject(Job.first, *Job.second);
}

void Session::expectObject(uint64_t Id, const Sample &S) {
  const JobRecord *R = job(Id);
  std::string Job = "the job of '" + S.Name + "'";
  if (!R)
    return fail("dtlto_plugin.submit", "submit() refused " + Job,
                "take each job that a worker can run, or say DTLTO_BUSY");
  if (R->Status != DTLTO_OK)
    return fail("dtlto_result.status",
                Job + " ended with " + std::to_string(R->Status) + ": " +
                    (R->Message.empty() ? "(no message)" : R->Message),
                "this job compiles without an error in the linker; see the "
                "message");
  if (R->Made != S.Object) {
    auto Differ = std::mismatch(R->Made.begin(), R->Made.end(),
                                S.Object.begin(), S.Object.end());
    return fail("dtlto_result.object",
                Job + " made " + std::to_string(R->Made.size()) +
                    " bytes, the linker itself " +
                    std::to_string(S.Object.size()) +
                    "; the first difference is at " +
                    std::to_string(Differ.first - R->Made.begin()),
                "run exactly the job's command line, with exactly "
                "params.llvm_version, on exactly its inputs under their paths, "
                "and return all of `output`");
  }
  if (hasGivenUp())
    fail("DTLTO_LOG_ERROR",
         "the plugin has said that it can't go on, and " + Job +
             " had its object all the same",
         "log(DTLTO_LOG_ERROR) ends the session; what is wrong with one job "
         "belongs in its job_done()");
}
