//===- Play.cpp - The calls of the plugin ---------------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Play.h"
#include "CaseReport.h"
#include "PlayParts.h"
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <set>

using namespace dtlto::check;
using namespace std::chrono_literals;

std::chrono::milliseconds Wishes::callLimit() const {
  return std::min<std::chrono::milliseconds>(10s, CaseLimit / 4);
}
std::chrono::milliseconds Wishes::closeLimit() const {
  // As the linker.
  return std::min<std::chrono::milliseconds>(10s, CaseLimit / 3);
}
std::chrono::milliseconds Wishes::jobLimit() const { return CaseLimit / 3; }
static unsigned countThreads() {
  std::error_code EC;
  unsigned N = 0;
  for (auto &Entry : std::filesystem::directory_iterator("/proc/self/task", EC))
    N += !Entry.path().empty();
  return N;
}

Play::Play(const dtlto_plugin &P, const Wishes &W, const HostAge &Age)
    : P(P), W(W), Age(Age),
      HostLoan("the dtlto_host",
               "close() is a barrier: it waits until no thread of yours can "
               "call the host any more; join them, or count their calls"),
      Modules("the bytes of a module",
              "a module is yours until close() returns: whoever reads it must "
              "have ended by then") {
  Watchdog = std::thread([this] { watch(); });
  makeHost();
}

Play::~Play() {
  close();
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Quit = true;
  }
  Changed.notify_all();
  Watchdog.join();
}

/// Ends the process when the plugin stays in one call.
void Play::watch() {
  std::unique_lock<std::mutex> Lock(Mutex);
  while (!Quit) {
    if (!CallName) {
      Changed.wait(Lock, [&] { return Quit || CallName; });
      continue;
    }
    if (Clock::now() < CallLimit) {
      Changed.wait_until(Lock, CallLimit);
      continue;
    }
    std::string Name = CallName;
    bool IsClose = Name == "close";
    if (NumReleasing)
      failAndExit("dtlto_buffer",
                  Name + "() had not returned after " +
                      seconds(IsClose ? W.closeLimit() : W.callLimit()) +
                      ", while job_done() waited for the release() of an "
                      "object that nobody needs any more",
                  "hold no lock while you call job_done(): it may call "
                  "release() on the same thread");
    if (Holding && Name == "submit")
      failAndExit("dtlto_plugin.submit",
                  "submit() had not returned after " + seconds(W.callLimit()) +
                      ", while " + std::to_string(Jobs.size() - 1) +
                      " jobs before it had not ended: it waits for one of them",
                  "never wait for another job in submit(): where there is no "
                  "room, return DTLTO_BUSY, and call load_changed() later");
    failAndExit("dtlto_plugin." + Name,
                Name + "() had not returned after " +
                    seconds(IsClose ? W.closeLimit() : W.callLimit()) +
                    (IsClose && NumEnded != Jobs.size()
                         ? ", and jobs have no job_done() yet"
                         : ""),
                IsClose
                    ? "stop jobs that run, join your threads, wait for "
                      "nothing else"
                    : "leave what takes time to a thread of the plugin; hold "
                      "no lock while you call the host");
  }
}

/// A call that takes its time now and then may be this machine's fault. The
/// mutex is held.
void Play::addTime(const std::string &Name, Clock::duration D) {
  constexpr unsigned Enough = 8;
  constexpr std::chrono::milliseconds TooLong = 250ms;
  if (Name != "submit" && Name != "cancel" && Name != "load")
    return;
  CallTimes &T = Times[Name];
  T.Long += D >= TooLong;
  if (++T.Calls < Enough || T.Long * 4 < T.Calls * 3)
    return;
  fail("dtlto_plugin." + Name,
       Name + "() took more than " + std::to_string(TooLong.count()) +
           " ms in " + std::to_string(T.Long) + " of " +
           std::to_string(T.Calls) + " calls",
       "all calls of a session share one thread, and the link waits for each: "
       "leave what takes time to a thread of the plugin");
  T = {};
}

/// Calls configure() as the linker does.
void Play::configure(const dtlto_session_params &Params) {
  struct {
    dtlto_session_config Now;
    char Later[64];
  } C;
  std::memset(&C, 0x5a, sizeof(C));
  const auto Size =
      static_cast<uint32_t>(sizeof(dtlto_session_config) + Age.More);
  C.Now = {Size, 0, nullptr};
  Loan Place("the dtlto_session_config",
             "fill it in configure(), and don't keep it");
  auto *Raw = static_cast<dtlto_session_config *>(Place.addStruct(&C, Size));
  call("configure", [&] { P.configure(&Params, Raw); });
  std::memcpy(&C, Raw, Size);
  std::string Why = C.Now.no_fallback ? C.Now.no_fallback : "";
  Place.end("configure() has returned");
  Needs = C.Now.needs;
  expectNulls();
  const char *Section = "dtlto_session_config";
  if (C.Now.size != Size)
    fail(Section, "configure() changed the struct's `size`",
         "the host has set it; write the fields that lie within it");
  if (Needs >= 2 * DTLTO_JOB_WHOLE_IMPORTS && P.abi_minor <= DTLTO_ABI_MINOR)
    fail(Section, "`needs` has bits that this ABI doesn't have",
         "combine DTLTO_JOB_... of the header that you have");
  for (char L : C.Later)
    if (Age.More && L != 0x5a)
      return fail("Compatibility",
                  "configure() wrote past the fields that this ABI has",
                  "write your own fields, and no more");
  if (C.Now.no_fallback)
    checkText(Section, "`no_fallback`", Why);
}

int32_t Play::open(uint64_t NumJobs) {
  // The first session of the process may leave threads of libraries behind.
  ThreadsBefore = countThreads();
  SettingsBefore = ProcessSettings::now();
  Loan ParamsLoan("the dtlto_session_params (or what they point at)",
                  "copy in open() what you need of them later");
  std::vector<const char *> Args;
  for (const std::string &Arg : W.PluginArgs)
    Args.push_back(ParamsLoan.addString(Arg));
  struct {
    dtlto_session_params Now;
    char Later[64];
  } Params;
  std::memset(&Params, 0x5a, sizeof(Params));
  Params.Now = {};
  Params.Now.size =
      static_cast<uint32_t>(sizeof(dtlto_session_params) + Age.More);
  Params.Now.num_args = static_cast<uint32_t>(Args.size());
  Params.Now.args = static_cast<const char *const *>(
      ParamsLoan.addBytes(Args.data(), Args.size() * sizeof(char *)));
  Params.Now.llvm_version = ParamsLoan.addString(llvmVersion());
  Params.Now.output = ParamsLoan.addString("plugin-check.out");
  Params.Now.num_jobs = NumJobs;
  Params.Now.job_timeout_s = 600;
  Params.Now.verbose = W.Verbose;
  auto *Raw = static_cast<const dtlto_session_params *>(
      ParamsLoan.addStruct(&Params, Params.Now.size));
  ParamsLoan.seal();
  configure(*Raw);
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    InOpen = true;
  }
  int32_t Status = call("open", [&] { return P.open(Host, Raw, &Handle); });
  ParamsLoan.end("open() has returned");
  std::string Errors;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    InOpen = false;
    Errors = OpenErrors;
    // An error is the end of a session also where it overtakes the return.
    GaveUp |= Status == DTLTO_OK && !Errors.empty();
  }
  IsOpen = Status == DTLTO_OK;
  if (Status == DTLTO_OK && !Handle)
    failAndExit("dtlto_plugin.open",
                "open() returned DTLTO_OK and set no session",
                "set *session; your functions get it back");
  if (Status == DTLTO_OK)
    return Status;
  if (Status != DTLTO_ERROR_CALLER && Status != DTLTO_ERROR_INFRASTRUCTURE &&
      Status != DTLTO_ERROR_COMPILER)
    fail("Constants", "open() returned " + std::to_string(Status),
         "return DTLTO_OK or one of the three errors");
  if (Errors.empty())
    fail("dtlto_plugin.open",
         "open() failed with " + std::to_string(Status) + ", without a word",
         "tell why with host->log(DTLTO_LOG_ERROR) before you return");
  return Status;
}

/// Says what a plugin that follows a null pointer may have taken for a promise.
void Play::expectNulls() {
  if (Needs & DTLTO_JOB_ARGS)
    explainNull("");
  else if (Needs & (DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG))
    explainNull("a job's `args` and `output` are null, since "
                "configure() asked for no DTLTO_JOB_ARGS");
  else
    explainNull("a job's `inputs`, `args` and `output` are null, since "
                "configure() asked for none of these DTLTO_JOB_...");
}

void Play::mustOpen(uint64_t NumJobs) {
  int32_t Status = open(NumJobs);
  if (Status != DTLTO_OK)
    failAndExit(
        "dtlto_plugin.open",
        "open() failed with " + std::to_string(Status) + ": " + openErrors(),
        "start what the plugin needs, or name it with --plugin-arg; the "
        "check needs a session that works");
}

int32_t Play::offer(const Sample &S, uint64_t &Id, const char *Avoid) {
  Record *R;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Id = NextId++;
    auto &Slot = Jobs[Id];
    Slot = std::make_unique<Record>(Id);
    R = Slot.get();
    InSubmit = Id;
  }
  const dtlto_job *Job = makeJob(*R, S, Avoid);
  int32_t Status = call("submit", [&] { return P.submit(Handle, Job); });
  std::lock_guard<std::mutex> Lock(Mutex);
  InSubmit = 0;
  R->InSubmit = false;
  R->E.Accepted = Status == DTLTO_OK;
  R->Refused = Status != DTLTO_OK;
  if (R->Refused) {
    ++NumEnded;
    R->Lent.end(Status == DTLTO_BUSY ? "submit() has returned DTLTO_BUSY"
                                     : "submit() has refused the job");
    if (R->E.Done)
      fail("dtlto_plugin.submit",
           "a job had its job_done(), and then submit() returned " +
               std::to_string(Status),
           "return DTLTO_OK for a job that you have taken");
  }
  if (Status != DTLTO_OK && Status != DTLTO_BUSY &&
      (Status < DTLTO_ERROR_CALLER || Status > DTLTO_ERROR_COMPILER))
    fail("Constants", "submit() returned " + std::to_string(Status),
         "return DTLTO_OK, DTLTO_BUSY, or one of the three errors");
  return Status;
}

uint64_t Play::submit(const Sample &S, const char *Avoid) {
  auto End = Clock::now() + W.jobLimit();
  while (true) {
    uint64_t Id, Room, Before;
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      Room = RoomCount;
      Before = NumEnded;
    }
    int32_t Status = offer(S, Id, Avoid);
    if (Status == DTLTO_OK)
      return Id;
    if (Status != DTLTO_BUSY)
      return 0;
    completeBatch();
    std::unique_lock<std::mutex> Lock(Mutex);
    // The end of a job is room, too; whether load_changed() comes is another
    // case.
    if (!wait(Lock, End,
              [&] { return RoomCount != Room || NumEnded != Before + 1; }))
      failAndExit(
          "DTLTO_BUSY",
          "submit() returned DTLTO_BUSY, and neither load_changed() nor "
          "a job_done() came within " +
              seconds(W.jobLimit()),
          "call load_changed() as soon as there is room again");
  }
}

/// The linker does without an extension whose size isn't that of its struct.
template <typename T> static void checkSize(const char *Struct, const T &E) {
  if (E.size < sizeof(T))
    failAndExit(std::string(Struct) + ".size",
                "it is " + std::to_string(E.size),
                "set it to sizeof(" + std::string(Struct) +
                    "): the linker doesn't use the extension otherwise");
}

void Play::completeBatch() {
  if (!IsOpen)
    return;
  if (auto *Batch =
          static_cast<const dtlto_batch *>(P.extension(DTLTO_EXT_BATCH))) {
    checkSize("dtlto_batch", *Batch);
    call("complete", [&] { Batch->complete(Handle); });
  }
}

void Play::cancel(uint64_t Id) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto I = Jobs.find(Id);
    if (I != Jobs.end())
      I->second->Cancelled = true;
  }
  call("cancel", [&] { P.cancel(Handle, Id); });
}

dtlto_load Play::load() {
  struct {
    dtlto_load Now;
    char Later[64];
  } L;
  std::memset(&L, 0x5a, sizeof(L));
  const auto Size = static_cast<uint32_t>(sizeof(dtlto_load) + Age.More);
  L.Now = {Size, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, UINT64_MAX};
  Loan Place("the dtlto_load", "fill it in load(), and don't keep it");
  auto *Raw = static_cast<dtlto_load *>(Place.addStruct(&L, Size));
  int32_t Status = call("load", [&] { return P.load(Handle, Raw); });
  std::memcpy(&L, Raw, Size);
  if (Status != DTLTO_OK)
    fail("dtlto_plugin.load", "load() returned " + std::to_string(Status),
         "return DTLTO_OK, and leave what you don't know as it is");
  if (L.Now.size != Size)
    fail("dtlto_plugin.load", "load() changed the struct's `size`",
         "the host has set it; write the fields that lie within it");
  for (char C : L.Later)
    if (Age.More && C != 0x5a) {
      fail("Compatibility", "load() wrote past the fields that this ABI has",
           "write your own fields, and no more");
      break;
    }
  Place.end("load() has returned");
  checkLoad(L.Now);
  return L.Now;
}

void Play::queryStatus(const dtlto_status &Status) {
  constexpr uint32_t LimitMs = 2000;
  checkSize("dtlto_status", Status);
  struct Told {
    const std::thread::id Thread = std::this_thread::get_id();
    std::mutex Mutex; // should it be another thread
    std::set<std::string> Names;
  } T;
  Clock::time_point Begin = Clock::now();
  int32_t Result = call("query", [&] {
    return Status.query(
        Handle, LimitMs,
        [](void *Context, const dtlto_worker_status *W) {
          auto &T = *static_cast<Told *>(Context);
          std::lock_guard<std::mutex> Lock(T.Mutex);
          if (std::this_thread::get_id() != T.Thread)
            fail("dtlto_status.query",
                 "query() told of a worker on another thread",
                 "collect what your threads hear, and tell it on the thread "
                 "that called query()");
          if (W && W->name && !T.Names.insert(W->name).second)
            fail("dtlto_status.query",
                 "query() told of '" + std::string(W->name) + "' twice",
                 "tell of each machine once: their slots are added up");
          if (!W || !W->name || !*W->name)
            fail("dtlto_worker_status.name", "a worker has no name",
                 "name each as job_state() does");
          // What it had at first; the linker refuses it otherwise.
          if (W && W->size < offsetof(dtlto_worker_status, load_permille) +
                                 sizeof(uint32_t))
            fail("dtlto_worker_status.size",
                 "it is " + std::to_string(W->size) + " of a worker",
                 "set it to sizeof(dtlto_worker_status)");
        },
        &T);
  });
  // The linker, too, waits a little longer.
  if (Clock::now() - Begin > std::chrono::milliseconds(LimitMs) + 2s)
    fail("dtlto_status.query",
         "query() has not returned within its `timeout_ms`, " +
             std::to_string(LimitMs),
         "a machine that hasn't answered by then is DTLTO_WORKER_OUT");
  if (Result != DTLTO_OK)
    fail("dtlto_status.query", "query() returned " + std::to_string(Result),
         "DTLTO_OK, unless the DBS as a whole can't be asked");
}

/// As if another worker had compiled it.
void Play::refute(const dtlto_refuted &Refuted, uint64_t Id,
                  const char *Worker) {
  checkSize("dtlto_refuted", Refuted);
  call("refuted",
       [&] { Refuted.result(Handle, Id, Worker, DTLTO_ERROR_COMPILER); });
}

/// Calls \p Fn(key, why, its size), and looks at what it says.
template <typename F>
bool Play::storeCall(const char *Name, const std::string &Key, std::string &Why,
                     F Fn) {
  Loan Place("the key of a call of dtlto.store.draft/1", "copy what you keep");
  auto *Raw = static_cast<const uint8_t *>(Place.addBytes(Key.data(), 32));
  Place.seal();
  char Line[256];
  std::memset(Line, 0x5a, sizeof(Line));
  Line[0] = 0;
  int32_t Status =
      call(Name, [&] { return Fn(Raw, Line, uint64_t(sizeof(Line) - 8)); });
  Place.end("the call has returned");
  std::string Section = std::string("dtlto_store.") + Name;
  if (Line[sizeof(Line) - 8] != 0x5a)
    return fail(Section, "it wrote past `why_size`",
                "cut the reason, and end it with a NUL"),
           false;
  if (Status == DTLTO_OK)
    return true;
  Why = Line;
  if (Why.empty() || Why.find('\n') != std::string::npos)
    fail(Section,
         "it returned " + std::to_string(Status) +
             " without one line that "
             "says why",
         "write the reason to `why`: people are to see it");
  return false;
}

bool Play::storeGet(const dtlto_store &Store, const std::string &Key,
                    uint64_t MaxBytes, std::string &Out) {
  checkSize("dtlto_store", Store);
  dtlto_buffer Raw = {};
  auto LimitMs = uint32_t(W.callLimit().count() / 2);
  if (!storeCall("get", Key, Out, [&](const uint8_t *K, char *Why, uint64_t N) {
        return Store.get(Handle, K, MaxBytes, LimitMs, &Raw, Why, N);
      }))
    return false;
  Out.assign(static_cast<const char *>(Raw.data), Raw.data ? Raw.size : 0);
  if (Raw.release)
    Raw.release(Raw.owner, Raw.data, Raw.size);
  if (Out.size() > MaxBytes)
    fail("dtlto_store.get",
         "it gave " + std::to_string(Out.size()) +
             " bytes, and `max_bytes` "
             "was " +
             std::to_string(MaxBytes),
         "give nothing instead, and don't fetch it");
  return true;
}

bool Play::storePut(const dtlto_store &Store, const std::string &Key,
                    const std::string &Bytes, std::string &Why) {
  checkSize("dtlto_store", Store);
  Loan Place("the bytes of put()", "keep a copy");
  const void *Raw =
      Bytes.empty() ? nullptr : Place.addBytes(Bytes.data(), Bytes.size());
  Place.seal();
  auto LimitMs = uint32_t(W.callLimit().count() / 2);
  bool Good =
      storeCall("put", Key, Why, [&](const uint8_t *K, char *Line, uint64_t N) {
        return Store.put(Handle, K, {Raw, Bytes.size()}, LimitMs, Line, N);
      });
  Place.end("put() has returned");
  return Good;
}

void Play::checkLoad(const dtlto_load &L) {
  auto Is = [&](bool Sane, const std::string &What, const char *Mend) {
    if (!Sane)
      fail("dtlto_load", What, Mend);
  };
  auto Known = [](uint32_t N) { return N != UINT32_MAX; };
  uint64_t Mine = 0;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    for (auto &Job : Jobs)
      Mine += Job.second->E.Accepted;
  }
  std::string Queued = std::to_string(L.queued);
  Is(!Known(L.slots) || !Known(L.free) || L.free <= L.slots,
     "load() says that " + std::to_string(L.free) + " of " +
         std::to_string(L.slots) + " slots are free",
     "`free` is the number of slots that are idle, at most `slots`");
  Is(!Known(L.queued) || L.queued <= Mine,
     "load() says that " + Queued + " accepted jobs don't run yet, but only " +
         std::to_string(Mine) + " were ever accepted",
     "`queued` counts jobs of this session that were accepted and wait");
  Is(!Known(L.slots) || !Known(L.local) || L.local <= L.slots,
     "load() says that " + std::to_string(L.local) + " of " +
         std::to_string(L.slots) + " slots are this machine's",
     "`local` is how many of `slots` take this machine's cores");
}

void Play::close() {
  if (!IsOpen)
    return;
  IsOpen = false;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Closing = true;
    Entangled = false;
    LoadAnswered = LoadWanted; // nobody is left to ask
  }
  Changed.notify_all();
  call("close", [&] { P.close(Handle); });
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Closed = true;
    for (auto &Job : Jobs)
      if (Job.second->E.Accepted && !Job.second->E.Done) {
        fail("dtlto_host.job_done",
             jobName(Job.first) + " was accepted and has no job_done(), though "
                                  "close() has returned",
             "each accepted job has exactly one job_done(), cancelled ones "
             "included; close() comes back after the last");
        break;
      }
  }
  if (std::string Changed = SettingsBefore.differenceTo(ProcessSettings::now());
      !Changed.empty())
    fail("dtlto_plugin", "the plugin has changed " + Changed,
         "the process is the linker's: leave its working folder, umask, "
         "signals and standard descriptors as they are");
  HostLoan.end("close() has returned");
  Modules.end("close() has returned");
  // Whoever calls now calls too late. A plugin whose threads have ended can't.
  for (unsigned I = 0; I != 50 && countThreads() > ThreadsBefore; ++I)
    std::this_thread::sleep_for(10ms);

  // Objects outlive the session: the linker reads them at its end. On another
  // thread, since any may release them.
  std::thread([this] {
    for (auto &Job : Jobs) {
      dtlto_buffer &B = Job.second->Object;
      if (Job.second->E.Status == DTLTO_OK && B.size &&
          std::memcmp(B.data, Job.second->E.Object.data(), B.size) != 0)
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
  for (auto &B : Lent)
    if (B->Releases == 0) {
      fail("dtlto_buffer", B->What + " was never released",
           "whoever holds a buffer last calls release(owner, data, size) once");
      break;
    }
}
