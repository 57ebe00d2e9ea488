//===- Session.cpp - The calls of the plugin, and waits -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
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

Session::Session(const dtlto_plugin &P, const Options &O, const HostAge &Age)
    : Host(P, O, Age), Watchdog([this] { watchCalls(); }) {}

Session::Session(const Bench &B, uint64_t NumJobs, const HostAge &Age)
    : Session(B.Plugin, B.O, Age) {
  if (int32_t Status = open(NumJobs); Status != DTLTO_OK)
    failAndExit("dtlto_plugin.open",
                "open() failed with " + std::to_string(Status) + ": " +
                    openErrors(),
                "start what the plugin needs, or name it with --plugin-arg; "
                "the check needs a session that works");
}

Session::~Session() {
  close();
  {
    Guard Lock(Mutex);
    Quit = true;
  }
  Changed.notify_all();
  Watchdog.join();
}

/// What a plugin that follows a null pointer may have taken for a promise.
static const char *nullsFor(uint32_t Needs) {
  if (Needs & DTLTO_JOB_ARGS)
    return "";
  if (Needs & (DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG))
    return "a job's `args` and `output` are null, since configure() asked for "
           "no DTLTO_JOB_ARGS";
  return "a job's `inputs`, `args` and `output` are null, since configure() "
         "asked for none of these DTLTO_JOB_...";
}

/// Has the plugin's function \p Name fill in \p Struct: \p Fn(a copy of it).
template <typename T, typename F>
T Session::fillIn(const std::string &Name, const char *Type, T Struct, F Fn) {
  Struct.size = static_cast<uint32_t>(sizeof(T) + Age.More);
  const uint32_t Size = Struct.size;
  Loan &L = *new Loan(std::string("the ") + Type,
                      "fill it in " + Name + "(), and don't keep it");
  T *Lent = L.addStruct(Struct, Age.More);
  call(Name.c_str(), [&] { Fn(Lent); });
  Struct = *Lent;
  auto *After = reinterpret_cast<const char *>(Lent + 1);
  if (Struct.size != Size)
    fail(Type, Name + "() changed the struct's `size`",
         "the host has set it; write the fields that lie within it");
  if (std::any_of(After, After + Age.More,
                  [](char C) { return C != Loan::Filler; }))
    fail("Compatibility", Name + "() wrote past the fields that this ABI has",
         "write your own fields, and no more");
  L.end(Name == "load" ? "load() has returned" : "configure() has returned");
  return Struct;
}

void Session::configure(const dtlto_session_params &Params) {
  const char *Section = "dtlto_session_config";
  std::string NoFallback;
  auto C = fillIn("configure", Section, dtlto_session_config(),
                  [&](dtlto_session_config *C) {
                    P.configure(&Params, C);
                    NoFallback = C->no_fallback ? C->no_fallback : "";
                  });
  Needs = C.needs;
  WhyNull = nullsFor(Needs);
  if (Needs >= 2 * DTLTO_JOB_WHOLE_IMPORTS && P.abi_minor <= DTLTO_ABI_MINOR)
    fail(Section, "`needs` has bits that this ABI doesn't have",
         "combine DTLTO_JOB_... of the header that you have");
  checkText(Section, "`no_fallback`", NoFallback);
}

int32_t Session::open(uint64_t NumJobs) {
  // The first session of the process may leave threads of libraries behind.
  ThreadsBefore = countThreads();
  SettingsBefore = settings();
  size_t Room = 4096;
  for (const std::string &Arg : O.PluginArgs)
    Room += Loan::room(Arg.size()) + sizeof(char *);
  Loan &L = *new Loan("the dtlto_session_params (or what they point at)",
                      "copy in open() what you need of them later", Room);
  std::vector<const char *> Args;
  for (const std::string &Arg : O.PluginArgs)
    Args.push_back(L.addString(Arg));
  dtlto_session_params Params = {};
  Params.size = static_cast<uint32_t>(sizeof(Params) + Age.More);
  Params.num_args = static_cast<uint32_t>(Args.size());
  Params.args = static_cast<const char *const *>(
      L.addBytes(Args.data(), Args.size() * sizeof(char *)));
  Params.llvm_version = L.addString(llvmVersion());
  Params.output = L.addString("plugin-check.out");
  Params.num_jobs = NumJobs;
  Params.job_timeout_s = 600;
  Params.verbose = O.Verbose;
  const dtlto_session_params *Lent = L.addStruct(Params, Age.More);
  L.seal();
  configure(*Lent);
  int32_t Status = call("open", [&] { return P.open(Raw, Lent, &Handle); });
  L.end("open() has returned");
  Guard Lock(Mutex);
  if (Status == DTLTO_OK) {
    Phase = Open;
    // An error is the end of a session also where it overtakes the return.
    GaveUp |= !OpenErrors.empty();
    if (!Handle)
      failAndExit("dtlto_plugin.open",
                  "open() returned DTLTO_OK and set no session",
                  "set *session; your functions get it back");
    return Status;
  }
  if (Status < DTLTO_ERROR_CALLER || Status > DTLTO_ERROR_COMPILER)
    fail("Constants", "open() returned " + std::to_string(Status),
         "return DTLTO_OK or one of the three errors");
  if (OpenErrors.empty())
    fail("dtlto_plugin.open",
         "open() failed with " + std::to_string(Status) + ", without a word",
         "tell why with host->log(DTLTO_LOG_ERROR) before you return");
  return Status;
}

int32_t Session::offer(const Sample &S, const char *Avoid) {
  std::unique_lock<std::mutex> Lock(Mutex);
  const uint64_t Id = FirstJob + Jobs.size();
  JobRecord &R = Jobs.try_emplace(Id, Id, S).first->second;
  InSubmit = true;
  Lock.unlock();
  makeJob(R, Avoid);
  int32_t Status = call("submit", [&] { return P.submit(Handle, R.Raw); });
  Lock.lock();
  InSubmit = false;
  R.Accepted = Status == DTLTO_OK;
  R.Refused = !R.Accepted;
  if (R.Accepted)
    return Status;
  ++NumEnded;
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
    std::unique_lock<std::mutex> Lock(Mutex);
    const uint64_t Room = RoomCount, Before = NumEnded;
    Lock.unlock();
    int32_t Status = offer(S, Avoid);
    if (Status != DTLTO_BUSY)
      return Status == DTLTO_OK ? FirstJob + Jobs.size() - 1 : 0;
    completeBatch();
    Lock.lock();
    // The end of a job is room, too; whether load_changed() comes is another
    // case.
    if (!wait(Lock, End,
              [&] { return RoomCount != Room || NumEnded != Before + 1; }))
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
  if (Phase != Open)
    return;
  if (auto *Batch =
          getExtension<dtlto_batch>(P, DTLTO_EXT_BATCH, "dtlto_batch"))
    call("complete", [&] { Batch->complete(Handle); });
}

void Session::cancel(uint64_t Id) {
  {
    Guard Lock(Mutex);
    if (JobRecord *R = find(Id))
      R->Cancelled = true;
  }
  call("cancel", [&] { P.cancel(Handle, Id); });
}

dtlto_load Session::load() {
  dtlto_load L = {};
  L.slots = L.free = L.queued = L.workers = UINT32_MAX;
  L.expected_wait_ms = UINT64_MAX;
  int32_t Status = DTLTO_OK;
  L = fillIn("load", "dtlto_load", L,
             [&](dtlto_load *Raw) { Status = P.load(Handle, Raw); });
  if (Status != DTLTO_OK)
    fail("dtlto_plugin.load", "load() returned " + std::to_string(Status),
         "return DTLTO_OK, and leave what you don't know as it is");
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
  if (Phase != Open)
    return;
  {
    Guard Lock(Mutex);
    Phase = Closing;
    Entangled = false;
    LoadAnswered = LoadWanted; // nobody is left to ask
  }
  Changed.notify_all();
  call("close", [&] { P.close(Handle); });
  {
    Guard Lock(Mutex);
    Phase = Closed;
  }
  for (auto &[Id, R] : Jobs)
    if (R.Accepted && !R.Done) {
      fail("dtlto_host.job_done",
           jobName(Id) + " was accepted and has no job_done(), though "
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
  Lent.end("close() has returned");
  for (auto &Module : Modules)
    Module.second.first->end("close() has returned");
  // Whoever calls now calls too late. A plugin whose threads have ended can't.
  for (unsigned I = 0; I != 50 && countThreads() > ThreadsBefore; ++I)
    std::this_thread::sleep_for(10ms);
  checkBuffers();
}

void Session::checkBuffers() {
  // Objects outlive the session: the linker reads them at its end. On another
  // thread, since any may release them.
  std::thread([this] {
    for (auto &[Id, R] : Jobs) {
      dtlto_buffer &B = R.Buffer;
      if (R.Status == DTLTO_OK && B.size &&
          std::memcmp(B.data, R.Object.data(), B.size) != 0)
        fail("dtlto_buffer",
             "the object of " + jobName(Id) +
                 " was changed after its job_done()",
             "the bytes are the host's from then on: free them in release(), "
             "and nowhere else");
      if (B.release)
        B.release(B.owner, B.data, B.size);
      B = {};
    }
  }).join();
  for (auto &B : Buffers)
    if (B->Releases == 0) {
      fail("dtlto_buffer", B->What + " was never released",
           "whoever holds a buffer last calls release(owner, data, size) once");
      break;
    }
}

/// Waits for \p Done, and answers what callbacks ask the link's thread for.
template <typename F>
bool Session::wait(std::unique_lock<std::mutex> &Lock, Clock::time_point End,
                   F Done) {
  while (!Done()) {
    if (LoadAnswered != LoadWanted) {
      uint64_t Answering = LoadWanted;
      Lock.unlock();
      load();
      Lock.lock();
      LoadAnswered = Answering;
      Changed.notify_all();
    } else if (Changed.wait_until(Lock, End) == std::cv_status::timeout) {
      return Done();
    }
  }
  return true;
}

void Session::waitForAll() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  // Each job that ends shows that the others may.
  while (NumEnded != Jobs.size()) {
    const uint64_t Before = NumEnded;
    if (wait(Lock, Clock::now() + O.jobLimit(),
             [&] { return NumEnded != Before; }))
      continue;
    for (auto &[Id, R] : Jobs)
      if (!R.Refused && !R.Done)
        failAndExit("dtlto_host.job_done",
                    jobName(Id) +
                        " was accepted and had no job_done() within " +
                        seconds(O.jobLimit()),
                    "each accepted job has exactly one job_done(), cancelled "
                    "ones included (--timeout=S, if yours take that long)");
  }
}

void Session::waitForSign() {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  // Plugins needn't report states.
  wait(Lock, Clock::now() + std::min<Milliseconds>(2s, O.jobLimit()),
       [&] { return NumSigns != 0; });
}

bool Session::waitForRoom(uint64_t Before) {
  completeBatch();
  std::unique_lock<std::mutex> Lock(Mutex);
  auto HasRoom = [&] { return RoomCount != Before; };
  // The news of the last job's room may follow its end.
  return wait(Lock, Clock::now() + O.jobLimit(),
              [&] { return HasRoom() || NumEnded == Jobs.size(); }) &&
         wait(Lock, Clock::now() + O.callLimit(), HasRoom);
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
