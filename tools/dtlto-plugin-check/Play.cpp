//===- Play.cpp - A host that watches the plugin --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Play.h"
#include "Report.h"
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>

using namespace dtlto::check;
using namespace std::chrono_literals;

static constexpr uint32_t ResultSize1_0 =
    offsetof(dtlto_result, worker) + sizeof(const char *);

HostAge HostAge::first() {
  HostAge A;
  A.Minor = 0;
  A.JobSize = offsetof(dtlto_job, config);
  A.LoadSize = offsetof(dtlto_load, local);
  A.HasExtensionsOf1_1 = false;
  return A;
}

HostAge HostAge::future() {
  HostAge A;
  A.Minor = 99;
  A.More = 64;
  A.JobSize += A.More;
  A.LoadSize += A.More;
  return A;
}

std::chrono::milliseconds Wishes::callLimit() const {
  return std::min<std::chrono::milliseconds>(10s, CaseLimit / 4);
}
std::chrono::milliseconds Wishes::closeLimit() const {
  return std::min<std::chrono::milliseconds>(20s, CaseLimit / 3);
}
std::chrono::milliseconds Wishes::jobLimit() const { return CaseLimit / 3; }

static std::string seconds(std::chrono::milliseconds D) {
  return std::to_string((D.count() + 999) / 1000) + " s";
}

static std::string jobName(uint64_t Id) { return "job " + std::to_string(Id); }

struct Play::Record {
  explicit Record(uint64_t Id)
      : Id(Id), Loan_("the dtlto_job (or what it points at) of job " +
                      std::to_string(Id)) {}
  const uint64_t Id;
  const Sample *S = nullptr;
  Loan Loan_;
  Ended E;
  bool InSubmit = true, Refused = false, Cancelled = false;
  dtlto_buffer Object = {};
};

/// Memory of the host that the plugin has become the owner of.
struct Play::HostBuffer {
  std::string What, Bytes;
  std::atomic<int> Releases{0};
};

Play &Play::from(dtlto_host_context *Context) {
  return *reinterpret_cast<Play *>(Context);
}

static unsigned countThreads() {
  std::error_code EC;
  unsigned N = 0;
  for (auto &Entry : std::filesystem::directory_iterator("/proc/self/task", EC))
    N += !Entry.path().empty();
  return N;
}

Play::Play(const dtlto_plugin &P, const Wishes &W, const HostAge &Age)
    : P(P), W(W), Age(Age), HostLoan("the dtlto_host"),
      Modules("the bytes of a module") {
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

template <typename F> auto Play::call(const char *Name, F Fn) {
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    CallName = Name;
    CallLimit =
        Clock::now() +
        (std::strcmp(Name, "close") == 0 ? W.closeLimit() : W.callLimit());
  }
  Changed.notify_all();
  struct Reset {
    Play &S;
    ~Reset() {
      std::lock_guard<std::mutex> Lock(S.Mutex);
      S.CallName = nullptr;
    }
  } R{*this};
  return Fn();
}

/// Waits for \p Done, and answers what callbacks ask the link thread for.
template <typename F>
bool Play::wait(std::unique_lock<std::mutex> &Lock, Clock::time_point End,
                F Done) {
  while (!Done()) {
    if (LoadAnswered != LoadWanted) {
      uint64_t Answering = LoadWanted;
      Lock.unlock();
      load();
      Lock.lock();
      LoadAnswered = Answering;
      Changed.notify_all();
      continue;
    }
    if (Changed.wait_until(Lock, End) == std::cv_status::timeout && !Done())
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void Play::makeHost() {
  struct {
    dtlto_host Now;
    char Later[64];
  } H;
  std::memset(&H, 0x5a, sizeof(H));
  H.Now = {};
  H.Now.size = sizeof(dtlto_host) + Age.More;
  H.Now.abi_major = DTLTO_ABI_MAJOR;
  H.Now.abi_minor = Age.Minor;
  H.Now.name = HostLoan.addString("dtlto");
  H.Now.version = HostLoan.addString("plugin-check");
  H.Now.context = reinterpret_cast<dtlto_host_context *>(this);
  H.Now.log = [](dtlto_host_context *C, uint32_t Level, const char *Message) {
    from(C).log(Level, Message);
  };
  H.Now.job_state = [](dtlto_host_context *C, uint64_t Job, uint32_t State,
                       const char *Worker) {
    from(C).jobState(Job, State, Worker);
  };
  H.Now.job_done = [](dtlto_host_context *C, uint64_t Job,
                      const dtlto_result *R) { from(C).jobDone(Job, R); };
  H.Now.load_changed = [](dtlto_host_context *C) { from(C).loadChanged(); };
  H.Now.extension = [](dtlto_host_context *C, const char *Id) {
    return from(C).extension(Id);
  };
  Host = static_cast<const dtlto_host *>(
      HostLoan.addStruct(&H, sizeof(dtlto_host) + Age.More));

  LocalCodegen.size = sizeof(LocalCodegen);
  LocalCodegen.slots = 2;
  LocalCodegen.run = [](dtlto_host_context *C, uint64_t Job, dtlto_result *R) {
    return from(C).runLocally(Job, R);
  };
  Fallback.size = sizeof(Fallback);
  Fallback.forbid = [](dtlto_host_context *, const char *) {};
  NeedsExtension.size = sizeof(NeedsExtension);
  NeedsExtension.set = [](dtlto_host_context *C, uint32_t Parts) {
    from(C).setNeeds(Parts);
  };
  BundleExtension.size = sizeof(BundleExtension);
  BundleExtension.make = [](dtlto_host_context *C, uint64_t Job,
                            dtlto_buffer *B) { return from(C).bundle(Job, B); };
}

int32_t Play::open(uint64_t NumJobs) {
  // The first session of the process may leave threads of libraries behind.
  ThreadsBefore = countThreads();
  Needs = P.needs;
  Loan ParamsLoan("the dtlto_session_params (or what they point at)");
  std::vector<const char *> Args;
  for (const std::string &Arg : W.PluginArgs)
    Args.push_back(ParamsLoan.addString(Arg));
  struct {
    dtlto_session_params Now;
    char Later[64];
  } Params;
  std::memset(&Params, 0x5a, sizeof(Params));
  Params.Now = {};
  Params.Now.size = sizeof(dtlto_session_params) + Age.More;
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
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    InOpen = true;
  }
  int32_t Status = call("open", [&] { return P.open(Host, Raw, &Handle); });
  ParamsLoan.end();
  std::string Errors;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    InOpen = false;
    Errors = OpenErrors;
  }
  IsOpen = Status == DTLTO_OK;
  if (Age.Minor < 1)
    Needs &= DTLTO_PART_INPUTS | DTLTO_PART_ARGS | DTLTO_PART_DIGESTS;
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

void Play::mustOpen(uint64_t NumJobs) {
  int32_t Status = open(NumJobs);
  if (Status != DTLTO_OK)
    failAndExit(
        "dtlto_plugin.open",
        "open() failed with " + std::to_string(Status) + ": " + openErrors(),
        "start what the plugin needs, or name it with --plugin-arg; the "
        "check needs a session that works");
}

/// Modules stay until close(), and each has one address for all jobs.
const void *Play::moduleBytes(const std::string &Contents) {
  const void *&Place = ModuleBytes[Contents];
  if (!Place)
    Place = Modules.addBytes(Contents.data(), Contents.size());
  return Place;
}

const dtlto_job *Play::makeJob(Record &R, const Sample &S, const char *Avoid) {
  R.S = &S;
  Loan &L = R.Loan_;
  struct {
    dtlto_job Now;
    char Later[64];
  } Job;
  std::memset(&Job, 0x5a, sizeof(Job));
  Job.Now = {};
  Job.Now.size = Age.JobSize;
  Job.Now.parts = Needs & (DTLTO_PART_INPUTS | DTLTO_PART_ARGS |
                           DTLTO_PART_DIGESTS | DTLTO_PART_CONFIG);
  if (Needs & (DTLTO_PART_ARGS | DTLTO_PART_CONFIG))
    Job.Now.parts |= DTLTO_PART_INPUTS;
  Job.Now.id = R.Id;
  Job.Now.name = L.addString(S.Name);
  Job.Now.triple = L.addString(S.Triple);
  Job.Now.cost = 1000000 - R.Id;
  if (Job.Now.parts & DTLTO_PART_INPUTS) {
    std::vector<const dtlto_input *> Inputs;
    for (const Sample::Input &In : S.Inputs) {
      struct {
        dtlto_input Now;
        char Later[64];
      } Raw;
      std::memset(&Raw, 0x5a, sizeof(Raw));
      Raw.Now = {};
      Raw.Now.size = sizeof(dtlto_input) + Age.More;
      Raw.Now.role = In.Role;
      Raw.Now.path = L.addString(In.Path);
      bool IsModule =
          In.Role == DTLTO_ROLE_PRIMARY || In.Role == DTLTO_ROLE_IMPORT;
      Raw.Now.bytes = {IsModule ? moduleBytes(In.Bytes)
                                : L.addBytes(In.Bytes.data(), In.Bytes.size()),
                       In.Bytes.size()};
      if (Job.Now.parts & DTLTO_PART_DIGESTS)
        std::copy(In.Digest.begin(), In.Digest.end(), Raw.Now.digest);
      Inputs.push_back(
          static_cast<const dtlto_input *>(L.addBytes(&Raw, Raw.Now.size)));
    }
    Job.Now.num_inputs = static_cast<uint32_t>(Inputs.size());
    Job.Now.inputs = static_cast<const dtlto_input *const *>(
        L.addBytes(Inputs.data(), Inputs.size() * sizeof(void *)));
  }
  if (Job.Now.parts & DTLTO_PART_ARGS) {
    std::vector<const char *> Args;
    for (const std::string &Arg : S.Args)
      Args.push_back(L.addString(Arg));
    Args.push_back(nullptr);
    Job.Now.num_args = static_cast<uint32_t>(S.Args.size());
    Job.Now.args = static_cast<const char *const *>(
        L.addBytes(Args.data(), Args.size() * sizeof(char *)));
    Job.Now.output = L.addString(S.Output);
  }
  if (Job.Now.parts & DTLTO_PART_CONFIG)
    Job.Now.config = L.addString(S.Config);
  if (Avoid)
    Job.Now.avoid = L.addString(Avoid);
  return static_cast<const dtlto_job *>(L.addStruct(&Job, Age.JobSize));
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
    R->Loan_.end();
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
  L.Now = {Age.LoadSize, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0,
           UINT64_MAX,   0,          0};
  Loan Place("the dtlto_load");
  auto *Raw = static_cast<dtlto_load *>(Place.addStruct(&L, Age.LoadSize));
  int32_t Status = call("load", [&] { return P.load(Handle, Raw); });
  std::memcpy(&L, Raw, Age.LoadSize);
  if (Status != DTLTO_OK)
    fail("dtlto_plugin.load", "load() returned " + std::to_string(Status),
         "return DTLTO_OK, and leave what you don't know as it is");
  if (L.Now.size != Age.LoadSize)
    fail("dtlto_plugin.load", "load() changed the struct's `size`",
         "the host has set it; write the fields that lie within it");
  for (char C : L.Later)
    if (Age.More && C != 0x5a) {
      fail("Growing without breaking",
           "load() wrote past the fields that this ABI has",
           "write your own fields, and no more");
      break;
    }
  Place.end();
  checkLoad(L.Now);
  return L.Now;
}

void Play::queryStatus(const dtlto_status &Status) {
  constexpr uint32_t LimitMs = 2000;
  int32_t Result = call("query", [&] {
    return Status.query(
        Handle, LimitMs,
        [](void *, const dtlto_worker_status *W) {
          if (!W || !W->name || !*W->name)
            fail("dtlto_worker_status.name", "a worker has no name",
                 "name each as job_state() does");
        },
        nullptr);
  });
  if (Result != DTLTO_OK)
    fail("dtlto_status.query", "query() returned " + std::to_string(Result),
         "DTLTO_OK, unless the DBS as a whole can't be asked");
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
  Is(!Known(L.slots) || L.local <= L.slots || Age.LoadSize < sizeof(dtlto_load),
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
  HostLoan.end();
  Modules.end();
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

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

void Play::waitForAll() {
  std::unique_lock<std::mutex> Lock(Mutex);
  // Each job that ends shows that the others may.
  uint64_t Before;
  do {
    Before = NumEnded;
    wait(Lock, Clock::now() + W.jobLimit(),
         [&] { return NumEnded != Before || NumEnded == Jobs.size(); });
    if (NumEnded == Jobs.size())
      return;
  } while (NumEnded != Before);
  for (auto &Job : Jobs)
    if (!Job.second->Refused && !Job.second->E.Done)
      failAndExit(
          "dtlto_host.job_done",
          jobName(Job.first) +
              " was accepted and had no job_done() "
              "within " +
              seconds(W.jobLimit()),
          "each accepted job has exactly one job_done(), cancelled ones "
          "included (--timeout=S, if yours take that long)");
}

void Play::waitFor(uint64_t Id) {
  std::unique_lock<std::mutex> Lock(Mutex);
  if (!wait(Lock, Clock::now() + W.jobLimit(),
            [&] { return Id ? Jobs[Id]->E.Done : NumEnded != 0; }))
    failAndExit("dtlto_host.job_done",
                "an accepted job had no job_done() within " +
                    seconds(W.jobLimit()),
                "each accepted job has exactly one job_done(), cancelled ones "
                "included (--timeout=S, if yours take that long)");
}

void Play::waitForSign() {
  std::unique_lock<std::mutex> Lock(Mutex);
  // Plugins needn't report states.
  wait(Lock,
       Clock::now() + std::min<std::chrono::milliseconds>(2s, W.jobLimit()),
       [&] { return NumSigns != 0; });
}

bool Play::waitForRoom(uint64_t Before) {
  std::unique_lock<std::mutex> Lock(Mutex);
  auto Room = [&] { return RoomCount != Before; };
  if (!wait(Lock, Clock::now() + W.jobLimit(),
            [&] { return Room() || NumEnded == Jobs.size(); }))
    return false;
  // The news of the last job's room may follow its end.
  return wait(Lock, Clock::now() + W.callLimit(), Room);
}

uint64_t Play::roomCount() {
  std::lock_guard<std::mutex> Lock(Mutex);
  return RoomCount;
}

Ended Play::result(uint64_t Id) {
  std::lock_guard<std::mutex> Lock(Mutex);
  auto I = Jobs.find(Id);
  return I == Jobs.end() ? Ended() : I->second->E;
}

size_t Play::numAccepted() { return accepted().size(); }

std::vector<uint64_t> Play::accepted() {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::vector<uint64_t> Ids;
  for (auto &Job : Jobs)
    if (Job.second->E.Accepted)
      Ids.push_back(Job.first);
  return Ids;
}

std::string Play::openErrors() {
  std::lock_guard<std::mutex> Lock(Mutex);
  return OpenErrors;
}

bool Play::hasGivenUp() {
  std::lock_guard<std::mutex> Lock(Mutex);
  return GaveUp;
}

void Play::expectObject(uint64_t Id, const Sample &S) {
  Ended E = result(Id);
  std::string Job = "the job of '" + S.Name + "'";
  if (Id == 0 || !E.Accepted)
    fail("dtlto_plugin.submit", "submit() refused " + Job,
         "take each job that a worker can run, or say DTLTO_BUSY");
  else if (!E.Done)
    fail("dtlto_host.job_done", Job + " has no job_done()",
         "each accepted job has exactly one");
  else if (E.Status != DTLTO_OK)
    fail("dtlto_result.status",
         Job + " ended with " + std::to_string(E.Status) + ": " +
             (E.Message.empty() ? "(no message)" : E.Message),
         "this job compiles without an error in the linker; see the message");
  else if (E.Object != S.Object) {
    size_t At = 0;
    while (At < E.Object.size() && At < S.Object.size() &&
           E.Object[At] == S.Object[At])
      ++At;
    fail(
        "dtlto_result.object",
        Job + " made " + std::to_string(E.Object.size()) +
            " bytes, the linker itself " + std::to_string(S.Object.size()) +
            "; the first difference is at " + std::to_string(At),
        "run exactly the job's command line, with exactly params.llvm_version, "
        "on exactly its inputs under their paths, and return all of `output`");
  }
}

//===----------------------------------------------------------------------===//
// The host's functions
//===----------------------------------------------------------------------===//

bool Play::lateCall(const char *Name) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (Closed)
    fail("dtlto_plugin.close",
         std::string(Name) + "() was called after close() had returned",
         "close() is a barrier: join each thread that can call the host, or "
         "wait until it can't");
  return Closed;
}

/// Lets a callback take its time: until the link thread had its answer of
/// load().
void Play::holdUp(const char *Name) {
  if (!Entangled || std::this_thread::get_id() == LinkThread)
    return;
  std::unique_lock<std::mutex> Lock(Mutex);
  uint64_t Mine = ++LoadWanted;
  Changed.notify_all();
  if (!Changed.wait_for(Lock, W.callLimit() + 2s,
                        [&] { return LoadAnswered >= Mine || Closing; }))
    failAndExit("dtlto_plugin.load",
                std::string("while ") + Name +
                    "() was in the host, load() and submit() didn't come back",
                "hold no lock while you call the host");
}

void Play::log(uint32_t Level, const char *Message) {
  if (lateCall("log"))
    return;
  std::string Text = Message ? Message : "";
  if (!Message || Text.empty() || Text.find('\n') != std::string::npos)
    fail("dtlto_host.log",
         Message ? "a message isn't one line: '" + Text + "'"
                 : "a message is null",
         "give log() one line of text at a time");
  std::fprintf(stderr, "log %u: %s\n", Level, Text.c_str());
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    GaveUp |= !InOpen && Level == DTLTO_LOG_ERROR;
    if (InOpen && Level == DTLTO_LOG_ERROR)
      OpenErrors += (OpenErrors.empty() ? "" : "; ") + Text;
  }
  holdUp("log");
}

void Play::jobState(uint64_t Job, uint32_t, const char *) {
  if (lateCall("job_state"))
    return;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto I = Jobs.find(Job);
    if (I == Jobs.end() || I->second->Refused)
      fail("dtlto_host.job_state",
           "a state of " + jobName(Job) + ", which the plugin doesn't have",
           "report accepted jobs, under the id that submit() got");
    ++NumSigns;
  }
  Changed.notify_all();
  holdUp("job_state");
}

void Play::jobDone(uint64_t Job, const dtlto_result *Result) {
  if (lateCall("job_done"))
    return;
  holdUp("job_done");
  auto Wrong = [&](const char *Section, const std::string &What,
                   const char *Mend) { fail(Section, What, Mend); };
  std::unique_lock<std::mutex> Lock(Mutex);
  auto I = Jobs.find(Job);
  if (I == Jobs.end() || I->second->Refused)
    return Wrong(
        "dtlto_host.job_done",
        "a result for " + jobName(Job) + ", which the plugin was never given",
        "report each accepted job once, under the id that submit() got");
  Record &R = *I->second;
  if (R.E.Done)
    return Wrong("dtlto_host.job_done", "a second result for " + jobName(Job),
                 "exactly one job_done() for each accepted job: decide under a "
                 "lock who reports it");
  if (InSubmit == Job && std::this_thread::get_id() == LinkThread)
    Wrong("dtlto_host.job_done",
          "job_done() was called from inside of submit()",
          "queue the job, and let a thread of the plugin report it");
  R.E.Done = true;
  ++NumEnded;
  ++NumSigns;
  if (!Result || Result->size < ResultSize1_0) {
    Wrong("dtlto_result.size",
          jobName(Job) + " has a result " +
              (Result ? "of " + std::to_string(Result->size) + " bytes"
                      : "that is null"),
          "set `size` to sizeof(dtlto_result)");
  } else {
    R.E.Status = Result->status;
    R.E.Message = Result->message ? Result->message : "";
    R.Object = Result->object;
    bool Empty = !R.Object.data || R.Object.size == 0;
    std::string Status = std::to_string(R.E.Status);
    if (R.E.Status == DTLTO_OK && !Empty)
      R.E.Object.assign(static_cast<const char *>(R.Object.data),
                        R.Object.size);
    if (R.E.Status == DTLTO_OK && Empty)
      Wrong("dtlto_result.object",
            jobName(Job) + " is DTLTO_OK, with no object",
            "an exit code of 0 proves nothing: read the object first, else it "
            "is an infrastructure error");
    if (R.E.Status != DTLTO_OK && R.Object.size)
      Wrong("dtlto_result.object",
            jobName(Job) + " has the status " + Status + ", and an object",
            "leave `object` empty unless the status is DTLTO_OK");
    if (R.E.Status == DTLTO_CANCELLED && !R.Cancelled && !Closing)
      Wrong("DTLTO_CANCELLED",
            jobName(Job) + " was cancelled, and the host hasn't asked for it",
            "what the DBS stopped is DTLTO_ERROR_INFRASTRUCTURE");
    if (R.E.Status != DTLTO_OK && R.E.Status != DTLTO_CANCELLED &&
        (R.E.Status < DTLTO_ERROR_CALLER || R.E.Status > DTLTO_ERROR_COMPILER))
      Wrong("Constants", jobName(Job) + " ended with the status " + Status,
            "a job ends with DTLTO_OK, DTLTO_CANCELLED or one of the three "
            "errors");
  }
  R.Loan_.end();
  Lock.unlock();
  Changed.notify_all();
}

void Play::loadChanged() {
  if (lateCall("load_changed"))
    return;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++RoomCount;
  }
  Changed.notify_all();
  holdUp("load_changed");
}

const void *Play::extension(const char *Id) {
  std::string Name = Id ? Id : "";
  if (Name == DTLTO_EXT_LOCAL_CODEGEN)
    return &LocalCodegen;
  if (!Age.HasExtensionsOf1_1)
    return nullptr;
  if (Name == DTLTO_EXT_FALLBACK)
    return &Fallback;
  if (Name == DTLTO_EXT_NEEDS)
    return &NeedsExtension;
  if (Name == DTLTO_EXT_BUNDLE)
    return &BundleExtension;
  return nullptr;
}

void Play::setNeeds(uint32_t Parts) {
  std::lock_guard<std::mutex> Lock(Mutex);
  if (!InOpen || std::this_thread::get_id() != LinkThread)
    fail("dtlto_needs.set", "needs.set() was called outside of open()",
         "call it on open()'s own thread, before open() returns");
  Needs = Parts;
}

dtlto_buffer Play::lend(const char *What, uint64_t Job, std::string Bytes) {
  auto New = std::make_unique<HostBuffer>();
  New->What = std::string(What) + " of " + jobName(Job);
  New->Bytes = std::move(Bytes);
  HostBuffer *B = New.get();
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    Lent.push_back(std::move(New));
  }
  return {B->Bytes.data(), B->Bytes.size(), B,
          [](void *Owner, const void *Data, uint64_t Size) {
            auto *B = static_cast<HostBuffer *>(Owner);
            if (++B->Releases == 2)
              fail("dtlto_buffer", B->What + " was released twice",
                   "its last owner calls release() once; with job_done() that "
                   "is the host");
            if (Data != B->Bytes.data() || Size != B->Bytes.size())
              fail("dtlto_buffer",
                   B->What + " was released with other arguments than its own",
                   "call buffer.release(buffer.owner, buffer.data, "
                   "buffer.size)");
          }};
}

int32_t Play::runLocally(uint64_t Job, dtlto_result *Result) {
  Result->object = {};
  Result->worker = nullptr;
  Result->message = "no such job";
  const Sample *S = nullptr;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto I = Jobs.find(Job);
    if (Closed || I == Jobs.end() || I->second->E.Done) {
      fail("dtlto_local_codegen.run",
           "run() was called for " + jobName(Job) + ", which has ended",
           "run accepted jobs that have had no job_done() yet");
      return Result->status = DTLTO_ERROR_CALLER;
    }
    S = I->second->S;
    ++NumSigns;
  }
  Changed.notify_all();
  Result->message = nullptr;
  Result->worker = "this machine";
  if (S->Object.empty()) {
    Result->message = "the module can't be read";
    return Result->status = DTLTO_ERROR_COMPILER;
  }
  Result->object = lend("the linker's own object", Job, S->Object);
  return Result->status = DTLTO_OK;
}

int32_t Play::bundle(uint64_t Job, dtlto_buffer *Out) {
  *Out = {};
  const Sample *S = nullptr;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    auto I = Jobs.find(Job);
    if (!Closed && I != Jobs.end() && !I->second->E.Done &&
        (Needs & DTLTO_PART_CONFIG))
      S = I->second->S;
  }
  if (!S)
    return DTLTO_ERROR_CALLER;
  std::string Bytes = makeBundle(*S);
  if (Bytes.empty())
    return DTLTO_ERROR_INFRASTRUCTURE;
  *Out = lend("the bundle", Job, std::move(Bytes));
  return DTLTO_OK;
}
